//! What a worker has in flight, readable from outside while it hangs.
//!
//! A system call on a dead NFS server or a failing drive does not return, and
//! then the worker can tell nobody. So each operation is written into a table of
//! atomics before it is handed over; the controlling thread reads the table. Plain
//! stores and loads, no locked instructions: only one thread ever writes.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use fathom_model::OpKind;

use crate::engine::Op;

/// One slot. `started_ns` is 0 while nothing is in flight.
#[derive(Debug, Default)]
#[repr(align(32))]
struct Slot {
    started_ns: AtomicU64,
    intended_ns: AtomicU64,
    offset: AtomicU64,
    /// Kind (8 bits), file (24 bits), length (32 bits).
    what: AtomicU64,
}

/// Files that one worker can address.
pub(crate) const MAX_FILES: u32 = 1 << 24;

/// The table of one worker.
#[derive(Debug)]
pub(crate) struct InFlight {
    slots: Box<[Slot]>,
}

/// An operation that has not come back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Outstanding {
    pub(crate) op: Op,
    pub(crate) started_ns: u64,
}

impl InFlight {
    pub(crate) fn new(slots: u32) -> InFlight {
        InFlight {
            slots: (0..slots).map(|_| Slot::default()).collect(),
        }
    }

    /// Notes what the slot holds. It is not yet in flight.
    #[inline]
    pub(crate) fn describe(&self, op: &Op, intended_ns: u64) {
        debug_assert!(op.file < MAX_FILES);
        let slot = &self.slots[op.slot as usize];
        let what = (op.kind as u64) << 56 | u64::from(op.file) << 32 | u64::from(op.len);
        slot.intended_ns.store(intended_ns, Relaxed);
        slot.offset.store(op.offset, Relaxed);
        slot.what.store(what, Relaxed);
    }

    /// The slot is handed over at `now_ns`.
    #[inline]
    pub(crate) fn start(&self, slot: u32, now_ns: u64) {
        let started_ns = &self.slots[slot as usize].started_ns;
        debug_assert!(started_ns.load(Relaxed) == 0, "slot {slot} started twice");
        started_ns.store(now_ns.max(1), Relaxed);
    }

    /// The slot has come back: kind, length and start of its operation, of which
    /// the rest can be asked for until another one is described.
    #[inline]
    pub(crate) fn end(&self, index: u32) -> (OpKind, u32, u64) {
        let slot = &self.slots[index as usize];
        let started_ns = slot.started_ns.load(Relaxed);
        // A completion that comes twice would count an operation that never was, with
        // all of the time since the start of the host as its latency.
        debug_assert!(started_ns != 0, "slot {index} ended and was not in flight");
        slot.started_ns.store(0, Relaxed);
        let what = slot.what.load(Relaxed);
        (kind_of(what), what as u32, started_ns)
    }

    /// When the operation in the slot should have started.
    #[inline]
    pub(crate) fn intended_ns(&self, slot: u32) -> u64 {
        self.slots[slot as usize].intended_ns.load(Relaxed)
    }

    /// The operation that the slot holds or held last.
    #[inline]
    pub(crate) fn op(&self, index: u32) -> Op {
        let slot = &self.slots[index as usize];
        let what = slot.what.load(Relaxed);
        Op {
            slot: index,
            kind: kind_of(what),
            file: (what >> 32) as u32 & (MAX_FILES - 1),
            offset: slot.offset.load(Relaxed),
            len: what as u32,
        }
    }

    /// What has been in flight since before `before_ns`.
    pub(crate) fn older_than(&self, before_ns: u64) -> impl Iterator<Item = Outstanding> + '_ {
        self.slots.iter().enumerate().filter_map(move |(i, slot)| {
            let started_ns = slot.started_ns.load(Relaxed);
            (started_ns != 0 && started_ns < before_ns).then(|| Outstanding {
                op: self.op(i as u32),
                started_ns,
            })
        })
    }
}

#[inline]
fn kind_of(what: u64) -> OpKind {
    match what >> 56 {
        0 => OpKind::Read,
        1 => OpKind::Write,
        2 => OpKind::Trim,
        3 => OpKind::Sync,
        4 => OpKind::Commit,
        other => OpKind::from_index(other as usize).unwrap_or(OpKind::Commit),
    }
}

const _: () = assert!(OpKind::Read as u8 == 0 && OpKind::Commit as u8 == 4);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_described_comes_back() {
        let table = InFlight::new(2);
        let op = Op {
            slot: 1,
            kind: OpKind::Trim,
            file: MAX_FILES - 1,
            offset: u64::MAX - 5,
            len: u32::MAX,
        };
        table.describe(&op, 77);
        assert_eq!(table.older_than(u64::MAX).count(), 0, "not yet handed over");
        table.start(1, 100);
        assert_eq!(table.older_than(100).count(), 0);
        let stuck: Vec<_> = table.older_than(101).collect();
        assert_eq!(
            stuck,
            [Outstanding {
                op,
                started_ns: 100
            }]
        );
        assert_eq!(table.end(1), (OpKind::Trim, u32::MAX, 100));
        assert_eq!((table.op(1), table.intended_ns(1)), (op, 77));
        assert_eq!(table.older_than(u64::MAX).count(), 0);
    }
}
