//! Who was done first: with a fixed amount of work, what the others had done
//! by then says how evenly they worked.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use fathom_model::run::Finishers;

/// When the first worker of a group had done its part, on the clock of the load.
#[derive(Debug, Default)]
pub(crate) struct FirstDone(AtomicU64);

impl FirstDone {
    /// Whether one has.
    #[inline]
    pub(crate) fn is_known(&self) -> bool {
        self.0.load(Relaxed) > 0
    }

    /// A worker has done its part.
    pub(crate) fn note(&self, now_ns: u64) {
        let _ = self.0.compare_exchange(0, now_ns.max(1), Relaxed, Relaxed);
    }

    /// First and last finisher of a load that began at `origin_ns`; `None` when no
    /// worker did its whole part.
    pub(crate) fn finishers(&self, ends: &[Reached], origin_ns: u64) -> Option<Finishers> {
        let first_ns = self.0.load(Relaxed);
        let last_ns = ends.iter().map(|end| end.ended_ns).max()?;
        if first_ns == 0 || last_ns == 0 {
            return None;
        }
        Some(Finishers {
            first_ns: first_ns.saturating_sub(origin_ns),
            ops_at_first: ends.iter().map(|end| end.ops_at_first).sum(),
            last_ns: last_ns.saturating_sub(origin_ns),
            ops: ends.iter().map(|end| end.ops).sum(),
        })
    }
}

/// How far a worker came.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Reached {
    /// On the clock of the load; 0 when it never began.
    pub(crate) ended_ns: u64,
    pub(crate) ops: u64,
    /// Operations when the first worker had done its part.
    pub(crate) ops_at_first: u64,
}
