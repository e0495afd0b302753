//! What neighbours in a series have in common, and what that does to the error of
//! a mean.

/// Lag-1 autocorrelation of deviations from a mean or a line, between -1 and 1;
/// `None` where nothing deviates. Biased towards 0 in short series: where a mean
/// was taken off, E[r₁] ≈ φ − (1+4φ)/n (Kendall 1954; Marriott & Pope 1954).
pub fn lag_one(deviations: &[f64]) -> Option<f64> {
    let squares: f64 = deviations.iter().map(|d| d * d).sum();
    let lagged: f64 = deviations.windows(2).map(|pair| pair[0] * pair[1]).sum();
    let found = (squares > 0.0).then(|| lagged / squares);
    debug_assert!(
        found.is_none_or(|phi| phi.is_nan() || phi.abs() <= 1.0 + 1e-9),
        "Cauchy-Schwarz bounds an autocorrelation: {found:?}"
    );
    found
}

/// Variance of the mean of a long AR(1) series over that of independent values, the
/// integrated autocorrelation time τ = (1+φ)/(1−φ). `phi` is below 1.
pub fn inflation(phi: f64) -> f64 {
    // From 1 on the series has no finite variance, and the formula turns negative:
    // an error of a mean would come out as NaN, which passes no comparison.
    debug_assert!(phi > -1.0 && phi < 1.0, "φ is {phi}");
    (1.0 + phi) / (1.0 - phi)
}

/// Variance of the mean of `n` values of an AR(1) series over that of independent
/// ones: the exact sum 1 + 2 Σ (1 − k/n) φᵏ. `phi` is below 1.
pub fn finite_inflation(phi: f64, n: f64) -> f64 {
    debug_assert!(n >= 1.0, "a mean of {n} values");
    let edge = 2.0 * phi * (1.0 - phi.powf(n)) / (n * (1.0 - phi).powi(2));
    inflation(phi) - edge
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_autocorrelation_of_a_long_series_is_found() {
        let mut noise = crate::noise::seeded(8);
        for phi in [-0.5, 0.0, 0.5, 0.9] {
            let found = lag_one(&noise.ar1(phi, 20_000)).unwrap();
            assert!((found - phi).abs() < 0.03, "{phi}: {found}");
        }
        assert_eq!(lag_one(&[0.0; 5]), None);
        assert_eq!(lag_one(&[]), None);
    }

    #[test]
    fn the_closed_form_is_the_sum() {
        for (phi, n) in [(0.3f64, 10), (0.8, 60), (0.95, 30)] {
            let count = f64::from(n);
            let sum: f64 = (1..n)
                .map(|k| 2.0 * (1.0 - f64::from(k) / count) * phi.powi(k))
                .sum();
            let found = finite_inflation(phi, count);
            assert!((found - 1.0 - sum).abs() < 1e-9, "{phi} {n}: {found}");
            assert!(found < inflation(phi));
        }
    }
}
