//! A simulated drive behind the engine's interface: operations are given to
//! the drive's model at virtual time and come back when the model says.

use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::rc::Rc;

use crate::clock::{Clock, VirtualClock};
use crate::engine::{Broken, Capabilities, Completion, Engine, MAX_DEPTH, Op, Queued};
use crate::sim::{Drive, SimOp};

/// Virtual time at which simulated loads start. Not 0, which stands for
/// "not in flight"; a drive sees times from 0 on.
pub(crate) const SIM_ORIGIN_NS: u64 = 1_000_000_000;

/// An operation under way: end, order of submission, slot, result.
type UnderWay = Reverse<(u64, u64, u32, i32)>;

/// One worker's hand on a drive that all workers share.
pub(crate) struct Simulated {
    drive: Rc<RefCell<Box<dyn Drive>>>,
    clock: VirtualClock,
    queued: Vec<Op>,
    under_way: BinaryHeap<UnderWay>,
    submitted: u64,
}

impl Simulated {
    pub(crate) fn new(
        drive: Rc<RefCell<Box<dyn Drive>>>,
        clock: VirtualClock,
        depth: u32,
    ) -> Simulated {
        Simulated {
            drive,
            clock,
            queued: Vec::with_capacity(depth as usize),
            under_way: BinaryHeap::with_capacity(depth as usize),
            submitted: 0,
        }
    }

    /// When the next operation ends.
    pub(crate) fn next_end_ns(&self) -> Option<u64> {
        self.under_way.peek().map(|Reverse((at_ns, ..))| *at_ns)
    }
}

impl Engine for Simulated {
    fn capabilities(&self) -> Capabilities {
        Capabilities {
            max_depth: MAX_DEPTH,
            trim: true,
            timed_reap: true,
        }
    }

    fn queue(&mut self, op: &Op, _buffer: u32) -> Queued {
        self.queued.push(*op);
        Queued::Yes
    }

    fn submit(&mut self) -> Result<(), Broken> {
        let now_ns = self.clock.now().saturating_sub(SIM_ORIGIN_NS);
        let mut drive = self.drive.borrow_mut();
        for op in self.queued.drain(..) {
            let end = drive.submit(
                now_ns,
                &SimOp {
                    kind: op.kind,
                    offset: op.offset,
                    bytes: op.len,
                },
            );
            let at_ns = end.at_ns.max(now_ns).saturating_add(SIM_ORIGIN_NS);
            let result = match end.result {
                Ok(bytes) => bytes as i32,
                Err(errno) => -errno.abs(),
            };
            self.under_way
                .push(Reverse((at_ns, self.submitted, op.slot, result)));
            self.submitted += 1;
        }
        Ok(())
    }

    fn reap(
        &mut self,
        _min: u32,
        _timeout_ns: Option<u64>,
        out: &mut Vec<Completion>,
    ) -> Result<(), Broken> {
        self.submit()?;
        let now_ns = self.clock.now();
        while let Some(Reverse((at_ns, _, slot, result))) = self.under_way.peek().copied() {
            if at_ns > now_ns {
                break;
            }
            self.under_way.pop();
            out.push(Completion { slot, result });
        }
        Ok(())
    }

    fn close(&mut self) {}
}
