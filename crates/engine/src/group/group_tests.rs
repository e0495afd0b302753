use super::*;
use fathom_model::workload::{Bounds, EngineKind};
use fathom_model::{OpKind, Phase, Target, Workload};

use crate::prepare::{NoHooks, prepare};

fn null_job(change: impl FnOnce(&mut Workload)) -> Job {
    let mut workload = Workload::example("null");
    workload.engine = EngineKind::Null;
    workload.bounds = Bounds {
        time_ns: None,
        bytes: None,
        ops: Some(10_000),
    };
    change(&mut workload);
    Job {
        workload,
        target: Target::Null,
        seed: 1,
        run_tag: 2,
        destructive: false,
        keep_files: false,
        file_prefix: "test".to_owned(),
    }
}

fn run(job: &Job) -> GroupEnd {
    let prepared = prepare(job, &mut NoHooks).unwrap();
    let mut group = Group::start(job, &prepared).unwrap();
    group.go();
    group.finish()
}

fn measured_ops(end: &GroupEnd) -> u64 {
    let measured = end.samples.iter().filter(|s| s.phase == Phase::Measure);
    measured.map(Sample::data_ops).sum()
}

#[test]
fn an_operation_bound_is_exact_over_workers_and_depths() {
    for (workers, depth) in [(1, 1), (3, 1), (2, 32)] {
        let end = run(&null_job(|w| {
            w.workers = workers;
            w.queue_depth = depth;
        }));
        assert_eq!(measured_ops(&end), 10_000, "{workers} x {depth}");
        assert_eq!(end.end_reason, EndReason::Ops);
        assert_eq!(end.report.errors, []);
        assert_eq!(end.report.workers, workers);
    }
}

#[test]
fn intervals_are_cut_exactly_at_the_phases() {
    let end = run(&null_job(|w| {
        w.workers = 2;
        w.warmup_ns = 120_000_000;
        w.bounds = Bounds {
            time_ns: Some(1_250_000_000),
            bytes: None,
            ops: None,
        };
    }));
    let spans: Vec<_> = end
        .samples
        .iter()
        .filter(|s| s.phase != Phase::Settle)
        .map(|s| (s.phase, s.index, s.start_ns, s.duration_ns, s.workers))
        .collect();
    assert_eq!(
        spans,
        [
            (Phase::Warmup, 0, 0, 120_000_000, 2),
            (Phase::Measure, 0, 120_000_000, 1_000_000_000, 2),
            (Phase::Measure, 1, 1_120_000_000, 250_000_000, 2),
        ]
    );
    for sample in &end.samples {
        let read = sample.op(OpKind::Read).unwrap();
        assert_eq!(read.ops, read.service.count());
        assert_eq!(read.bytes, read.ops * 4096);
    }
    assert_eq!(end.end_reason, EndReason::Time);
}

#[test]
fn a_group_that_never_went_can_be_finished() {
    let job = null_job(|_| {});
    let prepared = prepare(&job, &mut NoHooks).unwrap();
    let end = Group::start(&job, &prepared).unwrap().finish();
    assert_eq!(end.end_reason, EndReason::Stopped);
    assert_eq!(measured_ops(&end), 0);
}

#[test]
fn stop_ends_an_endless_load() {
    let job = null_job(|w| w.bounds = Bounds::default());
    let prepared = prepare(&job, &mut NoHooks).unwrap();
    let mut group = Group::start(&job, &prepared).unwrap();
    group.go();
    group.stop();
    let end = group.finish();
    assert_eq!(end.end_reason, EndReason::Stopped);
}

#[test]
fn workloads_beyond_the_limits_are_refused() {
    for change in [
        (|w| w.workers = 0) as fn(&mut Workload),
        |w| w.queue_depth = 0,
        |w| w.queue_depth = 1 << 20,
        |w| w.mix.read_percent = 50,
        |w| w.block = fathom_model::workload::BlockSizes::Fixed(1 << 33),
    ] {
        let good = null_job(|_| {});
        let prepared = prepare(&good, &mut NoHooks).unwrap();
        let job = null_job(change);
        assert!(matches!(
            Group::start(&job, &prepared),
            Err(Error::Workload(_))
        ));
    }
}

#[test]
fn details_are_recorded_when_they_are_asked_for() {
    let end = run(&null_job(|w| {
        w.workers = 2;
        w.queue_depth = 8;
        w.recording.distributions = true;
        w.recording.op_log = 3000;
        w.recording.interval_ns = Some(10_000_000);
    }));
    assert_eq!(measured_ops(&end), 10_000);
    let depths = end.report.depths.unwrap();
    assert_eq!(depths.at_submission.iter().sum::<u64>(), 10_000);
    assert!(depths.submitted.iter().sum::<u64>() > 0);
    assert!(depths.completed.iter().sum::<u64>() > 0);
    assert_eq!(depths.at_submission[4..], [0; 3], "never deeper than 8");
    let logged: Vec<_> = end.samples.iter().flat_map(|s| &s.operations).collect();
    assert_eq!(logged.len() as u64 + end.report.unlogged_ops, 10_000);
    assert!((1500..=3000).contains(&logged.len()), "a share of each");
    assert!(logged.iter().all(|o| o.worker < 2 && o.bytes == 4096));
    assert!(logged.is_sorted_by_key(|o| o.ended_ns));
    for sample in &end.samples {
        let read = sample.op(OpKind::Read).unwrap();
        assert!(read.service.squares().is_some() || read.ops == 0);
        assert_eq!(read.halves, None, "a synchronous engine has none");
        let end_ns = sample.start_ns + sample.duration_ns;
        assert!(sample.operations.iter().all(|o| o.ended_ns <= end_ns));
    }
    assert!(end.report.threads.is_some());
}

#[test]
fn nothing_more_is_recorded_unless_asked_for() {
    let end = run(&null_job(|_| ()));
    assert_eq!((end.report.depths, end.report.unlogged_ops), (None, 0));
    for sample in &end.samples {
        assert_eq!(sample.operations, []);
        assert!(sample.ops.iter().all(|op| op.service.squares().is_none()));
    }
}
