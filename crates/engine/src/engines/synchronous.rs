//! Engines that carry out one operation at a time in the worker's own thread.
//!
//! An operation is carried out when it is handed over, not when it is queued,
//! so that its latency starts where the loop takes the time. Nothing goes on
//! beside the worker, so its payload cannot be generated meanwhile.

use crate::arena::BufferView;
use crate::engine::{Broken, Capabilities, Completion, Engine, Op, Queued};

/// The way in which a synchronous engine carries out an operation.
pub(crate) trait CarryOut {
    /// Bytes moved between the target and the memory at `buffer`, or a negated
    /// errno. Reads and writes own the `len` bytes there until this returns;
    /// other kinds have no buffer.
    fn carry_out(&self, op: &Op, buffer: *mut u8) -> i32;
}

/// One operation at a time, done by `C`.
#[derive(Debug)]
pub(crate) struct Synchronous<C> {
    how: C,
    buffers: BufferView,
    waiting: Option<(Op, u32)>,
}

impl<C: CarryOut> Synchronous<C> {
    /// An engine on `buffers`, which must outlive it.
    pub(crate) fn new(how: C, buffers: BufferView) -> Synchronous<C> {
        Synchronous {
            how,
            buffers,
            waiting: None,
        }
    }
}

impl<C: CarryOut> Engine for Synchronous<C> {
    fn capabilities(&self) -> Capabilities {
        Capabilities {
            max_depth: 1,
            trim: true,
            timed_reap: false,
        }
    }

    #[inline]
    fn queue(&mut self, op: &Op, buffer: u32) -> Queued {
        if self.waiting.is_some() {
            return Queued::Busy;
        }
        self.waiting = Some((*op, buffer));
        Queued::Yes
    }

    #[inline]
    fn submit(&mut self) -> Result<(), Broken> {
        Ok(())
    }

    #[inline]
    fn reap(
        &mut self,
        _min: u32,
        _timeout_ns: Option<u64>,
        out: &mut Vec<Completion>,
    ) -> Result<(), Broken> {
        if let Some((op, buffer)) = self.waiting.take() {
            let result = self.how.carry_out(&op, self.buffers.at(buffer));
            out.push(Completion {
                slot: op.slot,
                result,
            });
        }
        Ok(())
    }

    fn close(&mut self) {}
}
