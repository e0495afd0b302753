//! The loop of one worker on a store: draw, make ready, send, settle.
//!
//! As many operations are in flight as the queue depth says, each over a
//! connection of its own. The clock is read right before a request is sent;
//! its head, signature and payload are ready then. It is read again when the
//! last byte of the answer has come.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use fathom_model::OpKind;
use fathom_model::sample::Phase;
use fathom_s3::{ConnectionPool, Ended};

use super::ask::{Ask, Asker};
use super::picker::{Draw, Picker, Task};
use super::shelf::Range;
use super::slot::{Sent, Slot};
use super::under_way::UnderWay;
use super::work::{Done, Tally, Work};
use crate::clock::{Clock, HostClock};
use crate::engine::Op;
use crate::record::{Cuts, Recorder};
use crate::usage::ThreadMeter;
use crate::worker::{Allowance, Control, EndReason, FreeSlots, Pace, Visible};

/// A waiting worker looks at least this often whether to end.
const STOP_CHECK_NS: u64 = 50_000_000;
/// Operations that are taken from a common bound at once.
const BUDGET_CHUNK: u64 = 16;
/// How long an end that somebody asked for waits for what is in flight.
const LEAVE_NS: u64 = 2_000_000_000;

/// Everything that a worker on a store is made of.
pub(crate) struct Parts {
    pub(crate) work: Arc<Work>,
    pub(crate) rank: u32,
    pub(crate) hub: ConnectionPool,
    pub(crate) depth: u32,
    pub(crate) pace: Option<Pace>,
    pub(crate) seed: u64,
    pub(crate) stop_on_error: bool,
    pub(crate) workers: u32,
    pub(crate) think_ns: u64,
    pub(crate) visible: Arc<Visible>,
    pub(crate) control: Arc<Control>,
}

/// One worker under way.
pub(crate) struct Worker {
    pub(super) parts: Parts,
    pub(super) range: Range,
    picker: Picker,
    pub(super) asker: Asker,
    pub(super) slots: Vec<Slot>,
    pub(super) sent: Vec<Sent>,
    free: FreeSlots,
    under_way: UnderWay,
    pub(super) clock: HostClock,
    pub(super) recorder: Recorder,
    meter: ThreadMeter,
    pub(super) origin_ns: u64,
    now_ns: u64,
    allowance: Allowance,
    pub(super) in_flight: u32,
    /// Requests that wait to be sent again: when, and over which lane.
    pub(super) waiting: BinaryHeap<Reverse<(u64, usize)>>,
    nothing_left: bool,
    draining: Option<Option<EndReason>>,
    drain_until_ns: u64,
    pub(super) splits: bool,
    pub(super) done: Done,
    first_seen: bool,
}

impl Worker {
    /// A worker that starts at the origin of `cuts`.
    pub(crate) fn new(mut parts: Parts, cuts: Cuts) -> Worker {
        if let Some(pace) = &mut parts.pace {
            pace.start_at(cuts.origin_ns);
            // Intended starts leave no room for pauses.
            parts.think_ns = 0;
        }
        let work = Arc::clone(&parts.work);
        let range = work.range(parts.rank);
        let depth = parts.depth as usize;
        Worker {
            picker: Picker::new(&work.work, parts.rank, parts.seed, &range),
            range,
            asker: Asker::default(),
            slots: (0..depth).map(|_| Slot::new()).collect(),
            sent: vec![Sent::default(); parts.hub.connections()],
            free: FreeSlots::new(parts.depth),
            under_way: UnderWay::default(),
            clock: HostClock::new(),
            recorder: Recorder::new(Arc::clone(&parts.visible.exchange), cuts),
            meter: ThreadMeter::start(),
            origin_ns: cuts.origin_ns,
            now_ns: cuts.origin_ns,
            allowance: Allowance::new(BUDGET_CHUNK, parts.workers),
            in_flight: 0,
            waiting: BinaryHeap::new(),
            nothing_left: false,
            draining: None,
            drain_until_ns: u64::MAX,
            splits: true,
            done: Done {
                endpoints: vec![Tally::default(); work.access.endpoints.len()],
                ..Done::default()
            },
            first_seen: false,
            parts,
        }
    }

    /// Works until there is nothing left, a bound is reached, or it must end.
    pub(crate) fn run(mut self) -> Done {
        let mut ended = Vec::with_capacity(self.sent.len());
        self.note_connections();
        loop {
            self.now_ns = self.clock.now();
            self.pass(self.now_ns);
            self.look_for_end();
            if self.draining.is_none() {
                self.issue();
            }
            if self.in_flight == 0 && (self.draining.is_some() || self.nothing_left) {
                break;
            }
            if self.now_ns >= self.drain_until_ns {
                break;
            }
            let (timeout_ns, exact) = self.wait();
            self.parts.hub.poll(Some(timeout_ns), exact, &mut ended);
            for one in ended.drain(..) {
                self.settle(one);
            }
            self.send_again();
            self.note_connections();
        }
        self.finish()
    }

    /// How long to wait, and whether to the nanosecond.
    fn wait(&self) -> (u64, bool) {
        let now_ns = self.clock.now();
        let mut until_ns = now_ns + STOP_CHECK_NS;
        until_ns = until_ns.min(self.recorder.end_ns().max(now_ns + 1));
        let mut exact = false;
        let begins = self.draining.is_none() && !self.nothing_left;
        if let Some(ready_ns) = self.free.next_ready_ns().filter(|_| begins) {
            let due_ns = match &self.parts.pace {
                Some(pace) => pace.next_ns(),
                None => ready_ns,
            };
            // At 0 something that is in flight has to end first.
            if due_ns > 0 && due_ns < until_ns {
                (until_ns, exact) = (due_ns, true);
            }
        }
        if let Some(Reverse((again_ns, _))) = self.waiting.peek() {
            until_ns = until_ns.min(*again_ns);
            exact = true;
        }
        (until_ns.saturating_sub(now_ns), exact)
    }

    /// Begins what is due while there is room.
    fn issue(&mut self) {
        loop {
            let due_ns = match &self.parts.pace {
                Some(pace) if pace.next_ns() > self.now_ns => return,
                Some(pace) => pace.next_ns(),
                None => 0,
            };
            let Some(slot) = self.free.take(self.now_ns) else {
                return;
            };
            if !self.begin_next(slot as usize, due_ns) {
                self.free.give_back(slot);
                return;
            }
        }
    }

    /// Begins the next operation in a slot; false when there is none for now.
    fn begin_next(&mut self, slot: usize, due_ns: u64) -> bool {
        if !self.allowance.take(&self.parts.control) {
            self.begin_drain(Some(EndReason::Ops));
            return false;
        }
        match self.draw() {
            Draw::Task(task) => {
                if let Some(pace) = &mut self.parts.pace {
                    pace.advance(0);
                }
                self.begin(slot, task, due_ns);
                true
            }
            other => {
                self.allowance.put_back(&self.parts.control);
                self.nothing_left = other == Draw::Done;
                false
            }
        }
    }

    fn draw(&mut self) -> Draw {
        let made = self.under_way.first_made().unwrap_or(self.range.tail);
        let busy = |number| self.under_way.uses(number);
        self.picker.next(&mut self.range, made, busy)
    }

    fn begin(&mut self, slot: usize, task: Task, due_ns: u64) {
        let work = Arc::clone(&self.parts.work);
        let bytes = match work.work.existing {
            true => work.path(&mut Vec::new(), self.parts.rank, task.number),
            false => work.names.bytes_of(self.parts.rank, task.number),
        };
        self.under_way.begin(&task);
        let mut ask = self.slots[slot].begin(task, bytes, work.work.part_bytes, due_ns);
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
        self.parts.visible.in_flight.describe(&op, due_ns);
        let width = self.width();
        let start_ns = self.send(slot * width, slot, ask);
        self.slots[slot].start_ns = start_ns;
        self.parts.visible.in_flight.start(slot as u32, start_ns);
        if due_ns != 0 {
            self.recorder.late(start_ns.saturating_sub(due_ns));
        }
        self.in_flight += 1;
        self.range.changes += u64::from(task.count.max(1));
        self.fill(slot);
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
    pub(super) fn fill(&mut self, slot: usize) {
        let width = self.width();
        for lane in slot * width..(slot + 1) * width {
            if self.sent[lane].ask.is_none() {
                let Some(ask) = self.slots[slot].next() else {
                    return;
                };
                self.send(lane, slot, ask);
            }
        }
    }

    /// Sends a request; the time right before.
    fn send(&mut self, lane: usize, slot: usize, ask: Ask) -> u64 {
        let Some(task) = self.slots[slot].task else {
            return self.now_ns;
        };
        let (work, rank) = (Arc::clone(&self.parts.work), self.parts.rank);
        let hub = &mut self.parts.hub;
        let expected = self.asker.make(&work, rank, &task, &ask, |request| {
            let _ = hub.make_ready(lane, request);
        });
        self.sent[lane] = Sent {
            ask: Some(ask),
            expected,
            ..Sent::default()
        };
        self.slots[slot].open += 1;
        let start_ns = self.clock.now();
        self.pass(start_ns);
        self.parts.hub.start(lane, start_ns);
        start_ns
    }

    /// Sends again what has waited long enough.
    fn send_again(&mut self) {
        if self.waiting.is_empty() {
            return;
        }
        let now_ns = self.clock.now();
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
            let start_ns = self.send(lane, slot, ask);
            self.sent[lane].retries = retries + 1;
            let waited_ns = start_ns.saturating_sub(failed_ns).max(1);
            self.recorder.complete(OpKind::Retry, 0, waited_ns);
        }
    }

    /// The operation of a slot has ended.
    pub(super) fn release(&mut self, slot: usize, end: &Ended) {
        if let Some(task) = self.slots[slot].task.take() {
            self.under_way.end(&task);
        }
        self.in_flight -= 1;
        self.parts.visible.in_flight.end(slot as u32);
        match self.parts.think_ns {
            0 => self.free.give_back(slot as u32),
            think_ns => {
                let ready_ns = end.end_ns.saturating_add(think_ns);
                self.free.give_back_thinking(slot as u32, ready_ns);
            }
        }
    }

    /// Lets time pass in the records.
    pub(super) fn pass(&mut self, now_ns: u64) {
        if self.recorder.is_over(now_ns) {
            let used = self.meter.take();
            self.recorder.cut(now_ns, self.in_flight, used);
        }
        self.recorder.pass(now_ns, self.in_flight);
        self.now_ns = now_ns;
    }

    fn look_for_end(&mut self) {
        if !self.first_seen && self.parts.work.first_done_ns() > 0 {
            self.first_seen = true;
            self.done.ops_at_first = self.done.ops;
        }
        if self.draining.is_some() {
            if self.parts.control.reason() == Some(EndReason::Stopped) {
                self.drain_until_ns = self.drain_until_ns.min(self.now_ns + LEAVE_NS);
            }
            return;
        }
        if self.parts.control.must_end() {
            self.begin_drain(None);
            self.drain_until_ns = self.now_ns + LEAVE_NS;
        } else if self.recorder.phase() == Phase::Settle {
            self.begin_drain(Some(EndReason::Time));
        }
    }

    /// Nothing new from here on.
    fn begin_drain(&mut self, reason: Option<EndReason>) {
        self.draining = Some(reason);
        self.allowance.give_back(&self.parts.control);
        match reason {
            // What is in flight belongs to a bounded amount of work.
            Some(EndReason::Ops) => {}
            Some(reason) => self.parts.control.end(reason),
            None => {}
        }
        if reason != Some(EndReason::Ops) && self.recorder.phase() != Phase::Settle {
            let used = self.meter.take();
            self.recorder.settle(self.now_ns, self.in_flight, used);
        }
    }

    fn note_connections(&mut self) {
        let measures = self.recorder.phase() == Phase::Measure;
        for made in self.parts.hub.take_connected() {
            self.recorder.complete(OpKind::Connect, 0, made.connect_ns);
            if made.handshake_ns > 0 {
                self.recorder
                    .complete(OpKind::Handshake, 0, made.handshake_ns);
            }
            if measures {
                self.done.endpoints[made.endpoint].connected(&made);
            }
        }
    }

    fn finish(mut self) -> Done {
        self.now_ns = self.clock.now();
        let all_done = self.nothing_left && self.draining.is_none();
        if all_done {
            self.parts.work.done_at(self.now_ns);
        }
        if all_done || self.draining == Some(Some(EndReason::Ops)) {
            self.parts.control.end_one(EndReason::Ops);
        }
        // What never ended may or may not be in the store.
        for slot in &self.slots {
            if let Some(task) = slot.task {
                self.range.note_missing(task.number);
            }
        }
        self.pass(self.now_ns);
        self.done.ended_ns = self.now_ns;
        if !self.first_seen {
            self.done.ops_at_first = self.done.ops;
        }
        let used = self.meter.take();
        self.recorder.finish(self.now_ns, used);
        if let Some(shelf) = &self.parts.work.shelf {
            shelf.put_back(self.parts.rank, self.range);
        }
        self.done
    }
}
