//! What a group of workers does with an engine.

use std::path::Path;

use fathom_model::workload::{
    Bounds, CacheMode, Content, EngineKind, OnError, OpMix, Pattern, Rate, RateUnit, SyncPolicy,
};
use fathom_model::{ErrorClass, Job, OpKind, Phase, Sample, Target, Workload};

use super::engines;
use crate::group::EndReason;
use crate::prepare::{NoHooks, prepare};
use crate::{Group, GroupEnd};

pub(super) const FILE_BYTES: u64 = 1 << 20;

pub(super) fn all_engines() -> impl Iterator<Item = EngineKind> {
    engines().chain([EngineKind::Null, EngineKind::Sim])
}

/// A job on a file of its own in `dir`, or on what the engine needs instead.
pub(super) fn job(kind: EngineKind, dir: &Path, change: impl FnOnce(&mut Workload)) -> Job {
    let mut workload = Workload::example("conformance");
    workload.engine = kind;
    workload.cache = CacheMode::Buffered;
    workload.data_set.size_bytes = Some(FILE_BYTES);
    workload.queue_depth = 8;
    workload.bounds = Bounds {
        ops: Some(500),
        ..Bounds::default()
    };
    change(&mut workload);
    let target = match kind {
        EngineKind::Null => Target::Null,
        EngineKind::Sim => Target::Sim("ideal".to_owned()),
        _ => {
            let path = dir.join("file");
            if !path.exists() {
                std::fs::write(&path, vec![7u8; FILE_BYTES as usize]).unwrap();
            }
            Target::Path(path)
        }
    };
    Job {
        workload,
        target,
        seed: 3,
        run_tag: 4,
        destructive: true,
        keep_files: false,
        file_prefix: "conformance".to_owned(),
    }
}

pub(super) fn run(job: &Job) -> GroupEnd {
    run_after(job, || ())
}

/// Runs a job; `change` is called between preparing and loading.
pub(super) fn run_after(job: &Job, change: impl FnOnce()) -> GroupEnd {
    let prepared = prepare(job, &mut NoHooks).unwrap();
    change();
    let mut group = Group::start(job, &prepared).unwrap();
    group.go();
    group.finish()
}

fn measured(end: &GroupEnd) -> impl Iterator<Item = &Sample> {
    end.samples.iter().filter(|s| s.phase == Phase::Measure)
}

pub(super) fn ops(end: &GroupEnd, kind: OpKind) -> u64 {
    let samples = end.samples.iter().filter_map(|s| s.op(kind));
    samples.map(|op| op.ops).sum()
}

pub(super) fn errors(end: &GroupEnd, class: ErrorClass) -> u64 {
    end.samples.iter().map(|s| s.errors().get(class)).sum()
}

/// Holds for every group, whatever it did.
pub(super) fn check_sums(end: &GroupEnd, kind: EngineKind) {
    let mut in_flight_ns = 0u128;
    let mut service_ns = 0u128;
    for sample in &end.samples {
        in_flight_ns += sample.in_flight_ns;
        for op in &sample.ops {
            assert_eq!(op.ops, op.service.count(), "{kind:?}");
            if op.kind != OpKind::Commit {
                service_ns += op.service.sum();
            }
        }
    }
    // Little's law without the statistics: time in flight, added up over
    // operations or over time, is the same when all operations succeeded.
    if end.report.errors.is_empty() && end.report.impossible_latencies == 0 {
        assert_eq!(in_flight_ns, service_ns, "{kind:?}");
    }
}

#[test]
fn bounds_are_exact_and_samples_add_up() {
    for kind in all_engines() {
        for workers in [1, 3] {
            let dir = tempfile::tempdir().unwrap();
            let end = run(&job(kind, dir.path(), |w| w.workers = workers));
            assert_eq!(ops(&end, OpKind::Read), 500, "{kind:?} {:?}", end.report);
            assert_eq!(end.end_reason, EndReason::Ops, "{kind:?}");
            assert_eq!(end.report.used, Some(kind));
            check_sums(&end, kind);

            let end = run(&job(kind, dir.path(), |w| {
                w.workers = workers;
                w.bounds = Bounds {
                    bytes: Some(300 * 4096),
                    ..Bounds::default()
                };
            }));
            let bytes: u64 = measured(&end).map(Sample::data_bytes).sum();
            assert_eq!(bytes, 300 * 4096, "{kind:?}");
            assert_eq!(end.end_reason, EndReason::Bytes, "{kind:?}");
            check_sums(&end, kind);
        }
    }
}

#[test]
fn time_is_cut_exactly_whatever_the_engine() {
    for kind in all_engines() {
        let dir = tempfile::tempdir().unwrap();
        let end = run(&job(kind, dir.path(), |w| {
            w.warmup_ns = 30_000_000;
            w.bounds = Bounds {
                time_ns: Some(50_000_000),
                ..Bounds::default()
            };
        }));
        let spans: Vec<_> = end
            .samples
            .iter()
            .filter(|s| s.phase != Phase::Settle)
            .map(|s| (s.phase, s.start_ns, s.duration_ns))
            .collect();
        assert_eq!(
            spans,
            [
                (Phase::Warmup, 0, 30_000_000),
                (Phase::Measure, 30_000_000, 50_000_000)
            ],
            "{kind:?}"
        );
        assert_eq!(end.end_reason, EndReason::Time, "{kind:?}");
        check_sums(&end, kind);
    }
}

#[test]
fn what_began_in_the_warm_up_counts_against_the_bound() {
    for kind in all_engines() {
        let dir = tempfile::tempdir().unwrap();
        let end = run(&job(kind, dir.path(), |w| {
            w.workers = 2;
            w.warmup_ns = 20_000_000;
        }));
        let read: u64 = measured(&end).map(Sample::data_ops).sum();
        assert_eq!(read, 500, "{kind:?}");
        assert_eq!(end.end_reason, EndReason::Ops, "{kind:?}");
        check_sums(&end, kind);
    }
}

#[test]
fn think_time_spaces_operations_of_a_slot() {
    for kind in all_engines() {
        let dir = tempfile::tempdir().unwrap();
        let end = run(&job(kind, dir.path(), |w| {
            w.queue_depth = 4;
            w.think_ns = 5_000_000;
            w.bounds = Bounds {
                time_ns: Some(50_000_000),
                ..Bounds::default()
            };
        }));
        // A slot has an operation at 0, and then at most one every 5 ms.
        let read = ops(&end, OpKind::Read);
        assert!((1..=4 * 10).contains(&read), "{kind:?}: {read}");
        check_sums(&end, kind);
    }
}

#[test]
fn writes_reach_the_file() {
    for kind in engines() {
        let dir = tempfile::tempdir().unwrap();
        let end = run(&job(kind, dir.path(), |w| {
            w.mix = OpMix::WRITE;
            w.pattern = Pattern::Sequential;
            w.payload.content = Content::Bytes(vec![0xA5]);
            w.bounds.ops = Some(FILE_BYTES / 4096);
            w.sync.final_flush = true;
        }));
        assert_eq!(end.report.errors, [], "{kind:?}");
        let bytes = std::fs::read(dir.path().join("file")).unwrap();
        assert_eq!(bytes.len() as u64, FILE_BYTES, "{kind:?}");
        assert!(bytes.iter().all(|b| *b == 0xA5), "{kind:?}");
        assert!(end.final_flush_ns.is_some(), "{kind:?}");
        check_sums(&end, kind);
    }
}

#[test]
fn every_batch_of_writes_is_flushed_and_committed() {
    for kind in all_engines() {
        let dir = tempfile::tempdir().unwrap();
        let end = run(&job(kind, dir.path(), |w| {
            w.mix = OpMix {
                read_percent: 50,
                write_percent: 50,
                trim_percent: 0,
            };
            w.sync = SyncPolicy {
                every_writes: 4,
                ..SyncPolicy::default()
            };
        }));
        let writes = ops(&end, OpKind::Write);
        assert!(writes > 100, "{kind:?}");
        assert_eq!(ops(&end, OpKind::Read) + writes, 500, "{kind:?}");
        assert_eq!(ops(&end, OpKind::Sync), writes / 4, "{kind:?}");
        assert_eq!(ops(&end, OpKind::Commit), writes / 4, "{kind:?}");
        for sample in &end.samples {
            let commit = sample.op(OpKind::Commit).unwrap();
            let sync = sample.op(OpKind::Sync).unwrap();
            assert!(commit.service.max() >= sync.service.max(), "{kind:?}");
            assert_eq!(commit.bytes + sync.bytes, 0);
        }
        check_sums(&end, kind);
    }
}

#[test]
fn an_undrained_flush_follows_every_batch_and_commits_nothing() {
    for kind in all_engines() {
        let dir = tempfile::tempdir().unwrap();
        let end = run(&job(kind, dir.path(), |w| {
            w.mix = OpMix {
                read_percent: 0,
                write_percent: 100,
                trim_percent: 0,
            };
            w.sync = SyncPolicy {
                every_writes: 4,
                undrained: true,
                ..SyncPolicy::default()
            };
        }));
        assert_eq!(ops(&end, OpKind::Write), 500, "{kind:?}");
        assert_eq!(ops(&end, OpKind::Sync), 125, "{kind:?}");
        assert_eq!(ops(&end, OpKind::Commit), 0, "{kind:?}");
        check_sums(&end, kind);
    }
}

#[test]
fn a_failure_is_no_work_and_ends_the_load_or_not_as_asked() {
    for kind in engines() {
        let dir = tempfile::tempdir().unwrap();
        let cut = |on_error| {
            let _ = std::fs::remove_file(dir.path().join("file"));
            let job = job(kind, dir.path(), |w| {
                w.pattern = Pattern::Sequential;
                w.on_error = on_error;
                w.bounds.ops = Some(256);
            });
            run_after(&job, || {
                let file = std::fs::File::options()
                    .write(true)
                    .open(dir.path().join("file"))
                    .unwrap();
                // The second half of the file is gone when the load comes to it.
                file.set_len(FILE_BYTES / 2).unwrap();
            })
        };
        let class = match kind {
            EngineKind::Mmap => ErrorClass::Io,
            _ => ErrorClass::Short,
        };
        let end = cut(OnError::Continue);
        assert_eq!(ops(&end, OpKind::Read), 128, "{kind:?}");
        assert_eq!(errors(&end, class), 128, "{kind:?} {:?}", end.report.errors);
        assert_eq!(end.report.errors.len(), 100, "{kind:?}: the first are kept");
        assert_eq!(end.end_reason, EndReason::Ops, "{kind:?}");
        check_sums(&end, kind);

        let end = cut(OnError::Stop);
        assert_eq!(ops(&end, OpKind::Read), 128, "{kind:?}");
        assert!((1..=8).contains(&errors(&end, class)), "{kind:?}");
        assert_eq!(end.end_reason, EndReason::Error, "{kind:?}");
        check_sums(&end, kind);
    }
}

#[test]
fn stopping_ends_an_unbounded_load() {
    for kind in all_engines() {
        let dir = tempfile::tempdir().unwrap();
        let job = job(kind, dir.path(), |w| w.bounds = Bounds::default());
        let prepared = prepare(&job, &mut NoHooks).unwrap();
        let mut group = Group::start(&job, &prepared).unwrap();
        group.go();
        assert!(group.origin_monotonic_ns() > 0);
        group.stop();
        let end = group.finish();
        assert_eq!(end.end_reason, EndReason::Stopped, "{kind:?}");
        check_sums(&end, kind);
    }
}

#[test]
fn an_open_loop_keeps_its_schedule_and_says_how_late_it_was() {
    for kind in all_engines() {
        let dir = tempfile::tempdir().unwrap();
        let end = run(&job(kind, dir.path(), |w| {
            w.workers = 2;
            w.rate = Some(Rate {
                per_second: 2000.0,
                unit: RateUnit::Ops,
                arrival: Default::default(),
            });
            w.bounds = Bounds {
                time_ns: Some(200_000_000),
                ..Bounds::default()
            };
        }));
        // 400 are due; all that were submitted count somewhere, none twice.
        let read = ops(&end, OpKind::Read);
        assert!((1..=400).contains(&read), "{kind:?}: {read}");
        let late: u64 = end
            .samples
            .iter()
            .map(|s| s.lateness.as_ref().unwrap().count())
            .sum();
        assert_eq!(late, read, "{kind:?}");
        for sample in &end.samples {
            let op = sample.op(OpKind::Read).unwrap();
            let response = op.response.as_ref().unwrap();
            assert_eq!(response.count(), op.ops, "{kind:?}");
            assert!(response.sum() >= op.service.sum(), "{kind:?}");
        }
        if kind == EngineKind::Sim {
            assert_eq!(read, 400, "virtual time is never late");
        }
        check_sums(&end, kind);
    }
}
