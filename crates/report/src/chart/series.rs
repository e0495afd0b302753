//! Series over time, brought down to what a chart can show.
//!
//! Several intervals become one bucket that keeps their smallest and largest
//! value, so that a stall of one second is still there after an hour. Nothing
//! is averaged.

use fathom_model::Phase;
use fathom_model::judged::Interval;

/// A series: for each bucket the smallest and largest value, or nothing.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Series {
    /// Name in legends.
    pub(super) name: &'static str,
    /// CSS class of its colour.
    pub(super) class: &'static str,
    /// (smallest, largest) of each bucket.
    pub(super) range: Vec<Option<(f64, f64)>>,
}

impl Series {
    /// The largest value.
    pub(super) fn max(&self) -> Option<f64> {
        let highs = self.range.iter().flatten().map(|r| r.1);
        highs.max_by(f64::total_cmp)
    }

    /// The smallest positive value.
    pub(super) fn min_positive(&self) -> Option<f64> {
        let lows = self.range.iter().flatten().map(|r| r.0);
        lows.filter(|v| *v > 0.0).min_by(f64::total_cmp)
    }

    /// Whether any bucket has a value.
    pub(super) fn has_values(&self) -> bool {
        self.range.iter().any(Option::is_some)
    }
}

/// The common time axis of a trial's series.
#[derive(Debug, Clone)]
pub(super) struct Timeline<'a> {
    intervals: &'a [Interval],
    /// Intervals of each bucket; a hole in time is a bucket without any.
    buckets: Vec<std::ops::Range<usize>>,
    /// Edges of the buckets in seconds; one more than buckets.
    pub(super) edges_s: Vec<f64>,
    /// End of the warm-up in seconds.
    pub(super) warmup_end_s: Option<f64>,
}

const SECOND: f64 = 1e9;

impl<'a> Timeline<'a> {
    /// Buckets for a trial's intervals, at most `most` of them (besides holes).
    pub(super) fn new(intervals: &'a [Interval], most: usize) -> Timeline<'a> {
        let group = intervals.len().div_ceil(most.max(1)).max(1);
        let mut buckets = Vec::new();
        let mut edges = Vec::new();
        let mut at = 0;
        let mut end_ns = intervals.first().map_or(0, |i| i.start_ns);
        while at < intervals.len() {
            let first = &intervals[at];
            if first.start_ns > end_ns.saturating_add(first.duration_ns / 2) {
                buckets.push(at..at);
                edges.push(end_ns as f64 / SECOND);
            }
            let limit = (at + group).min(intervals.len());
            let mut to = at + 1;
            while to < limit && !is_hole(&intervals[to - 1], &intervals[to]) {
                to += 1;
            }
            buckets.push(at..to);
            edges.push(first.start_ns as f64 / SECOND);
            let last = &intervals[to - 1];
            end_ns = last.start_ns.saturating_add(last.duration_ns);
            at = to;
        }
        edges.push(end_ns as f64 / SECOND);
        let mut warmup = intervals.iter().filter(|i| i.phase == Phase::Warmup);
        Timeline {
            intervals,
            buckets,
            edges_s: edges,
            warmup_end_s: warmup
                .next_back()
                .map(|i| (i.start_ns.saturating_add(i.duration_ns)) as f64 / SECOND),
        }
    }

    /// Number of buckets.
    pub(super) fn len(&self) -> usize {
        self.buckets.len()
    }

    /// A series of what `value` says about each interval.
    pub(super) fn series(
        &self,
        name: &'static str,
        class: &'static str,
        value: impl Fn(&Interval) -> Option<f64>,
    ) -> Series {
        let range = self
            .buckets
            .iter()
            .map(|bucket| {
                let values = self.intervals[bucket.clone()]
                    .iter()
                    .filter_map(&value)
                    .filter(|v| v.is_finite());
                values.fold(None, |range: Option<(f64, f64)>, v| {
                    let (low, high) = range.unwrap_or((v, v));
                    Some((low.min(v), high.max(v)))
                })
            })
            .collect();
        Series { name, class, range }
    }

    /// The buckets in which something failed.
    pub(super) fn buckets_with_errors(&self) -> Vec<usize> {
        let failed = |i: &Interval| i.ops.iter().any(|op| op.errors > 0);
        (0..self.len())
            .filter(|b| self.intervals[self.buckets[*b].clone()].iter().any(failed))
            .collect()
    }

    /// Middle of a bucket in seconds.
    pub(super) fn middle_s(&self, bucket: usize) -> f64 {
        (self.edges_s[bucket] + self.edges_s[bucket + 1]) / 2.0
    }

    /// Start and length of the buckets when they are all of one length (but
    /// for the last), which spares the script the list of edges.
    pub(super) fn uniform(&self) -> Option<(f64, f64)> {
        let (first, second) = (*self.edges_s.first()?, *self.edges_s.get(1)?);
        let width = second - first;
        let even = self.edges_s[..self.len()]
            .iter()
            .enumerate()
            .all(|(i, edge)| (edge - first - width * i as f64).abs() < 0.05 * width);
        even.then_some((first, width))
    }
}

fn is_hole(before: &Interval, after: &Interval) -> bool {
    let end = before.start_ns.saturating_add(before.duration_ns);
    after.start_ns > end.saturating_add(after.duration_ns / 2)
}

/// A rate over an interval.
pub(super) fn per_second(amount: u64, interval: &Interval) -> Option<f64> {
    (interval.duration_ns > 0).then(|| amount as f64 * SECOND / interval.duration_ns as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn interval(second: u64) -> Interval {
        Interval {
            phase: Phase::Measure,
            start_ns: second * 1_000_000_000,
            duration_ns: 1_000_000_000,
            ops: Vec::new(),
            device_read_bytes: Some(second),
            device_write_bytes: None,
            host_cpu_busy: None,
            worker_cpu_ns: 0,
        }
    }

    fn read(i: &Interval) -> Option<f64> {
        i.device_read_bytes.map(|b| b as f64)
    }

    #[test]
    fn a_hole_in_time_breaks_the_line() {
        let intervals: Vec<_> = [0, 1, 2, 7, 8].map(interval).to_vec();
        let line = Timeline::new(&intervals, 600);
        assert_eq!(line.edges_s, [0.0, 1.0, 2.0, 3.0, 7.0, 8.0, 9.0]);
        let series = line.series("x", "x", read);
        assert_eq!(series.range[3], None);
        assert_eq!(series.range[4], Some((7.0, 7.0)));
        assert_eq!(line.uniform(), None);
    }

    #[test]
    fn no_intervals_make_no_buckets() {
        let line = Timeline::new(&[], 600);
        assert_eq!(line.len(), 0);
        assert_eq!(line.uniform(), None);
        assert!(!line.series("x", "x", read).has_values());
    }

    proptest! {
        #[test]
        fn bucketing_keeps_extremes_and_length(n in 1usize..5000, most in 1usize..700, peak in 0usize..5000) {
            let mut intervals: Vec<_> = (0..n as u64).map(interval).collect();
            let peak = peak % n;
            intervals[peak].device_read_bytes = Some(1 << 40);
            let line = Timeline::new(&intervals, most);
            prop_assert!(line.len() <= most.min(n));
            prop_assert_eq!(line.edges_s.len(), line.len() + 1);
            let series = line.series("x", "x", read);
            prop_assert_eq!(series.max(), Some((1u64 << 40) as f64));
            prop_assert!(line.uniform().is_some());
            prop_assert_eq!(*line.edges_s.last().unwrap(), n as f64);
        }
    }
}
