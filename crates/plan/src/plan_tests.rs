//! Tests of reading plans: what is understood, and how mistakes are told.

use fathom_model::workload::{BlockSizes, CacheMode, Distribution, EngineKind, Pattern};

use super::*;
use crate::{ScheduleContext, Severity};

fn schedule(text: &str) -> fathom_model::Schedule {
    let plan = parse("test.yaml", text).unwrap_or_else(|e| panic!("{e}"));
    let schedule = plan.schedule(&ScheduleContext::default());
    schedule.unwrap_or_else(|e| panic!("{e}"))
}

fn errors(text: &str) -> Diagnostics {
    match parse("test.yaml", text) {
        Ok(_) => panic!("read without error: {text}"),
        Err(diagnostics) => diagnostics,
    }
}

/// A plan with one workload, written on one line from column 7 of line 4.
fn one(workload: &str) -> String {
    format!("plan: 1\ntargets: /mnt/a\nworkloads:\n  - {{ {workload} }}\n")
}

#[test]
fn a_small_plan_becomes_complete_trials() {
    let schedule = schedule(&one(
        "rw: randread, bs: 4k, iodepth: 32, numjobs: 4, runtime: 30",
    ));
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
    assert_eq!(workload.data_set.size_bytes, Some(1 << 30));
    assert_eq!(trial.pause.floor_ns, 1_000_000_000);
    assert_eq!(trial.pause.ceiling_ns, 3_000_000_000);
    assert!(trial.pause.until_quiet);
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
    let told = errors(text).render(false);
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

#[test]
fn a_diagnostic_draws_the_line_that_is_meant() {
    let told = errors(&one(
        "rw: randread, iodepth: 32, engine: psync, runtime: 30s",
    ));
    assert_eq!(
        told.render(false),
        "\
error: the engine psync does one operation at a time per worker; `iodepth` 32 would have no effect
 --> test.yaml:4:30
  |
4 |   - { rw: randread, iodepth: 32, engine: psync, runtime: 30s }
  |                              ^^          ----- chosen here
help: write `engine: uring`, or reach the same depth with `numjobs: 32`
"
    );
    assert!(told.render(true).contains("\u{1b}["));
}

/// Each rule across keys: the workload, the rule's id and the text at the
/// place that is told.
#[test]
fn rules_across_keys_point_at_the_key() {
    for (workload, id, at) in [
        ("rw: read, runtime: 0", "no_bound", "0 }"),
        ("rw: read", "no_bound", "{ rw"),
        (
            "mix: {read: 70, write: 20}, runtime: 1m",
            "mix_not_100",
            "{read",
        ),
        (
            "rw: read, mix: {read: 100}, runtime: 1m",
            "conflict",
            "{read",
        ),
        (
            "rw: randrw, rwmixread: 70, rwmixwrite: 40, runtime: 1m",
            "mix_not_100",
            "40",
        ),
        (
            "rw: read, rwmixread: 70, runtime: 1m",
            "rwmix_without_mix",
            "70",
        ),
        ("size: 1k, runtime: 1m", "size_below_block", "1k"),
        (
            "size: 1m, bs: 1m, numjobs: 4, runtime: 1m",
            "size_below_block",
            "1m, bs",
        ),
        (
            "size: 1m, offset: 1m, runtime: 1m",
            "size_below_block",
            "1m, offset",
        ),
        ("bs: 1000, runtime: 1m", "direct_unaligned", "1000"),
        ("bs: 4k-5000, runtime: 1m", "direct_unaligned", "4k-5000"),
        ("align: 100, runtime: 1m", "direct_unaligned", "100"),
        ("misalign: 100, runtime: 1m", "direct_unaligned", "100"),
        (
            "rate: 9/s, think_time: 1ms, runtime: 1m",
            "rate_with_think_time",
            "1ms",
        ),
        (
            "rate: 9/s, rate_iops: 9, runtime: 1m",
            "conflict",
            "9, runtime",
        ),
        ("rate: 0/s, runtime: 1m", "limit", "0/s"),
        (
            "arrival: poisson, runtime: 1m",
            "arrival_without_rate",
            "poisson",
        ),
        (
            "engine: psync, iodepth: 2, runtime: 1m",
            "depth_without_effect",
            "2, ",
        ),
        (
            "engine: mmap, direct: 1, runtime: 1m",
            "mmap_direct",
            "1, runtime",
        ),
        (
            "engine: mmap, rw: trim, runtime: 1m",
            "trim_unsupported",
            "trim",
        ),
        (
            "rw: trim, verify: both, runtime: 1m",
            "verify_with_trim",
            "both",
        ),
        (
            "rw: read, verify: after, runtime: 1m",
            "verify_nothing",
            "after",
        ),
        (
            "rw: write, verify: on_read, runtime: 1m",
            "verify_nothing",
            "on_read",
        ),
        (
            "working_set: 2g, size: 1g, runtime: 1m",
            "working_set",
            "2g",
        ),
        ("working_set: 1k, runtime: 1m", "working_set", "1k"),
        (
            "rw: read, pattern: 'strided:1k', runtime: 1m",
            "stride_below_block",
            "'strided",
        ),
        (
            "rw: randread, pattern: backwards, runtime: 1m",
            "conflict",
            "backwards",
        ),
        (
            "rw: read, distribution: uniform, runtime: 1m",
            "distribution_not_random",
            "uniform",
        ),
        (
            "distribution: each_once, norandommap: 1, runtime: 1m",
            "conflict",
            "1, runtime",
        ),
        (
            "direct: 1, buffered: 1, runtime: 1m",
            "conflict",
            "1, runtime",
        ),
        (
            "rw: write, fdatasync: 4, sync_file_range: write:8, runtime: 1m",
            "conflict",
            "write:8, runtime",
        ),
        (
            "poll: 1, engine: libaio, runtime: 1m",
            "poll_unsupported",
            "1, engine",
        ),
        ("numjobs: 0, runtime: 1m", "limit", "0, runtime"),
        ("numjobs: 4097, runtime: 1m", "limit", "4097"),
        ("iodepth: 4097, runtime: 1m", "limit", "4097"),
        ("bs: 2g, size: 9g, runtime: 1m", "limit", "2g"),
        (
            "bs: 64m, iodepth: 4096, size: 9g, runtime: 1m",
            "limit",
            "4096",
        ),
        ("size: 5000t, runtime: 1m", "limit", "5000t"),
        ("runtime: 31d", "limit", "31d"),
        ("deadline: 1us, runtime: 1m", "limit", "1us"),
    ] {
        let text = one(workload);
        let told = errors(&text);
        let found = told.items().iter().find(|d| d.id == id);
        let found = found.unwrap_or_else(|| panic!("{workload} lacks {id}:\n{told}"));
        let start = found.place.unwrap().span.start as usize;
        assert!(
            text[start..].starts_with(at),
            "{workload}: at {}",
            &text[start..]
        );
    }
}

#[test]
fn keys_of_another_work_are_rejected_where_they_stand() {
    for (workload, at, message) in [
        (
            "runtime: 1s, file_size: 4k",
            "4k }",
            "`file_size` has no effect without operations on many files",
        ),
        (
            "runtime: 1s, part_size: 5m",
            "5m }",
            "`part_size` has no effect without requests to a store",
        ),
        (
            "runtime: 1s, replay_speed: 50",
            "50 }",
            "`replay_speed` has no effect without a list",
        ),
        (
            "replay: /var/list, norandommap: true",
            "true }",
            "`norandommap` has no effect: operations come from a list",
        ),
        (
            "engine: meta, operation: create, bs: 4k",
            "4k }",
            "`bs` has no effect on operations on many files",
        ),
        (
            "engine: s3, request: put, offset: 4k",
            "4k }",
            "`offset` has no effect on requests to a store",
        ),
    ] {
        let text = one(workload);
        // Keys of requests wait for the target, which may be a bucket.
        let told = match parse("test.yaml", &text) {
            Err(told) => told,
            Ok(plan) => plan.schedule(&ScheduleContext::default()).unwrap_err(),
        };
        let found = told.items().iter().find(|d| d.message == message);
        let found = found.unwrap_or_else(|| panic!("{workload}:\n{told}"));
        let start = found.place.unwrap().span.start as usize;
        assert!(
            text[start..].starts_with(at),
            "{workload}: {}",
            &text[start..]
        );
    }
}

#[test]
fn mistakes_in_the_plan_itself_are_told() {
    for (text, id) in [
        ("", "version"),
        ("plan: 2\nworkloads: [{rw: read, runtime: 1m}]", "version"),
        ("plan: 1", "no_workload"),
        ("plan: 1\nworkloads: []", "no_workload"),
        ("plan: 1\nworkloads: {rw: read}", "wrong_type"),
        ("plan: 1\nworkloads: [read]", "wrong_type"),
        (
            "plan: 1\niterations: 0\nworkloads: [{rw: read, runtime: 1m}]",
            "limit",
        ),
        (
            "plan: 1\npause: {floor: 1m, ceiling: 1s}\nworkloads: [{rw: read, runtime: 1m}]",
            "pause",
        ),
        (
            "plan: 1\nplan: 1\nworkloads: [{rw: read, runtime: 1m}]",
            "key_twice",
        ),
        (
            "plan: 1\nworkloads: [{rw: read, readwrite: read, runtime: 1m}]",
            "key_twice",
        ),
        (
            "plan: 1\nworkloads: [{rw: read, fill_device: 1, runtime: 1m}]",
            "unsupported_key",
        ),
        (
            "plan: 1\nworkloads: [{rw: read, rw mix: 3, runtime: 1m}]",
            "unknown_key",
        ),
        (
            "plan: 1\nmatrix: {name: [a]}\nworkloads: [{rw: read, runtime: 1m}]",
            "matrix_key",
        ),
        (
            "plan: 1\nmatrix: {bs: []}\nworkloads: [{rw: read, runtime: 1m}]",
            "matrix_values",
        ),
        (
            "plan: 1\nmatrix: {bs: [4k, 4096]}\nworkloads: [{rw: read, runtime: 1m}]",
            "matrix_values",
        ),
        (
            "plan: 1\nmatrix: {bs: [4k]}\nworkloads: [{bs: 4k, runtime: 1m}]",
            "matrix_conflict",
        ),
        (
            "plan: 1\nworkloads: [{rw: read, runtime: 1m}, {rw: read, runtime: 2m}]",
            "same_label",
        ),
        (
            "plan: 1\ntarget: [/a, /a]\nworkloads: [{rw: read, runtime: 1m}]",
            "target_twice",
        ),
        ("plan: 1\n  workloads: [", "syntax"),
    ] {
        let told = errors(text);
        assert!(
            told.items().iter().any(|d| d.id == id),
            "{text}\nlacks {id}:\n{told}"
        );
        assert_eq!(told.source_name(), "test.yaml");
    }
}

#[test]
fn a_syntax_error_has_its_place() {
    let told = errors("plan: 1\nworkloads:\n  - rw: read\n   bs: 4k\n");
    assert_eq!(told.items()[0].id, "syntax");
    assert_eq!(told.items()[0].place.unwrap().line, 4, "{told}");
}

#[test]
fn harmless_names_are_a_warning() {
    let plan = parse("test.yaml", &one("rw: read, runtime: 1m, time_based: 1")).unwrap();
    let warnings = plan.warnings();
    assert_eq!(warnings.items().len(), 1);
    assert_eq!(warnings.items()[0].severity, Severity::Warning);
    assert_eq!(warnings.items()[0].id, "needless_key");
}

#[test]
fn the_vocabulary_reaches_the_workload() {
    let workload = |text: &str| schedule(&one(text)).trials[0].workload.clone();
    let w = workload("mix: {read: 50, write: 40, trim: 10}, pattern: random, runtime: 1m");
    assert_eq!(w.mix.trim_percent, 10);
    let w = workload("rw: randread, norandommap: 1, runtime: 1m");
    assert_eq!(w.pattern, Pattern::Random(Distribution::Uniform));
    let w = workload("rw: write, pattern: 'strided:64k', runtime: 1m");
    assert_eq!(
        w.pattern,
        Pattern::Strided {
            stride_bytes: 65536
        }
    );
    let w = workload("bs: 2300, direct: false, rw: write, runtime: 1m");
    assert_eq!((w.align_bytes, w.cache), (2300, CacheMode::Buffered));
    let w = workload("bs: 4k-64k, runtime: 1m");
    assert_eq!(
        w.block,
        BlockSizes::Range {
            min_bytes: 4096,
            max_bytes: 65536,
            step_bytes: 4096
        }
    );
    let w = workload("engine: mmap, runtime: 1m");
    assert_eq!(w.cache, CacheMode::Buffered);
    let w = workload("rw: randrw, verify: true, runtime: 1m");
    assert!(w.verify.is_some_and(|v| v.on_read && v.after));
    let w = workload("rw: write, verify: true, runtime: 1m");
    assert!(w.verify.is_some_and(|v| !v.on_read && v.after));
}

#[test]
fn defaults_hold_key_by_key() {
    let schedule = schedule(
        "plan: 1\ntarget: /a\ndefaults: {bs: 8k, runtime: 9s, payload: {compress: 50}}\n\
         workloads:\n  - {rw: write, payload: {duplicates: 20}}\n  - {rw: read, bs: 4k}\n",
    );
    let [write, read] = [0, 1].map(|row| &schedule.trials[row].workload);
    assert_eq!(write.block, BlockSizes::Fixed(8192));
    assert_eq!(write.payload.compress_percent, 50);
    assert_eq!(write.payload.duplicate_percent, 20);
    assert_eq!(read.block, BlockSizes::Fixed(4096));
    assert_eq!(read.bounds.time_ns, Some(9_000_000_000));
}

#[test]
fn warnings_do_not_refuse_a_plan() {
    let plan = parse(
        "test.yaml",
        &one("rw: randread, fdatasync: 32, runtime: 1m"),
    );
    assert_eq!(
        plan.unwrap().warnings().items()[0].id,
        "flush_without_writes"
    );
}

#[test]
fn a_plan_is_named_after_its_file() {
    for (file, name) in [("dir/disks.yaml", "disks"), ("x.yml", "x"), ("-", "-")] {
        let plan = parse(file, &one("rw: read, runtime: 1m")).unwrap();
        assert_eq!(plan.name(), name);
    }
}
