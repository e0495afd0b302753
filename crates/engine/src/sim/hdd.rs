//! A hard disk: one head that seeks, waits for the sector to come round and
//! then reads at the speed of its zone. Operations are served one at a time in
//! the order of submission; there is no cache.
//!
//! Seek time grows with the square root of the distance (Ruemmler, Wilkes, "An
//! introduction to disk drive modeling", 1994), transfer rate falls linearly
//! from the outer to the inner zone.

use fathom_model::OpKind;

use super::parameter::{Known, Parameters};
use super::{Drive, SimEnd, SimOp, transfer_ns};

#[rustfmt::skip]
pub(super) const PARAMETERS: &[Known] = &[
    Known::size(8e12),
    Known::new("rpm", 7200.0, 100.0, 100_000.0),
    Known::new("seek_min_ms", 0.6, 0.0, 1000.0),
    Known::new("seek_max_ms", 16.0, 0.0, 1000.0),
    Known::new("outer_mibs", 250.0, 0.1, 1e6),
    Known::new("inner_mibs", 120.0, 0.1, 1e6),
];

/// Errno of operations that a device does not have.
const EOPNOTSUPP: i32 = libc::EOPNOTSUPP;

pub(super) struct Hdd {
    capacity_bytes: u64,
    turn_ns: f64,
    seek_min_ns: f64,
    seek_max_ns: f64,
    outer_mibs: f64,
    inner_mibs: f64,
    /// Where the last operation ended.
    head: u64,
    busy_until_ns: u64,
}

impl Hdd {
    pub(super) fn new(parameters: &Parameters) -> Hdd {
        let seek_min_ns = parameters.get("seek_min_ms") * 1e6;
        Hdd {
            capacity_bytes: parameters.whole("size"),
            turn_ns: 60e9 / parameters.get("rpm"),
            seek_min_ns,
            seek_max_ns: (parameters.get("seek_max_ms") * 1e6).max(seek_min_ns),
            outer_mibs: parameters.get("outer_mibs"),
            inner_mibs: parameters.get("inner_mibs"),
            head: 0,
            busy_until_ns: 0,
        }
    }

    /// Media rate at an offset, in MiB/s.
    fn rate_at(&self, offset: u64) -> f64 {
        let depth = offset as f64 / self.capacity_bytes as f64;
        self.outer_mibs + (self.inner_mibs - self.outer_mibs) * depth
    }

    /// Time to bring the head over an offset and wait for it to come round,
    /// from `start_ns`. Nothing when the head is there: the next sector of a
    /// sequence is read ahead.
    fn position_ns(&self, start_ns: u64, offset: u64) -> u64 {
        if offset == self.head {
            return 0;
        }
        let distance = offset.abs_diff(self.head) as f64 / self.capacity_bytes as f64;
        let seek_ns = self.seek_min_ns + (self.seek_max_ns - self.seek_min_ns) * distance.sqrt();
        let track_bytes = self.rate_at(offset) * 1_048_576.0 * self.turn_ns / 1e9;
        let place = (offset as f64 / track_bytes).fract();
        let platter = ((start_ns as f64 + seek_ns) / self.turn_ns).fract();
        let wait = (place - platter + 1.0).fract();
        (seek_ns + wait * self.turn_ns) as u64
    }
}

impl Drive for Hdd {
    fn submit(&mut self, now_ns: u64, op: &SimOp) -> SimEnd {
        let start_ns = self.busy_until_ns.max(now_ns);
        let (at_ns, result) = match op.kind {
            OpKind::Trim => (now_ns + 10_000, Err(EOPNOTSUPP)),
            OpKind::Sync | OpKind::Commit => (start_ns, Ok(0)),
            OpKind::Read | OpKind::Write => {
                let moved_ns = start_ns + self.position_ns(start_ns, op.offset);
                let end_ns = moved_ns + transfer_ns(op.bytes, self.rate_at(op.offset));
                self.head = op.offset + u64::from(op.bytes);
                self.busy_until_ns = end_ns;
                (end_ns, Ok(op.bytes))
            }
        };
        SimEnd { at_ns, result }
    }

    fn capacity_bytes(&self) -> u64 {
        self.capacity_bytes
    }
}
