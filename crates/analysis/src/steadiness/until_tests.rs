//! What sequential stopping does to the final interval, by simulation.

use fathom_model::op::OpKind;
use fathom_model::sample::{OpSample, Phase};
use fathom_model::workload::OpMix;

use super::*;
use crate::statistics::noise::seeded;
use crate::statistics::ratio::{Ratio, RatioPart};

const LEVEL: f64 = 1e6;

fn second(index: usize, rate: f64) -> Sample {
    let mut sample = Sample::new(Phase::Measure, index as u32, index as u64 * 1_000_000_000);
    sample.duration_ns = 1_000_000_000;
    let mut op = OpSample::new(OpKind::Read, false);
    op.ops = rate.max(0.0) as u64;
    op.bytes = op.ops * 4096;
    sample.ops.push(op);
    sample
}

/// The rates up to the stop, and whether the rule stopped.
fn run(until: Until, rates: &[f64]) -> (usize, bool) {
    let mut workload = Workload::example("x");
    workload.bounds.time_ns = None;
    let mut rule = UntilRule::new(until, &workload);
    for (index, rate) in rates.iter().enumerate() {
        if rule.observe(&second(index, *rate)) != Decision::Continue {
            return (index + 1, true);
        }
    }
    (rates.len(), false)
}

/// Whether the interval that is printed at the end holds the truth.
fn holds(rates: &[f64]) -> Option<bool> {
    let part = |rate: &f64| RatioPart {
        numerator: *rate,
        denominator: 1.0,
    };
    let ratio = Ratio::of(&rates.iter().map(part).collect::<Vec<_>>())?;
    ratio.error.filter(|e| e.n_effective >= 10.0)?;
    let half = ratio.half_width()?;
    Some((ratio.value - LEVEL).abs() <= half)
}

#[test]
fn the_final_interval_holds_the_truth_after_early_stops() {
    for (until, cv) in [
        (Until::Precision { percent: 2.0 }, 0.05),
        (Until::Precision { percent: 2.0 }, 0.1),
        (Until::Steady, 0.03),
    ] {
        let (mut printed, mut held, mut stopped) = (0, 0, 0);
        for phi in [0.0, 0.5, 0.8, 0.9] {
            let mut noise = seeded((phi * 10.0) as u64 + (cv * 1000.0) as u64);
            for _ in 0..40 {
                let series = noise.ar1(phi, 450);
                let rates: Vec<f64> = series.iter().map(|v| LEVEL * (1.0 + cv * v)).collect();
                let (end, early) = run(until, &rates);
                stopped += usize::from(early);
                if let Some(holds) = holds(&rates[..end]) {
                    printed += 1;
                    held += usize::from(holds);
                }
            }
        }
        assert!(stopped >= 40, "{until:?} cv {cv}: {stopped} of 160 stopped");
        let missed = printed - held;
        assert!(
            missed * 100 <= printed * 10,
            "{until:?} cv {cv}: {held} of {printed}"
        );
    }
}

#[test]
fn what_drifts_or_jumps_is_not_called_steady() {
    let mut noise = seeded(2);
    let falling: Vec<f64> = (0..600)
        .map(|i| LEVEL * (1.0 - 0.5 * f64::from(i) / 600.0) * (1.0 + 0.02 * noise.normal()))
        .collect();
    assert!(!run(Until::Steady, &falling).1);
    let back_and_forth: Vec<f64> = (0..600)
        .map(|i| LEVEL * if i % 10 < 3 { 0.4 } else { 1.0 } * (1.0 + 0.02 * noise.normal()))
        .collect();
    assert!(!run(Until::Steady, &back_and_forth).1);
    assert!(!run(Until::Precision { percent: 2.0 }, &back_and_forth).1);
    // After a cliff it waits until the new level has lasted.
    let cliff: Vec<f64> = (0..600)
        .map(|i| LEVEL * if i < 25 { 5.0 } else { 1.0 } * (1.0 + 0.02 * noise.normal()))
        .collect();
    let (end, stopped) = run(Until::Steady, &cliff);
    assert!(stopped && (325..500).contains(&end), "{end}");
}

#[test]
fn a_short_bound_leaves_out_the_rounds() {
    let mut workload = Workload::example("x");
    workload.bounds.time_ns = Some(120_000_000_000);
    let mut rule = UntilRule::new(Until::Steady, &workload);
    let mut noise = seeded(4);
    let mut rates = (0..120).map(|_| LEVEL * (1.0 + 0.01 * noise.normal()));
    let end = (0..120).find(|i| {
        let rate = rates.next().unwrap_or(LEVEL);
        rule.observe(&second(*i, rate)) != Decision::Continue
    });
    assert!(end.is_some_and(|end| (59..100).contains(&end)), "{end:?}");
}

#[test]
fn writes_go_on_until_the_range_was_written_twice() {
    let mut workload = Workload::example("x");
    workload.bounds.time_ns = None;
    workload.mix = OpMix::WRITE;
    workload.data_set.size_bytes = Some((LEVEL * 4096.0 * 200.0) as u64);
    let mut rule = UntilRule::new(Until::Steady, &workload);
    let mut noise = seeded(3);
    let end = (0..600).find(|i| {
        let mut sample = second(*i, LEVEL * (1.0 + 0.01 * noise.normal()));
        sample.ops[0].kind = OpKind::Write;
        rule.observe(&sample) != Decision::Continue
    });
    assert!(end.is_some_and(|end| (399..500).contains(&end)), "{end:?}");
}
