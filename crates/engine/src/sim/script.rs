//! Faults on demand, around any model.
//!
//! Operations are counted from 1 over all kinds. Times count from the first
//! operation.

use super::parameter::{Known, Parameters};
use super::{Drive, SimEnd, SimOp};

#[rustfmt::skip]
pub(super) const PARAMETERS: &[Known] = &[
    // This operation fails with EIO; every so many operations one does.
    Known::new("eio_at", 0.0, 0.0, 1e15),
    Known::new("eio_every", 0.0, 0.0, 1e15),
    // This operation moves half of its bytes; this one never ends.
    Known::new("short_at", 0.0, 0.0, 1e15),
    Known::new("stuck_at", 0.0, 0.0, 1e15),
    // From this second on nothing moves for so many seconds.
    Known::new("stall_at_s", 0.0, 0.0, 1e9),
    Known::new("stall_s", 0.0, 0.0, 1e9),
];

/// A drive with a script of faults.
pub(super) struct Scripted {
    drive: Box<dyn Drive>,
    eio_at: u64,
    eio_every: u64,
    short_at: u64,
    stuck_at: u64,
    stall_at_ns: u64,
    stall_ns: u64,
    count: u64,
    origin_ns: Option<u64>,
}

impl Scripted {
    pub(super) fn new(drive: Box<dyn Drive>, parameters: &Parameters) -> Scripted {
        Scripted {
            drive,
            eio_at: parameters.whole("eio_at"),
            eio_every: parameters.whole("eio_every"),
            short_at: parameters.whole("short_at"),
            stuck_at: parameters.whole("stuck_at"),
            stall_at_ns: (parameters.get("stall_at_s") * 1e9) as u64,
            stall_ns: (parameters.get("stall_s") * 1e9) as u64,
            count: 0,
            origin_ns: None,
        }
    }

    /// How much later an operation ends because of the stall.
    fn stalled_ns(&self, now_ns: u64, end_ns: u64) -> u64 {
        let start_ns = self.origin_ns.unwrap_or(0).saturating_add(self.stall_at_ns);
        let over_ns = start_ns.saturating_add(self.stall_ns);
        if self.stall_ns > 0 && end_ns > start_ns && now_ns < over_ns {
            over_ns - now_ns.max(start_ns)
        } else {
            0
        }
    }
}

impl Drive for Scripted {
    fn submit(&mut self, now_ns: u64, op: &SimOp) -> SimEnd {
        self.origin_ns.get_or_insert(now_ns);
        self.count += 1;
        if op.offset.saturating_add(u64::from(op.bytes)) > self.capacity_bytes() {
            return SimEnd {
                at_ns: now_ns,
                result: Err(libc::ENOSPC),
            };
        }
        let mut end = self.drive.submit(now_ns, op);
        end.at_ns = end.at_ns.saturating_add(self.stalled_ns(now_ns, end.at_ns));
        if self.count == self.eio_at
            || (self.eio_every > 0 && self.count.is_multiple_of(self.eio_every))
        {
            end.result = Err(libc::EIO);
        }
        if self.count == self.short_at {
            end.result = end.result.map(|bytes| bytes / 2);
        }
        if self.count == self.stuck_at {
            end.at_ns = u64::MAX;
        }
        end
    }

    fn capacity_bytes(&self) -> u64 {
        self.drive.capacity_bytes()
    }
}
