//! One latency in fio's terms: exact moments, percentiles, classes.

use fathom_model::Histogram;
use fathom_model::histogram::bucket_middle;

/// Moments of a latency. Zeros when nothing was recorded.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Moments {
    pub(super) count: u64,
    pub(super) min: u64,
    pub(super) max: u64,
    pub(super) mean: f64,
    pub(super) deviation: f64,
}

impl Moments {
    /// Of a histogram. The deviation is that of the population (over n − 1).
    pub(super) fn of(histogram: &Histogram) -> Moments {
        let count = histogram.count();
        let spread = histogram.standard_deviation().unwrap_or(0.0);
        let n = count as f64;
        Moments {
            count,
            min: histogram.min().unwrap_or(0),
            max: histogram.max().unwrap_or(0),
            mean: histogram.mean().unwrap_or(0.0),
            deviation: if count > 1 {
                spread * (n / (n - 1.0)).sqrt()
            } else {
                0.0
            },
        }
    }
}

/// Upper ends of the classes, in units of their own; the last class of
/// milliseconds has none.
pub(super) const CLASSES: [&str; 10] = [
    "2", "4", "10", "20", "50", "100", "250", "500", "750", "1000",
];
/// Further classes of milliseconds.
pub(super) const LONG_CLASSES: [&str; 2] = ["2000", ">=2000"];

const ENDS: [u64; 10] = [2, 4, 10, 20, 50, 100, 250, 500, 750, 1000];

/// Operations by latency class: nanoseconds, microseconds, milliseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Classes {
    pub(super) ns: [u64; 10],
    pub(super) us: [u64; 10],
    pub(super) ms: [u64; 12],
}

impl Classes {
    /// Adds the latencies of a histogram, each by the middle of its bucket.
    pub(super) fn add(&mut self, histogram: &Histogram) {
        for (bucket, count) in histogram.buckets() {
            *self.class(bucket_middle(bucket)) += count;
        }
    }

    fn class(&mut self, ns: u64) -> &mut u64 {
        let within = |value: u64| ENDS.iter().position(|end| value < *end);
        match ns {
            0..1000 => &mut self.ns[within(ns).unwrap_or(9)],
            1000..1_000_000 => &mut self.us[within(ns / 1000).unwrap_or(9)],
            _ => match ns / 1_000_000 {
                ms @ 0..1000 => &mut self.ms[within(ms).unwrap_or(9)],
                1000..2000 => &mut self.ms[10],
                _ => &mut self.ms[11],
            },
        }
    }
}

/// Shares of `total` in percent; what is there shows at least `least`.
pub(super) fn shares<const N: usize>(counts: &[u64; N], total: u64, least: f64) -> [f64; N] {
    counts.map(|count| match (count, total) {
        (0, _) | (_, 0) => 0.0,
        (count, total) => (count as f64 * 100.0 / total as f64).max(least),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn latencies_fall_into_their_classes() {
        let mut histogram = Histogram::new();
        for ns in [1, 3, 999, 1500, 3_999_999_999, 1_500_000_000, 60_000_000] {
            histogram.record(ns);
        }
        let mut classes = Classes::default();
        classes.add(&histogram);
        assert_eq!((classes.ns[0], classes.ns[1], classes.ns[9]), (1, 1, 1));
        assert_eq!(classes.us[0], 1);
        assert_eq!((classes.ms[5], classes.ms[10], classes.ms[11]), (1, 1, 1));
    }

    #[test]
    fn what_is_rare_is_not_zero() {
        let shown = shares(&[0, 1, 99_999], 100_000, 0.01);
        assert_eq!(shown[..2], [0.0, 0.01]);
        assert!((shown[2] - 99.999).abs() < 1e-9);
        assert_eq!(shares(&[1], 0, 0.1), [0.0]);
    }

    #[test]
    fn moments_of_nothing_are_zeros() {
        assert_eq!(Moments::of(&Histogram::new()), Moments::default());
        let mut histogram = Histogram::new().with_squares(0);
        [1000, 1002].iter().for_each(|ns| histogram.record(*ns));
        let moments = Moments::of(&histogram);
        assert_eq!((moments.count, moments.min, moments.max), (2, 1000, 1002));
        assert!((moments.deviation - 2f64.sqrt()).abs() < 1e-9);
    }
}
