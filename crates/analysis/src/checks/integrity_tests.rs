use fathom_model::op::ErrorClass;
use fathom_model::run::{ErrorDetail, RunState, StuckOp};
use fathom_model::verdict::FindingStatus::{Caveat, Info, Invalid, NotMeasured, Pass};
use fathom_model::workload::{BlockSizes, EngineKind};

use crate::test_records::RecordBuilder;

#[test]
fn good_clocks_pass_and_poor_ones_do_not() {
    let clock =
        |name: &str| RecordBuilder::reads().with(|b| b.host.clocksource = Some(name.into()));
    for name in ["tsc", "kvm-clock", "arch_sys_counter"] {
        assert_eq!(clock(name).status("V24"), Some(Pass), "{name}");
    }
    for name in ["hpet", "acpi_pm", "jiffies"] {
        assert_eq!(clock(name).status("V24"), Some(Caveat), "{name}");
    }
    let slow = RecordBuilder::reads().with(|b| b.host.clock_read_ns = Some(2500.0));
    assert_eq!(slow.status("V24"), Some(Caveat));
}

#[test]
fn impossible_latencies_are_caught() {
    let impossible = |n| RecordBuilder::reads().with_end(|e| e.engine.impossible_latencies = n);
    assert_eq!(impossible(1).status("V24"), Some(Caveat));
    assert_eq!(impossible(1000).status("V24"), Some(Invalid));
}

#[test]
fn an_unknown_clock_is_not_measured() {
    let unknown = RecordBuilder::reads().with(|b| {
        b.end = None;
        b.host.clocksource = None;
        b.host.clock_read_ns = None;
    });
    assert_eq!(unknown.status("V24"), Some(NotMeasured));
    let null = RecordBuilder::reads()
        .with(|b| b.workload.engine = EngineKind::Null)
        .with_end(|e| e.engine.impossible_latencies = 10_000);
    assert_eq!(null.status("V24"), Some(NotMeasured));
}

#[test]
fn contradicting_counts_are_an_error_of_the_tool() {
    assert_eq!(RecordBuilder::reads().status("V25"), Some(Pass));
    let bytes = RecordBuilder::reads().edit(|t| t.samples[0].ops[0].bytes *= 2);
    assert_eq!(bytes.status("V25"), Some(Invalid));
    let ops = RecordBuilder::reads().edit(|t| {
        t.samples[0].ops[0].ops *= 2;
        t.samples[0].ops[0].bytes *= 2;
    });
    assert_eq!(ops.status("V25"), Some(Invalid));
    let mixed = RecordBuilder::reads().with(|b| {
        b.workload.block = BlockSizes::Range {
            min_bytes: 4096,
            max_bytes: 65_536,
            step_bytes: 4096,
        };
    });
    assert_eq!(mixed.status("V25"), Some(Pass));
    let empty = RecordBuilder::reads().with(|b| b.seconds = 0);
    assert_eq!(empty.status("V25"), Some(NotMeasured));
}

#[test]
fn every_failure_counts_wherever_it_happened() {
    assert_eq!(RecordBuilder::reads().status("V26"), Some(Pass));
    let failed = RecordBuilder::reads().edit(|t| t.samples[3].ops[0].errors.add(ErrorClass::Io));
    let finding = failed.finding("V26").unwrap();
    assert_eq!((finding.status, finding.measured), (Invalid, Some(1.0)));
    assert!(finding.evidence.contains("1 io"), "{finding:?}");
    let logged = RecordBuilder::writes().with_end(|end| {
        end.engine.errors.push(ErrorDetail {
            class: ErrorClass::Io,
            message: "fdatasync of /mnt/data/f: EIO".to_owned(),
            at_ns: 1,
        });
    });
    let finding = logged.finding("V26").unwrap();
    assert_eq!(finding.status, Invalid);
    assert!(finding.evidence.contains("fdatasync"), "{finding:?}");
    let empty = RecordBuilder::reads().with(|b| {
        b.seconds = 0;
        b.end = None;
    });
    assert_eq!(empty.status("V26"), Some(NotMeasured));
}

#[test]
fn fallbacks_are_named() {
    assert_eq!(RecordBuilder::reads().status("V28"), Some(Pass));
    let other = RecordBuilder::reads().with_end(|e| e.engine.used = Some(EngineKind::Psync));
    let finding = other.finding("V28").unwrap();
    assert_eq!(finding.status, Caveat);
    assert!(
        finding.evidence.contains("psync ran in place of uring"),
        "{finding:?}"
    );
    let buffered = RecordBuilder::reads().with_end(|e| e.engine.direct = false);
    assert_eq!(buffered.status("V28"), Some(Caveat));
    let lesser = RecordBuilder::reads().with_end(|e| {
        e.engine
            .fallbacks
            .push("buffers are not registered".to_owned());
    });
    assert_eq!(lesser.status("V28"), Some(Info));
    let unknown = RecordBuilder::reads().with(|b| b.end = None);
    assert_eq!(unknown.status("V28"), Some(NotMeasured));
}

#[test]
fn incomplete_trials_are_graded_by_what_is_left() {
    let in_state = |state| RecordBuilder::reads().with(|b| b.state = state);
    assert_eq!(in_state(RunState::Complete).status("V29"), Some(Pass));
    assert_eq!(in_state(RunState::Interrupted).status("V29"), Some(Caveat));
    assert_eq!(in_state(RunState::Running).status("V29"), Some(Caveat));
    assert_eq!(in_state(RunState::Failed).status("V29"), Some(Invalid));
    let empty = RecordBuilder::reads().with(|b| b.seconds = 0);
    assert_eq!(empty.status("V29"), Some(Invalid));
    let stuck = in_state(RunState::Interrupted).with_end(|end| {
        end.reason = Some("an operation did not come back for 60 s".to_owned());
        end.engine.stuck.push(StuckOp {
            message: "read of 4096 at 0".to_owned(),
            age_ns: 60_000_000_000,
        });
    });
    let finding = stuck.finding("V29").unwrap();
    assert_eq!(finding.status, Invalid);
    assert!(
        finding.evidence.contains("did not come back"),
        "{finding:?}"
    );
}
