//! Rates of intervals, summed up by minimum, maximum, mean and deviation.

/// Minimum, maximum, mean and spread of a rate over intervals.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct RateSeries {
    pub(super) samples: u64,
    pub(super) min: u64,
    pub(super) max: u64,
    pub(super) mean: f64,
    /// Sum of squared distances to the mean.
    squares: f64,
}

impl RateSeries {
    /// Adds an interval (Welford).
    pub(super) fn push(&mut self, value: u64) {
        self.min = if self.samples == 0 {
            value
        } else {
            self.min.min(value)
        };
        self.max = self.max.max(value);
        self.samples += 1;
        let delta = value as f64 - self.mean;
        self.mean += delta / self.samples as f64;
        self.squares += delta * (value as f64 - self.mean);
    }

    /// Adds what another job did at the same time: rates add up.
    pub(super) fn add(&mut self, other: &RateSeries) {
        self.samples += other.samples;
        self.min += other.min;
        self.max += other.max;
        self.mean += other.mean;
        self.squares += other.squares;
    }

    /// Standard deviation of the population that the intervals are drawn from.
    pub(super) fn deviation(&self) -> f64 {
        match self.samples {
            0 | 1 => 0.0,
            n => (self.squares / (n - 1) as f64).sqrt(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_those_of_the_values() {
        let mut series = RateSeries::default();
        for value in [10, 20, 60] {
            series.push(value);
        }
        assert_eq!((series.samples, series.min, series.max), (3, 10, 60));
        assert_eq!(series.mean, 30.0);
        assert!((series.deviation() - 700f64.sqrt()).abs() < 1e-9);
        let twice = series;
        series.add(&twice);
        assert_eq!((series.min, series.max, series.mean), (20, 120, 60.0));
    }

    #[test]
    fn one_value_does_not_spread() {
        let mut series = RateSeries::default();
        assert_eq!(series.deviation(), 0.0);
        series.push(5);
        assert_eq!((series.min, series.deviation()), (5, 0.0));
    }
}
