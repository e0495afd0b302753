//! How a histogram keeps its counts: all buckets side by side while it is
//! filled or merged into, only the non-empty ones when it was put together
//! from stored or collected parts. A day of one-second histograms is held in
//! memory in the second form, about a tenth of the first.

use super::BUCKETS;

/// More non-empty buckets than this are kept side by side: six bytes each are
/// no longer less than four for every bucket.
const MOST_SPARSE: usize = BUCKETS / 2;

// A bucket's number is kept in 16 bits.
const _: () = assert!(BUCKETS <= 1 << 16);

/// Counts by bucket. Counts are 32 bits wide; the histogram carries the rest.
#[derive(Clone)]
pub(super) enum Counts {
    /// Non-empty buckets in ascending order, and their counts.
    Sparse { buckets: Vec<u16>, counts: Vec<u32> },
    /// Every bucket.
    Dense(Box<[u32; BUCKETS]>),
}

impl Counts {
    pub(super) const EMPTY: Counts = Counts::Sparse {
        buckets: Vec::new(),
        counts: Vec::new(),
    };

    /// Puts in a bucket that lies above all others that were put in. Returns
    /// `false`, and changes nothing, when it does not or when the count is
    /// empty or wider than 32 bits.
    pub(super) fn push(&mut self, bucket: usize, count: u64) -> bool {
        let Ok(count) = u32::try_from(count) else {
            return false;
        };
        match self {
            Counts::Sparse { buckets, counts } => {
                let ascending = buckets
                    .last()
                    .is_none_or(|last| usize::from(*last) < bucket);
                let fits = buckets.len() < MOST_SPARSE && bucket < BUCKETS;
                if count == 0 || !ascending || !fits {
                    return false;
                }
                buckets.push(bucket as u16);
                counts.push(count);
                true
            }
            Counts::Dense(_) => false,
        }
    }

    /// Gives back memory that no count needs.
    pub(super) fn shrink(&mut self) {
        if let Counts::Sparse { buckets, counts } = self {
            buckets.shrink_to_fit();
            counts.shrink_to_fit();
        }
    }

    /// The count of a bucket.
    pub(super) fn get(&self, bucket: usize) -> u32 {
        debug_assert!(bucket < BUCKETS, "bucket {bucket}");
        match self {
            Counts::Sparse { buckets, counts } => {
                let found = buckets.binary_search(&(bucket as u16));
                found.map_or(0, |at| counts[at])
            }
            Counts::Dense(all) => all[bucket],
        }
    }

    /// The counts side by side, to be changed.
    #[inline]
    pub(super) fn dense(&mut self) -> &mut [u32; BUCKETS] {
        if let Counts::Sparse { .. } = self {
            *self = Counts::Dense(self.spread());
        }
        match self {
            Counts::Dense(all) => all,
            Counts::Sparse { .. } => unreachable!("was spread right above"),
        }
    }

    #[cold]
    fn spread(&self) -> Box<[u32; BUCKETS]> {
        let mut all = empty();
        for (bucket, count) in self.within(0, BUCKETS) {
            all[bucket] = count;
        }
        all
    }

    /// Empties the buckets from `first` to `last`, which are all that are not
    /// empty, and keeps the memory.
    pub(super) fn clear(&mut self, first: usize, last: usize) {
        match self {
            Counts::Sparse { buckets, counts } => {
                buckets.clear();
                counts.clear();
            }
            Counts::Dense(all) => all[first..=last].fill(0),
        }
    }

    /// The non-empty buckets from `first` up to, not including, `end`, with
    /// their counts, in ascending order.
    pub(super) fn within(&self, first: usize, end: usize) -> Within<'_> {
        match self {
            Counts::Sparse { buckets, counts } => {
                let from = buckets.partition_point(|b| usize::from(*b) < first);
                let to = buckets.partition_point(|b| usize::from(*b) < end);
                Within::Sparse(buckets[from..to].iter().zip(&counts[from..to]))
            }
            Counts::Dense(all) => Within::Dense {
                next: first,
                counts: &all[..end],
            },
        }
    }
}

/// Iterator over non-empty buckets and their counts.
pub(super) enum Within<'a> {
    Sparse(std::iter::Zip<std::slice::Iter<'a, u16>, std::slice::Iter<'a, u32>>),
    Dense { next: usize, counts: &'a [u32] },
}

impl Iterator for Within<'_> {
    type Item = (usize, u32);

    #[inline]
    fn next(&mut self) -> Option<(usize, u32)> {
        match self {
            Within::Sparse(pairs) => pairs.next().map(|(b, n)| (usize::from(*b), *n)),
            Within::Dense { next, counts } => loop {
                let at = *next;
                let count = *counts.get(at)?;
                *next += 1;
                if count > 0 {
                    return Some((at, count));
                }
            },
        }
    }
}

/// Zeroed memory straight from the operating system, never on the stack.
fn empty() -> Box<[u32; BUCKETS]> {
    match vec![0; BUCKETS].into_boxed_slice().try_into() {
        Ok(counts) => counts,
        // The length is that of the array.
        Err(_) => Box::new([0; BUCKETS]),
    }
}
