//! A simulated drive behind the engine's interface: operations are given to
//! the drive's model at virtual time and come back when the model says.

use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet};
use std::rc::Rc;

use fathom_drives::{PersistentDrive, SimAnswer, SimContent, SimEnd, SimOp};
use fathom_model::OpKind;
use fathom_model::workload::SyncOpen;

use crate::clock::{Clock, VirtualClock};
use crate::engine::{Broken, Capabilities, Completion, Engine, MAX_DEPTH, Op, Queued};
use crate::payload::PayloadFacts;

/// Virtual time at which simulated loads start. Not 0, which stands for
/// "not in flight"; a drive sees times from 0 on.
pub(crate) const SIM_ORIGIN_NS: u64 = 1_000_000_000;

/// Shortest time of an operation on a simulated drive. Where one took none, virtual
/// time would stand still, and a load would never reach its end.
const SHORTEST_NS: u64 = 1_000;

/// An operation under way: end, order of submission, slot, result.
type UnderWay = Reverse<(u64, u64, u32, i32)>;

/// A drive that all workers share, and which operation of whom is open on it.
pub(crate) struct SharedDrive {
    drive: PersistentDrive,
    /// Worker and its slot by the drive's number.
    open: HashMap<u64, (usize, u32)>,
    /// What has become known for each worker: slot and end.
    known: Vec<Vec<(u32, SimEnd)>>,
    found: Vec<(u64, SimEnd)>,
}

impl SharedDrive {
    pub(crate) fn new(drive: PersistentDrive, workers: usize) -> SharedDrive {
        SharedDrive {
            drive,
            open: HashMap::new(),
            known: vec![Vec::new(); workers],
            found: Vec::new(),
        }
    }

    /// Sorts what the drive knows at `now_ns` by worker.
    fn advance(&mut self, now_ns: u64) {
        self.drive.lock().advance(now_ns, &mut self.found);
        for (number, end) in self.found.drain(..) {
            if let Some((worker, slot)) = self.open.remove(&number) {
                self.known[worker].push((slot, end));
            }
        }
    }
}

/// One worker's hand on the drive.
pub(crate) struct Simulated {
    shared: Rc<RefCell<SharedDrive>>,
    worker: usize,
    clock: VirtualClock,
    /// What its writes carry.
    payload: PayloadFacts,
    queued: Vec<(Op, SimContent)>,
    under_way: BinaryHeap<UnderWay>,
    submitted: u64,
    /// Operations whose end the drive does not know yet.
    open: u32,
    /// A write ends when a flush after it has, as with `O_DSYNC`.
    is_durable: bool,
    /// Slots of writes that a flush will follow.
    to_flush: HashSet<u32>,
    /// Results of writes whose flush is under way, by slot.
    flushing: HashMap<u32, i32>,
}

impl Simulated {
    pub(crate) fn new(
        shared: Rc<RefCell<SharedDrive>>,
        worker: usize,
        clock: VirtualClock,
        payload: PayloadFacts,
        depth: u32,
    ) -> Simulated {
        Simulated {
            shared,
            worker,
            clock,
            payload,
            queued: Vec::with_capacity(depth as usize),
            under_way: BinaryHeap::with_capacity(depth as usize),
            submitted: 0,
            open: 0,
            is_durable: false,
            to_flush: HashSet::new(),
            flushing: HashMap::new(),
        }
    }

    /// As files that are opened in this way: the drive flushes after each write.
    pub(crate) fn opened(self, open: SyncOpen) -> Simulated {
        Simulated {
            is_durable: open != SyncOpen::No,
            ..self
        }
    }

    /// Asks the drive for an operation of a slot.
    fn ask(&mut self, now_ns: u64, slot: u32, op: &SimOp) {
        let shared = Rc::clone(&self.shared);
        let mut shared = shared.borrow_mut();
        let answer = shared.drive.lock().submit(now_ns, op);
        match answer {
            SimAnswer::Ends(mut end) => {
                end.at_ns = end.at_ns.max(now_ns.saturating_add(SHORTEST_NS));
                self.end(slot, now_ns, end);
            }
            SimAnswer::Later(number) => {
                shared.open.insert(number, (self.worker, slot));
                self.open += 1;
            }
        }
    }

    /// The result of an operation that ended; `None` of a write whose flush begins.
    fn settled(&mut self, now_ns: u64, slot: u32, result: i32) -> Option<i32> {
        if self.to_flush.remove(&slot) && result >= 0 {
            self.flushing.insert(slot, result);
            self.ask(now_ns, slot, &SimOp::new(OpKind::Sync, 0, 0));
            return None;
        }
        let written = self.flushing.remove(&slot).unwrap_or(result);
        Some(if result < 0 { result } else { written })
    }

    /// When the next operation ends, or the drive wants to be asked about one.
    pub(crate) fn next_event_ns(&self) -> Option<u64> {
        let end_ns = self.under_way.peek().map(|Reverse((at_ns, ..))| *at_ns);
        if self.open == 0 {
            return end_ns;
        }
        let wake_ns = self.shared.borrow().drive.lock().wake_ns();
        let wake_ns = wake_ns.map(|ns| ns.saturating_add(SIM_ORIGIN_NS));
        match (end_ns, wake_ns) {
            (Some(end_ns), Some(wake_ns)) => Some(end_ns.min(wake_ns)),
            (one, other) => one.or(other),
        }
    }

    fn end(&mut self, slot: u32, now_ns: u64, end: SimEnd) {
        let at_ns = end.at_ns.max(now_ns).saturating_add(SIM_ORIGIN_NS);
        let result = match end.result {
            Ok(bytes) => bytes as i32,
            Err(errno) => -errno.abs(),
        };
        self.under_way
            .push(Reverse((at_ns, self.submitted, slot, result)));
        self.submitted += 1;
    }

    /// Takes what the drive has found out meanwhile.
    fn collect(&mut self, now_ns: u64) {
        let shared = Rc::clone(&self.shared);
        let mut shared = shared.borrow_mut();
        shared.advance(now_ns);
        let mut known = std::mem::take(&mut shared.known[self.worker]);
        for (slot, end) in known.drain(..) {
            self.open -= 1;
            self.end(slot, now_ns, end);
        }
        shared.known[self.worker] = known;
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
        let content = if op.kind == OpKind::Write {
            self.payload.next()
        } else {
            SimContent::default()
        };
        self.queued.push((*op, content));
        Queued::Yes
    }

    fn submit(&mut self) -> Result<(), Broken> {
        if self.queued.is_empty() {
            return Ok(());
        }
        let now_ns = self.clock.now().saturating_sub(SIM_ORIGIN_NS);
        let mut queued = std::mem::take(&mut self.queued);
        for (op, content) in queued.drain(..) {
            if op.range().is_some() {
                // Nothing lies between a worker and its drive that could be
                // written back.
                let end = SimEnd {
                    at_ns: now_ns,
                    result: Ok(0),
                };
                self.end(op.slot, now_ns, end);
                continue;
            }
            let sim_op = SimOp {
                kind: op.kind,
                offset: match op.kind {
                    // How it is made, which is all the same to a drive.
                    OpKind::Sync => 0,
                    _ => op.offset,
                },
                bytes: op.len,
                content,
            };
            if self.is_durable && op.kind == OpKind::Write {
                self.to_flush.insert(op.slot);
            }
            self.ask(now_ns, op.slot, &sim_op);
        }
        self.queued = queued;
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
        if self.open > 0 {
            self.collect(now_ns.saturating_sub(SIM_ORIGIN_NS));
        }
        while let Some(Reverse((at_ns, _, slot, result))) = self.under_way.peek().copied() {
            if at_ns > now_ns {
                break;
            }
            self.under_way.pop();
            if let Some(result) = self.settled(now_ns.saturating_sub(SIM_ORIGIN_NS), slot, result) {
                out.push(Completion { slot, result });
            }
        }
        Ok(())
    }

    fn close(&mut self) {}
}
