//! Simulated rates whose mean is known: the kinds of series that storage gives, one
//! value per second, to try intervals on.

use std::fmt;

use crate::statistics::noise::Noise;

/// How the seconds of a series hang together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Series {
    /// AR(1) with this correlation from second to second.
    Correlated(f64),
    /// Quick noise that hides a slow movement of three tenths of its variance (φ 0.9).
    SlowUnderQuick,
    /// AR(2) that swings with a period of ten seconds.
    Period,
    /// ARMA(1, 1): φ 0.8 of which a moving average of −0.4 takes a part.
    Arma,
    /// Two levels that change once in fifteen seconds on average.
    Levels,
    /// Independent seconds of Student's t with three degrees of freedom.
    HeavyTails,
    /// Independent seconds, one in fifty of which almost stands still.
    Stalls,
}

/// Kinds that are not AR(1).
pub(crate) const OTHER_SERIES: [Series; 6] = [
    Series::SlowUnderQuick,
    Series::Period,
    Series::Arma,
    Series::Levels,
    Series::HeavyTails,
    Series::Stalls,
];

/// What a normal value exceeds once in fifteen times.
const ONE_IN_FIFTEEN: f64 = 1.501_085_946;
/// What a normal value exceeds once in fifty times.
const ONE_IN_FIFTY: f64 = 2.053_748_911;
/// Deviations by which a second falls that almost stands still.
const STALL: f64 = 18.0;
/// Values before the first, in which a series forgets how it began.
const FORGOTTEN: usize = 100;

impl fmt::Display for Series {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Series::Correlated(phi) => write!(f, "φ {phi:.1}"),
            Series::SlowUnderQuick => f.write_str("slow noise under quick"),
            Series::Period => f.write_str("AR(2), a period of ten"),
            Series::Arma => f.write_str("ARMA(1, 1), φ 0.8, θ −0.4"),
            Series::Levels => f.write_str("two levels of fifteen seconds"),
            Series::HeavyTails => f.write_str("heavy tails, t(3)"),
            Series::Stalls => f.write_str("stalls, a second in fifty"),
        }
    }
}

impl Series {
    /// `n` values around 0, with a deviation of about 1.
    pub(crate) fn values(self, noise: &mut Noise, n: usize) -> Vec<f64> {
        match self {
            Series::Correlated(phi) => noise.ar1(phi, n),
            Series::SlowUnderQuick => {
                let slow = noise.ar1(0.9, n);
                let quick = |slow: &f64| 0.55 * slow + 0.84 * noise.normal();
                slow.iter().map(quick).collect()
            }
            Series::Period => period(noise, n),
            Series::Arma => arma(noise, n),
            Series::Levels => levels(noise, n),
            Series::HeavyTails => (0..n).map(|_| heavy(noise)).collect(),
            Series::Stalls => (0..n).map(|_| with_stalls(noise)).collect(),
        }
    }
}

fn period(noise: &mut Noise, n: usize) -> Vec<f64> {
    let (mut before, mut last) = (0.0, 0.0);
    let values = (0..n + FORGOTTEN).map(|_| {
        let next = 1.456 * last - 0.81 * before + noise.normal();
        (before, last) = (last, next);
        next
    });
    values.skip(FORGOTTEN).collect()
}

fn arma(noise: &mut Noise, n: usize) -> Vec<f64> {
    let (mut value, mut shock) = (0.0, 0.0);
    let values = (0..n + FORGOTTEN).map(|_| {
        let now = noise.normal();
        value = 0.8 * value + now - 0.4 * shock;
        shock = now;
        value
    });
    values.skip(FORGOTTEN).collect()
}

fn levels(noise: &mut Noise, n: usize) -> Vec<f64> {
    let mut level = noise.normal().signum();
    let values = (0..n).map(|_| {
        if noise.normal() > ONE_IN_FIFTEEN {
            level = -level;
        }
        level + 0.3 * noise.normal()
    });
    values.collect()
}

/// Student's t with three degrees of freedom: its deviation is √3.
fn heavy(noise: &mut Noise) -> f64 {
    let value = noise.normal();
    let squares: f64 = (0..3).map(|_| noise.normal().powi(2)).sum();
    value / squares.sqrt()
}

fn with_stalls(noise: &mut Noise) -> f64 {
    let stalls = noise.normal() > ONE_IN_FIFTY;
    let fall = if stalls { STALL } else { 0.0 };
    // What the stalls take on average is given to every second.
    noise.normal() - fall + STALL / 50.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::noise::seeded;
    use fathom_stats::moments::Moments;

    #[test]
    fn every_series_has_the_mean_that_it_promises() {
        let correlated = [0.0, 0.9].map(Series::Correlated);
        for series in correlated.into_iter().chain(OTHER_SERIES) {
            let values = series.values(&mut seeded(11), 100_000);
            let moments = Moments::of(&values).unwrap();
            let deviation = moments.deviation_within();
            assert!(
                moments.mean.abs() < 0.05 * deviation,
                "{series}: {moments:?}"
            );
            assert!((0.5..4.0).contains(&deviation), "{series}: {deviation}");
        }
    }
}
