use fathom_model::run::Ceiling;
use fathom_model::verdict::FindingStatus::{Caveat, Invalid, NotMeasured, Pass};
use fathom_model::verdict::Limiter;
use fathom_model::workload::{Arrival, EngineKind, Rate, RateUnit};

use crate::test_records::RecordBuilder;

fn ceiling(ops_per_second: f64) -> RecordBuilder {
    RecordBuilder::reads().with_end(|end| {
        end.ceiling = Some(Ceiling {
            ops_per_second,
            cpu_ns_per_op: 1000.0,
        });
    })
}

fn at_rate(per_second: f64, ceiling_ops: f64) -> RecordBuilder {
    ceiling(ceiling_ops).with(|b| {
        b.workload.rate = Some(Rate {
            per_second,
            unit: RateUnit::Ops,
            arrival: Arrival::Constant,
        });
    })
}

#[test]
fn the_distance_to_the_ceiling_decides() {
    assert_eq!(ceiling(10_000.0).status("V22"), Some(Pass));
    assert_eq!(ceiling(1_500.0).status("V22"), Some(Caveat));
    assert_eq!(ceiling(1_050.0).status("V22"), Some(Invalid));
    assert_eq!(ceiling(1_050.0).limiter(), Limiter::GeneratorCpu);
}

#[test]
fn a_ceiling_under_the_same_rate_or_think_time_proves_nothing() {
    assert_eq!(at_rate(1000.0, 1000.0).status("V22"), Some(NotMeasured));
    assert_eq!(at_rate(1000.0, 1e6).status("V22"), Some(Pass));
    let thinking = ceiling(1_050.0).with(|b| b.workload.think_ns = 1_000_000);
    assert_eq!(thinking.status("V22"), Some(NotMeasured));
}

#[test]
fn a_saturated_worker_is_a_caveat_unless_it_polls() {
    let busy = |builder: RecordBuilder| {
        builder.edit(|trial| {
            let samples = trial.samples.iter_mut();
            samples.for_each(|s| s.busiest_worker_cpu_ns = s.duration_ns * 98 / 100);
        })
    };
    let saturated = busy(ceiling(1e6));
    assert_eq!(saturated.status("V22"), Some(Caveat));
    assert_eq!(saturated.limiter(), Limiter::GeneratorCpu);
    let polling = busy(ceiling(1e6)).with(|b| b.workload.poll = true);
    assert_eq!(polling.status("V22"), Some(Pass));
    assert_eq!(polling.limiter(), Limiter::Unknown);
}

#[test]
fn without_a_ceiling_nothing_is_claimed_and_the_null_target_is_exempt() {
    let none = RecordBuilder::reads().with_end(|end| end.ceiling = None);
    assert_eq!(none.status("V22"), Some(NotMeasured));
    assert_eq!(ceiling(f64::NAN).status("V22"), Some(NotMeasured));
    let null = ceiling(1_000.0).with(|b| b.workload.engine = EngineKind::Null);
    assert_eq!(null.status("V22"), None);
    assert_eq!(null.limiter(), Limiter::GeneratorCpu);
    let paced = at_rate(1000.0, 1e6).with(|b| b.workload.engine = EngineKind::Null);
    assert_eq!(paced.limiter(), Limiter::Rate);
    let missed = at_rate(2000.0, 1e6).with(|b| b.workload.engine = EngineKind::Null);
    assert_eq!(missed.limiter(), Limiter::GeneratorCpu);
}

#[test]
fn a_stop_of_one_second_is_found() {
    let stopped = |builder: RecordBuilder| {
        builder.edit(|trial| trial.samples[5].longest_stall_ns = 1_000_000_000)
    };
    let quick = RecordBuilder::reads().with(|b| b.seconds = 10);
    assert_eq!(quick.status("V27"), Some(Pass));
    let finding = stopped(quick).finding("V27").unwrap();
    assert_eq!(finding.status, Invalid);
    assert!(finding.evidence.contains("1.00 s"), "{finding:?}");
    assert_eq!(stopped(RecordBuilder::reads()).status("V27"), Some(Caveat));
}

#[test]
fn late_submission_in_an_open_loop_counts_only_while_the_queue_has_room() {
    let late = |in_flight: u128| {
        at_rate(1000.0, 1e6).edit(match in_flight {
            0 => |trial| {
                // Nor had it been full in the second before, from which lag
                // could be left.
                let before = &mut trial.samples[4..6];
                before.iter_mut().for_each(|s| s.in_flight_ns /= 4);
                if let Some(lateness) = &mut trial.samples[5].lateness {
                    lateness.record(1_000_000_000);
                }
            },
            _ => |trial| {
                if let Some(lateness) = &mut trial.samples[5].lateness {
                    lateness.record(1_000_000_000);
                }
            },
        })
    };
    assert_eq!(late(0).status("V27"), Some(Caveat));
    assert_eq!(late(1).status("V27"), Some(Pass));
}

#[test]
fn nothing_measured_is_no_stop() {
    let empty = RecordBuilder::reads().with(|b| b.seconds = 0);
    assert_eq!(empty.status("V27"), Some(NotMeasured));
}
