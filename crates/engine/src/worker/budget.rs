//! One worker's draw on the work that is left for all.
//!
//! Chunks shrink with what is left, so that no worker sits on a share while
//! the others have run dry, and all end within a few operations of each other.
//! Work counts when it is started; failures use up the budget, too, or a
//! target on which everything fails would be tried for ever.

use std::sync::Arc;

use super::control::{Control, EndReason};

const MAX_CHUNK_OPS: u64 = 256;

/// The budget as one worker sees it.
#[derive(Debug)]
pub(crate) struct Budget {
    control: Arc<Control>,
    bounded: bool,
    workers: u64,
    max_block_bytes: u64,
    ops: u64,
    bytes: u64,
}

impl Budget {
    pub(crate) fn new(control: Arc<Control>, workers: u32, max_block_bytes: u64) -> Budget {
        Budget {
            bounded: control.ops.is_some() || control.bytes.is_some(),
            control,
            workers: u64::from(workers.max(1)),
            max_block_bytes: max_block_bytes.max(1),
            ops: 0,
            bytes: 0,
        }
    }

    /// Takes one operation of `bytes`, or says which budget is used up.
    #[inline]
    pub(crate) fn take(&mut self, bytes: u32) -> Result<(), EndReason> {
        if !self.bounded {
            return Ok(());
        }
        self.take_bounded(u64::from(bytes))
    }

    fn take_bounded(&mut self, bytes: u64) -> Result<(), EndReason> {
        let spread = 4 * self.workers;
        if let Some(pool) = &self.control.ops {
            if self.ops == 0 {
                self.ops = pool.take(|left| (left / spread).clamp(1, MAX_CHUNK_OPS));
            }
            if self.ops == 0 {
                return Err(EndReason::Ops);
            }
        }
        if let Some(pool) = &self.control.bytes {
            if self.bytes < bytes {
                let block = self.max_block_bytes;
                let missing = bytes - self.bytes;
                self.bytes += pool.take(|left| {
                    let chunk = (left / spread / block).min(MAX_CHUNK_OPS) * block;
                    chunk.max(missing)
                });
            }
            if self.bytes < bytes {
                pool.give_back(self.bytes);
                self.bytes = 0;
                return Err(EndReason::Bytes);
            }
            self.bytes -= bytes;
        }
        self.ops = self.ops.saturating_sub(1);
        Ok(())
    }

    /// Takes work that is under way already out of the reserve, and puts what
    /// is left of the reserve into the pools.
    pub(crate) fn charge(&mut self, ops: u64, bytes: u64) {
        let reserve = self.control.reserve;
        for (pool, reserved, taken) in [
            (&self.control.ops, reserve.ops, ops),
            (&self.control.bytes, reserve.bytes, bytes),
        ] {
            let Some(pool) = pool else {
                continue;
            };
            if taken > reserved {
                pool.take(|_| taken - reserved);
            } else {
                pool.give_back(reserved - taken);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_model::Workload;
    use fathom_model::workload::Bounds;
    use proptest::prelude::*;

    fn control(ops: Option<u64>, bytes: Option<u64>) -> Arc<Control> {
        let mut workload = Workload::example("budget");
        workload.bounds = Bounds {
            time_ns: None,
            bytes,
            ops,
        };
        Arc::new(Control::new(&workload, 1))
    }

    proptest! {
        #[test]
        fn workers_together_take_exactly_what_there_is(
            total in 0u64..5000,
            workers in 1u32..9,
            order in proptest::collection::vec(0usize..8, 0..200),
        ) {
            let control = control(Some(total), None);
            let mut budgets: Vec<_> = (0..workers)
                .map(|_| Budget::new(Arc::clone(&control), workers, 4096))
                .collect();
            let mut taken = 0;
            for i in order {
                taken += u64::from(budgets[i % workers as usize].take(4096).is_ok());
            }
            for budget in &mut budgets {
                while budget.take(4096).is_ok() {
                    taken += 1;
                }
            }
            prop_assert_eq!(taken, total);
        }

        #[test]
        fn bytes_are_never_exceeded_and_less_than_a_block_stays(
            total in 0u64..1_000_000,
            sizes in proptest::collection::vec(1u32..5000, 1..50),
        ) {
            let control = control(None, Some(total));
            let mut budget = Budget::new(control, 1, 5000);
            let mut taken = 0;
            for size in sizes.iter().cycle() {
                if budget.take(*size).is_err() {
                    prop_assert!(total - taken < 5000);
                    break;
                }
                taken += u64::from(*size);
                prop_assert!(taken <= total);
            }
        }
    }

    #[test]
    fn without_bounds_there_is_no_end() {
        let mut budget = Budget::new(control(None, None), 1, 4096);
        assert!((0..10_000).all(|_| budget.take(u32::MAX).is_ok()));
    }
}
