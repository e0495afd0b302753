//! The median absolute deviation: a spread that a few wild values do not move.

use crate::median::median;

/// From the median absolute deviation to the standard deviation of normal values:
/// 1/Φ⁻¹(¾).
pub const MAD_TO_DEVIATION: f64 = 1.4826;

/// The median absolute deviation of standard normal values, Φ⁻¹(¾).
pub const MAD_OF_NORMAL: f64 = 0.6745;

/// The median distance of the values from their median, in their unit; `None`
/// where there is no value.
pub fn mad(values: &[f64]) -> Option<f64> {
    let middle = median(values)?;
    let distances: Vec<f64> = values.iter().map(|value| (value - middle).abs()).collect();
    median(&distances)
}

/// The robust standard deviation: that of normal values with this median absolute
/// deviation. `None` where there is no value.
pub fn robust_deviation(values: &[f64]) -> Option<f64> {
    Some(MAD_TO_DEVIATION * mad(values)?)
}

/// The modified z-score of a value among others with this median and median
/// absolute deviation (Iglewicz and Hoaglin, *How to Detect and Handle Outliers*,
/// 1993; they call values beyond 3.5 outliers). Without any spread every value
/// beside the median is infinitely far.
pub fn modified_z_score(value: f64, median: f64, mad: f64) -> f64 {
    MAD_OF_NORMAL * (value - median) / mad.max(f64::MIN_POSITIVE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_deviation_of_normal_values_and_ignores_wild_ones() {
        let mut noise = crate::noise::seeded(6);
        let mut values: Vec<f64> = (0..4000).map(|_| 10.0 + 2.0 * noise.normal()).collect();
        let found = robust_deviation(&values).unwrap();
        assert!((found - 2.0).abs() < 0.1, "{found}");
        values[..40].fill(1e9);
        let found = robust_deviation(&values).unwrap();
        assert!((found - 2.0).abs() < 0.15, "{found}");
        assert_eq!(mad(&[1.0, 2.0, 4.0, 9.0]), Some(1.5));
        assert_eq!(mad(&[]), None);
    }

    #[test]
    fn a_score_counts_deviations() {
        let score = modified_z_score(10.0 + 2.0 * MAD_TO_DEVIATION, 10.0, 1.0);
        assert!((score - 2.0).abs() < 0.001, "{score}");
        assert!(modified_z_score(1.5, 1.0, 0.0) > 1e300);
        assert_eq!(modified_z_score(1.0, 1.0, 0.0), 0.0);
    }
}
