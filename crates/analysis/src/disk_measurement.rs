//! Whether a run may serve as a measurement of a disk.
//!
//! A ceiling, or the size of a node, rests on figures of an earlier run. They
//! count where the throughput can be believed, the trial ended as planned, and a
//! block device or a file system on one was measured. Of everything else, what is
//! missing is not guessed: it is refused, with the reason.

use fathom_model::RunState;
use fathom_model::judged::{JudgedRun, JudgedTrial, ResultRow};
use fathom_model::verdict::{FindingStatus, Limiter, Validity, Verdict};
use fathom_rules::TargetKind;

use crate::checks::all_in_memory;
use crate::trial::kind_of;

/// The trials of a run that measured a disk.
///
/// # Errors
/// In words why there are none.
pub fn trials_of_disks(run: &JudgedRun) -> Result<Vec<&JudgedTrial>, String> {
    let (mut fit, mut reason) = (Vec::new(), None);
    for trial in &run.trials {
        match why_no_disk(trial) {
            None => fit.push(trial),
            Some(why) => {
                reason.get_or_insert_with(|| format!("{}: {why}", trial.label));
            }
        }
    }
    match fit.is_empty() {
        false => Ok(fit),
        true => Err(reason.unwrap_or_else(|| "it holds no trial".to_owned())),
    }
}

/// The rows of a run whose trials all measured a disk.
///
/// # Errors
/// In words why there are none.
pub fn rows_of_disks(run: &JudgedRun) -> Result<Vec<&ResultRow>, String> {
    let trials = |row: &ResultRow| {
        let of_row = row.trials.iter().filter_map(|index| run.trials.get(*index));
        of_row.collect::<Vec<&JudgedTrial>>()
    };
    let (mut fit, mut reason) = (Vec::new(), None);
    for row in &run.rows {
        let of_row = trials(row);
        let why = match of_row.is_empty() {
            true => Some("it holds no trial".to_owned()),
            false => of_row.into_iter().find_map(why_no_disk),
        };
        match why.or_else(|| why_not_believed(&row.verdict)) {
            None => fit.push(row),
            Some(why) => {
                reason.get_or_insert_with(|| format!("{}: {why}", row.label));
            }
        }
    }
    match fit.is_empty() {
        false => Ok(fit),
        true => Err(reason.unwrap_or_else(|| "it holds no result".to_owned())),
    }
}

/// Why a trial is not a measurement of a disk; `None` where it is one.
pub fn why_no_disk(trial: &JudgedTrial) -> Option<String> {
    why_not_a_disk(trial)
        .or_else(|| why_not_complete(trial))
        .or_else(|| why_not_believed(&trial.verdict))
}

/// Why what was measured is not a disk.
fn why_not_a_disk(trial: &JudgedTrial) -> Option<String> {
    let known = trial.target_before.as_ref();
    let reason = match kind_of(&trial.target, trial.workload.engine, known) {
        TargetKind::Null => "the null target is not a disk",
        TargetKind::Sim => "a simulated drive is not a disk",
        TargetKind::ObjectStore => "an object store is not a disk",
        TargetKind::Memory => "its files are in memory, not on a disk",
        TargetKind::Network => "its files are on a server, not on a disk",
        TargetKind::Unknown => "nothing shows that a disk was measured",
        TargetKind::Device | TargetKind::File | TargetKind::Stacked => {
            let in_memory = known.is_some_and(|target| all_in_memory(&target.devices));
            return in_memory.then(|| "its device is in memory".to_owned());
        }
    };
    Some(reason.to_owned())
}

fn why_not_complete(trial: &JudgedTrial) -> Option<String> {
    if trial.state != RunState::Complete {
        let reason = trial.reason.as_deref().unwrap_or("it ended early");
        return Some(format!("it is not complete ({reason})"));
    }
    let stuck = !trial.stuck.is_empty();
    stuck.then(|| "operations of it never came back".to_owned())
}

/// Why a rate cannot be believed, or is not the disk's own.
fn why_not_believed(verdict: &Verdict) -> Option<String> {
    if verdict.validity == Validity::NotTrusted {
        let invalid = verdict.findings.iter();
        let invalid = invalid.filter(|f| f.status == FindingStatus::Invalid);
        let ids: Vec<&str> = invalid.map(|f| f.id.as_str()).collect();
        return Some(match ids.is_empty() {
            true => "it cannot be believed".to_owned(),
            false => format!("it cannot be believed ({})", ids.join(", ")),
        });
    }
    if verdict.validity == Validity::NotDetermined {
        return Some("whether it is true could not be determined".to_owned());
    }
    let held = verdict.limiter == Limiter::Rate;
    held.then(|| "it was held to a rate, which the disk may exceed".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge;
    use crate::test_records::RecordBuilder;
    use fathom_model::target::Target;
    use fathom_model::workload::EngineKind;

    fn refused(record: &RecordBuilder) -> String {
        let judged = judge(&record.run());
        let rows = rows_of_disks(&judged).expect_err("no row of a disk");
        let trials = trials_of_disks(&judged).expect_err("no trial of a disk");
        assert_eq!(rows, trials);
        trials
    }

    #[test]
    fn a_sound_run_on_a_disk_serves() {
        for record in [RecordBuilder::reads(), RecordBuilder::writes()] {
            let judged = judge(&record.run());
            assert_eq!(rows_of_disks(&judged).map(|rows| rows.len()), Ok(1));
            assert_eq!(trials_of_disks(&judged).map(|t| t.len()), Ok(1));
        }
    }

    #[test]
    fn what_is_not_a_disk_is_refused_with_the_reason() {
        let with = |target: Target, engine: Option<EngineKind>| {
            RecordBuilder::reads().edit_with(move |trial| {
                trial.spec.target = target.clone();
                let workload = &mut trial.spec.workload;
                workload.engine = engine.unwrap_or(workload.engine);
            })
        };
        let cases = [
            (with(Target::Null, Some(EngineKind::Null)), "null target"),
            (
                with(Target::Sim("ssd".into()), Some(EngineKind::Sim)),
                "simulated",
            ),
            (with(Target::Bucket("b/p".into()), None), "object store"),
            (with(Target::Peer("tcp/h/1".into()), None), "nothing shows"),
            (RecordBuilder::reads().on("tmpfs", true), "in memory"),
            (RecordBuilder::reads().on("nfs4", true), "on a server"),
            (
                RecordBuilder::reads().edit(|trial| trial.target_before = None),
                "nothing shows",
            ),
        ];
        for (record, words) in cases {
            let why = refused(&record);
            assert!(why.contains(words), "{why}, not {words}");
        }
    }

    #[test]
    fn what_is_not_complete_or_not_believed_is_refused() {
        let interrupted = RecordBuilder::reads().with(|b| b.state = RunState::Interrupted);
        assert!(refused(&interrupted).contains("not complete"));
        // The device delivered nothing of what was read.
        let answered_elsewhere = RecordBuilder::reads().with(|b| b.device_share = 0.0);
        let why = refused(&answered_elsewhere);
        assert!(why.contains("cannot be believed (V"), "{why}");
    }
}
