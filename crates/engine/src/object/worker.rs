//! Requests on a store: draw, make ready, send, settle.
//!
//! As many operations are in flight as the queue depth says, each over a
//! connection of its own. The clock is read right before a request is sent;
//! its head, signature and payload are ready then. It is read again when the
//! last byte of the answer has come.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use fathom_model::OpKind;
use fathom_s3::{ConnectionPool, Ended};

use super::ask::{Ask, Asker};
use super::picker::{Picker, Task};
use super::shelf::Range;
use super::slot::{Sent, Slot};
use super::under_way::UnderWay;
use super::work::{EndpointTally, StoreProgress, StoreWork};
use crate::clock::Clock;
use crate::engine::Op;
use crate::worker::{self, Draw, LoadState, Operations, Pause, Start};

/// Once nothing new is asked, a store that says nothing for so long is not waited
/// for: what is under way took too long.
const SILENT_NS: u64 = 10_000_000_000;

/// Everything that a worker on a store is made of.
pub(crate) struct Parts {
    pub(crate) work: Arc<StoreWork>,
    pub(crate) rank: u32,
    pub(crate) pool: ConnectionPool,
    pub(crate) depth: u32,
    pub(crate) seed: u64,
}

/// One worker under way.
pub(crate) struct Worker {
    pub(super) parts: Parts,
    pub(super) range: Range,
    picker: Picker,
    pub(super) asker: Asker,
    pub(super) slots: Vec<Slot>,
    pub(super) sent: Vec<Sent>,
    under_way: UnderWay,
    /// Requests that wait to be sent again: when, and over which lane.
    pub(super) waiting: BinaryHeap<Reverse<(u64, usize)>>,
    /// Requests that have ended and are not settled.
    ended: Vec<Ended>,
    pub(super) endpoints: Vec<EndpointTally>,
}

impl Worker {
    pub(crate) fn new(parts: Parts) -> Worker {
        let work = &parts.work;
        let range = work.range(parts.rank);
        Worker {
            picker: Picker::new(&work.work, parts.rank, parts.seed, &range),
            range,
            asker: Asker::default(),
            slots: (0..parts.depth).map(|_| Slot::new()).collect(),
            sent: vec![Sent::default(); parts.pool.connections()],
            under_way: UnderWay::default(),
            waiting: BinaryHeap::new(),
            ended: Vec::with_capacity(parts.pool.connections()),
            endpoints: vec![EndpointTally::default(); work.access.endpoints.len()],
            parts,
        }
    }

    /// Works until there is nothing left, a bound is reached, or it must end.
    pub(crate) fn run(mut self, mut load: LoadState) -> StoreProgress {
        self.note_connections(&mut load);
        let reached = worker::drive_operations(&mut self, load);
        // What never ended may or may not be in the store.
        for slot in &self.slots {
            if let Some(task) = slot.task {
                self.range.note_missing(task.number);
            }
        }
        if let Some(shelf) = &self.parts.work.shelf {
            shelf.put_back(self.parts.rank, self.range);
        }
        StoreProgress {
            reached,
            endpoints: self.endpoints,
        }
    }

    fn begin_in(&mut self, load: &mut LoadState, slot: usize, task: Task, due_ns: u64) {
        let work = Arc::clone(&self.parts.work);
        let bytes = match work.work.existing {
            true => work.path(&mut Vec::new(), self.parts.rank, task.number),
            false => work.names.bytes_of(self.parts.rank, task.number),
        };
        self.under_way.begin(&task);
        let mut ask = self.slots[slot].begin(task, bytes, work.work.part_bytes);
        if task.kind.is_of_version() {
            ask = Ask::Version(self.version_of(task));
        }
        let op = Op {
            slot: slot as u32,
            kind: task.kind,
            file: 0,
            offset: task.number,
            len: u32::try_from(bytes).unwrap_or(u32::MAX),
        };
        load.visible.in_flight.describe(&op, due_ns);
        let width = self.width();
        let start_ns = self.send(load, slot * width, slot, ask);
        let start = Start { start_ns, due_ns };
        self.slots[slot].start = start;
        load.start_at(slot as u32, start);
        self.range.changes += u64::from(task.count.max(1));
        self.fill(load, slot);
    }

    /// The name of the version that a task is about; one that is removed is known
    /// no longer.
    fn version_of(&mut self, task: Task) -> String {
        let versions = &mut self.range.versions;
        let name = match task.kind {
            OpKind::DeleteVersion => versions.take(task.number, task.version),
            _ => versions.name(task.number, task.version).map(Into::into),
        };
        name.unwrap_or_default().into()
    }

    /// Lanes of a slot.
    pub(super) fn width(&self) -> usize {
        (self.sent.len() / self.slots.len().max(1)).max(1)
    }

    /// Sends the requests of an operation that can be sent now.
    pub(super) fn fill(&mut self, load: &mut LoadState, slot: usize) {
        let width = self.width();
        for lane in slot * width..(slot + 1) * width {
            if self.sent[lane].ask.is_none() {
                let Some(ask) = self.slots[slot].next() else {
                    return;
                };
                self.send(load, lane, slot, ask);
            }
        }
    }

    /// Sends a request; the time right before.
    fn send(&mut self, load: &mut LoadState, lane: usize, slot: usize, ask: Ask) -> u64 {
        let Some(task) = self.slots[slot].task else {
            return load.now_ns();
        };
        let (work, rank) = (Arc::clone(&self.parts.work), self.parts.rank);
        let pool = &mut self.parts.pool;
        let expected = self.asker.make(&work, rank, &task, &ask, |request| {
            let _ = pool.make_ready(lane, request);
        });
        self.sent[lane] = Sent {
            ask: Some(ask),
            expected,
            ..Sent::default()
        };
        self.slots[slot].open += 1;
        load.tick();
        self.parts.pool.start(lane, load.now_ns());
        load.now_ns()
    }

    /// Sends again what has waited long enough.
    fn send_again(&mut self, load: &mut LoadState) {
        if self.waiting.is_empty() {
            return;
        }
        let now_ns = load.clock.now();
        while let Some(Reverse((again_ns, lane))) = self.waiting.peek().copied()
            && again_ns <= now_ns
        {
            self.waiting.pop();
            let sent = &self.sent[lane];
            let (Some(ask), failed_ns, retries) = (sent.ask.clone(), sent.failed_ns, sent.retries)
            else {
                continue;
            };
            self.range.changes += 1;
            let slot = lane / self.width();
            self.slots[slot].open -= 1;
            let start_ns = self.send(load, lane, slot, ask);
            self.sent[lane].retries = retries + 1;
            let waited_ns = start_ns.saturating_sub(failed_ns).max(1);
            load.recorder.complete(OpKind::Retry, 0, waited_ns);
        }
    }

    /// The operation of a slot has ended.
    pub(super) fn release(&mut self, load: &mut LoadState, slot: usize, end: &Ended) {
        if let Some(task) = self.slots[slot].task.take() {
            self.under_way.end(&task);
        }
        load.end(slot as u32, end.end_ns);
    }

    fn note_connections(&mut self, load: &mut LoadState) {
        let measures = load.is_measuring();
        for made in self.parts.pool.take_connected() {
            let recorder = &mut load.recorder;
            recorder.complete(OpKind::Connect, 0, made.connect_ns);
            if made.handshake_ns > 0 {
                recorder.complete(OpKind::Handshake, 0, made.handshake_ns);
            }
            if measures {
                self.endpoints[made.endpoint].connected(&made);
            }
        }
    }
}

impl Operations for Worker {
    type Task = Task;

    const BLOCKS: bool = false;

    fn draw(&mut self) -> Draw<Task> {
        let made = self.under_way.first_made().unwrap_or(self.range.tail);
        let busy = |number| self.under_way.uses(number);
        self.picker.next(&mut self.range, made, busy)
    }

    fn begin(&mut self, load: &mut LoadState, slot: u32, task: Task, due_ns: u64) {
        self.begin_in(load, slot as usize, task, due_ns);
    }

    fn wait(&mut self, load: &mut LoadState, pause: Pause) {
        let mut ended = std::mem::take(&mut self.ended);
        let timeout_ns = Some(pause.timeout_ns);
        self.parts.pool.poll(timeout_ns, pause.exact, &mut ended);
        if load.is_draining() {
            self.parts.pool.end_where_silent(SILENT_NS);
        }
        for one in ended.drain(..) {
            self.settle(load, one);
        }
        self.ended = ended;
        self.send_again(load);
        self.note_connections(load);
    }

    fn wakes_ns(&self) -> Option<u64> {
        self.waiting.peek().map(|Reverse((again_ns, _))| *again_ns)
    }
}
