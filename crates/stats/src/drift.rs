//! Does a level move? An equivalence test: that a slope is not significant
//! proves nothing, so the 90 % interval of what the fitted line gains or loses
//! over the window has to lie inside ±5 % (two one-sided tests, Schuirmann
//! 1987). The error of the slope takes the autocorrelation of the residuals,
//! corrected for the bias that fitting a line adds, E[r₁] ≈ φ − (2+4φ)/n.

use crate::autocorrelation::{inflation, lag_one};
use crate::regression::Line;
use crate::student::student_95;

/// Deviations (1/√n) by which φ may exceed its estimate.
const PLAUSIBLE_PHI: f64 = 1.0;
/// Independent values below which nothing is said.
const LEAST_EFFECTIVE: f64 = 8.0;

/// Change over a window, relative to its level, with its 90 % interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Drift {
    /// Share of the level that the fitted line gains over the window; negative
    /// where it falls.
    pub change: f64,
    /// Lower end of the 90 % interval.
    pub low: f64,
    /// Upper end of the 90 % interval.
    pub high: f64,
}

impl Drift {
    /// Surely less than `margin` in either direction.
    pub fn within(&self, margin: f64) -> bool {
        -margin <= self.low && self.high <= margin
    }

    /// Surely more than `margin` in one direction.
    pub fn beyond(&self, margin: f64) -> bool {
        self.low > margin || self.high < -margin
    }
}

/// The drift of evenly spaced logarithms of rates; `None` when they are too
/// few or too alike to one another.
pub fn drift(logs: &[f64]) -> Option<Drift> {
    let n = logs.len() as f64;
    if logs.len() < 10 {
        return None;
    }
    let line = Line::over_index(logs)?;
    let squares = line.squares_left;
    let at = logs.iter().enumerate();
    let residuals: Vec<f64> = at.map(|(i, v)| line.residual(i as f64, *v)).collect();
    // Below this they are rounding.
    let varies = squares > 1e-18 * n;
    let measured = lag_one(&residuals).filter(|_| varies).unwrap_or(0.0);
    let corrected = (measured + 2.0 / n) / (1.0 - 4.0 / n);
    let phi = (corrected + PLAUSIBLE_PHI / n.sqrt()).clamp(0.0, 0.98);
    let inflation = inflation(phi);
    let n_effective = n / inflation;
    if n_effective < LEAST_EFFECTIVE.min(n / 2.0) && varies {
        return None;
    }
    let variance = squares / (n - 2.0 * inflation).max(0.2 * n);
    let error = (variance * inflation / line.squares_x).sqrt() * n;
    let half = student_95(n_effective - 2.0) * error;
    let relative = |log: f64| log.exp_m1();
    let change = line.slope * n;
    let found = Drift {
        change: relative(change),
        low: relative(change - half),
        high: relative(change + half),
    };
    // Not finite where a value was not, or where a line this steep leaves the scale.
    let finite = found.low.is_finite() && found.high.is_finite();
    debug_assert!(
        !finite || found.low <= found.change && found.change <= found.high,
        "the change lies within its interval: {found:?}"
    );
    finite.then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::{Noise, seeded};

    fn noisy(noise: &mut Noise, phi: f64, n: usize, cv: f64, change: f64) -> Vec<f64> {
        let series = noise.ar1(phi, n);
        let slope = (1.0 + change).ln() / n as f64;
        series
            .iter()
            .enumerate()
            .map(|(i, v)| cv * v + slope * i as f64)
            .collect()
    }

    #[test]
    fn the_interval_holds_the_truth() {
        for (n, phi, change) in [
            (60, 0.0, 0.0),
            (60, 0.5, 0.1),
            (120, 0.7, -0.2),
            (300, 0.8, 0.05),
            (600, 0.9, 0.0),
        ] {
            let mut noise = seeded(n as u64);
            let (mut said, mut held) = (0, 0);
            for _ in 0..300 {
                if let Some(drift) = drift(&noisy(&mut noise, phi, n, 0.03, change)) {
                    said += 1;
                    held += usize::from(drift.low <= change && change <= drift.high);
                }
            }
            assert!(said > 60, "n {n} φ {phi}: said {said}");
            assert!(held * 100 >= said * 87, "n {n} φ {phi}: {held} of {said}");
        }
    }

    #[test]
    fn drift_is_told_from_steadiness() {
        let mut noise = seeded(3);
        let steady = drift(&noisy(&mut noise, 0.3, 300, 0.02, 0.0)).unwrap();
        assert!(steady.within(0.05), "{steady:?}");
        let falling = drift(&noisy(&mut noise, 0.3, 300, 0.02, -0.2)).unwrap();
        assert!(
            falling.beyond(0.05) && (falling.change + 0.2).abs() < 0.03,
            "{falling:?}"
        );
        let constant = drift(&[3.0; 50]).unwrap();
        assert_eq!((constant.change, constant.within(0.05)), (0.0, true));
        assert_eq!(drift(&[1.0, 2.0]), None);
    }
}
