//! Student's t distribution.
//!
//! Degrees of freedom below 0.5, and NaN, count as 0.5 (so wide that it says
//! "unknown"); above 1,000 as 1,000 (0.1 % from the normal distribution).

use statrs::distribution::{ContinuousCDF, StudentsT};

/// The value that Student's t stays below with probability `p`, above 0 and below 1.
pub fn quantile(p: f64, degrees: f64) -> f64 {
    debug_assert!(p > 0.0 && p < 1.0, "a probability of {p}");
    let t = distribution(degrees).map(|distribution| distribution.inverse_cdf(p));
    t.filter(|t| t.is_finite()).unwrap_or(f64::MAX)
}

/// The 97.5 % quantile: half the width of a two-sided 95 % interval in standard
/// errors.
pub fn student_975(degrees: f64) -> f64 {
    quantile(0.975, degrees)
}

/// The 95 % quantile: one side of a two-sided 90 % interval.
pub fn student_95(degrees: f64) -> f64 {
    quantile(0.95, degrees)
}

/// The probability of a larger value than `t`.
pub fn above(t: f64, degrees: f64) -> f64 {
    distribution(degrees).map_or(1.0, |distribution| 1.0 - distribution.cdf(t))
}

fn distribution(degrees: f64) -> Option<StudentsT> {
    let degrees = match degrees.is_nan() {
        true => 0.5,
        // Degrees are often effective samples less one, which may be none; from a
        // thousand on, t is within 0.2 % of the normal distribution.
        false => degrees.clamp(0.5, 1000.0),
    };
    StudentsT::new(0.0, 1.0, degrees).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_the_tables() {
        for (degrees, expected) in [(1.0, 12.706), (2.0, 4.303), (9.0, 2.262), (30.0, 2.042)] {
            let got = student_975(degrees);
            assert!((got - expected).abs() < 0.001, "{degrees}: {got}");
        }
        assert!((student_95(10.0) - 1.812).abs() < 0.001);
        assert!((student_975(f64::INFINITY) - 1.962).abs() < 0.001);
    }

    #[test]
    fn unknown_degrees_are_few() {
        for degrees in [f64::NAN, f64::NEG_INFINITY, -3.0, 0.0] {
            let got = student_975(degrees);
            assert!(got > 12.7 && got.is_finite(), "{degrees}: {got}");
        }
    }

    #[test]
    fn probabilities_are_those_of_the_tables() {
        // t = 3 with 5 degrees of freedom: p = 0.03010 (two-sided).
        assert!((2.0 * above(3.0, 5.0) - 0.0301).abs() < 0.0001);
        assert!((above(quantile(0.8, 7.0), 7.0) - 0.2).abs() < 1e-9);
    }
}
