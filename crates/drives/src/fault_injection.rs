//! Faults on demand, around any model: at numbers of operations, which are
//! counted from 1 over all kinds, and at places of the drive.

use super::parameter::{Parameter, Parameters};
use super::{SimEnd, SimOp};

#[rustfmt::skip]
pub(super) const PARAMETERS: &[Parameter] = &[
    Parameter::number("eio_at", 0.0, 0.0, 1e15, "the operation with this number fails with EIO"),
    Parameter::number("eio_every", 0.0, 0.0, 1e15, "every so many operations one fails with EIO"),
    Parameter::number("short_at", 0.0, 0.0, 1e15, "the operation with this number moves half of its bytes"),
    Parameter::number("stuck_at", 0.0, 0.0, 1e15, "the operation with this number never ends"),
    Parameter::bytes("eio_from", 0.0, 0.0, "reads and writes that touch the range from here fail with EIO"),
    Parameter::bytes("eio_to", 0.0, 0.0, "end of that range; 0 is not a range"),
    Parameter::bytes("hang_from", 0.0, 0.0, "reads and writes that touch the range from here hang"),
    Parameter::bytes("hang_to", 0.0, 0.0, "end of that range; 0 is not a range"),
    Parameter::number("hang_s", 0.0, 0.0, 1e9, "how long they hang; 0 is for ever"),
];

/// The faults of a drive.
pub(super) struct FaultInjection {
    eio_at: u64,
    eio_every: u64,
    short_at: u64,
    stuck_at: u64,
    eio: (u64, u64),
    hang: (u64, u64),
    hang_ns: u64,
    count: u64,
}

/// What one operation suffers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct OpFault {
    eio: bool,
    short: bool,
    later_ns: u64,
}

impl FaultInjection {
    pub(super) fn new(parameters: &Parameters) -> FaultInjection {
        let range = |from, to| (parameters.whole(from), parameters.whole(to));
        let hang_ns = parameters.s("hang_s");
        FaultInjection {
            eio_at: parameters.whole("eio_at"),
            eio_every: parameters.whole("eio_every"),
            short_at: parameters.whole("short_at"),
            stuck_at: parameters.whole("stuck_at"),
            eio: range("eio_from", "eio_to"),
            hang: range("hang_from", "hang_to"),
            hang_ns: if hang_ns == 0 { u64::MAX } else { hang_ns },
            count: 0,
        }
    }

    /// What happens to the next operation.
    #[inline]
    pub(super) fn next(&mut self, op: &SimOp) -> OpFault {
        self.count += 1;
        let eio = self.count == self.eio_at
            || (self.eio_every > 0 && self.count.is_multiple_of(self.eio_every))
            || touches(op, self.eio);
        let later_ns = if self.count == self.stuck_at {
            u64::MAX
        } else if touches(op, self.hang) {
            self.hang_ns
        } else {
            0
        };
        OpFault {
            eio,
            short: self.count == self.short_at,
            later_ns,
        }
    }
}

impl OpFault {
    /// The end that the operation really has.
    #[inline]
    pub(super) fn applied_to(self, mut end: SimEnd) -> SimEnd {
        end.at_ns = end.at_ns.saturating_add(self.later_ns);
        if self.short {
            end.result = end.result.map(|bytes| bytes / 2);
        }
        if self.eio {
            end.result = Err(libc::EIO);
        }
        end
    }
}

#[inline]
fn touches(op: &SimOp, (from, to): (u64, u64)) -> bool {
    op.bytes > 0 && op.offset < to && op.offset.saturating_add(u64::from(op.bytes)) > from
}
