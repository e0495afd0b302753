//! What all workers of a group share: the end of the trial, budgets, failures.

use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed};
use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64};
use std::sync::{Mutex, PoisonError};

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
    pub(crate) ops: Option<Pool>,
    pub(crate) bytes: Option<Pool>,
    failed: AtomicU32,
    failures: Mutex<Vec<Failure>>,
}

impl Control {
    pub(crate) fn new(bounds: &Bounds) -> Control {
        Control {
            reason: AtomicU8::new(0),
            ops: bounds.ops.map(Pool::new),
            bytes: bounds.bytes.map(Pool::new),
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
