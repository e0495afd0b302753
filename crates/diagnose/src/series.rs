//! A quantity over time, each value with the length of its interval.

use fathom_rules::diagnosis::answers_alike::OUTER_SHARE;
use fathom_rules::diagnosis::plateau::{BY_CHANCE, HELD, HELD_MOSTLY, SPINNING};
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

    /// Whether a rate stays alike, as that of a cap does and that of a hard disk at its end.
    pub(crate) fn is_even(&self) -> bool {
        self.of_pairs().stays(HELD) || self.in_threes().is_exact()
    }

    /// Means of each sample with the next: a throttle that lets several operations pass at
    /// a time gives one second more of them and the next one less.
    fn of_pairs(&self) -> Series {
        self.smoothed(2)
    }

    /// Means of three samples, over which some throttles make up for a deficit.
    fn in_threes(&self) -> Series {
        self.smoothed(3)
    }

    /// Whether a rate of operations is so even that somebody holds it. A hard disk at its
    /// end is even as well, but each second has a few operations more or less.
    pub(crate) fn is_held(&self) -> bool {
        let pairs = self.of_pairs();
        let beyond_disks = pairs.quantile(0.5).is_some_and(|rate| rate > SPINNING);
        (pairs.stays(HELD) && beyond_disks) || pairs.is_exact() || self.in_threes().is_exact()
    }

    /// Whether these rates stay alike and differ by hardly an operation.
    fn is_exact(&self) -> bool {
        let Some(median) = self.quantile(0.5).filter(|_| self.stays(HELD)) else {
            return false;
        };
        let values = self.0.iter();
        let operations_off: Vec<(f64, f64)> = values
            .map(|(rate, seconds)| ((rate - median) * seconds, *seconds))
            .collect();
        let end = |share| weighted_quantile(&operations_off, share);
        let ends = end(1.0 - OUTER_SHARE).zip(end(OUTER_SHARE));
        ends.is_some_and(|(most, least)| most - least <= BY_CHANCE)
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
    fn a_cap_is_more_even_than_a_hard_disk() {
        let of = |rates: &[f64]| rates.iter().map(|rate| (*rate, 1.0)).collect::<Series>();
        let hard_disk = of(&[69.0, 65.0, 70.0, 67.0, 70.0, 68.0, 71.0, 71.0, 68.0, 66.0]);
        assert!(hard_disk.stays(HELD) && !hard_disk.is_held());
        let cap = of(&[69.0, 68.0, 69.0, 69.0, 70.0, 69.0, 69.0, 68.0, 69.0, 69.0]);
        assert!(cap.is_held());
        let in_batches = of(&[192.0, 204.0, 192.0, 204.0, 192.0, 204.0, 192.0, 204.0]);
        assert!(!in_batches.stays(HELD) && in_batches.is_held());
        let in_threes = of(&[
            204.0, 204.0, 192.0, 204.0, 204.0, 192.0, 204.0, 204.0, 192.0, 204.0,
        ]);
        assert!(in_threes.is_even() && in_threes.is_held());
        // No hard disk gives so much.
        let faster = of(&[782.0, 776.0, 780.0, 785.0, 771.0, 780.0, 779.0, 783.0]);
        assert!(faster.is_held());
        // In samples of ten seconds a hard disk shows as well.
        let long = [68.0, 70.1, 69.0, 67.4, 69.6, 68.3];
        let long: Series = long.iter().map(|rate| (*rate, 10.0)).collect();
        assert!(long.stays(HELD) && !long.is_held());
    }

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
