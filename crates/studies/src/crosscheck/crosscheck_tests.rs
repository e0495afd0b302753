//! Pairs whose truth is known.

use fathom_analysis::judgement::Trial;
use fathom_analysis::test_records::{RecordBuilder, run_of};
use fathom_model::crosscheck::{Agreement, ComparedFigure, CrossFigure, CrosscheckRow};
use fathom_model::run::{RunRecord, RunState};
use fathom_model::{OpKind, Workload};

use super::compare::{CrossMargins, crosscheck_rows};
use super::figures::{CrossKind, CrossSide};
use super::row::{CrossPair, CrossRow};

const MARGINS: CrossMargins = CrossMargins {
    rate_percent: 3.0,
    latency_percent: 5.0,
};

/// fio's job of a minute: reads with this rate and a fixed latency.
fn job(ops_per_second: f64, latency_ns: f64) -> CrossSide {
    let ops = ops_per_second * 60.0;
    CrossSide {
        ops_per_second,
        bytes_per_second: ops_per_second * 4096.0,
        cpu_ns_per_op: Some(0.05 * 60e9 / ops),
        cpu_share: Some(0.05),
        kinds: vec![CrossKind {
            kind: OpKind::Read,
            count: ops,
            mean_ns: Some(latency_ns),
            percentiles: vec![(50.0, latency_ns), (99.0, latency_ns), (99.9, latency_ns)],
        }],
        error: Some(0),
        ..CrossSide::default()
    }
}

/// fathom's trials with these rates.
fn trials(rates: &[u64]) -> RunRecord {
    let trial = |rate: &u64| {
        let mut builder = RecordBuilder::reads();
        builder.ops_per_second = *rate;
        builder.noise = 0.0;
        builder.trial()
    };
    let host = RecordBuilder::reads().host;
    run_of(rates.iter().map(trial).collect(), host)
}

fn checked(record: &RunRecord, jobs: &[CrossSide]) -> (CrosscheckRow, Agreement) {
    let pairs = record.trials.iter().zip(jobs).zip(0..);
    let row = CrossRow {
        label: "row".to_owned(),
        target: "/mnt".to_owned(),
        differences: vec!["something".to_owned()],
        pairs: pairs
            .map(|((trial, job), pair)| CrossPair {
                pair,
                peer_first: pair % 2 == 1,
                fathom: Some(trial),
                peer: Some(job),
            })
            .collect(),
    };
    let (mut rows, outcome) = crosscheck_rows(&[row], &record.meta.host, MARGINS);
    (rows.remove(0), outcome)
}

fn figure(row: &CrosscheckRow, figure: CrossFigure) -> &ComparedFigure {
    row.figures.iter().find(|f| f.figure == figure).unwrap()
}

fn mean_latency(record: &RunRecord) -> f64 {
    let trial = Trial::new(&record.trials[0], &record.meta.host);
    CrossSide::of_trial(&trial).kinds[0].percentiles[1].1
}

#[test]
fn equal_tools_agree_and_a_slower_one_differs() {
    let record = trials(&[1000, 1002, 998, 1001, 999, 1000]);
    let latency = mean_latency(&record);
    let jobs = |factor: f64| -> Vec<CrossSide> {
        let noise = [0.999, 1.001, 1.002, 0.998, 1.0, 1.001];
        noise
            .iter()
            .map(|n| job(1000.0 * factor * n, latency))
            .collect()
    };
    let (row, outcome) = checked(&record, &jobs(1.0));
    assert_eq!(outcome, Agreement::Agree, "{row:#?}");
    assert_eq!(figure(&row, CrossFigure::OpsPerSecond).more_pairs, None);
    assert!(row.causes.is_empty());
    let (row, outcome) = checked(&record, &jobs(1.1));
    assert_eq!(outcome, Agreement::Differ);
    let ops = figure(&row, CrossFigure::OpsPerSecond);
    assert_eq!(ops.outcome, Agreement::Differ);
    assert!((ops.ratio.value.unwrap() - 1.0 / 1.1).abs() < 0.002);
    assert_eq!(
        figure(&row, CrossFigure::LatencyP99).outcome,
        Agreement::Agree
    );
    assert_eq!(row.differences, ["something"]);
}

#[test]
fn a_difference_at_the_margin_is_not_decided() {
    let record = trials(&[1030, 1020, 1040, 1025, 1035, 1031]);
    let jobs = vec![job(1000.0, mean_latency(&record)); 6];
    let (row, outcome) = checked(&record, &jobs);
    assert_eq!(outcome, Agreement::Inconclusive);
    let ops = figure(&row, CrossFigure::OpsPerSecond);
    assert_eq!(ops.outcome, Agreement::Inconclusive);
    assert!(ops.p_agree.unwrap() > 0.05 && ops.p_differ.unwrap() > 0.05);
}

#[test]
fn two_pairs_decide_nothing_but_show_figures() {
    let record = trials(&[1000, 1001]);
    let jobs = vec![job(1000.0, mean_latency(&record)); 2];
    let (row, outcome) = checked(&record, &jobs);
    assert_eq!(outcome, Agreement::Inconclusive);
    let ops = figure(&row, CrossFigure::OpsPerSecond);
    assert_eq!(ops.pairs.len(), 2);
    assert_eq!(ops.more_pairs, Some(4));
}

#[test]
fn failed_jobs_and_half_trials_are_named_and_left_out() {
    let mut record = trials(&[1000, 1000, 1000]);
    record.trials[2].state = RunState::Interrupted;
    let mut jobs = vec![job(1000.0, 1e6); 3];
    jobs[1].error = Some(5);
    let (row, outcome) = checked(&record, &jobs);
    assert_eq!(outcome, Agreement::Inconclusive);
    assert_eq!(figure(&row, CrossFigure::OpsPerSecond).pairs.len(), 1);
    assert_eq!(row.remarks.len(), 2);
    assert!(row.remarks[0].contains("pair 2") && row.remarks[0].contains("error 5"));
}

#[test]
fn a_percentile_needs_its_operations() {
    let record = trials(&[1000, 1000]);
    let mut few = job(1000.0, 1e6);
    few.kinds[0].count = 100.0;
    let (row, _) = checked(&record, &[few.clone(), few]);
    let p99 = figure(&row, CrossFigure::LatencyP99);
    assert!(p99.pairs.is_empty());
    assert!(
        p99.ratio
            .reason
            .as_ref()
            .unwrap()
            .contains("needs 367 operations"),
        "{p99:?}"
    );
}

#[test]
fn the_likely_causes_are_named() {
    let mut record = trials(&[1000; 6]);
    let mut workload = Workload::example("w");
    workload.cache = fathom_model::workload::CacheMode::Buffered;
    for trial in &mut record.trials {
        trial.spec.workload = workload.clone();
    }
    let mut peer = job(2000.0, mean_latency(&record));
    peer.cpu_share = Some(0.98);
    peer.cpu_ns_per_op = Some(0.98 * 60e9 / 120_000.0);
    peer.submission_ns = Some(mean_latency(&record) / 2.0);
    let (row, outcome) = checked(&record, &vec![peer; 6]);
    assert_eq!(outcome, Agreement::Differ);
    for words in [
        "the tools are the limit",
        "its own submission",
        "page cache",
    ] {
        let found = row.causes.iter().any(|cause| cause.contains(words));
        assert!(found, "{words}: {:?}", row.causes);
    }
}
