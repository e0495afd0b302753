//! How long the next block is.

use fathom_model::rng::Rng;
use fathom_model::unit::bytes_exact;
use fathom_model::workload::BlockSizes;

use crate::Error;

/// Draws block sizes.
#[derive(Debug, Clone)]
pub(crate) struct SizeDraw {
    rng: Rng,
    kind: SizeLaw,
    min_bytes: u32,
    max_bytes: u32,
}

#[derive(Debug, Clone)]
enum SizeLaw {
    Fixed,
    Range {
        step: u32,
        count: u64,
    },
    /// Sizes with the running total of their weights.
    Weighted(Vec<(u64, u32)>),
}

impl SizeDraw {
    /// Draws for `sizes`; each between 1 byte and 4 GiB less one byte.
    pub(crate) fn new(sizes: &BlockSizes, seed: u64) -> Result<SizeDraw, Error> {
        let kind = match sizes {
            BlockSizes::Fixed(_) => SizeLaw::Fixed,
            BlockSizes::Range {
                min_bytes,
                max_bytes,
                step_bytes,
            } => {
                let step = narrow(*step_bytes)?;
                if max_bytes < min_bytes {
                    return Err(Error::Workload(format!(
                        "block sizes from {} to {} are the wrong way round",
                        bytes_exact(*min_bytes),
                        bytes_exact(*max_bytes)
                    )));
                }
                let count = (max_bytes - min_bytes) / step_bytes + 1;
                debug_assert!(
                    min_bytes + (count - 1) * step_bytes <= *max_bytes,
                    "the largest size drawn is no larger than the largest asked for"
                );
                SizeLaw::Range { step, count }
            }
            BlockSizes::Weighted(entries) => {
                let mut total = 0u64;
                let mut table = Vec::with_capacity(entries.len());
                for entry in entries {
                    total += u64::from(entry.weight);
                    table.push((total, narrow(entry.bytes)?));
                }
                if total == 0 {
                    return Err(Error::Workload(
                        "weighted block sizes need at least one size with a weight of at least 1"
                            .to_owned(),
                    ));
                }
                SizeLaw::Weighted(table)
            }
        };
        Ok(SizeDraw {
            rng: Rng::new(seed),
            kind,
            min_bytes: narrow(sizes.min_bytes())?,
            max_bytes: narrow(sizes.max_bytes())?,
        })
    }

    /// Whether all sizes are the same.
    pub(crate) fn is_fixed(&self) -> bool {
        matches!(self.kind, SizeLaw::Fixed)
    }

    /// The next size.
    // Inlined by order: a second caller, for what differs by kind, would make
    // a call of it in the plain stream as well.
    #[allow(clippy::inline_always)]
    #[inline(always)]
    pub(crate) fn next(&mut self) -> u32 {
        match &self.kind {
            SizeLaw::Fixed => self.max_bytes,
            SizeLaw::Range { step, count } => self.min_bytes + self.rng.below(*count) as u32 * step,
            SizeLaw::Weighted(table) => {
                let total = table.last().map_or(0, |(total, _)| *total);
                let draw = self.rng.below(total);
                let index = table.partition_point(|(running, _)| *running <= draw);
                table[index].1
            }
        }
    }
}

fn narrow(bytes: u64) -> Result<u32, Error> {
    match u32::try_from(bytes) {
        Ok(bytes) if bytes > 0 => Ok(bytes),
        _ => Err(Error::Workload(format!(
            "a block size of {bytes} bytes is outside of 1 byte to 4 GiB"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use fathom_model::workload::WeightedSize;

    use super::*;

    #[test]
    fn range_reaches_every_multiple_and_nothing_else() {
        let sizes = BlockSizes::Range {
            min_bytes: 4096,
            max_bytes: 16384,
            step_bytes: 4096,
        };
        let mut draw = SizeDraw::new(&sizes, 3).unwrap();
        let mut counts = [0u32; 5];
        for _ in 0..40_000 {
            let bytes = draw.next();
            assert!(bytes.is_multiple_of(4096));
            counts[(bytes / 4096) as usize] += 1;
        }
        assert_eq!(counts[0], 0);
        assert!(
            counts[1..].iter().all(|n| n.abs_diff(10_000) < 400),
            "{counts:?}"
        );
    }

    #[test]
    fn weights_are_kept() {
        let entry = |bytes, weight| WeightedSize { bytes, weight };
        let sizes = BlockSizes::Weighted(vec![entry(4096, 60), entry(512, 0), entry(65536, 40)]);
        let mut draw = SizeDraw::new(&sizes, 3).unwrap();
        let large = (0..100_000).filter(|_| draw.next() == 65536).count();
        assert!(large.abs_diff(40_000) < 700, "{large}");
        assert_eq!(draw.max_bytes, 65536);
    }

    #[test]
    fn impossible_sizes_are_errors() {
        let range = |min_bytes, max_bytes, step_bytes| BlockSizes::Range {
            min_bytes,
            max_bytes,
            step_bytes,
        };
        for sizes in [
            BlockSizes::Fixed(0),
            BlockSizes::Fixed(1 << 32),
            range(8192, 4096, 512),
            range(512, 4096, 0),
            range(0, 4096, 512),
            BlockSizes::Weighted(vec![]),
            BlockSizes::Weighted(vec![WeightedSize {
                bytes: 4096,
                weight: 0,
            }]),
        ] {
            assert!(SizeDraw::new(&sizes, 1).is_err(), "{sizes:?}");
        }
    }
}
