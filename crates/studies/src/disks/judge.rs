//! Disks beside one another: sums, what is left of them when all work at once,
//! and which disk is clearly slower than its peers.
//!
//! Peers are the disks of one model; where the system names none, those of one
//! kind. A disk is held against the median of the others, so that it cannot
//! hide in its own comparison; the threshold and its source are those of check
//! V72.

use std::collections::BTreeMap;

use fathom_analysis::judgement::{Outcome, sort, sum_of_kinds};
use fathom_model::disks::{DiskFigures, DiskSweep, DiskWorkload, SlowDisk};
use fathom_model::estimate::{Estimate, Unit};
use fathom_model::fingerprint::{DeviceFacts, TargetFingerprint};
use fathom_model::judged::ResultRow;
use fathom_model::run::RunRecord;
use fathom_model::verdict::{FindingStatus, Validity};
use fathom_model::{JudgedRun, OpKind, Target};
use fathom_rules::{Rule, check};
use fathom_stats::median::median;

const CHECK: &Rule = check::V72;

/// Draws the disks of a judged run.
pub(super) fn draw(run: &mut JudgedRun, record: &RunRecord) {
    let slow_share = check::v72::INFO;
    let mut workloads: Vec<DiskWorkload> = Vec::new();
    for row in &run.rows {
        let Some(spec) = row.trials.first().and_then(|i| record.trials.get(*i)) else {
            continue;
        };
        let together = spec.spec.together.is_some();
        add(
            &mut workloads,
            run,
            row,
            spec.target_before.as_ref(),
            together,
        );
    }
    for workload in &mut workloads {
        complete(workload, slow_share);
    }
    if let Some(finding) = finding(&workloads, slow_share) {
        run.verdict.findings.push(finding.finding());
        sort(&mut run.verdict.findings);
    }
    run.disks = Some(DiskSweep {
        workloads,
        slow_share,
    });
}

/// Puts the figure of a row into its place.
fn add(
    workloads: &mut Vec<DiskWorkload>,
    run: &JudgedRun,
    row: &ResultRow,
    facts: Option<&TargetFingerprint>,
    together: bool,
) {
    let Some(trial) = row.trials.first().and_then(|i| run.trials.get(*i)) else {
        return;
    };
    let name = trial.workload.name.clone();
    let op = match trial.workload.mix.modifies() {
        true => OpKind::Write,
        false => OpKind::Read,
    };
    let random = trial.workload.pattern.is_random();
    let figure = row.ops.iter().find(|o| o.kind == op).map(|o| match random {
        true => o.ops_per_second.clone(),
        false => o.bytes_per_second.clone(),
    });
    let unknown = match random {
        true => Unit::OpsPerSecond,
        false => Unit::BytesPerSecond,
    };
    let figure = figure.unwrap_or_else(|| Estimate::unknown(unknown, "nothing was measured"));
    let at = workloads.iter().position(|w| w.name == name);
    let at = at.unwrap_or_else(|| {
        workloads.push(DiskWorkload {
            name,
            op,
            disks: Vec::new(),
            sum_alone: None,
            sum_together: None,
            together_over_alone: None,
        });
        workloads.len() - 1
    });
    let disks = &mut workloads[at].disks;
    let place = disks.iter().position(|d| d.target == row.target);
    let place = place.unwrap_or_else(|| {
        let leaves = leaves(facts);
        disks.push(DiskFigures {
            target: row.target.clone(),
            drives: leaves.iter().map(|d| d.name.clone()).collect(),
            model: leaves.first().and_then(|d| d.model.clone()),
            alone: None,
            together: None,
            together_over_alone: None,
            validity: row.verdict.validity,
            slow: None,
        });
        disks.len() - 1
    });
    let disk = &mut disks[place];
    disk.validity = disk.validity.max(row.verdict.validity);
    match together {
        true => disk.together = Some(figure),
        false => disk.alone = Some(figure),
    }
}

fn leaves(facts: Option<&TargetFingerprint>) -> Vec<&DeviceFacts> {
    let devices = facts.map(|facts| &facts.devices[..]).unwrap_or_default();
    devices.iter().filter(|d| d.below.is_empty()).collect()
}

/// Sums, ratios and who stands out.
fn complete(workload: &mut DiskWorkload, slow_share: f64) {
    for disk in &mut workload.disks {
        let both = disk.together.as_ref().zip(disk.alone.as_ref());
        disk.together_over_alone = both.map(|(together, alone)| over(together, alone));
    }
    let all = |pick: fn(&DiskFigures) -> Option<&Estimate>| {
        let figures: Vec<&Estimate> = workload.disks.iter().filter_map(pick).collect();
        sum_of_kinds(&figures)
    };
    workload.sum_alone = all(|disk| disk.alone.as_ref());
    workload.sum_together = all(|disk| disk.together.as_ref());
    let both = |disk: &&DiskFigures| disk.alone.is_some() && disk.together.is_some();
    let both: Vec<&DiskFigures> = workload.disks.iter().filter(both).collect();
    let alone: Vec<&Estimate> = both.iter().filter_map(|d| d.alone.as_ref()).collect();
    let together: Vec<&Estimate> = both.iter().filter_map(|d| d.together.as_ref()).collect();
    workload.together_over_alone = sum_of_kinds(&together)
        .zip(sum_of_kinds(&alone))
        .map(|(together, alone)| over(&together, &alone));
    let shared = workload.shared_drives().join(", ");
    if !shared.is_empty() {
        let no_sum = |sum: &Estimate| {
            let reason = format!("targets share {shared}, which would count more than once");
            Estimate::unknown(sum.unit, reason)
        };
        workload.sum_alone = workload.sum_alone.as_ref().map(no_sum);
        workload.together_over_alone = workload.together_over_alone.as_ref().map(no_sum);
    }
    let slow: Vec<Option<SlowDisk>> = (0..workload.disks.len())
        .map(|at| slow(&workload.disks, at, slow_share))
        .collect();
    for (disk, slow) in workload.disks.iter_mut().zip(slow) {
        disk.slow = slow;
    }
}

/// One estimate over another, with the widest interval that theirs allow.
fn over(above: &Estimate, below: &Estimate) -> Estimate {
    let divide = |a: Option<f64>, b: Option<f64>| a.zip(b).filter(|(_, b)| *b > 0.0);
    let divide = |a, b| divide(a, b).map(|(a, b)| a / b);
    Estimate {
        unit: Unit::Ratio,
        value: divide(above.value, below.value),
        low: divide(above.low, below.high),
        high: divide(above.high, below.low),
        n_effective: None,
        reason: above.reason.clone().or_else(|| below.reason.clone()),
        run_longer_ns: None,
    }
}

/// What makes disks peers.
fn model(disk: &DiskFigures) -> String {
    match (&disk.target, &disk.model) {
        (_, Some(model)) => model.clone(),
        // The parameters of a simulated drive may be what makes it slow.
        (Target::Sim(name), None) => {
            let end = name.find(|c: char| !c.is_alphanumeric() && c != '-' && c != '_');
            name[..end.unwrap_or(name.len())].to_owned()
        }
        (_, None) => {
            let name = disk.drives.first().map_or("", String::as_str);
            name.trim_end_matches(|c: char| c.is_ascii_digit())
                .to_owned()
        }
    }
}

/// Whether a disk is clearly slower than its peers: alone, or, where that was
/// not measured, while all worked.
fn slow(disks: &[DiskFigures], at: usize, slow_share: f64) -> Option<SlowDisk> {
    let comparable = |disk: &DiskFigures| disk.validity != Validity::NotTrusted;
    let own = disks.get(at).filter(|disk| comparable(disk))?;
    let together = own.alone.is_none();
    let figure = |disk: &DiskFigures| match together {
        true => disk.together.clone(),
        false => disk.alone.clone(),
    };
    let own_figure = figure(own)?;
    let own_model = model(own);
    let peers = disks.iter().enumerate();
    let peers: Vec<f64> = peers
        .filter(|(index, disk)| *index != at && comparable(disk) && model(disk) == own_model)
        .filter_map(|(_, disk)| figure(disk)?.value)
        .collect();
    let median = median(&peers)?;
    // A figure without an interval names nobody.
    let high = own_figure.high?;
    let share = own_figure.value? / median;
    (median > 0.0 && high < slow_share * median).then(|| SlowDisk {
        share,
        median_of_peers: median,
        peers: u32::try_from(peers.len()).unwrap_or(u32::MAX),
        together,
    })
}

/// The finding about the run: the slowest of the disks that stand out.
fn finding(workloads: &[DiskWorkload], slow_share: f64) -> Option<Outcome> {
    let mut by_disk: BTreeMap<&Target, Vec<(&str, f64)>> = BTreeMap::new();
    let mut compared = false;
    for workload in workloads {
        let mut models: Vec<String> = workload.disks.iter().map(model).collect();
        models.sort_unstable();
        compared |= models.windows(2).any(|pair| pair[0] == pair[1]);
        for disk in &workload.disks {
            if let Some(slow) = &disk.slow {
                let entry = by_disk.entry(&disk.target).or_default();
                entry.push((&workload.name, slow.share));
            }
        }
    }
    if !compared {
        return None;
    }
    let shares = by_disk.values().flatten().map(|(_, share)| *share);
    let Some(least) = shares.min_by(f64::total_cmp) else {
        let told = "no disk is clearly slower than the others of its model";
        return Some(Outcome::graded(CHECK, 1.0, told.to_owned()));
    };
    let told: Vec<String> = by_disk
        .iter()
        .map(|(target, slow)| {
            let shares: Vec<String> = slow
                .iter()
                .map(|(name, share)| format!("{name} {:.0} %", share * 100.0))
                .collect();
            format!("{target}: {} of the median of its peers", shares.join(", "))
        })
        .collect();
    let status = FindingStatus::Info;
    let told = told.join("; ");
    Some(Outcome::decided(
        CHECK,
        status,
        least,
        Some(slow_share),
        told,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn disk(target: &str, model: Option<&str>, alone: f64, together: f64) -> DiskFigures {
        let known = |value: f64| {
            Some(Estimate::known(
                Unit::OpsPerSecond,
                value,
                value * 0.95,
                value * 1.05,
                100.0,
            ))
        };
        DiskFigures {
            target: target.parse().unwrap(),
            drives: vec![format!("sd{target}")],
            model: model.map(str::to_owned),
            alone: known(alone),
            together: known(together),
            together_over_alone: None,
            validity: Validity::Trusted,
            slow: None,
        }
    }

    fn workload(disks: Vec<DiskFigures>) -> DiskWorkload {
        let mut workload = DiskWorkload {
            name: "randread".to_owned(),
            op: OpKind::Read,
            disks,
            sum_alone: None,
            sum_together: None,
            together_over_alone: None,
        };
        complete(&mut workload, 0.8);
        workload
    }

    #[test]
    fn a_drive_that_two_targets_share_is_not_added_twice() {
        let mut disks = vec![disk("a", None, 100.0, 50.0), disk("b", None, 100.0, 50.0)];
        for disk in &mut disks {
            disk.drives = vec!["sda".to_owned(), "sda".to_owned()];
        }
        let workload = workload(disks);
        assert_eq!(workload.shared_drives(), ["sda"]);
        let alone = workload.sum_alone.unwrap();
        assert_eq!(alone.value, None);
        assert!(alone.reason.unwrap().starts_with("targets share sda"));
        assert_eq!(workload.together_over_alone.unwrap().value, None);
        // At once they were what the drive gave.
        assert_eq!(workload.sum_together.unwrap().value, Some(100.0));
    }

    #[test]
    fn sums_and_ratios_are_of_all_disks() {
        let workload = workload(vec![
            disk("a", Some("M"), 1000.0, 500.0),
            disk("b", Some("M"), 1000.0, 1000.0),
        ]);
        let value = |e: &Option<Estimate>| e.as_ref().and_then(|e| e.value);
        assert_eq!(value(&workload.sum_alone), Some(2000.0));
        assert_eq!(value(&workload.sum_together), Some(1500.0));
        let ratio = workload.together_over_alone.unwrap();
        assert_eq!(ratio.value, Some(0.75));
        assert!(ratio.low < Some(0.75) && ratio.high > Some(0.75));
        assert_eq!(value(&workload.disks[0].together_over_alone), Some(0.5));
    }

    #[test]
    fn a_disk_is_slow_beside_its_own_model_only() {
        let named = |disks: Vec<DiskFigures>| -> Vec<String> {
            let workload = workload(disks);
            let slow = workload.disks.iter().filter(|d| d.slow.is_some());
            slow.map(|d| d.target.to_string()).collect()
        };
        let slow = named(vec![
            disk("a", Some("M"), 1000.0, 1000.0),
            disk("b", Some("M"), 1010.0, 1000.0),
            disk("c", Some("M"), 700.0, 1000.0),
            disk("d", Some("N"), 100.0, 1000.0),
        ]);
        assert_eq!(slow, ["c"]);
        // 0.78 with ± 5 % is not clear.
        let unclear = named(vec![
            disk("a", Some("M"), 1000.0, 1.0),
            disk("b", Some("M"), 780.0, 1.0),
        ]);
        assert!(unclear.is_empty(), "{unclear:?}");
        // What is not trusted or has no interval is no evidence.
        let mut untrusted = disk("b", Some("M"), 100.0, 1.0);
        untrusted.validity = Validity::NotTrusted;
        let mut short = disk("c", Some("M"), 100.0, 1.0);
        short.alone = Some(Estimate::point(Unit::OpsPerSecond, 100.0, "too short"));
        let first = disk("a", Some("M"), 1000.0, 1.0);
        assert!(named(vec![first, untrusted, short]).is_empty());
        let simulated = named(vec![
            disk("sim:ssd", None, 1000.0, 1.0),
            disk("sim:ssd?read_us=900", None, 100.0, 1.0),
        ]);
        assert_eq!(simulated, ["sim:ssd?read_us=900"]);
    }

    #[test]
    fn the_finding_names_the_disk_or_says_that_there_is_none() {
        let fine = workload(vec![
            disk("a", Some("M"), 1000.0, 1.0),
            disk("b", Some("M"), 990.0, 1.0),
        ]);
        let passed = finding(&[fine], 0.8).unwrap().finding();
        assert_eq!(passed.status, FindingStatus::Pass);
        let bad = workload(vec![
            disk("a", Some("M"), 1000.0, 1.0),
            disk("b", Some("M"), 500.0, 1.0),
        ]);
        let told = finding(&[bad], 0.8).unwrap().finding();
        assert_eq!(told.status, FindingStatus::Info);
        assert!(told.evidence.contains("b: randread 50 %"), "{told:?}");
        let strangers = workload(vec![
            disk("a", Some("M"), 1000.0, 1.0),
            disk("b", Some("N"), 500.0, 1.0),
        ]);
        assert!(finding(&[strangers], 0.8).is_none());
    }
}
