//! Which of several values stands out, told by their median and the median
//! distance from it, which one bad value does not move (Iglewicz and Hoaglin
//! 1993).

/// Fewer values have no middle that means anything.
const FEWEST: usize = 3;
/// The bound of the modified z-score in the cited book.
const Z_MOST: f64 = 3.5;

/// The middle value.
pub(super) fn median(values: &[f64]) -> Option<f64> {
    let mut sorted: Vec<f64> = values.iter().copied().filter(|v| v.is_finite()).collect();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => None,
        odd if odd % 2 == 1 => Some(sorted[middle]),
        _ => Some((sorted[middle - 1] + sorted[middle]) / 2.0),
    }
}

/// Whether each value is larger than the others by `factor` and by the score.
pub(super) fn high(values: &[f64], factor: f64) -> Vec<bool> {
    let Some(middle) = median(values).filter(|m| values.len() >= FEWEST && *m > 0.0) else {
        return vec![false; values.len()];
    };
    let distances: Vec<f64> = values.iter().map(|value| (value - middle).abs()).collect();
    let spread = median(&distances).unwrap_or(0.0);
    let stands_out = |value: &f64| {
        // Without any spread every other value is infinitely far.
        let score = 0.6745 * (value - middle) / spread.max(f64::MIN_POSITIVE);
        *value > factor * middle && score > Z_MOST
    };
    values.iter().map(stands_out).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_slow_value_stands_out_and_spread_does_not() {
        assert_eq!(
            high(&[1.0, 1.1, 0.9, 5.0], 2.0),
            [false, false, false, true]
        );
        assert_eq!(high(&[1.0, 1.0, 1.0, 1.5], 2.0), [false; 4]);
        assert_eq!(high(&[1.0, 9.0], 2.0), [false; 2], "two cannot tell");
        assert!(!high(&[1.0, 3.0, 9.0, 27.0, 81.0], 2.0)[2]);
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[4.0, 1.0, f64::NAN]), Some(2.5));
    }
}
