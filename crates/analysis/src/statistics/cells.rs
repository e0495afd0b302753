//! Per-second histograms on a few cells, for the block bootstrap over them.
//!
//! A histogram has thousands of buckets; an hour has 3,600 of them. What a
//! percentile and its spread need is much less: a fine grid near the wanted
//! percentiles and a coarse one elsewhere. Cells are runs of buckets between
//! which the logit of the merged cumulative share moves by at most 0.08, so a
//! tail of 1 % is resolved to a twelfth of itself, and at most 240 groups of
//! seconds are resampled. That bounds the cost whatever the length of the run.

use fathom_model::histogram::{Histogram, bucket_range};
use fathom_model::rng::Rng;
use fathom_rules::method::percentile_intervals::{LOGIT_STEP, MOST_GROUPS, RESAMPLES};
use fathom_stats::bootstrap::{BlockBootstrap, central_95};

const BOOTSTRAP_SEED: u64 = 0x6661_7468_6f6d;

/// The latencies of one second, by worker group.
pub(crate) type SecondHistograms<'a> = Vec<&'a Histogram>;

/// Counts by second and cell.
pub(crate) struct Cells {
    /// First and last bucket of each cell, ascending.
    ranges: Vec<(usize, usize)>,
    /// Second by second, `ranges.len()` counts each.
    counts: Vec<u64>,
}

impl Cells {
    /// `marks` are buckets that get a cell of their own.
    pub(crate) fn new(
        seconds: &[SecondHistograms<'_>],
        merged: &Histogram,
        marks: &[usize],
    ) -> Self {
        let ranges = choose_ranges(merged, marks);
        let mut counts = vec![0u64; ranges.len() * seconds.len()];
        if ranges.is_empty() {
            return Cells { ranges, counts };
        }
        for (row, second) in counts.chunks_mut(ranges.len()).zip(seconds) {
            for histogram in second {
                let mut cell = 0;
                for (bucket, count) in histogram.buckets() {
                    while cell + 1 < ranges.len() && bucket > ranges[cell].1 {
                        cell += 1;
                    }
                    row[cell] = row[cell].saturating_add(count);
                }
            }
        }
        Cells { ranges, counts }
    }

    /// The cell that holds a bucket.
    pub(crate) fn cell_of(&self, bucket: usize) -> usize {
        self.ranges
            .partition_point(|(_, last)| *last < bucket)
            .min(self.ranges.len().saturating_sub(1))
    }

    /// Per second: values in cells from `cell` on, and all values.
    pub(crate) fn tails(&self, cell: usize) -> Vec<(f64, f64)> {
        if self.ranges.is_empty() {
            return Vec::new();
        }
        self.counts
            .chunks(self.ranges.len())
            .map(|row| {
                let sum = |part: &[u64]| part.iter().map(|n| *n as f64).sum::<f64>();
                (sum(&row[cell.min(row.len())..]), sum(row))
            })
            .collect()
    }

    /// Block bootstrap of several quantiles at once, with blocks of
    /// `block_seconds`: for each the lowest and the highest latency of its central
    /// 95 %. `None` where there are too few blocks.
    pub(crate) fn bootstrap(
        &self,
        quantiles: &[f64],
        block_seconds: f64,
    ) -> Option<Vec<(u64, u64)>> {
        let columns = self.ranges.len();
        if columns == 0 {
            return None;
        }
        let groups = self.grouped();
        let rows = groups.len() / columns;
        let per_group = (self.counts.len() / columns) as f64 / rows as f64;
        let block = (block_seconds / per_group).ceil().max(1.0) as usize;
        let bootstrap = BlockBootstrap::of(&groups, columns, block)?;
        let mut rng = Rng::new(BOOTSTRAP_SEED);
        let mut found = vec![Vec::with_capacity(RESAMPLES); quantiles.len()];
        bootstrap.sums(
            RESAMPLES,
            |rows| rng.below(rows),
            |sum| reached_cells(sum, quantiles, &mut found),
        );
        found.into_iter().map(|cells| self.central(cells)).collect()
    }

    /// Counts added up over groups of seconds, at most [`MOST_GROUPS`].
    fn grouped(&self) -> Vec<u64> {
        let columns = self.ranges.len();
        let seconds = self.counts.len() / columns;
        let size = seconds.div_ceil(MOST_GROUPS).max(1);
        let mut groups = vec![0u64; seconds.div_ceil(size) * columns];
        for (second, row) in self.counts.chunks(columns).enumerate() {
            let group = &mut groups[second / size * columns..][..columns];
            for (total, count) in group.iter_mut().zip(row) {
                *total = total.saturating_add(*count);
            }
        }
        groups
    }

    /// The latencies between which the central 95 % of these cells lie.
    fn central(&self, cells: Vec<usize>) -> Option<(u64, u64)> {
        let (low, high) = central_95(cells)?;
        let (low, high) = (self.ranges[low], self.ranges[high]);
        Some((bucket_range(low.0).0, bucket_range(high.1).1))
    }
}

/// Appends, for each quantile, the cell in which it falls.
fn reached_cells(sum: &[u64], quantiles: &[f64], found: &mut [Vec<usize>]) {
    let total: f64 = sum.iter().map(|n| *n as f64).sum();
    let mut seen = 0.0;
    let mut next = 0;
    for (cell, count) in sum.iter().enumerate() {
        seen += *count as f64;
        while next < quantiles.len() && seen >= quantiles[next] * total {
            found[next].push(cell);
            next += 1;
        }
    }
    for rest in &mut found[next..] {
        rest.push(sum.len() - 1);
    }
}

fn choose_ranges(merged: &Histogram, marks: &[usize]) -> Vec<(usize, usize)> {
    let total = merged.count() as f64;
    let mut ranges: Vec<(usize, usize)> = Vec::new();
    let mut seen = 0.0;
    let mut start_logit = f64::NEG_INFINITY;
    let mut closed = true;
    for (bucket, count) in merged.buckets() {
        let marked = marks.contains(&bucket);
        seen += count as f64;
        let logit = logit(seen / total);
        match ranges.last_mut() {
            Some(range) if !closed && !marked && logit - start_logit <= LOGIT_STEP => {
                range.1 = bucket;
            }
            _ => {
                ranges.push((bucket, bucket));
                start_logit = logit;
            }
        }
        closed = marked;
    }
    ranges
}

/// Kept finite; below 40 % the grid need not be fine.
fn logit(share: f64) -> f64 {
    let share = share.clamp(0.4, 1.0 - 1e-12);
    (share / (1.0 - share)).ln()
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_model::histogram::bucket_of;

    fn histogram(values: impl IntoIterator<Item = u64>) -> Histogram {
        let mut histogram = Histogram::new();
        for value in values {
            histogram.record(value);
        }
        histogram
    }

    #[test]
    fn cells_keep_every_count_and_marks_stand_alone() {
        let one = histogram((1..2000).map(|v| v * 1000));
        let two = histogram((1..500).map(|v| v * 777));
        let mut merged = one.clone();
        merged.merge(&two);
        let mark = bucket_of(1_500_000);
        let cells = Cells::new(&[vec![&one], vec![&two]], &merged, &[mark]);
        let tails = cells.tails(0);
        assert_eq!(tails, [(1999.0, 1999.0), (499.0, 499.0)]);
        let cell = cells.cell_of(mark);
        assert_eq!(cells.ranges[cell], (mark, mark));
        let above = cells.tails(cell + 1)[0].0 as u64;
        assert_eq!(above, one.count_above(1_500_000));
    }

    #[test]
    fn long_runs_use_a_bounded_number_of_groups_and_cells() {
        let wide = histogram((0..4000).map(|v| 1000 + v * v * 37));
        let seconds: Vec<SecondHistograms<'_>> = (0..3600).map(|_| vec![&wide]).collect();
        let mut merged = Histogram::new();
        for second in &seconds {
            merged.merge(second[0]);
        }
        let cells = Cells::new(&seconds, &merged, &[]);
        assert!(cells.ranges.len() < 320, "{}", cells.ranges.len());
        assert!(cells.grouped().len() / cells.ranges.len() <= MOST_GROUPS);
        let spread = cells.bootstrap(&[0.5, 0.99], 4.0).unwrap();
        // Every second is alike, so the spread is one cell wide.
        assert!(spread[1].1 < spread[1].0 * 11 / 10, "{spread:?}");
    }

    #[test]
    fn few_blocks_and_no_values_give_no_spread() {
        let one = histogram([5, 6, 7]);
        let seconds: Vec<SecondHistograms<'_>> = (0..9).map(|_| vec![&one]).collect();
        assert_eq!(Cells::new(&seconds, &one, &[]).bootstrap(&[0.5], 1.0), None);
        let empty = Histogram::new();
        let cells = Cells::new(&[vec![&empty]], &empty, &[]);
        assert_eq!(cells.bootstrap(&[0.5], 1.0), None);
        assert!(cells.tails(0).is_empty());
    }
}
