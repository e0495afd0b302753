//! Tests of the warnings: each is given when it should, and only then.

use super::*;
use crate::parse;

fn ids(text: &str) -> Vec<&'static str> {
    let text = format!("plan: 1\ntarget: /mnt/a\n{text}");
    let plan = parse("lint.yaml", &text).unwrap_or_else(|e| panic!("{e}"));
    let context = ScheduleContext {
        ram_bytes: Some(8 << 30),
        ..ScheduleContext::default()
    };
    let found = plan.lint(&context);
    assert!(!found.has_errors());
    found.items().iter().map(|d| d.id).collect()
}

#[test]
fn each_warning_has_its_cause() {
    for (workload, id) in [
        (
            "rw: read, direct: false, size: 4g, runtime: 30s",
            "buffered_read_fits_memory",
        ),
        ("rw: randread, runtime: 2s", "short_for_p999"),
        ("rw: randread, runtime: 30s, rate: 100/s", "short_for_p999"),
        ("rw: randread, number_ios: 1000", "short_for_p999"),
        (
            "rw: write, direct: false, runtime: 30s",
            "write_never_flushed",
        ),
        (
            "rw: write, payload: {content: zeros}, runtime: 30s",
            "flattering_content",
        ),
        ("rw: write, bs: 1m, runtime: 1h", "wears_ssd"),
        (
            "rw: randread, fdatasync: 32, runtime: 30s",
            "flush_without_writes",
        ),
        (
            "rw: write, sync_file_range: 'write:8', io_size: 64g",
            "range_sync_of_direct_writes",
        ),
        (
            "rw: write, direct: false, sync_file_range: 'write:8', runtime: 30s",
            "write_never_flushed",
        ),
        (
            "rw: randread, direct: false, sync_file_range: 'write:8', size: 64g, runtime: 30s",
            "flush_without_writes",
        ),
        ("rw: randread, bs: 512, runtime: 30s", "sub_page_block"),
    ] {
        assert_eq!(
            ids(&format!("workloads: [{{{workload}}}]")),
            [id],
            "{workload}"
        );
    }
}

#[test]
fn sound_workloads_have_no_warning() {
    for workload in [
        "rw: read, direct: false, size: 16g, runtime: 30s",
        "rw: read, runtime: 30s",
        "rw: write, direct: false, end_fsync: true, runtime: 30s",
        "rw: write, bs: 1m, io_size: 64g",
    ] {
        let found = ids(&format!("workloads: [{{{workload}}}]"));
        assert!(found.is_empty(), "{workload}: {found:?}");
    }
}

#[test]
fn a_fixed_order_of_several_rows_is_unpaired() {
    let rows = "workloads: [{rw: read, runtime: 30s}, {rw: randread, runtime: 30s}]";
    assert_eq!(ids(&format!("order: fixed\n{rows}")), ["unpaired_order"]);
    assert!(ids(rows).is_empty());
    assert!(ids(&format!("order: fixed\niterations: 1\n{rows}")).is_empty());
}

#[test]
fn spinning_disks_do_not_wear() {
    let text = "plan: 1\ntarget: /mnt/a\nworkloads: [{rw: write, bs: 1m, runtime: 1h}]";
    let plan = parse("lint.yaml", text).unwrap();
    let mut context = ScheduleContext::default();
    let facts = crate::TargetFacts {
        rotational: Some(true),
        ..crate::TargetFacts::default()
    };
    context.facts.insert("/mnt/a".parse().unwrap(), facts);
    assert!(plan.lint(&context).is_empty());
}
