use fathom_model::verdict::FindingStatus::{Caveat, Info, Invalid, NotMeasured, Pass};
use fathom_model::verdict::Limiter;
use fathom_model::workload::{Arrival, EngineKind, Rate, RateUnit};

use crate::test_records::RecordBuilder;

#[test]
fn the_kept_depth_is_judged_in_closed_loops() {
    assert_eq!(RecordBuilder::reads().status("V20"), Some(Pass));
    let drained = RecordBuilder::reads().edit(|t| {
        t.samples
            .iter_mut()
            .for_each(|s| s.in_flight_ns = s.in_flight_ns * 8 / 10);
    });
    assert_eq!(drained.status("V20"), Some(Caveat));
    let synchronous =
        RecordBuilder::reads().edit(|t| t.samples.iter_mut().for_each(|s| s.in_flight_ns /= 32));
    assert_eq!(synchronous.status("V20"), Some(Invalid));
    let impossible = RecordBuilder::reads().edit(|t| {
        t.samples
            .iter_mut()
            .for_each(|s| s.in_flight_ns = s.in_flight_ns * 11 / 10);
    });
    assert_eq!(impossible.status("V20"), Some(Caveat));
}

#[test]
fn the_drained_last_second_is_forgiven() {
    let ended = RecordBuilder::reads()
        .with(|b| b.seconds = 5)
        .edit(|t| t.samples[4].in_flight_ns /= 10);
    assert_eq!(ended.status("V20"), Some(Pass));
}

#[test]
fn engines_and_workloads_that_use_slots_otherwise_are_not_blamed() {
    let psync = RecordBuilder::reads()
        .with_end(|e| e.engine.used = Some(EngineKind::Psync))
        .edit(|t| t.samples.iter_mut().for_each(|s| s.in_flight_ns /= 32));
    let finding = psync.finding("V20").unwrap();
    assert_eq!(finding.status, Pass, "{finding:?}");
    assert!(finding.evidence.contains("one at a time"), "{finding:?}");
    let syncing = RecordBuilder::writes()
        .with(|b| b.workload.sync.every_writes = 8)
        .edit(|t| t.samples.iter_mut().for_each(|s| s.in_flight_ns /= 3));
    assert_eq!(syncing.status("V20"), Some(Info));
    let thinking = RecordBuilder::reads().with(|b| b.workload.think_ns = 1000);
    assert_eq!(thinking.status("V20"), None);
}

#[test]
fn unrecorded_depth_is_not_measured() {
    let unknown =
        RecordBuilder::reads().edit(|t| t.samples.iter_mut().for_each(|s| s.in_flight_ns = 0));
    assert_eq!(unknown.status("V20"), Some(NotMeasured));
    let few = RecordBuilder::reads().with(|b| b.ops_per_second = 2);
    assert_eq!(few.status("V20"), Some(NotMeasured));
}

fn open(per_second: f64, arrival: Arrival) -> RecordBuilder {
    RecordBuilder::reads().with(|b| {
        b.noise = 0.0;
        b.workload.rate = Some(Rate {
            per_second,
            unit: RateUnit::Ops,
            arrival,
        });
    })
}

#[test]
fn a_reached_rate_passes_and_is_the_limiter() {
    let reached = open(1000.0, Arrival::Constant);
    assert_eq!(reached.status("V23"), Some(Pass));
    assert_eq!(reached.limiter(), Limiter::Rate);
    assert_eq!(RecordBuilder::reads().status("V23"), None);
    let bytes = open(1000.0, Arrival::Constant).with(|b| {
        if let Some(rate) = &mut b.workload.rate {
            (rate.per_second, rate.unit) = (1000.0 * 4096.0, RateUnit::Bytes);
        }
    });
    assert_eq!(bytes.status("V23"), Some(Pass));
}

#[test]
fn a_missed_rate_is_a_caveat_but_chance_is_not() {
    let missed = open(1200.0, Arrival::Constant);
    assert_eq!(missed.status("V23"), Some(Caveat));
    assert_ne!(missed.limiter(), Limiter::Rate);
    // 3 % below with 1,000 Poisson arrivals is one standard deviation.
    let unlucky = open(1030.0, Arrival::Poisson).with(|b| b.seconds = 1);
    assert_eq!(unlucky.status("V23"), Some(Pass));
}

#[test]
fn late_submission_is_a_caveat() {
    let late = open(1000.0, Arrival::Constant).edit(|t| {
        for sample in &mut t.samples {
            if let Some(lateness) = &mut sample.lateness {
                (0..100).for_each(|_| lateness.record(500_000_000));
            }
        }
    });
    let finding = late.finding("V23").unwrap();
    assert_eq!(finding.status, Caveat);
    assert!(finding.evidence.contains("the target kept"), "{finding:?}");
    let with_room = late.edit(|t| t.samples.iter_mut().for_each(|s| s.in_flight_ns /= 100));
    let finding = with_room.finding("V23").unwrap();
    assert!(finding.evidence.contains("fathom had room"), "{finding:?}");
    let unknown = open(1000.0, Arrival::Constant)
        .edit(|t| t.samples.iter_mut().for_each(|s| s.lateness = None));
    assert_eq!(unknown.status("V23"), Some(Info));
    let empty = open(1000.0, Arrival::Constant).with(|b| b.seconds = 0);
    assert_eq!(empty.status("V23"), Some(NotMeasured));
}

/// 85 % of the depth kept, by workers that computed so much.
fn missing(user_ns: u64, system_ns: u64) -> RecordBuilder {
    let edit = move |t: &mut fathom_model::run::TrialRecord| {
        for sample in &mut t.samples {
            sample.in_flight_ns = sample.in_flight_ns * 85 / 100;
            sample.cpu_user_ns = user_ns;
            sample.cpu_system_ns = system_ns;
        }
    };
    RecordBuilder::reads()
        .with(|b| b.noise = 0.0)
        .edit_with(edit)
}

#[test]
fn a_depth_that_submission_costs_is_explained() {
    let cheap = missing(20_000_000, 50_000_000).finding("V20").unwrap();
    let own = missing(400_000_000, 200_000_000).finding("V20").unwrap();
    assert_eq!((cheap.status, own.status), (Caveat, Caveat));
    assert!(!cheap.evidence.contains("CPU time"), "{cheap:?}");
    assert!(own.evidence.contains("of it in the kernel"), "{own:?}");
    assert!(own.remedy.contains("more workers"), "{own:?}");
}

#[test]
fn what_the_kernel_takes_for_submission_is_not_blamed_on_the_generator() {
    let kernel = missing(20_000_000, 600_000_000).finding("V20").unwrap();
    assert_eq!(kernel.status, Info, "{kernel:?}");
    assert!(
        kernel.evidence.contains("of it in the kernel"),
        "{kernel:?}"
    );
    // 94 % kept: without the kernel's two thirds of the cost it would be 98 %.
    let nearly = missing(60_000_000, 110_000_000).edit(|t| {
        let samples = t.samples.iter_mut();
        samples.for_each(|s| s.in_flight_ns = s.in_flight_ns * 94 / 85);
    });
    let nearly = nearly.finding("V20").unwrap();
    assert_eq!(nearly.status, Info, "{nearly:?}");
    let half = missing(20_000_000, 1_500_000_000).edit(|t| {
        t.samples.iter_mut().for_each(|s| s.in_flight_ns /= 2);
    });
    assert_eq!(half.status("V20"), Some(Invalid), "that is another depth");
}
