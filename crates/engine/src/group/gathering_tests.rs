use fathom_model::workload::EngineKind;
use fathom_model::{Job, Target, Workload};

use super::*;
use crate::prepare::{NoHooks, prepare};

fn reads(ops: u64) -> Group {
    let mut workload = Workload::example("reads");
    workload.engine = EngineKind::Null;
    workload.bounds.time_ns = None;
    workload.bounds.ops = Some(ops);
    let job = Job {
        workload,
        target: Target::Null,
        seed: 1,
        run_tag: 1,
        destructive: false,
        keep_files: false,
        file_prefix: "t".to_owned(),
    };
    let prepared = prepare(&job, &mut NoHooks).expect("nothing to prepare");
    Group::start(&job, &prepared).expect("a group")
}

#[test]
fn each_group_has_its_time_0_after_the_common_one() {
    let (mut first, mut second) = (reads(100), reads(100));
    let gathering = Gathering::begin();
    gathering.release(&mut first, 0);
    gathering.release(&mut second, 30_000_000);
    let origin_ns = gathering.origin_monotonic_ns();
    assert_eq!(first.origin_monotonic_ns(), origin_ns);
    assert_eq!(second.origin_monotonic_ns(), origin_ns + 30_000_000);
    while !(first.is_finished() && second.is_finished()) {
        std::thread::yield_now();
    }
    for group in [first, second] {
        let end = group.finish();
        let ops: u64 = end.samples.iter().map(fathom_model::Sample::data_ops).sum();
        assert_eq!(ops, 100);
    }
}

#[test]
fn a_group_that_waits_for_its_moment_can_be_stopped() {
    let mut waits = reads(100);
    let gathering = Gathering::begin();
    gathering.release(&mut waits, 3_600_000_000_000);
    waits.stop();
    let end = waits.finish();
    assert_eq!(end.end_reason, crate::EndReason::Stopped);
    assert!(end.samples.is_empty(), "{:?}", end.samples);
}
