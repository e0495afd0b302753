use fathom_model::judged::JudgedRun;
use fathom_model::run::TrialRecord;
use fathom_model::{Histogram, OpKind};

use super::*;
use crate::test_records::{RecordBuilder, run_of};

fn reads(ops_per_second: u64, seconds: u32) -> TrialRecord {
    let builder = RecordBuilder::reads().with(|b| {
        b.ops_per_second = ops_per_second;
        b.seconds = seconds;
        b.noise = 0.0;
    });
    let mut trial = builder.trial();
    trial.spec.together = Some(0);
    trial
}

fn delayed(mut trial: TrialRecord, delay_ns: u64) -> TrialRecord {
    trial.end.as_mut().expect("ended").load_started_ns = Some(delay_ns);
    trial
}

fn judged(trials: Vec<TrialRecord>) -> JudgedRun {
    crate::judge(&run_of(trials, RecordBuilder::reads().host))
}

#[test]
fn rates_add_up_over_the_time_that_all_have_in_common() {
    let late = delayed(reads(500, 30), 20 * SECOND_NS + 300_000_000);
    let run = judged(vec![reads(1_000, 60), late]);
    assert_eq!(run.sets.len(), 1);
    let set = &run.sets[0];
    assert_eq!(
        (set.rows.as_slice(), set.trials.as_slice()),
        (&[0, 1][..], &[vec![0, 1]][..])
    );
    let sum = set.sum.as_ref().expect("30 s in common");
    assert_eq!(
        (sum.from_ns, sum.duration_ns),
        (20 * SECOND_NS, 30 * SECOND_NS)
    );
    assert_eq!(sum.ops[0].ops, 30 * 1_500);
    let rate = sum.ops_per_second.value.expect("a rate");
    assert!((rate - 1_500.0).abs() < 1.0, "{rate}");
    let bytes = sum.bytes_per_second.value.expect("a rate");
    assert!((bytes - 1_500.0 * 4096.0).abs() < 4096.0, "{bytes}");
    assert_eq!(run.rows[1].set, Some(0));
    let place = run.trials[1].in_set.as_ref().expect("in the set");
    assert_eq!((place.set, place.turn), (0, 0));
    assert_eq!(place.load_started_ns, Some(20 * SECOND_NS + 300_000_000));
}

#[test]
fn percentiles_come_from_merged_histograms() {
    let with_latency = |latency_ns: u64, ops: u64| {
        let mut trial = reads(ops, 20);
        for op in trial.samples.iter_mut().flat_map(|s| &mut s.ops) {
            let mut histogram = Histogram::new();
            (0..op.ops).for_each(|_| histogram.record(latency_ns));
            op.service = histogram;
        }
        trial
    };
    // 90 % of operations take 1 ms, 10 % take 100 ms: the mean of the medians
    // would be 50 ms.
    let run = judged(vec![
        with_latency(1_000_000, 9_000),
        with_latency(100_000_000, 1_000),
    ]);
    let sum = run.sets[0].sum.as_ref().expect("a sum");
    let percentile = |percent: f64| {
        let all = &sum.service.percentiles;
        let found = all.iter().find(|p| (p.percent - percent).abs() < 1e-9);
        found.and_then(|p| p.latency_ns.value).expect("supported")
    };
    assert!(percentile(50.0) < 1_100_000.0);
    assert!(percentile(95.0) > 99_000_000.0);
}

#[test]
fn iterations_of_a_set_are_one_result() {
    let mut trials = vec![
        reads(1_000, 30),
        reads(500, 30),
        reads(1_000, 30),
        reads(500, 30),
    ];
    trials[2].spec.together = Some(1);
    trials[3].spec.together = Some(1);
    let mut record = run_of(trials, RecordBuilder::reads().host);
    for (at, trial) in record.trials.iter_mut().enumerate() {
        trial.spec.row = at as u32 % 2;
        trial.spec.iteration = at as u32 / 2;
    }
    let run = crate::judge(&record);
    assert_eq!(run.rows.len(), 2);
    assert_eq!(run.sets.len(), 1);
    assert_eq!(run.sets[0].trials, [vec![0, 1], vec![2, 3]]);
    let sum = run.sets[0].sum.as_ref().expect("a sum");
    assert_eq!(sum.duration_ns, 60 * SECOND_NS);
    assert_eq!(sum.ops[0].kind, OpKind::Read);
    let rate = sum.ops_per_second.value.expect("a rate");
    assert!((rate - 1_500.0).abs() < 1.0, "{rate}");
}

#[test]
fn without_a_common_time_there_is_no_sum_and_the_reason_is_said() {
    let after = delayed(reads(500, 10), 20 * SECOND_NS);
    let run = judged(vec![reads(1_000, 20), after]);
    assert_eq!(run.sets[0].sum, None);
    assert!(
        run.sets[0]
            .note
            .as_ref()
            .is_some_and(|note| note.contains("no whole second"))
    );
    let mut idle = reads(500, 10);
    idle.samples.clear();
    let run = judged(vec![reads(1_000, 20), idle]);
    assert!(run.sets[0].sum.is_some());
    assert!(
        run.sets[0]
            .note
            .as_ref()
            .is_some_and(|note| note.contains("measured nothing"))
    );
}

#[test]
fn trials_shorter_than_a_second_add_up_as_well() {
    let short = |ops| {
        let mut trial = reads(ops, 1);
        for sample in &mut trial.samples {
            sample.duration_ns = 300_000_000;
        }
        trial
    };
    let run = judged(vec![short(300), short(600)]);
    let sum = run.sets[0].sum.as_ref().expect("the same 0.3 s");
    assert_eq!((sum.duration_ns, sum.ops[0].ops), (300_000_000, 900));
}
