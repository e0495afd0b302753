use super::*;
use crate::test_records::RecordBuilder;
use fathom_model::Histogram;

fn judged(slo: &str, builder: RecordBuilder) -> Fitness {
    let run = builder
        .with(|b| b.workload.slo = Some(slo.parse().unwrap()))
        .run();
    let judged = crate::judge(&run);
    let fitness = judged.verdict.fitness.unwrap();
    assert_eq!(judged.rows[0].verdict.fitness.as_ref(), Some(&fitness));
    fitness
}

#[test]
fn nothing_is_judged_without_a_target() {
    let run = RecordBuilder::reads().run();
    assert_eq!(crate::judge(&run).verdict.fitness, None);
}

/// The sound trial: 1,000 operations per second, 32 in flight, 32 ms.
#[test]
fn a_condition_is_met_or_not_by_its_whole_interval() {
    let outcome = |slo: &str| judged(slo, RecordBuilder::reads()).outcome;
    assert_eq!(outcome("mean<40ms"), Fit::Met);
    assert_eq!(outcome("mean<20ms"), Fit::NotMet);
    assert_eq!(outcome("p50<40ms and iops>900"), Fit::Met);
    assert_eq!(outcome("p50<40ms and iops>1100"), Fit::NotMet);
    assert_eq!(outcome("max<1ms"), Fit::NotMet);
    assert_eq!(outcome("throughput>1MB/s"), Fit::Met);
    let mean = judged("mean<40ms", RecordBuilder::reads());
    assert!((mean.worst_ratio.unwrap() - 0.8).abs() < 0.05, "{mean:?}");
    assert!(mean.evidence.contains("service mean"), "{mean:?}");
}

#[test]
fn an_interval_across_the_bound_and_a_missing_one_prove_nothing() {
    let short = RecordBuilder::reads().with(|b| b.seconds = 3);
    let fitness = judged("mean<40ms", short);
    assert_eq!(fitness.outcome, Fit::NotProven, "{fitness:?}");
    assert!(fitness.worst_ratio.unwrap() < 1.0);
    let other = judged("write.p99<40ms", RecordBuilder::reads());
    assert_eq!((other.outcome, other.worst_ratio), (Fit::NotProven, None));
}

#[test]
fn a_percentile_far_below_its_bound_is_met_in_some_seconds() {
    let judged = |slo: &str, seconds: usize| {
        let fitness = judged(
            slo,
            RecordBuilder::reads().with(|b| b.seconds = seconds as _),
        );
        (fitness.outcome, fitness.evidence)
    };
    let (outcome, evidence) = judged("p95<200ms", 6);
    assert_eq!(outcome, Fit::Met, "{evidence}");
    assert!(evidence.contains("in each of 6 seconds"), "{evidence}");
    // Too near, too short.
    assert_eq!(judged("p95<50ms", 6).0, Fit::NotProven);
    assert_eq!(judged("p95<200ms", 3).0, Fit::NotProven);
}

/// Three seconds of 1,000 operations of 4 KiB, then three of another number. Such a step
/// leaves too few independent seconds for an interval.
fn two_levels(slo: &str, then: u64) -> Fitness {
    let builder = RecordBuilder::reads().with(|b| b.seconds = 6);
    let fitness = builder.edit_with(move |trial| {
        for sample in trial.samples.iter_mut().filter(|s| s.index >= 3) {
            for op in &mut sample.ops {
                op.ops = then;
                op.bytes = then * 4096;
                op.service = Histogram::new();
                for _ in 0..then {
                    op.service.record(1_000_000);
                }
            }
        }
    });
    judged(slo, fitness)
}

#[test]
fn a_rate_far_from_its_bound_needs_no_interval() {
    let met = two_levels("iops>300", 1500);
    assert_eq!(met.outcome, Fit::Met, "{met:?}");
    assert!(met.evidence.contains("in each of 6 seconds"), "{met:?}");
    assert_eq!(two_levels("throughput>1MB/s", 1500).outcome, Fit::Met);
    assert_eq!(two_levels("iops>6000", 1500).outcome, Fit::NotMet);
    // Too near on either side, and a second that stood still.
    for (slo, then) in [("iops>500", 1500), ("iops>3000", 1500), ("iops>100", 0)] {
        let open = two_levels(slo, then);
        assert_eq!(open.outcome, Fit::NotProven, "{slo}: {open:?}");
    }
}

#[test]
fn what_is_not_trusted_is_never_met() {
    let cached = RecordBuilder::reads().with(|b| b.device_share = 0.01);
    let fitness = judged("mean<40ms", cached);
    assert_eq!(fitness.outcome, Fit::NotProven);
    assert!(fitness.evidence.contains("not trusted"), "{fitness:?}");
}

/// A pause of half a second every third second: percentiles have no interval, and still
/// too many operations are late.
#[test]
fn pauses_break_a_target_although_the_percentile_has_no_interval() {
    let paused = |every: u64| {
        RecordBuilder::reads()
            .with(|b| b.seconds = 14)
            .edit_with(move |trial| {
                for (second, sample) in trial.samples.iter_mut().enumerate() {
                    let late = (second as u64).is_multiple_of(every);
                    for op in &mut sample.ops {
                        let ops = op.service.count();
                        let mut histogram = Histogram::new();
                        for i in 0..ops {
                            let ns = if late && i < ops / 2 {
                                400_000_000
                            } else {
                                1_000_000
                            };
                            histogram.record(ns);
                        }
                        op.service = histogram;
                    }
                }
            })
    };
    let broken = judged("p99<40ms", paused(3));
    assert_eq!(broken.outcome, Fit::NotMet, "{broken:?}");
    assert!(broken.evidence.contains("in 5 periods"), "{broken:?}");
    // One spell may have been chance.
    let once = judged("p99<40ms", paused(14));
    assert_eq!(once.outcome, Fit::NotProven, "{once:?}");
}
