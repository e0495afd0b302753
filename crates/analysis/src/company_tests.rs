use fathom_model::fleet::FleetHost;
use fathom_model::judged::JudgedRun;
use fathom_model::run::TrialRecord;
use fathom_model::verdict::{Finding, FindingStatus};

use crate::test_records::{RecordBuilder, run_of};

const SECOND_NS: u64 = 1_000_000_000;

/// Puts trials that were made alone into one set: each is observed with what
/// all of them did to the device.
fn together(mut trials: Vec<TrialRecord>) -> Vec<TrialRecord> {
    let alone = trials.clone();
    for (place, trial) in trials.iter_mut().enumerate() {
        trial.spec.together = Some(0);
        trial.spec.label = format!("load {place}");
        for other in alone.iter().enumerate().filter(|(at, _)| *at != place) {
            for (seen, theirs) in trial.observations.iter_mut().zip(&other.1.observations) {
                seen.devices[0].read_bytes += theirs.devices[0].read_bytes;
                seen.devices[0].write_bytes += theirs.devices[0].write_bytes;
                // What the process caused is the process's, whichever trial it was.
                let own = seen.own.as_mut().expect("observed");
                own.storage_read_bytes = Some(seen.devices[0].read_bytes);
            }
        }
    }
    trials
}

fn judged(trials: Vec<TrialRecord>) -> JudgedRun {
    let host = RecordBuilder::reads().host;
    crate::judge(&run_of(trials, host))
}

fn finding<'r>(run: &'r JudgedRun, trial: usize, id: &str) -> &'r Finding {
    let findings = &run.trials[trial].verdict.findings;
    findings
        .iter()
        .find(|finding| finding.id == id)
        .unwrap_or_else(|| panic!("{id} says something"))
}

#[test]
fn what_the_others_did_is_not_foreign_and_not_read_twice() {
    let pair = vec![
        RecordBuilder::reads().trial(),
        RecordBuilder::writes().trial(),
    ];
    let run = judged(together(pair));
    for trial in 0..2 {
        let bytes = finding(&run, trial, "V01");
        assert_eq!(bytes.status, FindingStatus::Pass, "{}", bytes.evidence);
        let foreign = finding(&run, trial, "V30");
        assert_eq!(foreign.status, FindingStatus::Pass, "{}", foreign.evidence);
    }
    let evidence = &finding(&run, 0, "V01").evidence;
    assert!(evidence.contains("2 workloads"), "{evidence}");
}

/// Agents of one run: what each process fetched is its own, and all of them
/// see all that the devices of their machine did.
fn on_hosts(boot_ids: [&str; 2]) -> JudgedRun {
    let alone: Vec<TrialRecord> = (0..2)
        .map(|_| RecordBuilder::reads().buffered().trial())
        .collect();
    let mut trials = together(alone.clone());
    for (place, trial) in trials.iter_mut().enumerate() {
        trial.spec.host = Some(place as u32);
        for (seen, own) in trial
            .observations
            .iter_mut()
            .zip(&alone[place].observations)
        {
            seen.own.clone_from(&own.own);
        }
    }
    let mut run = run_of(trials, RecordBuilder::reads().host);
    run.meta.hosts = boot_ids
        .iter()
        .map(|id| {
            let mut fingerprint = RecordBuilder::reads().host;
            fingerprint
                .facts
                .insert("boot_id".to_owned(), (*id).to_owned());
            FleetHost {
                name: format!("h{id}"),
                fingerprint,
                ..FleetHost::default()
            }
        })
        .collect();
    crate::judge(&run)
}

#[test]
fn agents_of_one_run_on_one_machine_are_not_foreign_to_each_other() {
    let run = on_hosts(["a", "a"]);
    for trial in 0..2 {
        let foreign = finding(&run, trial, "V30");
        assert_eq!(foreign.status, FindingStatus::Pass, "{}", foreign.evidence);
    }
    // The same counters on two machines are somebody else's.
    let run = on_hosts(["a", "b"]);
    assert_eq!(finding(&run, 0, "V30").status, FindingStatus::Invalid);
}

#[test]
fn without_the_set_the_same_counters_would_be_foreign_load() {
    let mut pair = together(vec![
        RecordBuilder::reads().trial(),
        RecordBuilder::writes().trial(),
    ]);
    for trial in &mut pair {
        trial.spec.together = None;
    }
    let run = judged(pair);
    assert_ne!(finding(&run, 0, "V30").status, FindingStatus::Pass);
}

#[test]
fn foreign_load_beside_a_set_is_still_seen() {
    let busy = RecordBuilder::reads().with(|b| b.foreign_read_bytes = 64 << 20);
    let run = judged(together(vec![busy.trial(), RecordBuilder::reads().trial()]));
    // The process knows what it caused; everything else is somebody's.
    let mut trials = together(vec![busy.trial(), RecordBuilder::reads().trial()]);
    for trial in &mut trials {
        for seen in &mut trial.observations {
            let own = seen.own.as_mut().expect("observed");
            own.storage_read_bytes = Some(seen.devices[0].read_bytes - (64 << 20));
        }
    }
    drop(run);
    let run = judged(trials);
    assert_ne!(finding(&run, 1, "V30").status, FindingStatus::Pass);
}

#[test]
fn a_delayed_trial_is_compared_with_what_ran_at_its_time() {
    let mut pair = vec![
        RecordBuilder::reads().trial(),
        RecordBuilder::reads().with(|b| b.seconds = 20).trial(),
    ];
    pair[1].end.as_mut().expect("ended").load_started_ns = Some(30 * SECOND_NS);
    let first = pair[0].clone();
    for (at, trial) in pair.iter_mut().enumerate() {
        trial.spec.together = Some(0);
        trial.spec.label = format!("load {at}");
    }
    // The second sees what the first did from 30 s on, beside its own.
    let late = first.observations.iter().skip(30);
    for (seen, theirs) in pair[1].observations.iter_mut().zip(late) {
        seen.devices[0].read_bytes += theirs.devices[0].read_bytes;
        let own = seen.own.as_mut().expect("observed");
        own.storage_read_bytes = Some(seen.devices[0].read_bytes);
    }
    let run = judged(pair);
    for id in ["V01", "V30"] {
        let found = finding(&run, 1, id);
        assert_eq!(found.status, FindingStatus::Pass, "{}", found.evidence);
    }
}

#[test]
fn every_trial_of_a_set_says_that_it_was_not_alone() {
    let other_disk = RecordBuilder::reads().edit(|trial| {
        for seen in &mut trial.observations {
            seen.devices[0].name = "sdb".to_owned();
        }
    });
    let mut trials = vec![
        RecordBuilder::reads().trial(),
        RecordBuilder::reads().trial(),
        other_disk.trial(),
        RecordBuilder::reads().trial(),
    ];
    for (at, trial) in trials.iter_mut().enumerate().take(3) {
        trial.spec.together = Some(4);
        trial.spec.label = format!("load {at}");
    }
    let run = judged(trials);
    let found = finding(&run, 0, "V75");
    assert_eq!(found.status, FindingStatus::Info);
    assert_eq!(found.measured, Some(2.0));
    let text = &found.evidence;
    assert!(
        text.contains("load 1, load 2, 1 of them on the same"),
        "{text}"
    );
    let text = &finding(&run, 2, "V75").evidence;
    assert!(text.contains("none of them on the same devices"), "{text}");
    let alone = &run.trials[3].verdict.findings;
    assert!(alone.iter().all(|finding| finding.id != "V75"));
}

#[test]
fn a_buffered_trial_beside_a_direct_one_is_not_measured_against_the_device() {
    let pair = vec![
        RecordBuilder::reads().buffered().trial(),
        RecordBuilder::reads().trial(),
    ];
    let run = judged(together(pair));
    let found = finding(&run, 0, "V01");
    assert_eq!(found.status, FindingStatus::NotMeasured);
    assert_eq!(finding(&run, 1, "V01").status, FindingStatus::Pass);
}

#[test]
fn a_deeper_sibling_in_a_set_proves_nothing_about_a_trial_alone() {
    let deeper = RecordBuilder::reads().with(|b| {
        b.workload.queue_depth = 64;
        b.ops_per_second = 1_010;
    });
    let mut trials = vec![
        RecordBuilder::reads().trial(),
        deeper.trial(),
        RecordBuilder::writes().trial(),
    ];
    let alone = judged(trials.clone());
    assert_eq!(finding(&alone, 0, "V21").status, FindingStatus::Pass);
    trials[1].spec.together = Some(0);
    trials[2].spec.together = Some(0);
    let run = judged(trials);
    assert_eq!(finding(&run, 0, "V21").status, FindingStatus::NotMeasured);
}
