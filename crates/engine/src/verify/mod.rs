//! Checking that what is read is what was written there, and when.

mod mismatch;

pub use mismatch::{Mismatch, MismatchKind};

use std::sync::Arc;

use fathom_model::Job;

use crate::Error;
use crate::access::{Access, Layout};
use crate::prepare::{PrepareHooks, Prepared};

/// What all workers of a trial know together about what was written.
#[derive(Debug)]
pub struct Ledger {
    on_read: bool,
}

impl Ledger {
    /// A ledger for `job` on `layout`; all blocks count as prepared and not
    /// yet written by the trial.
    ///
    /// # Errors
    /// [`Error::Workload`] when blocks are too small to be stamped or the
    /// ledger would need too much memory.
    pub fn new(job: &Job, layout: &Layout) -> Result<Ledger, Error> {
        let _ = layout;
        Ok(Ledger {
            on_read: job.workload.verify.is_some_and(|v| v.on_read),
        })
    }
}

/// One worker's hands on the ledger. Each operation in flight has a slot.
#[derive(Debug)]
pub struct Verifier {
    ledger: Arc<Ledger>,
}

impl Verifier {
    /// A verifier for operations in slots `0..slots` of at most `max_block_bytes`.
    pub fn new(ledger: &Arc<Ledger>, slots: usize, max_block_bytes: u64) -> Verifier {
        let _ = (slots, max_block_bytes);
        Verifier {
            ledger: Arc::clone(ledger),
        }
    }

    /// To be called right before an operation is handed to the kernel, with
    /// the block's buffer. Stamps what is to be written (after the payload was
    /// filled in); notes for a read what may be found.
    pub fn begin(&mut self, slot: usize, access: &Access, block: &mut [u8]) {
        let _ = (slot, access, block);
    }

    /// To be called right after the operation came back, with its buffer.
    /// `done` is whether all of it succeeded. A read is checked.
    ///
    /// # Errors
    /// The first [`Mismatch`] of a read.
    pub fn finish(
        &mut self,
        slot: usize,
        access: &Access,
        block: &[u8],
        done: bool,
    ) -> Result<(), Mismatch> {
        let _ = (slot, access, block, done, self.ledger.on_read);
        Ok(())
    }
}

/// What reading back found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AfterReport {
    /// Bytes that were read and checked.
    pub checked_bytes: u64,
    /// Units that were not as they should be.
    pub mismatches: u64,
    /// The first mismatches, at most 100.
    pub first: Vec<Mismatch>,
}

/// Reads back everything that the trial wrote and checks it.
///
/// # Errors
/// [`Error::Io`] when it cannot be read, [`Error::Stopped`].
pub fn verify_after(
    job: &Job,
    prepared: &Prepared,
    hooks: &mut dyn PrepareHooks,
) -> Result<AfterReport, Error> {
    let _ = (job, prepared, hooks);
    Ok(AfterReport::default())
}
