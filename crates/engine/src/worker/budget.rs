//! One worker's draw on the work that is left for all.
//!
//! Chunks shrink with what is left, so that no worker sits on a share while
//! the others have run dry, and all end within a few operations of each other.
//! Work counts when it is started; failures use up the budget, too, or a
//! target on which everything fails would be tried for ever.

use std::sync::Arc;

use fathom_model::workload::WorkerBounds;

use super::control::{Control, EndReason};

const MAX_CHUNK_OPS: u64 = 256;

/// Which bound ends a worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct UsedUp {
    /// Operations or bytes.
    pub(crate) reason: EndReason,
    /// The worker's own; otherwise that of all workers.
    pub(crate) own: bool,
}

/// What one worker may do by itself; `u64::MAX` is without bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct OwnBudget {
    ops: u64,
    bytes: u64,
}

impl OwnBudget {
    /// The bounds of a worker whose part of the target holds `pass_bytes`.
    pub(crate) fn new(bounds: &WorkerBounds, pass_bytes: u64) -> OwnBudget {
        let passes = bounds
            .passes
            .map(|n| pass_bytes.saturating_mul(u64::from(n)));
        let bytes = [bounds.bytes, passes].into_iter().flatten().min();
        OwnBudget {
            ops: bounds.ops.unwrap_or(u64::MAX),
            bytes: bytes.unwrap_or(u64::MAX),
        }
    }

    fn is_bounded(&self) -> bool {
        self.ops != u64::MAX || self.bytes != u64::MAX
    }

    /// Which bound has no room for an operation of `bytes`.
    fn lacks(&self, bytes: u64) -> Option<EndReason> {
        match () {
            () if self.ops == 0 => Some(EndReason::Ops),
            () if self.bytes < bytes => Some(EndReason::Bytes),
            () => None,
        }
    }

    fn charge(&mut self, ops: u64, bytes: u64) {
        let less = |left: &mut u64, by: u64| {
            if *left != u64::MAX {
                *left = left.saturating_sub(by);
            }
        };
        less(&mut self.ops, ops);
        less(&mut self.bytes, bytes);
    }
}

/// The budget as one worker sees it.
#[derive(Debug)]
pub(crate) struct Budget {
    control: Arc<Control>,
    bounded: bool,
    /// Whether the worker has bounds of its own.
    has_own: bool,
    workers: u64,
    max_block_bytes: u64,
    ops: u64,
    bytes: u64,
    own: OwnBudget,
}

impl Budget {
    pub(crate) fn new(
        control: Arc<Control>,
        workers: u32,
        max_block_bytes: u64,
        own: OwnBudget,
    ) -> Budget {
        Budget {
            bounded: control.ops.is_some() || control.bytes.is_some() || own.is_bounded(),
            has_own: own.is_bounded(),
            own,
            control,
            workers: u64::from(workers.max(1)),
            max_block_bytes: max_block_bytes.max(1),
            ops: 0,
            bytes: 0,
        }
    }

    /// Takes one operation of `bytes`, or says which budget is used up.
    #[inline]
    pub(crate) fn take(&mut self, bytes: u32) -> Result<(), UsedUp> {
        if !self.bounded {
            return Ok(());
        }
        let bytes = u64::from(bytes);
        if self.has_own
            && let Some(reason) = self.own.lacks(bytes)
        {
            self.give_back();
            return Err(UsedUp { reason, own: true });
        }
        self.take_bounded(bytes)
            .map_err(|reason| UsedUp { reason, own: false })?;
        if self.has_own {
            self.own.charge(1, bytes);
        }
        Ok(())
    }

    /// Whether the worker's own bounds have no room for anything more.
    #[cold]
    pub(crate) fn is_spent(&self) -> bool {
        self.has_own && self.own.lacks(1).is_some()
    }

    /// The operation that was taken last, which moves no bytes, was not done.
    pub(crate) fn put_back(&mut self) {
        self.ops += u64::from(self.control.ops.is_some());
        // Without a bound it stays as it is.
        self.own.ops = self.own.ops.saturating_add(1);
    }

    /// Leaves what was taken ahead to the other workers.
    #[cold]
    pub(crate) fn give_back(&mut self) {
        let ops = std::mem::take(&mut self.ops);
        let bytes = std::mem::take(&mut self.bytes);
        debug_assert!(
            (ops == 0 || self.control.ops.is_some())
                && (bytes == 0 || self.control.bytes.is_some()),
            "{ops} operations and {bytes} bytes from pools that there are not"
        );
        for (pool, amount) in [(&self.control.ops, ops), (&self.control.bytes, bytes)] {
            if let Some(pool) = pool {
                pool.give_back(amount);
            }
        }
    }

    #[inline]
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
        self.own.charge(ops, bytes);
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

    const UNBOUNDED: OwnBudget = OwnBudget {
        ops: u64::MAX,
        bytes: u64::MAX,
    };

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
                .map(|_| Budget::new(Arc::clone(&control), workers, 4096, UNBOUNDED))
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
            let mut budget = Budget::new(control, 1, 5000, UNBOUNDED);
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
    fn a_worker_ends_at_its_own_bound_and_leaves_the_rest_to_the_others() {
        let control = control(Some(1000), None);
        let bounds = WorkerBounds {
            bytes: None,
            ops: None,
            passes: Some(2),
        };
        let own = OwnBudget::new(&bounds, 10 * 4096);
        let mut first = Budget::new(Arc::clone(&control), 2, 4096, own);
        let mut second = Budget::new(Arc::clone(&control), 2, 4096, UNBOUNDED);
        let taken = std::iter::from_fn(|| first.take(4096).ok()).count();
        assert_eq!(taken, 20);
        let end = first.take(4096).unwrap_err();
        assert_eq!((end.reason, end.own), (EndReason::Bytes, true));
        let rest = std::iter::from_fn(|| second.take(4096).ok()).count();
        assert_eq!(rest, 980);
    }

    #[test]
    fn work_of_the_warm_up_is_charged_to_the_worker() {
        let bounds = WorkerBounds {
            ops: Some(5),
            ..WorkerBounds::default()
        };
        let own = OwnBudget::new(&bounds, 0);
        let mut budget = Budget::new(control(None, None), 1, 4096, own);
        budget.charge(2, 8192);
        let taken = std::iter::from_fn(|| budget.take(4096).ok()).count();
        assert_eq!(taken, 3);
    }

    #[test]
    fn an_operation_that_is_put_back_can_be_taken_again() {
        let bounds = WorkerBounds {
            ops: Some(8),
            ..WorkerBounds::default()
        };
        let own = OwnBudget::new(&bounds, u64::MAX);
        let control = control(Some(20), None);
        let mut first = Budget::new(Arc::clone(&control), 2, 1, own);
        let mut second = Budget::new(control, 2, 1, UNBOUNDED);
        for _ in 0..100 {
            assert!(first.take(0).is_ok());
            first.put_back();
        }
        let taken = std::iter::from_fn(|| first.take(0).ok()).count();
        let rest = std::iter::from_fn(|| second.take(0).ok()).count();
        assert_eq!((taken, rest), (8, 12));
    }

    #[test]
    fn without_bounds_there_is_no_end() {
        let mut budget = Budget::new(control(None, None), 1, 4096, UNBOUNDED);
        assert!((0..10_000).all(|_| budget.take(u32::MAX).is_ok()));
    }
}
