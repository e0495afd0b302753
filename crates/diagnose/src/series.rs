//! A quantity over time, each value with the length of its interval.

use fathom_rules::diagnosis::plateau::HELD_MOSTLY;
use fathom_stats::quantile::weighted_quantile;

/// Values and their lengths in seconds.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Series(Vec<(f64, f64)>);

impl Series {
    /// Adds a value that held for so long.
    pub(crate) fn push(&mut self, value: f64, seconds: f64) {
        if value.is_finite() && seconds > 0.0 {
            self.0.push((value, seconds));
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Length of all of them.
    pub(crate) fn seconds(&self) -> f64 {
        self.0.iter().map(|(_, seconds)| seconds).sum()
    }

    /// Mean over time; nothing without values.
    pub(crate) fn mean(&self) -> Option<f64> {
        let sum: f64 = self.0.iter().map(|(value, seconds)| value * seconds).sum();
        (!self.is_empty()).then(|| sum / self.seconds())
    }

    /// The largest value.
    pub(crate) fn most(&self) -> Option<f64> {
        self.0.iter().map(|(value, _)| *value).reduce(f64::max)
    }

    /// The second largest value: what more than one interval shows.
    pub(crate) fn second_most(&self) -> Option<f64> {
        let mut values: Vec<f64> = self.0.iter().map(|(value, _)| *value).collect();
        values.sort_unstable_by(f64::total_cmp);
        values.len().checked_sub(2).map(|at| values[at])
    }

    /// The value that is not exceeded for this share of the time.
    pub(crate) fn quantile(&self, share: f64) -> Option<f64> {
        weighted_quantile(&self.0, share)
    }

    /// Means over so many values in a row, and over all of them where there are fewer.
    pub(crate) fn smoothed(&self, values: usize) -> Series {
        let width = values.clamp(1, self.0.len().max(1));
        let parts = self.0.windows(width);
        parts
            .filter_map(|part| {
                let part = Series(part.to_vec());
                Some((part.mean()?, part.seconds()))
            })
            .collect()
    }

    /// Share of the time in which a value is at least this.
    pub(crate) fn share_from(&self, least: f64) -> f64 {
        let seconds = self.seconds();
        if seconds == 0.0 {
            return 0.0;
        }
        let above = self.0.iter().filter(|(value, _)| *value >= least);
        above.map(|(_, seconds)| seconds).sum::<f64>() / seconds
    }

    /// Whether values are mostly within this share of their median.
    pub(crate) fn stays(&self, share: f64) -> bool {
        let Some(median) = self.quantile(0.5) else {
            return false;
        };
        let within =
            self.share_from((1.0 - share) * median) - self.share_from((1.0 + share) * median);
        within >= HELD_MOSTLY
    }
}

impl FromIterator<(f64, f64)> for Series {
    fn from_iter<T: IntoIterator<Item = (f64, f64)>>(values: T) -> Self {
        let mut series = Series::default();
        for (value, seconds) in values {
            series.push(value, seconds);
        }
        series
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_weighs() {
        let series: Series = [(1.0, 9.0), (11.0, 1.0), (f64::NAN, 5.0)]
            .into_iter()
            .collect();
        assert_eq!(series.mean(), Some(2.0));
        assert_eq!(series.most(), Some(11.0));
        assert_eq!(series.second_most(), Some(1.0));
        assert_eq!(Series::default().second_most(), None);
        assert_eq!(series.quantile(0.5), Some(1.0));
        assert_eq!(series.quantile(0.95), Some(11.0));
        assert_eq!(series.share_from(10.0), 0.1);
        assert_eq!(Series::default().mean(), None);
        assert_eq!(Series::default().share_from(0.0), 0.0);
    }
}
