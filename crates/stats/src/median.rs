//! The middle of some values.

/// The median: the middle value, of an even number of values the mean of the two
/// in the middle. NaN is no value; `None` where there is no value.
///
/// Linear in the number of values.
pub fn median(values: &[f64]) -> Option<f64> {
    let mut values: Vec<f64> = values.iter().copied().filter(|v| !v.is_nan()).collect();
    if values.is_empty() {
        return None;
    }
    let (middle, even) = (values.len() / 2, values.len().is_multiple_of(2));
    let (lower, upper, _) = values.select_nth_unstable_by(middle, f64::total_cmp);
    let upper = *upper;
    if !even {
        return Some(upper);
    }
    let lower = lower.iter().copied().max_by(f64::total_cmp)?;
    Some(f64::midpoint(lower, upper))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_is_found_whatever_the_order() {
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[f64::NAN]), None);
        assert_eq!(median(&[7.0]), Some(7.0));
        assert_eq!(median(&[9.0, 1.0, 5.0]), Some(5.0));
        assert_eq!(median(&[9.0, 1.0, 5.0, 2.0]), Some(3.5));
        assert_eq!(median(&[4.0, 1.0, f64::NAN]), Some(2.5));
        assert_eq!(median(&[f64::INFINITY, 1.0, 2.0]), Some(2.0));
    }

    #[test]
    fn it_is_that_of_the_sorted_values() {
        let mut noise = crate::noise::seeded(5);
        for n in 1..40 {
            let values: Vec<f64> = (0..n).map(|_| noise.normal()).collect();
            let mut sorted = values.clone();
            sorted.sort_by(f64::total_cmp);
            let expected = f64::midpoint(sorted[(n - 1) / 2], sorted[n / 2]);
            assert_eq!(median(&values), Some(expected), "{n}");
        }
    }
}
