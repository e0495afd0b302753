//! fio's logs of completion latency histograms.
//!
//! A line is `milliseconds, direction, block bytes, count, count, ...`: the
//! operations that completed since the line before it, by bucket. There are
//! 1,856 buckets (fio's HOWTO, "Log File Formats", and its `stat.h`): below
//! 128 ns one per nanosecond, above that 64 per power of two. With
//! `log_hist_coarseness` 2^n neighbours are one column. A value is taken as the
//! middle of its column, so a percentile of a fine log is right within 0.8 %.

use std::collections::BTreeMap;

use crate::results::ResultLatency;

use super::number;

/// Columns of a log that was not made coarser.
const COLUMNS: usize = 29 * PER_POWER;
/// Columns of a power of two.
const PER_POWER: usize = 64;
/// The coarsest that fio writes: columns of 64 buckets.
const COARSEST: u32 = 6;
/// Lines that are kept as a rate; more than a month of seconds.
const MOST_LINES: usize = 4_000_000;

/// Percentiles that are read from a log.
const PERCENTILES: [f64; 9] = [1.0, 10.0, 50.0, 90.0, 95.0, 99.0, 99.9, 99.99, 99.999];

/// What the log of one direction holds.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct HistogramLines {
    /// Operations by the lowest and highest latency of their column,
    /// nanoseconds.
    columns: BTreeMap<(u64, u64), u64>,
    /// Milliseconds and operations since the line before.
    operations: Vec<(f64, f64)>,
}

/// Direction (0 read, 1 write, 2 trim) and the rest of a line.
pub(crate) fn line(text: &str) -> Option<(usize, f64, Vec<u64>)> {
    let mut fields = text.split(',').map(number::from_text);
    let ms = fields.next()??;
    let direction = fields.next()??;
    fields.next()??;
    let direction = [0.0, 1.0, 2.0].iter().position(|d| *d == direction)?;
    let count = |value: f64| (0.0..1e15).contains(&value).then_some(value as u64);
    let counts: Vec<u64> = fields
        .take(COLUMNS + 1)
        .map(|field| count(field?))
        .collect::<Option<_>>()?;
    coarseness(counts.len()).map(|_| (direction, ms, counts))
}

/// The power of two of neighbours that a line of so many columns has put
/// together.
fn coarseness(columns: usize) -> Option<u32> {
    (0..=COARSEST).find(|coarseness| COLUMNS >> coarseness == columns)
}

/// Lowest latency of a bucket, nanoseconds.
fn lowest_ns(bucket: usize) -> u64 {
    if bucket < 2 * PER_POWER {
        return bucket as u64;
    }
    let shift = bucket / PER_POWER - 1;
    ((bucket % PER_POWER + PER_POWER) as u64) << shift
}

impl HistogramLines {
    /// Adds a line that [`line`] has read.
    pub(crate) fn add(&mut self, ms: f64, counts: &[u64]) {
        let width = 1usize << coarseness(counts.len()).unwrap_or(0);
        for (column, count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
            let low = lowest_ns(column * width);
            let high = lowest_ns((column + 1) * width).saturating_sub(1).max(low);
            *self.columns.entry((low, high)).or_default() += count;
        }
        if self.operations.len() < MOST_LINES {
            self.operations
                .push((ms, counts.iter().sum::<u64>() as f64));
        }
    }

    /// Adds what another job measured at the same time.
    pub(crate) fn merge(&mut self, other: &HistogramLines) {
        for (column, count) in &other.columns {
            *self.columns.entry(*column).or_default() += count;
        }
    }

    /// Milliseconds and operations per second since the line before. What the
    /// first line covers is not known: fio's first comes when it comes.
    pub(crate) fn rates(&self) -> Vec<(f64, f64)> {
        let mut lines = self.operations.clone();
        lines.sort_by(|a, b| a.0.total_cmp(&b.0));
        let pairs = lines.windows(2).filter(|pair| pair[1].0 > pair[0].0);
        let rate = |pair: &[(f64, f64)]| (pair[1].0, pair[1].1 / (pair[1].0 - pair[0].0) * 1e3);
        pairs.map(rate).collect()
    }

    /// The distribution over the whole log.
    pub(crate) fn latency(&self) -> Option<ResultLatency> {
        let total: u64 = self.columns.values().sum();
        if total == 0 {
            return None;
        }
        let middle = |(low, high): &(u64, u64)| (low + high) as f64 / 2.0;
        let sum: f64 = self
            .columns
            .iter()
            .map(|(column, count)| middle(column) * *count as f64)
            .sum();
        let percentile = |percent: f64| {
            let needed = percent / 100.0 * total as f64;
            let mut seen = 0;
            let reached = self.columns.iter().find(|(_, count)| {
                seen += **count;
                seen as f64 >= needed
            });
            reached.map(|(column, _)| (percent, middle(column)))
        };
        Some(ResultLatency {
            count: Some(total as f64),
            min_ns: self.columns.keys().next().map(|(low, _)| *low as f64),
            max_ns: self
                .columns
                .keys()
                .next_back()
                .map(|(_, high)| *high as f64),
            mean_ns: Some(sum / total as f64),
            percentiles: PERCENTILES.into_iter().filter_map(percentile).collect(),
            bin_count: Some(total as f64),
        })
    }
}
