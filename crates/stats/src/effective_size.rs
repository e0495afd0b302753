//! Standard error and 95 % interval of the mean of an autocorrelated series.
//!
//! An AR(1) model gives the error: τ = (1+φ)/(1−φ) in its exact form for a finite
//! series, with the lag-1 autocorrelation corrected for its small-sample bias,
//! E[r₁] ≈ φ − (1+4φ)/n (Kendall 1954; Marriott & Pope 1954), and the sample
//! variance for what autocorrelation takes from it.
//!
//! φ itself is only an estimate, with the standard error √((1−φ²)/n). The interval
//! takes it at the upper end of that, φ + (1 + 6/n)·√((1−φ²)/n), and Student's t on
//! the number of independent values less one.
//!
//! Series are not all AR(1). The interval is at least as wide as that of
//! equal-weighted cosines (Müller 2014; Lazarus, Lewis, Stock & Watson 2018), which
//! assume no model: the mean square of the lowest B = 0.4·n^⅔ cosine transforms, with
//! Student's t on B.
//!
//! Decision 0054 has the simulated coverage and width for AR(1) with φ from 0 to 0.9,
//! AR(2), ARMA and regimes (`coverage_tests`).

use crate::autocorrelation::{finite_inflation, lag_one};
use crate::moments::Moments;
use crate::student::student_975;

/// Effective samples below which no interval is printed.
pub const MIN_EFFECTIVE: f64 = 4.0;

/// Standard errors by which φ may exceed its estimate, and how many more of them where
/// there are few values: this over their number.
const PLAUSIBLE_PHI: f64 = 1.0;
const PLAUSIBLE_PHI_OF_FEW: f64 = 6.0;
/// φ is not taken higher.
const HIGHEST_PHI: f64 = 0.995;
/// Cosines are at least so many.
const LEAST_COSINES: usize = 4;
/// More of them make the interval no narrower.
const MOST_COSINES: usize = 60;
/// Values are merged into at most so many blocks for them.
const MOST_BLOCKS: usize = 1024;
/// Cosines of n values: this times n to the power of ⅔ (Lazarus and others 2018).
const COSINES: f64 = 0.4;

/// What the mean of a series is worth.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MeanError {
    /// Standard error if the values were independent.
    pub independent: f64,
    /// Standard error at the likely autocorrelation.
    pub likely: f64,
    /// Standard error at the upper end of the plausible autocorrelation, or that of
    /// the cosines where it is larger.
    pub upper: f64,
    /// Half the width of the 95 % interval of the mean.
    pub half_width: f64,
    /// Independent values that the series is worth, at the likely
    /// autocorrelation.
    pub n_effective: f64,
    /// Integrated autocorrelation time in values, at least 1.
    pub tau: f64,
}

/// The standard error of the mean of `values`, one for each second or another equal
/// stretch of time, in their unit; `None` below two values or when a value is not
/// finite.
pub fn mean_error(values: &[f64]) -> Option<MeanError> {
    if values.len() < 2 || values.iter().any(|v| !v.is_finite()) {
        return None;
    }
    let Moments {
        count: n,
        mean,
        squares,
    } = Moments::of(values)?;
    if !squares.is_finite() {
        return None;
    }
    // Below this the deviations are rounding, not variation.
    if squares <= (mean.abs() * 1e-12).powi(2) * n {
        return Some(MeanError {
            independent: 0.0,
            likely: 0.0,
            upper: 0.0,
            half_width: 0.0,
            n_effective: n,
            tau: 1.0,
        });
    }
    let phi = corrected_phi(values, mean);
    // A short series whose φ seems near 1 may be a mere slope; it is given the
    // benefit of three independent values, far below what any use asks for.
    let likely_inflation = inflation(phi, n).min((n / 3.0).max(1.0));
    let (likely, n_effective) = of_model(squares, n, likely_inflation);
    let more = (PLAUSIBLE_PHI + PLAUSIBLE_PHI_OF_FEW / n) * ((1.0 - phi * phi) / n).sqrt();
    let upper_inflation = inflation((phi + more).min(HIGHEST_PHI), n);
    // Where φ seems near 1 the benefit above would leave it below the likely one.
    let upper = of_model(squares, n, upper_inflation).0.max(likely);
    let by_model = student_975((n_effective - 1.0).max(1.0)) * upper;
    let (cosines, count) = by_cosines(values, mean);
    let by_cosines = student_975(count as f64) * cosines;
    Some(MeanError {
        independent: (squares / (n - 1.0) / n).sqrt(),
        likely,
        upper: upper.max(cosines),
        half_width: by_model.max(by_cosines),
        n_effective,
        tau: (n / n_effective).max(1.0),
    })
}

fn corrected_phi(values: &[f64], mean: f64) -> f64 {
    let n = values.len() as f64;
    let deviations: Vec<f64> = values.iter().map(|v| v - mean).collect();
    let shrink = (1.0 - 4.0 / n).max(0.5);
    ((lag_one(&deviations).unwrap_or(0.0) + 1.0 / n) / shrink).clamp(0.0, HIGHEST_PHI)
}

/// Variance of the mean over that of independent values, kept at 0.9 n so that the
/// variance correction below stays finite.
fn inflation(phi: f64, n: f64) -> f64 {
    finite_inflation(phi, n).clamp(1.0, (0.9 * n).max(1.0))
}

/// Standard error by the AR(1) model, and how many independent values are worth as much.
fn of_model(squares: f64, n: f64, inflation: f64) -> (f64, f64) {
    let spread = squares / (n - inflation).max(0.1 * n);
    let variance = spread * inflation / n;
    (variance.sqrt(), (n / inflation).clamp(1.0, n))
}

/// Standard error by the lowest cosine transforms, and how many they are.
fn by_cosines(values: &[f64], mean: f64) -> (f64, usize) {
    // Means of neighbours keep the low frequencies: a day costs no more than an hour.
    let size = values.len().div_ceil(MOST_BLOCKS);
    let blocks: Vec<f64> = values
        .rchunks_exact(size)
        .map(|block| block.iter().sum::<f64>() / size as f64 - mean)
        .collect();
    let n = blocks.len() as f64;
    let wanted = (COSINES * (values.len() as f64).powf(2.0 / 3.0)).round() as usize;
    let count = wanted
        .clamp(LEAST_COSINES, MOST_COSINES)
        .min(blocks.len() - 1);
    let squares: f64 = (1..=count)
        .map(|number| {
            let frequency = std::f64::consts::PI * number as f64 / n;
            let terms = blocks.iter().enumerate();
            let sum: f64 = terms
                .map(|(at, value)| value * (frequency * (at as f64 + 0.5)).cos())
                .sum();
            2.0 / n * sum * sum
        })
        .sum();
    ((squares / count as f64 / n).sqrt(), count)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::seeded;

    #[test]
    fn independent_values_keep_their_number() {
        let mut noise = seeded(1);
        let values: Vec<f64> = (0..1000).map(|_| 100.0 + noise.normal()).collect();
        let error = mean_error(&values).unwrap();
        assert!(error.n_effective > 600.0, "{error:?}");
        assert!((0.028..0.042).contains(&error.likely), "{error:?}");
        assert!(error.upper >= error.likely);
    }

    #[test]
    fn autocorrelated_values_are_worth_fewer() {
        let values = seeded(2).ar1(0.8, 1000);
        let error = mean_error(&values).unwrap();
        // True τ is 9, so about 111 effective samples.
        assert!((60.0..180.0).contains(&error.n_effective), "{error:?}");
    }

    #[test]
    fn constant_and_hopeless_series_are_told_apart() {
        let constant = mean_error(&[5.0; 12]).unwrap();
        assert_eq!((constant.upper, constant.n_effective), (0.0, 12.0));
        assert_eq!(mean_error(&[1.0]), None);
        assert_eq!(mean_error(&[1.0, f64::NAN]), None);
        assert_eq!(mean_error(&[f64::MAX, -f64::MAX, f64::MAX]), None);
    }
}
