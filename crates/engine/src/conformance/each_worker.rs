//! What holds for each worker by itself: bounds, regions, pauses, pairs.

use fathom_model::workload::{
    BlockSizes, Bounds, ByKind, EngineKind, OpMix, Pattern, RangeSync, Replay, ReplayTiming, Work,
    WorkerBounds, WorkerRegion, Workload,
};
use fathom_model::{OpKind, Phase};

use super::group_level::{FILE_BYTES, all_engines, check_sums, job, ops, run};
use crate::group::{EndReason, GroupEnd};
use crate::prepare::{NoHooks, prepare};

const BLOCK: u64 = 4096;

fn bytes(end: &GroupEnd, kind: OpKind) -> u64 {
    let samples = end.samples.iter().filter_map(|s| s.op(kind));
    samples.map(|op| op.bytes).sum()
}

fn unbounded(w: &mut Workload) {
    w.bounds = Bounds::default();
    w.workers = 3;
}

#[test]
fn every_worker_ends_at_its_own_bound() {
    for kind in all_engines() {
        let dir = tempfile::tempdir().unwrap();
        let end = run(&job(kind, dir.path(), |w| {
            unbounded(w);
            w.each_worker.ops = Some(40);
        }));
        assert_eq!(ops(&end, OpKind::Read), 120, "{kind:?}");
        assert_eq!(end.end_reason, EndReason::Ops, "{kind:?}");
        check_sums(&end, kind);
        let end = run(&job(kind, dir.path(), |w| {
            unbounded(w);
            w.each_worker.bytes = Some(10 * BLOCK + 1);
        }));
        assert_eq!(ops(&end, OpKind::Read), 30, "{kind:?}");
        assert_eq!(end.end_reason, EndReason::Bytes, "{kind:?}");
    }
}

#[test]
fn passes_are_over_a_workers_own_part() {
    let passes = WorkerBounds {
        passes: Some(2),
        ..WorkerBounds::default()
    };
    for kind in all_engines() {
        for (region, parts) in [(WorkerRegion::Split, 1), (WorkerRegion::Whole, 3)] {
            for pattern in [Pattern::Sequential, Workload::example("").pattern] {
                let dir = tempfile::tempdir().unwrap();
                let end = run(&job(kind, dir.path(), |w| {
                    unbounded(w);
                    w.data_set.files.shared = true;
                    w.each_worker = passes;
                    w.data_set.region = region;
                    w.pattern = pattern.clone();
                }));
                let whole = 2 * FILE_BYTES * parts;
                assert_eq!(bytes(&end, OpKind::Read), whole, "{kind:?} {region:?}");
            }
        }
    }
}

#[test]
fn a_bound_of_all_ends_workers_that_have_some_left() {
    for kind in all_engines() {
        let dir = tempfile::tempdir().unwrap();
        let end = run(&job(kind, dir.path(), |w| {
            w.workers = 2;
            w.bounds.ops = Some(100);
            w.each_worker.ops = Some(80);
        }));
        assert_eq!(ops(&end, OpKind::Read), 100, "{kind:?}");
    }
}

#[test]
fn work_of_the_warm_up_counts_for_nobody() {
    for kind in all_engines() {
        let dir = tempfile::tempdir().unwrap();
        let end = run(&job(kind, dir.path(), |w| {
            unbounded(w);
            w.warmup_ns = 20_000_000;
            w.each_worker.ops = Some(100);
        }));
        let measured = end.samples.iter().filter(|s| s.phase == Phase::Measure);
        let reads: u64 = measured
            .filter_map(|s| s.op(OpKind::Read))
            .map(|op| op.ops)
            .sum();
        assert_eq!(reads, 300, "{kind:?}");
    }
}

#[test]
fn kinds_of_operations_have_sizes_of_their_own() {
    for kind in all_engines() {
        let dir = tempfile::tempdir().unwrap();
        let end = run(&job(kind, dir.path(), |w| {
            w.mix = OpMix {
                read_percent: 50,
                write_percent: 50,
                trim_percent: 0,
            };
            w.block_by_kind = ByKind {
                write: Some(BlockSizes::Fixed(16 * BLOCK)),
                ..ByKind::default()
            };
        }));
        let (reads, writes) = (ops(&end, OpKind::Read), ops(&end, OpKind::Write));
        assert_eq!(reads + writes, 500, "{kind:?} {:?}", end.report.errors);
        assert_eq!(bytes(&end, OpKind::Read), reads * BLOCK, "{kind:?}");
        assert_eq!(bytes(&end, OpKind::Write), writes * 16 * BLOCK, "{kind:?}");
    }
}

#[test]
fn a_worker_pauses_after_so_many_operations() {
    for kind in all_engines() {
        let dir = tempfile::tempdir().unwrap();
        let end = run(&job(kind, dir.path(), |w| {
            w.bounds.ops = Some(50);
            w.think_ns = 10_000_000;
            w.think_spin_ns = 2_000_000;
            w.think_every_ops = 10;
        }));
        assert_eq!(ops(&end, OpKind::Read), 50, "{kind:?}");
        let lasted_ns: u64 = end.samples.iter().map(|s| s.duration_ns).sum();
        // Four pauses lie between five bursts.
        assert!(lasted_ns >= 40_000_000, "{kind:?}: {lasted_ns}");
        check_sums(&end, kind);
    }
}

#[test]
fn blocks_are_trimmed_before_they_are_written() {
    for kind in all_engines() {
        if kind == EngineKind::Mmap {
            continue;
        }
        let dir = tempfile::tempdir().unwrap();
        let end = run(&job(kind, dir.path(), |w| {
            w.trim_first = true;
            w.mix = OpMix {
                read_percent: 0,
                write_percent: 50,
                trim_percent: 50,
            };
        }));
        if !end.report.errors.is_empty() {
            println!("skipped: {}: no trims here", kind.name());
            continue;
        }
        assert_eq!(ops(&end, OpKind::Trim), 250, "{kind:?}");
        assert_eq!(ops(&end, OpKind::Write), 250, "{kind:?}");
        let file = dir.path().join("file");
        if file.exists() {
            // 250 of 256 blocks, in pairs: none may be left as it was, or as a
            // trim that came after its write.
            let zeros = std::fs::read(&file).unwrap();
            let holes = zeros
                .chunks(BLOCK as usize)
                .filter(|b| b.iter().all(|b| *b == 0));
            assert_eq!(holes.count(), 0, "{kind:?}");
        }
    }
}

const LIST: &str = "fio version 3 iolog
0 /f add
0 /f open
0 /f write 0 8192
20000 /f read 4096 4096
40000 /f sync 0 0
60000 /f write 12288 512
80000 /f read 65536 1024
90000 /f close
";

fn replays(w: &mut Workload, dir: &std::path::Path, timing: ReplayTiming) {
    let path = dir.join("list");
    std::fs::write(&path, LIST).unwrap();
    w.bounds = Bounds::default();
    w.work = Work::recorded(Replay {
        timing,
        ..Replay::of(path)
    });
}

#[test]
fn a_recorded_list_is_replayed_when_it_was_recorded() {
    for kind in all_engines() {
        let dir = tempfile::tempdir().unwrap();
        let end = run(&job(kind, dir.path(), |w| {
            let speed_percent = 200.0;
            replays(w, dir.path(), ReplayTiming::Recorded { speed_percent });
            w.each_worker.passes = Some(2);
        }));
        let count = |kind| ops(&end, kind);
        let counts = [OpKind::Read, OpKind::Write, OpKind::Sync].map(count);
        assert_eq!(counts, [4, 4, 2], "{kind:?} {:?}", end.report.errors);
        assert_eq!(bytes(&end, OpKind::Write), 2 * (8192 + 512), "{kind:?}");
        assert_eq!(bytes(&end, OpKind::Read), 2 * (4096 + 1024), "{kind:?}");
        let lasted_ns: u64 = end.samples.iter().map(|s| s.duration_ns).sum();
        // The second lap's last operation is due at 45 + 40 ms.
        assert!(lasted_ns >= 85_000_000, "{kind:?}: {lasted_ns}");
        let responses = end.samples.iter().filter_map(|s| s.op(OpKind::Read));
        let responses = responses.filter_map(|op| op.response.as_ref());
        assert_eq!(
            responses.map(fathom_model::Histogram::count).sum::<u64>(),
            4,
            "{kind:?}"
        );
        check_sums(&end, kind);
    }
}

#[test]
fn workers_divide_a_list_that_is_replayed_as_fast_as_possible() {
    for kind in all_engines() {
        let dir = tempfile::tempdir().unwrap();
        let end = run(&job(kind, dir.path(), |w| {
            replays(w, dir.path(), ReplayTiming::AsFastAsPossible);
            w.workers = 3;
            w.data_set.files.shared = true;
        }));
        let all: u64 = end
            .samples
            .iter()
            .flat_map(|s| &s.ops)
            .map(|op| op.ops)
            .sum();
        assert_eq!(all, 5, "{kind:?} {:?}", end.report.errors);
        assert_eq!(end.end_reason, EndReason::Ops, "{kind:?}");
    }
}

#[test]
fn a_list_that_does_not_fit_is_refused_before_anything_is_touched() {
    let dir = tempfile::tempdir().unwrap();
    let mut job = job(EngineKind::Psync, dir.path(), |w| {
        replays(w, dir.path(), ReplayTiming::AsFastAsPossible);
        w.data_set.size_bytes = Some(8 * BLOCK);
    });
    let error = prepare(&job, &mut NoHooks).unwrap_err().to_string();
    assert!(error.contains("larger size"), "{error}");
    job.workload.work = Work::recorded(Replay::of(dir.path().join("none")));
    let error = prepare(&job, &mut NoHooks).unwrap_err().to_string();
    assert!(error.contains("cannot open the recorded list"), "{error}");
}

#[test]
fn ranges_are_synced_between_writes_and_commit_nothing() {
    for kind in all_engines() {
        let dir = tempfile::tempdir().unwrap();
        let end = run(&job(kind, dir.path(), |w| {
            w.mix = OpMix::WRITE;
            w.bounds.ops = None;
            w.each_worker.ops = Some(60);
            // Less than the writes between two calls, so that some have ended.
            w.queue_depth = 2;
            w.sync.ranges = Some(RangeSync {
                every_writes: 4,
                wait_before: true,
                write: true,
                wait_after: true,
            });
            w.sync.final_flush = true;
        }));
        assert_eq!(end.report.errors, [], "{kind:?}");
        // None after the last write, but the final flush.
        assert_eq!(ops(&end, OpKind::Sync), 14 + 1, "{kind:?}");
        assert_eq!(ops(&end, OpKind::Commit), 0, "{kind:?}");
        let syncs = end.samples.iter().filter_map(|s| s.op(OpKind::Sync));
        assert_eq!(syncs.map(|op| op.bytes).sum::<u64>(), 0, "{kind:?}");
        assert!(end.final_flush_ns.is_some(), "{kind:?}");
    }
}

#[test]
fn two_rhythms_of_flushes_keep_their_own_count() {
    for kind in all_engines() {
        let dir = tempfile::tempdir().unwrap();
        let end = run(&job(kind, dir.path(), |w| {
            w.mix = OpMix::WRITE;
            w.bounds.ops = Some(60);
            w.sync.every_writes = 4;
            w.sync.other_every_writes = 6;
        }));
        // 15 and 10, of which 5 fall together.
        assert_eq!(ops(&end, OpKind::Sync), 20, "{kind:?}");
    }
}
