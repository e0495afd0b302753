use fathom_model::judged::JudgedRun;
use fathom_model::run::RunState;
use fathom_model::verdict::{FindingStatus, Limiter, Validity};

use crate::judge;
use crate::test_records::{RecordBuilder, run_of};

fn assert_clean(judged: &JudgedRun) {
    let worst: Vec<_> = judged
        .verdict
        .findings
        .iter()
        .filter(|f| f.status > FindingStatus::Info)
        .collect();
    assert_eq!(judged.verdict.validity, Validity::Trusted, "{worst:#?}");
}

#[test]
fn a_sound_run_is_trusted() {
    let judged = judge(&RecordBuilder::reads().run());
    assert_clean(&judged);
    let op = &judged.rows[0].ops[0];
    let rate = &op.ops_per_second;
    assert!(rate.low < rate.value && rate.value < rate.high, "{rate:?}");
    assert!((rate.value.unwrap() - 1000.0).abs() < 10.0);
    assert_eq!(judged.trials[0].intervals.len(), 60);
    assert_eq!(judged.run.planned_trials, 1);
}

#[test]
fn a_sound_quick_run_is_trusted() {
    for builder in [RecordBuilder::reads(), RecordBuilder::writes()] {
        let short = builder.with(|b| {
            b.seconds = 10;
            b.workload.bounds.time_ns = Some(10_000_000_000);
        });
        let judged = judge(&short.run());
        assert_clean(&judged);
    }
}

#[test]
fn identical_records_give_identical_judgements() {
    let record = RecordBuilder::reads().run();
    assert_eq!(judge(&record), judge(&record));
}

#[test]
fn an_empty_run_is_not_trusted_and_says_why() {
    let mut record = RecordBuilder::reads().run();
    record.trials.clear();
    record.meta.state = RunState::Failed;
    record.meta.reason = Some("the target does not exist".to_owned());
    let judged = judge(&record);
    assert_eq!(judged.verdict.validity, Validity::NotTrusted);
    let finding = &judged.verdict.findings[0];
    assert!(finding.evidence.contains("does not exist"), "{finding:?}");
}

#[test]
fn trials_that_did_not_run_are_a_caveat_of_the_run() {
    let trial = RecordBuilder::reads().trial();
    let mut record = run_of(vec![trial.clone(), trial], RecordBuilder::reads().host);
    record.trials.pop();
    record.meta.state = RunState::Interrupted;
    let judged = judge(&record);
    assert_eq!(judged.verdict.validity, Validity::Caveats);
    assert_eq!(judged.verdict.findings[0].id, "V29");
    assert_eq!(judged.trials[0].verdict.validity, Validity::Trusted);
}

#[test]
fn the_limiter_of_a_sound_run_is_not_guessed() {
    let judged = judge(&RecordBuilder::reads().run());
    assert_eq!(judged.verdict.limiter, Limiter::Unknown);
    assert!(judged.verdict.limiter_evidence.contains("capacity"));
}
