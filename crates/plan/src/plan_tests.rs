//! Tests of reading plans: what is understood, and how mistakes are told.

use fathom_model::workload::{BlockSizes, CacheMode, EngineKind};

use super::*;
use crate::ScheduleContext;

fn schedule(text: &str) -> fathom_model::Schedule {
    let plan = parse("test.yaml", text).unwrap_or_else(|e| panic!("{e}"));
    plan.schedule(&ScheduleContext::default())
        .unwrap_or_else(|e| panic!("{e}"))
}

fn errors(text: &str) -> String {
    match parse("test.yaml", text) {
        Ok(_) => panic!("read without error: {text}"),
        Err(diagnostics) => diagnostics.render(false),
    }
}

const SMALL: &str = "\
plan: 1
targets: /mnt/a
workloads:
  - rw: randread
    bs: 4k
    iodepth: 32
    numjobs: 4
    runtime: 30
";

#[test]
fn a_small_plan_becomes_complete_trials() {
    let schedule = schedule(SMALL);
    assert_eq!(schedule.name, "test");
    assert_eq!(schedule.trials.len(), 3);
    let trial = &schedule.trials[0];
    assert_eq!(trial.label, "randread-4k q32 j4");
    let workload = &trial.workload;
    assert_eq!(workload.engine, EngineKind::Uring);
    assert_eq!(workload.block, BlockSizes::Fixed(4096));
    assert_eq!((workload.queue_depth, workload.workers), (32, 4));
    assert_eq!(workload.bounds.time_ns, Some(30_000_000_000));
    assert_eq!(workload.cache, CacheMode::Direct);
    assert_eq!(workload.size_bytes, Some(1 << 30));
}

#[test]
fn all_mistakes_are_told_at_once_with_their_places() {
    let text = "\
plan: 1
target: /mnt/a
workloads:
  - rw: randraed
    iodpeth: 32
    runtime: 30x
    size: 4q
";
    let told = errors(text);
    for part in [
        "test.yaml:4:9",
        "did you mean randread?",
        "test.yaml:5:5",
        "did you mean `iodepth`?",
        "test.yaml:6:14",
        "500ms, 30s",
        "test.yaml:7:11",
        "4096, 4k, 1MiB",
    ] {
        assert!(told.contains(part), "lacks {part}:\n{told}");
    }
}
