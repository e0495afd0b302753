//! What all workers of a group share: the end of the trial, budgets, failures.

use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed};
use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64};
use std::sync::{Mutex, PoisonError};

use fathom_model::Workload;
use fathom_model::workload::Bounds;

use super::failure::Failure;

/// Failures that are kept in full.
pub(crate) const MAX_FAILURES: u32 = 100;

/// Why the load ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum EndReason {
    /// The time bound of the measure phase was reached.
    Time = 1,
    /// The asked-for bytes were moved.
    Bytes,
    /// The asked-for operations were done.
    Ops,
    /// Somebody asked for it.
    Stopped,
    /// An operation failed, or the engine itself did.
    Error,
    /// Workers hung in the kernel and were left behind.
    Abandoned,
}

impl EndReason {
    fn from_code(code: u8) -> Option<EndReason> {
        [
            EndReason::Time,
            EndReason::Bytes,
            EndReason::Ops,
            EndReason::Stopped,
            EndReason::Error,
            EndReason::Abandoned,
        ]
        .into_iter()
        .find(|reason| *reason as u8 == code)
    }
}

/// A budget of work that workers draw on in chunks.
#[derive(Debug)]
pub(crate) struct Pool {
    left: AtomicU64,
}

impl Pool {
    fn new(amount: u64) -> Pool {
        Pool {
            left: AtomicU64::new(amount),
        }
    }

    /// Takes what `want` asks for, given what is left; at most what is left.
    pub(crate) fn take(&self, want: impl Fn(u64) -> u64) -> u64 {
        let mut taken = 0;
        let _ = self.left.fetch_update(AcqRel, Acquire, |left| {
            taken = want(left).min(left);
            Some(left - taken)
        });
        taken
    }

    pub(crate) fn give_back(&self, amount: u64) {
        self.left.fetch_add(amount, AcqRel);
    }
}

/// Shared by the workers of a group and their controlling thread.
#[derive(Debug)]
pub(crate) struct Control {
    reason: AtomicU8,
    /// Workers that have not ended at a bound of their own.
    unbounded: AtomicU32,
    pub(crate) ops: Option<Pool>,
    pub(crate) bytes: Option<Pool>,
    /// What each worker may find in flight when the measure phase starts.
    pub(crate) reserve: Reserve,
    failed: AtomicU32,
    failures: Mutex<Vec<Failure>>,
}

/// Work that is kept back from the pools for one worker. Operations that begin
/// in the warm-up and end in the measure phase count in the latter; without
/// a reserve a quick worker could use up the bound before a slow one has said
/// how many of them it has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Reserve {
    pub(crate) ops: u64,
    pub(crate) bytes: u64,
}

impl Reserve {
    /// The reserve of each worker of `workload`, at `depth` operations in flight.
    fn of(workload: &Workload, depth: u32) -> Reserve {
        if workload.warmup_ns == 0 {
            return Reserve::default();
        }
        let workers = u64::from(workload.workers.max(1));
        let depth = u64::from(depth);
        let at_most = |wanted: u64, bound: Option<u64>| wanted.min(bound.unwrap_or(0) / workers);
        let bytes = depth.saturating_mul(workload.max_block_bytes());
        Reserve {
            ops: at_most(depth, workload.bounds.ops),
            bytes: at_most(bytes, workload.bounds.bytes),
        }
    }
}

impl Control {
    pub(crate) fn new(workload: &Workload, depth: u32) -> Control {
        let reserve = Reserve::of(workload, depth);
        let workers = u64::from(workload.workers);
        let Bounds { ops, bytes, .. } = workload.bounds;
        // A pool that wrapped below zero would never be used up.
        assert!(
            ops.is_none_or(|ops| reserve.ops * workers <= ops)
                && bytes.is_none_or(|bytes| reserve.bytes * workers <= bytes),
            "{workers} workers keep back {reserve:?} each, more than there is"
        );
        Control {
            reason: AtomicU8::new(0),
            unbounded: AtomicU32::new(workload.workers),
            ops: ops.map(|ops| Pool::new(ops - reserve.ops * workers)),
            bytes: bytes.map(|bytes| Pool::new(bytes - reserve.bytes * workers)),
            reserve,
            failed: AtomicU32::new(0),
            failures: Mutex::new(Vec::with_capacity(MAX_FAILURES as usize)),
        }
    }

    /// Ends the load of all workers. The first reason stays.
    pub(crate) fn end(&self, reason: EndReason) {
        let _ = self
            .reason
            .compare_exchange(0, reason as u8, AcqRel, Acquire);
    }

    /// One worker ends at a bound of its own; the load ends with the last.
    pub(crate) fn end_one(&self, reason: EndReason) {
        if self.unbounded.fetch_sub(1, AcqRel) == 1 {
            self.end(reason);
        }
    }

    /// Why the load ended or is ending.
    pub(crate) fn reason(&self) -> Option<EndReason> {
        EndReason::from_code(self.reason.load(Acquire))
    }

    /// Whether workers must end now. A bound of work that one worker has found used
    /// up is found used up by the others themselves.
    #[inline]
    pub(crate) fn must_end(&self) -> bool {
        self.reason.load(Relaxed) >= EndReason::Stopped as u8
    }

    /// Keeps a failure, if it is among the first.
    #[cold]
    pub(crate) fn note_failure(&self, failure: impl FnOnce() -> Failure) {
        if self.failed.load(Relaxed) >= MAX_FAILURES
            || self.failed.fetch_add(1, Relaxed) >= MAX_FAILURES
        {
            return;
        }
        let mut failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        failures.push(failure());
    }

    /// The failures that were kept, in order of time.
    pub(crate) fn take_failures(&self) -> Vec<Failure> {
        let mut failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        let mut all = std::mem::take(&mut *failures);
        all.sort_by_key(|failure| failure.at_ns);
        all
    }
}
