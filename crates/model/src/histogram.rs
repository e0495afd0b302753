//! The one latency histogram of fathom.
//!
//! Buckets are log-linear, as in HdrHistogram: below 256 ns one bucket per
//! nanosecond, above that 128 buckets per power of two. A value is reported as
//! the middle of its bucket, so the relative error is at most 1/256 = 0.39 %
//! over the whole range, 0 ns to 2^44 ns (4.9 hours); longer values count in
//! the last bucket and keep their exact maximum. Minimum, maximum and sum are
//! exact. Histograms of the same layout merge by adding counts, and that is
//! the only way in which fathom ever combines latencies.

mod counts;
mod text;

use counts::Counts;

/// Version of the bucket layout. It is stored with every histogram blob.
pub const LAYOUT_VERSION: u8 = 1;

const GROUPING_POWER: u32 = 7;
const SUB_BUCKETS: usize = 1 << GROUPING_POWER;
const MAX_POWER: u32 = 44;

/// Number of buckets of the layout.
pub const BUCKETS: usize = (MAX_POWER - GROUPING_POWER + 1) as usize * SUB_BUCKETS;

/// Largest value with a bucket of its own, in nanoseconds.
pub const MAX_TRACKED_NS: u64 = (1 << MAX_POWER) - 1;

/// Largest relative error of a reported percentile.
pub const MAX_RELATIVE_ERROR: f64 = 1.0 / 256.0;

/// Counts of latencies by bucket, with exact minimum, maximum and sum.
#[derive(Clone)]
pub struct Histogram {
    counts: Counts,
    total: u64,
    sum_ns: u128,
    min_ns: u64,
    max_ns: u64,
    /// Counts that no longer fit into 32 bits, as multiples of 2^32 per
    /// bucket. Empty for all but merges of very long runs.
    carries: Vec<(u32, u32)>,
    /// Sum of the squares, where it was recorded.
    squares_ns2: Option<u128>,
}

/// The bucket of a value.
#[inline]
pub fn bucket_of(value_ns: u64) -> usize {
    let shift = (value_ns | SUB_BUCKETS as u64).ilog2() - GROUPING_POWER;
    let bucket = ((shift as usize) << GROUPING_POWER) + (value_ns >> shift) as usize;
    // What is too long falls into the last bucket; and whoever has an array of
    // all buckets needs no other check of the index.
    bucket.min(BUCKETS - 1)
}

/// The values that share a bucket: lowest and highest, both included.
pub fn bucket_range(bucket: usize) -> (u64, u64) {
    debug_assert!(bucket < BUCKETS);
    if bucket < 2 * SUB_BUCKETS {
        return (bucket as u64, bucket as u64);
    }
    let shift = (bucket >> GROUPING_POWER) as u32 - 1;
    let low = ((bucket & (SUB_BUCKETS - 1)) as u64 + SUB_BUCKETS as u64) << shift;
    debug_assert!(bucket_of(low) == bucket, "bucket {bucket} begins at {low}");
    (low, low + (1 << shift) - 1)
}

/// The value that a bucket is reported as: its middle.
pub fn bucket_middle(bucket: usize) -> u64 {
    let (low, high) = bucket_range(bucket);
    low + (high - low) / 2
}

impl Default for Histogram {
    fn default() -> Self {
        Histogram::new()
    }
}

impl PartialEq for Histogram {
    /// Whether the counts and the exact fields are the same, however they are
    /// kept.
    fn eq(&self, other: &Histogram) -> bool {
        (self.total, self.sum_ns, self.min_ns, self.max_ns)
            == (other.total, other.sum_ns, other.min_ns, other.max_ns)
            && self.squares_ns2 == other.squares_ns2
            && self.buckets().eq(other.buckets())
    }
}

impl Eq for Histogram {}

impl std::fmt::Debug for Histogram {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Histogram")
            .field("count", &self.total)
            .field("min_ns", &self.min())
            .field("max_ns", &self.max())
            .finish_non_exhaustive()
    }
}

impl Histogram {
    /// An empty histogram. It takes 19 KiB from the first count on; they come
    /// zeroed from the operating system and cost memory only where counts fall.
    pub fn new() -> Self {
        Histogram {
            counts: Counts::EMPTY,
            total: 0,
            sum_ns: 0,
            min_ns: u64::MAX,
            max_ns: 0,
            carries: Vec::new(),
            squares_ns2: None,
        }
    }

    /// The same with an exact sum of squares, which makes the standard
    /// deviation exact. Later single values add to it.
    pub fn with_squares(mut self, squares_ns2: u128) -> Histogram {
        self.squares_ns2 = Some(squares_ns2);
        self
    }

    /// Exact sum of the squares of all values, where it was recorded.
    pub fn squares(&self) -> Option<u128> {
        self.squares_ns2
    }

    /// Counts one latency.
    #[inline]
    pub fn record(&mut self, value_ns: u64) {
        let bucket = bucket_of(value_ns);
        let counts = self.counts.dense();
        let (count, overflowed) = counts[bucket].overflowing_add(1);
        counts[bucket] = count;
        if overflowed {
            self.carry(bucket, 1);
        }
        self.total += 1;
        self.sum_ns += u128::from(value_ns);
        self.min_ns = self.min_ns.min(value_ns);
        self.max_ns = self.max_ns.max(value_ns);
        if let Some(squares) = &mut self.squares_ns2 {
            *squares = squares.saturating_add(u128::from(value_ns).pow(2));
        }
    }

    #[cold]
    fn carry(&mut self, bucket: usize, times: u32) {
        let bucket = bucket as u32;
        match self.carries.iter_mut().find(|(b, _)| *b == bucket) {
            Some((_, n)) => *n += times,
            None => self.carries.push((bucket, times)),
        }
    }

    /// Adds `count` values to one bucket without touching the exact fields.
    fn add_to_bucket(&mut self, bucket: usize, count: u64) {
        debug_assert!(
            self.total.checked_add(count).is_some(),
            "{count} values more than {} cannot be counted",
            self.total
        );
        let counts = self.counts.dense();
        let sum = u64::from(counts[bucket]) + count;
        counts[bucket] = sum as u32;
        if sum >> 32 > 0 {
            self.carry(bucket, (sum >> 32) as u32);
        }
        self.total += count;
    }

    /// Adds every count of `other`.
    pub fn merge(&mut self, other: &Histogram) {
        if other.total == 0 {
            return;
        }
        if self.total == 0 {
            self.clone_from(other);
            return;
        }
        self.squares_ns2 = match (self.squares_ns2, other.squares_ns2) {
            (Some(mine), Some(theirs)) => Some(mine.saturating_add(theirs)),
            _ => None,
        };
        for (bucket, count) in other.buckets() {
            self.add_to_bucket(bucket, count);
        }
        self.sum_ns += other.sum_ns;
        self.min_ns = self.min_ns.min(other.min_ns);
        self.max_ns = self.max_ns.max(other.max_ns);
        // Only buckets between those of the extremes are ever looked at again.
        debug_assert!(self.min_ns <= self.max_ns, "{self:?}");
    }

    /// Empties the histogram and keeps its memory.
    pub fn clear(&mut self) {
        if self.total == 0 {
            return;
        }
        let first = bucket_of(self.min_ns);
        let last = bucket_of(self.max_ns);
        self.counts.clear(first, last);
        self.carries.clear();
        self.squares_ns2 = self.squares_ns2.map(|_| 0);
        self.total = 0;
        self.sum_ns = 0;
        self.min_ns = u64::MAX;
        self.max_ns = 0;
    }

    /// Rebuilds a histogram from stored parts.
    ///
    /// Returns `None` when a bucket does not exist or the counts and the
    /// exact fields contradict one another.
    pub fn from_parts(
        buckets: impl IntoIterator<Item = (usize, u64)>,
        sum_ns: u128,
        min_ns: u64,
        max_ns: u64,
    ) -> Option<Histogram> {
        let mut histogram = Histogram::new();
        for (bucket, count) in buckets {
            if bucket >= BUCKETS || count == 0 || histogram.total.checked_add(count).is_none() {
                return None;
            }
            if histogram.counts.push(bucket, count) {
                histogram.total += count;
            } else {
                histogram.add_to_bucket(bucket, count);
            }
        }
        histogram.counts.shrink();
        if histogram.total == 0 {
            return (sum_ns == 0).then_some(histogram);
        }
        let bounds = bucket_of(min_ns)..=bucket_of(max_ns);
        let mut filled = histogram.counts.within(0, BUCKETS);
        if min_ns > max_ns || !filled.all(|(bucket, _)| bounds.contains(&bucket)) {
            return None;
        }
        let carried = histogram.carries.iter();
        if !carried
            .map(|(b, _)| *b as usize)
            .all(|b| bounds.contains(&b))
        {
            return None;
        }
        // A store keeps no first bucket: it is that of the minimum, and must be filled.
        let extremes = [min_ns, max_ns].map(bucket_of);
        if extremes.iter().any(|at| histogram.count_in(*at) == 0) {
            return None;
        }
        histogram.sum_ns = sum_ns;
        histogram.min_ns = min_ns;
        histogram.max_ns = max_ns;
        Some(histogram)
    }

    /// The non-empty buckets in ascending order, with their counts.
    pub fn buckets(&self) -> impl Iterator<Item = (usize, u64)> + '_ {
        let (first, end) = if self.total == 0 {
            (0, 0)
        } else {
            (bucket_of(self.min_ns), bucket_of(self.max_ns) + 1)
        };
        // A bucket whose count is a multiple of 2^32 looks empty.
        let plain = self.carries.is_empty();
        let small = plain.then(|| self.counts.within(first, end));
        let wide = (!plain).then(|| (first..end).map(|b| (b, self.count_in(b))));
        let small = small.into_iter().flatten();
        small
            .map(|(bucket, count)| (bucket, u64::from(count)))
            .chain(wide.into_iter().flatten().filter(|(_, count)| *count > 0))
    }

    fn count_in(&self, bucket: usize) -> u64 {
        let carried = self.carries.iter().find(|(b, _)| *b as usize == bucket);
        let carried = carried.map_or(0, |(_, n)| u64::from(*n) << 32);
        u64::from(self.counts.get(bucket)) + carried
    }

    /// Number of recorded values.
    pub fn count(&self) -> u64 {
        self.total
    }

    /// Whether nothing was recorded.
    pub fn is_empty(&self) -> bool {
        self.total == 0
    }

    /// Exact sum of all values in nanoseconds.
    pub fn sum(&self) -> u128 {
        self.sum_ns
    }

    /// Exact smallest value.
    pub fn min(&self) -> Option<u64> {
        (self.total > 0).then_some(self.min_ns)
    }

    /// Exact largest value.
    pub fn max(&self) -> Option<u64> {
        (self.total > 0).then_some(self.max_ns)
    }

    /// Exact mean.
    pub fn mean(&self) -> Option<f64> {
        (self.total > 0).then(|| self.sum_ns as f64 / self.total as f64)
    }

    /// Standard deviation: exact where squares were recorded, otherwise from
    /// bucket middles around the exact mean. A single value has none.
    pub fn standard_deviation(&self) -> Option<f64> {
        let mean = self.mean().filter(|_| self.total > 1)?;
        if let Some(squares) = self.squares_ns2 {
            return Some(self.exact_variance(squares).sqrt());
        }
        let sum: f64 = self
            .buckets()
            .map(|(b, n)| n as f64 * (bucket_middle(b) as f64 - mean).powi(2))
            .sum();
        Some((sum / self.total as f64).sqrt())
    }

    /// Variance from the exact sums: (n Σx² − (Σx)²) / n², in integers as far
    /// as they reach, because the two terms are nearly alike.
    fn exact_variance(&self, squares_ns2: u128) -> f64 {
        let n = u128::from(self.total);
        let of_squares = n.checked_mul(squares_ns2);
        let of_sum = self.sum_ns.checked_mul(self.sum_ns);
        let n = self.total as f64;
        match of_squares.zip(of_sum) {
            Some((squares, sum)) => squares.saturating_sub(sum) as f64 / n / n,
            None => (squares_ns2 as f64 / n - (self.sum_ns as f64 / n).powi(2)).max(0.0),
        }
    }

    /// The value at a quantile from 0 to 1: the middle of the first bucket at
    /// which the cumulative count reaches `quantile` of all values, kept
    /// within the exact minimum and maximum.
    pub fn quantile(&self, quantile: f64) -> Option<u64> {
        if self.total == 0 {
            return None;
        }
        debug_assert!(!quantile.is_nan(), "a quantile that is not a number");
        // Rounded up, so that the share is reached and never just missed; the first of
        // all for a share of none.
        let rank = ((quantile.clamp(0.0, 1.0) * self.total as f64).ceil() as u64).max(1);
        if rank >= self.total {
            return Some(self.max_ns);
        }
        let mut seen = 0;
        for (bucket, count) in self.buckets() {
            seen += count;
            if seen >= rank {
                return Some(bucket_middle(bucket).clamp(self.min_ns, self.max_ns));
            }
        }
        Some(self.max_ns)
    }

    /// How many values lie in buckets wholly above `value_ns`.
    pub fn count_above(&self, value_ns: u64) -> u64 {
        let limit = bucket_of(value_ns);
        self.buckets()
            .filter(|(b, _)| *b > limit)
            .map(|(_, n)| n)
            .sum()
    }
}

#[cfg(test)]
#[path = "histogram_tests.rs"]
mod tests;
