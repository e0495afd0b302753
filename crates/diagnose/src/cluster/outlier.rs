//! Which of several values stands out, by their median and the median distance
//! from it, which one bad value does not move (Iglewicz and Hoaglin 1993).

use fathom_rules::cluster::slow_member::{FEWEST, Z_MOST};
use fathom_stats::mad::{mad, modified_z_score};
use fathom_stats::median::median;

/// Whether each value is larger than the others by `factor` and by the score.
pub(super) fn high(values: &[f64], factor: f64) -> Vec<bool> {
    let Some(middle) = median(values).filter(|m| values.len() >= FEWEST && *m > 0.0) else {
        return vec![false; values.len()];
    };
    let spread = mad(values).unwrap_or(0.0);
    let stands_out =
        |value: &f64| *value > factor * middle && modified_z_score(*value, middle, spread) > Z_MOST;
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
    }
}
