//! One worker's hands on the ledger.

use std::sync::Arc;

use fathom_model::OpKind;

use super::check::{Demand, check_unit};
use super::ledger::Ledger;
use super::mismatch::Mismatch;
use super::state::{Ticket, UnitState};
use crate::access::Access;

/// One worker's hands on the ledger. Each operation in flight has a slot.
#[derive(Debug)]
pub struct Verifier {
    ledger: Arc<Ledger>,
    units_per_slot: usize,
    /// For each slot and unit: the ticket of a write, or the state in which a
    /// read began.
    notes: Vec<u32>,
}

impl Verifier {
    /// A verifier for operations in slots `0..slots` of at most `max_block_bytes`.
    pub fn new(ledger: &Arc<Ledger>, slots: usize, max_block_bytes: u64) -> Verifier {
        let units_per_slot = max_block_bytes.div_ceil(ledger.unit_bytes()) as usize;
        Verifier {
            ledger: Arc::clone(ledger),
            units_per_slot,
            notes: vec![0; slots * units_per_slot],
        }
    }

    /// To be called right before an operation is handed to the kernel, with
    /// the block's buffer. Stamps what is to be written (after the payload was
    /// filled in); notes for a read what may be found. Each call must be
    /// followed by one of [`Verifier::finish`] or [`Verifier::cancel`] with the
    /// same slot and access, and until then the slot is taken.
    ///
    /// # Panics
    /// When the slot or block is larger than [`Verifier::new`] was told, or the
    /// buffer of a write is smaller than the access.
    pub fn begin(&mut self, slot: usize, access: &Access, block: &mut [u8]) {
        let trim = access.kind == OpKind::Trim;
        let unit_bytes = self.ledger.unit_bytes() as usize;
        let Some(units) = self.units(access) else {
            return;
        };
        let first_note = slot * self.units_per_slot;
        // A block too long would write over the notes of the next slot.
        assert!(
            (units.end - units.start) as usize <= self.units_per_slot,
            "{access:?} in a slot for {} units",
            self.units_per_slot
        );
        for (n, unit) in units.enumerate() {
            let note = &mut self.notes[first_note + n];
            if access.kind == OpKind::Read {
                *note = self.ledger.state(access.file, unit).pack();
                continue;
            }
            let ticket = self.ledger.begin(access.file, unit, trim);
            *note = ticket.pack();
            if !trim {
                let from = n * unit_bytes;
                let bytes = &mut block[from..from + unit_bytes];
                let offset = self.ledger.offset_of(unit);
                self.ledger
                    .stamp_unit(access.file, offset, ticket.generation, bytes);
            }
        }
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
        let Some(units) = self.units(access) else {
            return Ok(());
        };
        if access.kind == OpKind::Read {
            return if done {
                self.check(slot, access, units, block)
            } else {
                Ok(())
            };
        }
        let trim = access.kind == OpKind::Trim;
        let notes = &self.notes[slot * self.units_per_slot..];
        for (note, unit) in notes.iter().zip(units) {
            let ticket = Ticket::unpack(*note);
            self.ledger
                .change(access.file, unit, |state| state.end(ticket, trim, done));
        }
        Ok(())
    }

    /// To be called instead of [`Verifier::finish`] when the operation was
    /// never handed to the kernel.
    pub fn cancel(&mut self, access: &Access) {
        if access.kind == OpKind::Read {
            return;
        }
        for unit in self.units(access).into_iter().flatten() {
            self.ledger.change(access.file, unit, UnitState::cancel);
        }
    }

    fn check(
        &self,
        slot: usize,
        access: &Access,
        units: std::ops::Range<u64>,
        block: &[u8],
    ) -> Result<(), Mismatch> {
        let notes = &self.notes[slot * self.units_per_slot..];
        let pieces = block.chunks_exact(self.ledger.unit_bytes() as usize);
        for ((note, unit), piece) in notes.iter().zip(units).zip(pieces) {
            let before = UnitState::unpack(*note);
            let after = self.ledger.state(access.file, unit);
            if let Some(demand) = Demand::between(&self.ledger, before, after) {
                let offset = self.ledger.offset_of(unit);
                check_unit(&self.ledger, access.file, offset, demand, piece)?;
            }
        }
        Ok(())
    }

    /// The units of an access that concerns the ledger.
    #[inline]
    fn units(&self, access: &Access) -> Option<std::ops::Range<u64>> {
        let concerned = match access.kind {
            OpKind::Read => self.ledger.checks_reads(),
            OpKind::Write | OpKind::Trim => true,
            _ => false,
        };
        concerned.then(|| {
            debug_assert!(
                u64::from(access.bytes).is_multiple_of(self.ledger.unit_bytes()),
                "the rest of {access:?} would go unchecked"
            );
            let first = self.ledger.unit_at(access.offset);
            first..first + u64::from(access.bytes) / self.ledger.unit_bytes()
        })
    }
}
