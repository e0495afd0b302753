//! Words that say where a load goes next and how it keeps pace, on real engines
//! and on the null engine: zones, rates by kind, flows, a depth that adapts,
//! reading back, a full disk.

use fathom_model::workload::{
    EngineKind, Flow, LatencyTarget, NamedFiles, OpMix, Pattern, Rate, RateUnit, ReadBack, Verify,
    ZoneWalk,
};
use fathom_model::{Job, OpKind, Target, Workload};

use super::engines;
use super::group_level::{job, ops, run};
use crate::access::{AccessStream, Layout, TargetKind};
use crate::prepare::{NoHooks, prepare};
use crate::worker::FlowStep;
use crate::{EndReason, GroupEnd};

const BLOCK: u64 = 4096;

fn stream(change: impl FnOnce(&mut Workload), blocks: u64) -> AccessStream {
    let mut w = Workload::example("zones");
    change(&mut w);
    let layout = Layout::new(TargetKind::Device, &w, blocks * BLOCK, |_| "x".into()).unwrap();
    AccessStream::new(&w, &layout, 0, 7).unwrap()
}

fn zones(zone: u64, stay: u64, skip: u64) -> Option<ZoneWalk> {
    Some(ZoneWalk {
        zone_bytes: zone * BLOCK,
        stay_bytes: stay * BLOCK,
        skip_bytes: skip * BLOCK,
    })
}

fn null_job(change: impl FnOnce(&mut Workload)) -> Job {
    let mut workload = Workload::example("null");
    workload.engine = EngineKind::Null;
    workload.bounds.time_ns = Some(400_000_000);
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

#[test]
fn zones_are_gone_through_one_after_the_other_and_again() {
    let in_order = |w: &mut Workload| {
        w.pattern = Pattern::Sequential;
        w.zone_walk = zones(4, 2, 4);
    };
    let mut s = stream(in_order, 18);
    let visited: Vec<u64> = (0..8).map(|_| s.next().offset / BLOCK).collect();
    // The rest of two blocks behind the second zone is no zone.
    assert_eq!(visited, [0, 1, 8, 9, 0, 1, 8, 9]);
    let mut s = stream(|w| w.zone_walk = zones(8, 16, 0), 32);
    for zone in [0, 8, 16, 24, 0] {
        let mut seen = [0u32; 8];
        for _ in 0..16 {
            let block = s.next().offset / BLOCK;
            assert!((zone..zone + 8).contains(&block), "{block} in {zone}");
            seen[(block - zone) as usize] += 1;
        }
        assert_eq!(seen, [2; 8], "each block once per pass through the zone");
    }
}

#[test]
fn a_zone_without_room_for_a_block_is_refused() {
    let mut w = Workload::example("zones");
    w.zone_walk = Some(ZoneWalk {
        zone_bytes: BLOCK / 2,
        stay_bytes: BLOCK,
        skip_bytes: 0,
    });
    let layout = Layout::new(TargetKind::Device, &w, 64 * BLOCK, |_| "x".into()).unwrap();
    assert!(AccessStream::new(&w, &layout, 0, 7).is_err());
}

#[test]
fn kinds_with_rates_of_their_own_keep_them() {
    let rate = |per_second| {
        Some(Rate {
            per_second,
            unit: RateUnit::Ops,
            arrival: Default::default(),
        })
    };
    let end = run(&null_job(|w| {
        w.mix = OpMix {
            read_percent: 50,
            write_percent: 50,
            trim_percent: 0,
        };
        w.rate_by_kind.read = rate(1_000.0);
        w.rate_by_kind.write = rate(250.0);
        w.bounds.time_ns = None;
        w.each_worker.ops = Some(500);
    }));
    // Of each five the first four are due before the fifth.
    assert_eq!(
        (ops(&end, OpKind::Read), ops(&end, OpKind::Write)),
        (400, 100)
    );
    let measured = end.samples.iter().flat_map(|s| &s.ops);
    assert!(measured.clone().all(|op| op.response.is_some()));
}

#[test]
fn a_kind_without_a_rate_beside_one_that_has_one_is_refused() {
    let mut job = null_job(|w| {
        w.mix = OpMix {
            read_percent: 50,
            write_percent: 50,
            trim_percent: 0,
        };
    });
    job.workload.rate_by_kind.read = Some(Rate {
        per_second: 10.0,
        unit: RateUnit::Ops,
        arrival: Default::default(),
    });
    assert!(prepare(&job, &mut NoHooks).is_err());
}

fn errors(end: &GroupEnd) -> u64 {
    end.samples.iter().map(|s| s.errors().total()).sum()
}

#[test]
fn a_load_of_a_flow_does_its_share_and_no_more() {
    let flow = |weight| Flow {
        id: 77,
        weight,
        pause_ns: 0,
    };
    // A member with four of five parts that has done 4,000 operations.
    let mut other = FlowStep::new(flow(4));
    other.join();
    (0..4_000).for_each(|_| other.began());
    let load = |ops, time_ns| {
        run(&null_job(|w| {
            w.bounds.ops = Some(ops);
            w.bounds.time_ns = Some(time_ns);
            w.flow = Some(flow(1));
        }))
    };
    let share = load(1_000, 60_000_000_000);
    assert_eq!(share.end_reason, EndReason::Ops);
    assert_eq!(ops(&share, OpKind::Read), 1_000);
    // It waits for the other one then, until its time is over.
    let more = load(1_000_000, 300_000_000);
    assert_eq!(more.end_reason, EndReason::Time);
    assert!(
        ops(&more, OpKind::Read) <= 1_001,
        "{}",
        ops(&more, OpKind::Read)
    );
}

#[test]
fn a_depth_is_found_and_ends_the_load() {
    let end = run(&null_job(|w| {
        w.queue_depth = 16;
        w.bounds.time_ns = Some(20_000_000_000);
        w.latency_target = Some(LatencyTarget {
            latency_ns: 10_000_000_000,
            window_ns: 2_000_000,
            percentile: 100.0,
            goes_on: false,
        });
    }));
    assert_eq!(end.report.depth_found, Some(16));
    assert_eq!(end.end_reason, EndReason::Ops);
}

fn reading_back(kind: EngineKind, dir: &std::path::Path, every_writes: u32) -> Job {
    job(kind, dir, |w| {
        w.mix = OpMix::WRITE;
        w.bounds.ops = None;
        w.bounds.time_ns = None;
        w.each_worker.ops = Some(100);
        w.workers = 2;
        w.queue_depth = 8;
        w.verify = Some(Verify {
            read_back: Some(ReadBack {
                every_writes,
                at_once: every_writes,
            }),
            ..Verify::default()
        });
    })
}

#[test]
fn what_was_written_is_read_back_within_the_load() {
    for kind in engines() {
        for every in [1, 32, u32::MAX] {
            let dir = tempfile::tempdir().unwrap();
            let mut job = reading_back(kind, dir.path(), every);
            // No block is written twice.
            job.workload.pattern = Pattern::Sequential;
            let end = run(&job);
            assert_eq!(errors(&end), 0, "{kind:?} {every}: {:?}", end.report.errors);
            let counts = (ops(&end, OpKind::Write), ops(&end, OpKind::Read));
            assert_eq!(counts, (200, 200), "{kind:?} {every}");
        }
    }
}

#[test]
fn a_null_sink_takes_writes_and_gives_nothing() {
    let sink = |mix| {
        let mut job = null_job(|w| {
            w.engine = EngineKind::Psync;
            w.mix = mix;
            w.bounds.ops = Some(100);
            w.data_set.named = Some(NamedFiles {
                paths: vec!["/dev/null".into()],
                create: false,
                ours: false,
            });
        });
        job.target = Target::Path("/dev/null".into());
        job
    };
    let end = run(&sink(OpMix::WRITE));
    assert_eq!((ops(&end, OpKind::Write), errors(&end)), (100, 0));
    let error = prepare(&sink(OpMix::READ), &mut NoHooks).unwrap_err();
    assert!(error.to_string().contains("/dev/zero"), "{error}");
}

#[test]
fn a_file_that_is_to_fill_the_disk_grows_by_writing() {
    let mut job = null_job(|w| {
        w.engine = EngineKind::Psync;
        w.mix = OpMix::WRITE;
        w.data_set.ends_when_full = true;
        w.data_set.size_bytes = Some(1 << 20);
    });
    let dir = tempfile::tempdir().unwrap();
    job.target = Target::Path(dir.path().to_owned());
    job.workload.data_set.named = Some(NamedFiles {
        paths: vec![dir.path().join("grows")],
        create: true,
        ours: true,
    });
    job.workload.each_worker.passes = Some(1);
    job.workload.bounds.time_ns = None;
    let end = run(&job);
    // There is room: the size ends it, and the file is as long as was written.
    assert_eq!((ops(&end, OpKind::Write), errors(&end)), (256, 0));
    let length = dir.path().join("grows").metadata().unwrap().len();
    assert_eq!(length, 1 << 20);
}
