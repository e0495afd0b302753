//! Quantiles that are one of the values, never between two of them.

/// The quantile by nearest rank: the smallest value that at least this share of
/// the values does not exceed (type 1 of Hyndman and Fan, *Sample quantiles in
/// statistical packages*, The American Statistician 1996). `share` counts from 0
/// (the smallest value) to 1 (the largest). NaN is no value; `None` where there is
/// no value.
pub fn nearest_rank(values: &[f64], share: f64) -> Option<f64> {
    let weighted: Vec<(f64, f64)> = values.iter().map(|value| (*value, 1.0)).collect();
    weighted_quantile(&weighted, share)
}

/// The quantile of values of unequal weight, by nearest rank: the smallest value
/// such that it and all smaller ones have at least this share of the weight. Pairs
/// are (value, weight); weights are not negative. NaN is no value; `None` where
/// there is no value.
pub fn weighted_quantile(values: &[(f64, f64)], share: f64) -> Option<f64> {
    let present = values.iter().copied().filter(|(value, _)| !value.is_nan());
    let mut sorted: Vec<(f64, f64)> = present.collect();
    debug_assert!((0.0..=1.0).contains(&share), "a share of {share}");
    debug_assert!(
        sorted.iter().all(|(_, weight)| *weight >= 0.0),
        "a negative weight would let the sum pass the quantile and come back"
    );
    // In the order in which they came, so that equal sums have equal roundings.
    let wanted = share * sorted.iter().map(|(_, weight)| weight).sum::<f64>();
    sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut passed = 0.0;
    let reaches = |(_, weight): &&(f64, f64)| {
        passed += weight;
        passed >= wanted
    };
    let found = sorted.iter().find(reaches).or(sorted.last());
    found.map(|(value, _)| *value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_those_of_the_definition() {
        let values = [30.0, 10.0, 50.0, 20.0, 40.0];
        for (share, expected) in [
            (0.0, 10.0),
            (0.2, 10.0),
            (0.21, 20.0),
            (0.5, 30.0),
            (0.95, 50.0),
            (1.0, 50.0),
        ] {
            assert_eq!(nearest_rank(&values, share), Some(expected), "{share}");
        }
        assert_eq!(nearest_rank(&[1.0, 2.0], 0.5), Some(1.0));
        assert_eq!(nearest_rank(&[f64::NAN, 2.0], 0.5), Some(2.0));
        assert_eq!(nearest_rank(&[], 0.5), None);
    }

    #[test]
    fn weights_count() {
        let values = [(11.0, 1.0), (1.0, 9.0)];
        assert_eq!(weighted_quantile(&values, 0.9), Some(1.0));
        assert_eq!(weighted_quantile(&values, 0.95), Some(11.0));
    }
}
