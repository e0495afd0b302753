//! The long-run variance of a series whose level jumps.

use crate::mad::MAD_TO_DEVIATION;
use crate::median::median;

/// Long-run variance of an AR(1) series whose mean jumps, in squares of the values'
/// unit and above 0, from the medians of
/// its first and second differences (Chakar, Lebarbier, Lévy-Leduc & Robin,
/// *A robust approach for estimating change-points in the mean of an AR(1)
/// process*, Bernoulli 2017). φ counts at most as 0.6: in short series its
/// estimate is rough, and what is found is tested once more.
pub fn long_run_variance(values: &[f64]) -> f64 {
    let spread = |lag: usize| {
        let pairs = values.windows(lag + 1);
        let gaps: Vec<f64> = pairs.map(|w| (w[lag] - w[0]).abs()).collect();
        (median(&gaps).unwrap_or(0.0) * MAD_TO_DEVIATION).powi(2)
    };
    let (one, two) = (spread(1), spread(2));
    if one <= 0.0 {
        return two.max(f64::MIN_POSITIVE);
    }
    let phi = (two / one - 1.0).clamp(0.0, 0.6);
    let variance = one / (2.0 * (1.0 - phi));
    variance * (1.0 + phi) / (1.0 - phi)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::seeded;

    #[test]
    fn the_long_run_variance_ignores_levels() {
        let mut noise = seeded(2);
        for (phi, truth) in [(0.0, 1.0), (0.3, 1.86), (0.5, 3.0)] {
            let mut values = noise.ar1(phi, 2000);
            for value in &mut values[700..] {
                *value += 50.0;
            }
            let found = long_run_variance(&values);
            assert!(
                (0.6..1.6).contains(&(found / truth)),
                "φ {phi}: {found} of {truth}"
            );
        }
        assert!(long_run_variance(&[1.0; 9]) > 0.0);
    }
}
