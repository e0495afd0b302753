//! A device whose blocks are larger than what may be addressed: a write that
//! covers a block only in part first reads it, one that is aligned does not.

use fathom_model::OpKind;

use super::flash::{Flash, Write, flash_parameters};
use super::mechanism::Mechanism;
use super::parameter::{Parameter, Parameters};
use super::truth::{Expected, Inside};
use super::{SimAnswer, SimEnd, SimOp};

#[rustfmt::skip]
pub(super) const PARAMETERS: &[Parameter] = flash_parameters![
    Parameter::bytes("block", 4096.0, 512.0, "size of the blocks that the device really writes"),
    Parameter::number("penalty_us", 0.0, 0.0, 1e9, "time that a read-modify-write takes beyond the read (on a disk: most of a turn)"),
];

pub(super) struct Rmw {
    flash: Flash,
    block_bytes: u64,
    penalty_ns: u64,
    read_modify_writes: u64,
    media_write_bytes: u64,
    media_read_bytes: u64,
}

impl Rmw {
    pub(super) fn new(parameters: &Parameters, seed: u64) -> Rmw {
        Rmw {
            flash: Flash::new(parameters, seed),
            block_bytes: parameters.whole("block"),
            penalty_ns: parameters.us("penalty_us"),
            read_modify_writes: 0,
            media_write_bytes: 0,
            media_read_bytes: 0,
        }
    }

    fn write(&mut self, now_ns: u64, op: &SimOp) -> u64 {
        let block = self.block_bytes;
        let end = op.offset + u64::from(op.bytes);
        let first = op.offset / block * block;
        let after = end.div_ceil(block) * block;
        let last = after.saturating_sub(block);
        let mut ready_ns = now_ns;
        let head = op.offset != first;
        // One block that is short on both sides is read once.
        let tail = end != after && !(head && last == first);
        let cuts = u64::from(head) + u64::from(tail);
        if cuts > 0 {
            let from = if head { first } else { last };
            let bytes = u32::try_from(cuts * block).unwrap_or(u32::MAX);
            ready_ns = self.flash.read(now_ns, from, bytes) + self.penalty_ns;
            self.read_modify_writes += 1;
            self.media_read_bytes += cuts * block;
        }
        self.media_write_bytes += after - first;
        self.flash.carry_out(
            now_ns,
            Write {
                offset: op.offset,
                bytes: op.bytes,
                stored: op.bytes,
                ready_ns,
            },
        )
    }
}

impl Mechanism for Rmw {
    fn submit(&mut self, now_ns: u64, op: &SimOp) -> SimAnswer {
        let at_ns = match op.kind {
            OpKind::Read => {
                self.media_read_bytes += u64::from(op.bytes);
                self.flash.read(now_ns, op.offset, op.bytes)
            }
            OpKind::Write => self.write(now_ns, op),
            OpKind::Trim => self.flash.trim(now_ns, op.offset, op.bytes),
            _ => self.flash.flush(now_ns),
        };
        SimAnswer::Ends(SimEnd {
            at_ns,
            result: Ok(op.bytes),
        })
    }

    fn capacity_bytes(&self) -> u64 {
        self.flash.capacity_bytes()
    }

    fn expected(&self) -> Expected {
        self.flash.expected()
    }

    fn inside(&self, now_ns: u64) -> Inside {
        Inside {
            read_modify_writes: self.read_modify_writes,
            media_write_bytes: Some(self.media_write_bytes),
            media_read_bytes: Some(self.media_read_bytes),
            ..self.flash.inside(now_ns)
        }
    }
}
