//! The block bootstrap: how much would a statistic have differed, had the series
//! been drawn again?

/// Blocks below which a bootstrap cannot show a spread.
pub const LEAST_BLOCKS: usize = 10;

/// A circular block bootstrap (Politis & Romano, *A circular block-resampling
/// procedure for stationary data*, 1992) of a series whose rows are vectors of
/// counts. Blocks keep the autocorrelation; each should be a few autocorrelation
/// times long.
#[derive(Debug, Clone, Copy)]
pub struct BlockBootstrap<'a> {
    rows: &'a [u64],
    columns: usize,
    block: usize,
}

impl<'a> BlockBootstrap<'a> {
    /// Over rows of `columns` counts each, one after the other, in blocks of `block`
    /// rows. `None` where there are fewer than [`LEAST_BLOCKS`] blocks or no columns.
    pub fn of(rows: &'a [u64], columns: usize, block: usize) -> Option<BlockBootstrap<'a>> {
        let count = rows.len().checked_div(columns)?;
        // A row cut short would shift every column of what is read behind it.
        assert!(
            rows.len().is_multiple_of(columns),
            "{} counts are no rows of {columns}",
            rows.len()
        );
        let blocks = count.checked_div(block)?;
        (blocks >= LEAST_BLOCKS).then_some(BlockBootstrap {
            rows,
            columns,
            block,
        })
    }

    /// Draws the series `resamples` times and hands on the sum of its rows each time.
    /// `below(n)` gives uniform numbers in `0..n`.
    pub fn sums(
        &self,
        resamples: usize,
        mut below: impl FnMut(u64) -> u64,
        mut each: impl FnMut(&[u64]),
    ) {
        let (columns, count) = (self.columns, self.rows.len() / self.columns);
        let mut sum = vec![0u64; columns];
        for _ in 0..resamples {
            sum.fill(0);
            // Rounded up: a resample may be longer than the series by less than a block,
            // never shorter, which would show too little spread.
            for _ in 0..count.div_ceil(self.block) {
                let start = below(count as u64) as usize;
                debug_assert!(start < count, "a start of {start} among {count} rows");
                // Circular: a block that runs over the end goes on at the start, so that
                // each row is drawn equally often.
                for row in (start..start + self.block).map(|row| row % count) {
                    let row = &self.rows[row * columns..(row + 1) * columns];
                    for (total, number) in sum.iter_mut().zip(row) {
                        *total = total.saturating_add(*number);
                    }
                }
            }
            each(&sum);
        }
    }
}

/// The ends of the central 95 % of what a bootstrap found; `None` of nothing.
pub fn central_95<T: Ord + Copy>(mut found: Vec<T>) -> Option<(T, T)> {
    found.sort_unstable();
    let last = found.len().checked_sub(1)?;
    let at = |share: f64| found[(last as f64 * share).round() as usize];
    Some((at(0.025), at(0.975)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_model::rng::Rng;

    #[test]
    fn the_spread_is_that_of_the_sum() {
        // 400 independent rows of 0 or 1: the sum deviates by 10.
        let mut rng = Rng::new(3);
        let rows: Vec<u64> = (0..400).map(|_| rng.below(2)).collect();
        let bootstrap = BlockBootstrap::of(&rows, 1, 1).unwrap();
        let mut sums = Vec::new();
        bootstrap.sums(400, |n| rng.below(n), |sum| sums.push(sum[0]));
        let (low, high) = central_95(sums).unwrap();
        let truth: u64 = rows.iter().sum();
        assert!(low < truth && truth < high);
        assert!((30..50).contains(&(high - low)), "{low} to {high}");
    }

    #[test]
    fn few_blocks_show_no_spread() {
        assert!(BlockBootstrap::of(&[1; 9], 1, 1).is_none());
        assert!(BlockBootstrap::of(&[1; 20], 2, 1).is_some());
        assert!(BlockBootstrap::of(&[1; 20], 2, 2).is_none());
        assert!(BlockBootstrap::of(&[1; 20], 2, 0).is_none());
        assert!(BlockBootstrap::of(&[], 0, 1).is_none());
        assert_eq!(central_95::<u64>(Vec::new()), None);
    }
}
