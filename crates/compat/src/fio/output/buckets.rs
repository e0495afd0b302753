//! fio's latency buckets, and fathom's histograms in them.
//!
//! fio has 1,856 buckets: below 128 ns one per nanosecond, above that 64 per
//! power of two up to 2^34 ns; everything longer is in the last one. A value is
//! reported as the middle of its bucket. fathom's buckets are finer and start
//! on the same boundaries, so each lies wholly in one of fio's.

use fathom_model::Histogram;
use fathom_model::histogram::bucket_range;

/// Number of buckets.
pub(super) const COUNT: usize = 29 * 64;

const BITS: u32 = 6;
const PER_POWER: u64 = 1 << BITS;

/// The bucket of a value.
pub(super) fn index_of(value_ns: u64) -> usize {
    let shift = (value_ns | PER_POWER).ilog2() - BITS;
    let index = (u64::from(shift) << BITS) + (value_ns >> shift);
    (index as usize).min(COUNT - 1)
}

/// What a bucket is reported as.
pub(super) fn value_of(index: usize) -> u64 {
    let index = index as u64;
    if index < 2 * PER_POWER {
        return index;
    }
    let shift = (index >> BITS) - 1;
    let low = (index % PER_POWER + PER_POWER) << shift;
    low + (1 << shift) / 2
}

/// Counts of latencies in fio's buckets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Buckets {
    counts: Vec<u64>,
}

impl Buckets {
    pub(super) fn of(histogram: &Histogram) -> Buckets {
        let mut counts = vec![0; COUNT];
        for (bucket, count) in histogram.buckets() {
            counts[index_of(bucket_range(bucket).0)] += count;
        }
        Buckets { counts }
    }

    /// Values and counts of the buckets that are not empty.
    pub(super) fn filled(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let counts = self.counts.iter().enumerate();
        counts
            .filter(|(_, count)| **count > 0)
            .map(|(index, count)| (value_of(index), *count))
    }

    /// Sums of 2^`coarseness` neighbours.
    pub(super) fn coarse(&self, coarseness: u32) -> impl Iterator<Item = u64> + '_ {
        let width = 1 << coarseness.min(6);
        self.counts.chunks(width).map(|part| part.iter().sum())
    }

    /// The percentiles `list`, which ascends, each the value of the first
    /// bucket at which so many percent of all values are reached.
    pub(super) fn percentiles(&self, list: &[f64]) -> Vec<u64> {
        let total: u64 = self.counts.iter().sum();
        let mut buckets = self.counts.iter().enumerate();
        let (mut seen, mut value) = (0, 0);
        list.iter()
            .map(|percentile| {
                let needed = percentile / 100.0 * total as f64;
                while (seen as f64) < needed || seen == 0 {
                    let Some((index, count)) = buckets.next() else {
                        break;
                    };
                    seen += count;
                    if *count > 0 {
                        value = value_of(index);
                    }
                }
                value
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_model::histogram::{BUCKETS, bucket_of};
    use proptest::prelude::*;

    #[test]
    fn middles_are_those_that_fio_prints() {
        // As the keys of `bins` in documents of fio 3.33.
        for (value, shown) in [(0, 0), (127, 127), (500, 502), (4_895, 4_896)] {
            assert_eq!(value_of(index_of(value)), shown);
        }
        assert_eq!(index_of(u64::MAX), COUNT - 1);
        assert_eq!(value_of(COUNT - 1), 17_112_760_320);
    }

    #[test]
    fn each_fine_bucket_lies_in_one_coarse_bucket() {
        for bucket in 0..BUCKETS {
            let (low, high) = bucket_range(bucket);
            assert_eq!(index_of(low), index_of(high), "bucket {bucket}");
        }
    }

    #[test]
    fn coarse_columns_add_up() {
        let mut histogram = Histogram::new();
        for value in [1, 2, 300, 5_000_000] {
            histogram.record(value);
        }
        let buckets = Buckets::of(&histogram);
        for coarseness in 0..=6 {
            let columns: Vec<u64> = buckets.coarse(coarseness).collect();
            assert_eq!(columns.len(), COUNT >> coarseness);
            assert_eq!(columns.iter().sum::<u64>(), 4);
        }
    }

    proptest! {
        #[test]
        fn percentiles_are_near_the_exact_ones(values in prop::collection::vec(1u64..1 << 33, 1..200)) {
            let mut histogram = Histogram::new();
            values.iter().for_each(|v| histogram.record(*v));
            let list = [1.0, 50.0, 99.0, 100.0];
            let found = Buckets::of(&histogram).percentiles(&list);
            let mut sorted = values.clone();
            sorted.sort_unstable();
            for (percentile, found) in list.iter().zip(found) {
                let rank = (percentile / 100.0 * values.len() as f64).ceil().max(1.0) as usize;
                let exact = sorted[rank - 1];
                prop_assert_eq!(index_of(found), index_of(exact));
            }
            prop_assert!(bucket_of(sorted[0]) < BUCKETS);
        }
    }
}
