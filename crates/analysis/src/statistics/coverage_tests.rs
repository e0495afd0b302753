//! The promise "95 %" against simulated truth, from fixed seeds.

use fathom_model::estimate::{Estimate, Unit};
use fathom_model::histogram::Histogram;
use fathom_stats::autocorrelation::finite_inflation;

use super::noise::{Noise, seeded};
use super::percentile::Latencies;
use super::ratio::{Ratio, RatioPart, over_trials};
use crate::series::Series;

fn holds(estimate: &Estimate, truth: f64) -> Option<bool> {
    Some(estimate.low? <= truth && truth <= estimate.high?)
}

fn mean_estimate(values: &[f64]) -> Estimate {
    let parts: Vec<RatioPart> = values
        .iter()
        .map(|v| RatioPart {
            numerator: 1000.0 + 50.0 * v,
            denominator: 1.0,
        })
        .collect();
    let measured_ns = values.len() as u64 * 1_000_000_000;
    Ratio::of(&parts)
        .unwrap()
        .estimate(Unit::OpsPerSecond, measured_ns)
}

fn is_left_out_for_width(estimate: &Estimate) -> bool {
    let reason = estimate.reason.as_deref().unwrap_or_default();
    reason.contains("the interval would be ±")
}

#[test]
fn mean_intervals_hold_the_truth_wherever_they_are_printed() {
    for (n, runs) in [(60, 1000), (120, 800), (300, 400), (600, 300)] {
        for phi in [0.0, 0.3, 0.5, 0.7, 0.8, 0.9] {
            // Where intervals are rarely printed, more runs are needed to judge.
            let runs = if phi > 0.7 && n <= 120 { 3000 } else { runs };
            let mut noise = seeded(n as u64 * 100 + (phi * 10.0) as u64);
            let outcomes: Vec<bool> = (0..runs)
                .filter_map(|_| {
                    let estimate = mean_estimate(&noise.ar1(phi, n));
                    // One that is left out for its width claims nothing wrong.
                    holds(&estimate, 1000.0).or(is_left_out_for_width(&estimate).then_some(true))
                })
                .collect();
            let printed = outcomes.len() as f64;
            let missed = outcomes.iter().filter(|held| !**held).count() as f64;
            // A minute at φ 0.9 is worth three independent seconds: no estimate of φ
            // is good enough there.
            let most = if phi > 0.8 && n == 60 { 0.12 } else { 0.06 };
            // Of so few series the share itself is known to two of its errors.
            let chance = 2.0 * (most * (1.0 - most) / printed).sqrt();
            assert!(
                missed <= (most + chance) * printed,
                "n {n} phi {phi}: {missed} of {printed} printed intervals missed"
            );
            let least = if phi > 0.8 { 0.3 } else { 0.8 };
            assert!(
                printed > least * runs as f64,
                "n {n} phi {phi}: {printed} printed"
            );
        }
    }
}

/// An interval that is wide because it must be, and no wider: against one of whoever
/// knows φ.
#[test]
fn mean_intervals_are_no_wider_than_they_have_to_be() {
    for (n, phi, most) in [
        (60, 0.0, 1.35),
        (60, 0.5, 1.5),
        (120, 0.5, 1.25),
        (300, 0.0, 1.12),
        (300, 0.8, 1.2),
        (600, 0.8, 1.15),
    ] {
        let mut noise = seeded(n as u64 + (phi * 10.0) as u64);
        let widths: Vec<f64> = (0..300)
            .filter_map(|_| {
                let estimate = mean_estimate(&noise.ar1(phi, n));
                Some((estimate.high? - estimate.low?) / 2.0)
            })
            .collect();
        let mean = widths.iter().sum::<f64>() / widths.len() as f64;
        let error = 50.0 * (finite_inflation(phi, n as f64) / n as f64).sqrt();
        let ratio = mean / (1.96 * error);
        assert!(ratio < most, "n {n} phi {phi}: {ratio:.2} times as wide");
    }
}

/// What is not an AR(1) series, such as slow noise under quick noise, whose first
/// correlation is small.
#[test]
fn intervals_of_other_series_are_not_far_off() {
    let all = [
        (Series::SlowUnderQuick, 0.2),
        (Series::Period, 0.08),
        (Series::Arma, 0.1),
        (Series::Levels, 0.15),
        (Series::HeavyTails, 0.08),
        (Series::Stalls, 0.2),
    ];
    for (series, most) in all {
        for n in [120, 600] {
            let mut noise = seeded(n as u64);
            let outcomes: Vec<bool> = (0..400)
                .filter_map(|_| holds(&mean_estimate(&series.values(&mut noise, n)), 1000.0))
                .collect();
            let missed = outcomes.iter().filter(|held| !**held).count() as f64;
            let share = missed / outcomes.len() as f64;
            assert!(share <= most, "{series}, {n}: {share} missed");
        }
    }
}

#[test]
fn intervals_between_trials_hold_the_truth() {
    let mut noise = seeded(10);
    for k in [2, 3, 6] {
        let missed = (0..400)
            .filter(|_| {
                let trials: Vec<[RatioPart; 1]> = (0..k)
                    .map(|_| {
                        [RatioPart {
                            numerator: 1e4 + 300.0 * noise.normal(),
                            denominator: 10.0,
                        }]
                    })
                    .collect();
                let estimate = over_trials(&trials, Unit::OpsPerSecond, 0).unwrap();
                holds(&estimate, 1000.0) == Some(false)
            })
            .count();
        assert!(missed <= 32, "{k} trials: {missed} of 400 missed");
    }
}

/// Trials that differ, of seconds that resemble one another: what counts is
/// the variance between trials, and it is known from few of them.
#[test]
fn intervals_over_trials_hold_the_truth_with_noise_within_and_between() {
    for (k, phi, between) in [
        (2, 0.5, 0.0),
        (3, 0.0, 0.01),
        (3, 0.8, 0.05),
        (5, 0.5, 0.03),
        (6, 0.9, 0.02),
    ] {
        let mut noise = seeded(k as u64 * 10 + (phi * 10.0) as u64);
        let runs = 250;
        let (mut missed, mut naive_missed) = (0, 0);
        for _ in 0..runs {
            let trials: Vec<Vec<RatioPart>> = (0..k)
                .map(|_| {
                    let level = 1000.0 * (1.0 + between * noise.normal());
                    let seconds = noise.ar1(phi, 30);
                    let part = |v: &f64| RatioPart {
                        numerator: level * (1.0 + 0.03 * v),
                        denominator: 1.0,
                    };
                    seconds.iter().map(part).collect()
                })
                .collect();
            let estimate = over_trials(&trials, Unit::OpsPerSecond, 0).unwrap();
            missed += usize::from(holds(&estimate, 1000.0) == Some(false));
            let within = Ratio::within(&trials)
                .unwrap()
                .estimate(Unit::OpsPerSecond, 0);
            naive_missed += usize::from(holds(&within, 1000.0) == Some(false));
        }
        assert!(
            missed * 100 <= runs * 8,
            "{k} trials, φ {phi}, {between}: {missed} of {runs}"
        );
        if between >= 0.03 {
            // The seconds alone would promise too much.
            assert!(naive_missed * 100 > runs * 10, "{naive_missed} of {runs}");
        }
    }
}

/// Latencies whose logarithm is a normal level per second (AR(1) over
/// seconds, deviation `between`) plus normal noise per operation: log-normal
/// overall, so every percentile is known exactly.
fn clustered(
    noise: &mut Noise,
    seconds: usize,
    ops: usize,
    phi: f64,
    between: f64,
) -> Vec<Histogram> {
    let levels = noise.ar1(phi, seconds);
    levels
        .iter()
        .map(|level| {
            let mut histogram = Histogram::new();
            for _ in 0..ops {
                let log = between * level + 0.4 * noise.normal();
                histogram.record((1e5 * log.exp()) as u64);
            }
            histogram
        })
        .collect()
}

fn percentile_misses(
    seconds: usize,
    ops: usize,
    phi: f64,
    between: f64,
    runs: usize,
) -> (usize, usize) {
    let mut noise = seeded((seconds * ops) as u64 + (100.0 * (phi + between)) as u64);
    let deviation = (between * between + 0.16f64).sqrt();
    let truths = [(0, 0.0), (1, 1.281_552), (3, 2.326_348)];
    let (mut printed, mut missed) = (0, 0);
    for _ in 0..runs {
        let run = clustered(&mut noise, seconds, ops, phi, between);
        let parts = run.iter().map(|h| vec![h]).collect();
        let summary = Latencies::new(vec![parts], seconds as u64 * 1_000_000_000).summary();
        for (position, z) in truths {
            let truth = 1e5 * (deviation * z).exp();
            if let Some(held) = holds(&summary.percentiles[position].latency_ns, truth) {
                printed += 1;
                missed += usize::from(!held);
            }
        }
    }
    (printed, missed)
}

#[test]
fn percentile_intervals_hold_the_truth_on_independent_and_clustered_data() {
    for (seconds, ops, phi, between, runs) in [
        (10, 150, 0.0, 0.0, 80),
        (10, 150, 0.0, 0.1, 80),
        (60, 60, 0.0, 0.0, 60),
        (60, 60, 0.0, 0.3, 60),
        (60, 60, 0.6, 0.2, 60),
        (120, 30, 0.8, 0.2, 40),
    ] {
        let (printed, missed) = percentile_misses(seconds, ops, phi, between, runs);
        assert!(
            printed > runs / 4,
            "{seconds} s, φ {phi}: only {printed} printed"
        );
        assert!(
            missed as f64 <= 0.08 * printed as f64,
            "{seconds} s, φ {phi}, between {between}: {missed} of {printed} missed"
        );
    }
}
