//! Standard error and 95 % interval of the mean of an autocorrelated series.
//!
//! An AR(1) model gives the error: τ = (1+φ)/(1−φ) in its exact form for a finite
//! series, with the lag-1 autocorrelation corrected for its small-sample bias,
//! E[r₁] ≈ φ − (1+4φ)/n (Kendall 1954; Marriott & Pope 1954), and the sample
//! variance for what autocorrelation takes from it.
//!
//! φ itself is only an estimate, with the standard error √((1−φ²)/n). Below twenty
//! values the interval takes it at the upper end of that, φ + (1 + 6/n)·√((1−φ²)/n), and
//! Student's t on the number of independent values less one; four cosines of the values
//! themselves (below) may make it wider.
//!
//! From twenty values on the model is only a filter (Andrews & Monahan 1992): what it
//! leaves of each value goes through equal-weighted cosines, which assume no model
//! (Müller 2014; Lazarus, Lewis, Stock & Watson 2018), the mean square of the lowest
//! B = 0.3·n^⅔ transforms gives the long-run variance, the filter is undone, and
//! Student's t has B degrees of freedom. The filter's φ lies above the estimate, by
//! (1 + 15/n)·φ standard errors. A series that swings, which a plainly negative partial
//! correlation over two values shows, is filtered by AR(2).
//!
//! Decision 0072 has the simulated coverage and width for AR(1) with φ from 0 to 0.9,
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
/// Values from which the cosines are trusted, and the model is only their filter.
const ENOUGH_FOR_COSINES: usize = 20;
/// Standard errors by which the φ of the filter lies above its estimate at φ 1, and how
/// many more of them where there are few values: this over their number.
const FILTER_ABOVE: f64 = 1.0;
const FILTER_ABOVE_OF_FEW: f64 = 15.0;
/// A filter with a higher φ leaves too little to judge by.
const HIGHEST_FILTER_PHI: f64 = 0.97;
/// Standard errors below 0 of a partial correlation that shows a swing.
const SWINGS: f64 = 3.0;
/// The interval is at least this share of that of independent values: a series that
/// alternates exactly has no slow movement at all.
const LEAST_OF_INDEPENDENT: f64 = 0.5;
/// Cosines are at least so many.
const LEAST_COSINES: usize = 4;
/// More of them make the interval no narrower.
const MOST_COSINES: usize = 60;
/// Values are merged into at most so many blocks for them.
const MOST_BLOCKS: usize = 1024;
/// Cosines of n values: this times n to the power of ⅔ (Lazarus and others 2018, who
/// have 0.4 for series that nothing has filtered).
const COSINES: f64 = 0.3;

/// What the mean of a series is worth.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MeanError {
    /// Standard error if the values were independent.
    pub independent: f64,
    /// Standard error at the likely autocorrelation.
    pub likely: f64,
    /// Standard error from which the interval follows by Student's t on the number of
    /// independent values less one.
    pub upper: f64,
    /// Half the width of the 95 % interval of the mean.
    pub half_width: f64,
    /// The larger of that and of the AR(1) model alone with φ at the upper end of what is
    /// plausible: for decisions to stop, which pick the moments at which luck made the
    /// interval narrow.
    pub cautious_half_width: f64,
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
            cautious_half_width: 0.0,
            n_effective: n,
            tau: 1.0,
        });
    }
    let deviations: Vec<f64> = values.iter().map(|v| v - mean).collect();
    let swing = swing(&deviations);
    let phi = swing.map_or_else(|| corrected_phi(&deviations), |_| 0.0);
    // A short series whose φ seems near 1 may be a mere slope; it is given the
    // benefit of three independent values, far below what any use asks for.
    let likely_inflation = inflation(phi, n).min((n / 3.0).max(1.0));
    let (likely, n_effective) = of_model(squares, n, likely_inflation);
    let independent = (squares / (n - 1.0) / n).sqrt();
    let student = student_975((n_effective - 1.0).max(1.0));
    // Where φ seems near 1 the benefit above would leave it below the likely one.
    let plausible = of_model(squares, n, inflation(plausible_phi(phi, n), n)).0;
    let by_model = student * plausible.max(likely);
    let half_width = match values.len() < ENOUGH_FOR_COSINES {
        true => by_model.max(Filter(Vec::new()).half_width(&deviations)),
        false => {
            let least = LEAST_OF_INDEPENDENT * student_975(n - 1.0) * independent;
            Filter::new(phi, swing, n)
                .half_width(&deviations)
                .max(least)
        }
    };
    Some(MeanError {
        independent,
        likely,
        upper: half_width / student,
        half_width,
        cautious_half_width: half_width.max(by_model),
        n_effective,
        tau: (n / n_effective).max(1.0),
    })
}

fn corrected_phi(deviations: &[f64]) -> f64 {
    let n = deviations.len() as f64;
    let shrink = (1.0 - 4.0 / n).max(0.5);
    ((lag_one(deviations).unwrap_or(0.0) + 1.0 / n) / shrink).clamp(0.0, HIGHEST_PHI)
}

/// The upper end of what φ may be.
fn plausible_phi(phi: f64, n: f64) -> f64 {
    let more = (PLAUSIBLE_PHI + PLAUSIBLE_PHI_OF_FEW / n) * ((1.0 - phi * phi) / n).sqrt();
    (phi + more).min(HIGHEST_PHI)
}

/// The two coefficients of AR(2) (Yule-Walker) of a series that swings.
fn swing(deviations: &[f64]) -> Option<(f64, f64)> {
    if deviations.len() < ENOUGH_FOR_COSINES {
        return None;
    }
    let one = lag_one(deviations)?;
    let squares: f64 = deviations.iter().map(|d| d * d).sum();
    let lagged: f64 = deviations.windows(3).map(|w| w[0] * w[2]).sum();
    let partial = (lagged / squares - one * one) / (1.0 - one * one);
    let is_plain = partial < -SWINGS / (deviations.len() as f64).sqrt();
    is_plain.then_some((one * (1.0 - partial), partial))
}

/// Takes from each value what follows from those before it, the nearest first.
struct Filter(Vec<f64>);

impl Filter {
    fn new(phi: f64, swing: Option<(f64, f64)>, n: f64) -> Filter {
        if let Some((one, two)) = swing {
            return Filter(vec![one, two]);
        }
        let error = ((1.0 - phi * phi) / n).sqrt();
        let above = (FILTER_ABOVE + FILTER_ABOVE_OF_FEW / n) * phi * error;
        Filter(vec![(phi + above).min(HIGHEST_FILTER_PHI)])
    }

    /// Half the width of the 95 % interval, from the cosines of what the filter leaves.
    fn half_width(&self, deviations: &[f64]) -> f64 {
        let Filter(weights) = self;
        let left = |window: &[f64]| {
            let mut nearest_first = window.iter().rev();
            let value = nearest_first.next().copied().unwrap_or(0.0);
            let follows = nearest_first.zip(weights).map(|(before, w)| w * before);
            value - follows.sum::<f64>()
        };
        let left: Vec<f64> = deviations.windows(weights.len() + 1).map(left).collect();
        let (error, count) = by_cosines(&left);
        student_975(count as f64) * error / (1.0 - weights.iter().sum::<f64>())
    }
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
fn by_cosines(values: &[f64]) -> (f64, usize) {
    // Means of neighbours keep the low frequencies: a day costs no more than an hour.
    let size = values.len().div_ceil(MOST_BLOCKS);
    let blocks: Vec<f64> = values
        .rchunks_exact(size)
        .map(|block| block.iter().sum::<f64>() / size as f64)
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
