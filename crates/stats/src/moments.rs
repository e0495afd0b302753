//! Mean, variance and standard deviation.

/// The mean; `None` of nothing.
pub fn mean(values: &[f64]) -> Option<f64> {
    Moments::of(values).map(|moments| moments.mean)
}

/// Number, mean and squared deviations of some values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Moments {
    /// Number of values, at least 1.
    pub count: f64,
    /// Mean of the values, in their unit.
    pub mean: f64,
    /// Sum of the squared distances to the mean, in their unit squared.
    pub squares: f64,
}

impl Moments {
    /// The moments of these values; `None` of nothing. Not finite where a value or
    /// a square is not.
    pub fn of(values: &[f64]) -> Option<Moments> {
        if values.is_empty() {
            return None;
        }
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        // In two passes: squares of the values themselves would lose the digits
        // in which they differ.
        let squares = values.iter().map(|value| (value - mean).powi(2)).sum();
        Some(Moments {
            count,
            mean,
            squares,
        })
    }

    /// Variance of the population that the values are drawn from (over n − 1);
    /// `None` of a single value.
    pub fn variance(&self) -> Option<f64> {
        debug_assert!(
            self.count >= 1.0 && (self.squares >= 0.0 || self.squares.is_nan()),
            "squares of deviations: {self:?}"
        );
        (self.count > 1.0).then(|| self.squares / (self.count - 1.0))
    }

    /// Standard deviation of the population that the values are drawn from (over
    /// n − 1); `None` of a single value.
    pub fn deviation(&self) -> Option<f64> {
        self.variance().map(f64::sqrt)
    }

    /// Standard deviation of these values themselves (over n).
    pub fn deviation_within(&self) -> f64 {
        (self.squares / self.count).sqrt()
    }

    /// Standard deviation over the mean; `None` of a single value. Means nothing
    /// where values may be negative.
    pub fn variation(&self) -> Option<f64> {
        self.deviation().map(|deviation| deviation / self.mean)
    }

    /// Standard error of the mean of independent values; `None` of a single value.
    pub fn standard_error(&self) -> Option<f64> {
        self.variance()
            .map(|variance| (variance / self.count).sqrt())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_those_of_the_definitions() {
        let moments = Moments::of(&[2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]).unwrap();
        assert_eq!((moments.mean, moments.squares), (5.0, 32.0));
        assert_eq!(moments.deviation_within(), 2.0);
        assert_eq!(moments.variance(), Some(32.0 / 7.0));
        let error = moments.standard_error().unwrap();
        assert!((error - (32.0f64 / 56.0).sqrt()).abs() < 1e-15);
        assert_eq!(moments.variation(), Some((32.0f64 / 7.0).sqrt() / 5.0));
    }

    #[test]
    fn one_value_has_no_spread_and_none_no_mean() {
        let one = Moments::of(&[3.0]).unwrap();
        assert_eq!(
            (one.mean, one.deviation(), one.standard_error()),
            (3.0, None, None)
        );
        assert_eq!(one.deviation_within(), 0.0);
        assert_eq!(Moments::of(&[]), None);
        assert_eq!(mean(&[]), None);
        assert_eq!(mean(&[1.0, 2.0]), Some(1.5));
    }

    #[test]
    fn digits_survive_a_large_offset() {
        let deviation = |offset: f64| {
            let values: Vec<f64> = (0..10).map(|i| offset + f64::from(i)).collect();
            Moments::of(&values).and_then(|m| m.deviation()).unwrap()
        };
        assert!((deviation(1e12) - deviation(0.0)).abs() < 1e-9);
    }
}
