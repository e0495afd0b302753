//! The hot loop: one worker that keeps operations in flight and counts them.
//!
//! A turn has two halves. [`Worker::issue`] draws what is due, hands it to the
//! engine and says what to wait for; [`Worker::settle`] takes what has ended.
//! Between them somebody waits: [`drive`] on the host's time, the simulation
//! on virtual time. Both run exactly this code.
//!
//! Time is read once right before a batch is handed over and once right after
//! a batch was reaped. Drawing offsets, filling payload, checking contents and
//! counting all lie outside these two points. After the start nothing here
//! allocates, locks or logs (the first hundred failures excepted).

mod ahead;
mod budget;
mod commit;
mod control;
mod depth_search;
mod detail;
mod drive;
mod failure;
mod first_done;
mod flow;
mod free;
mod issue;
mod load_state;
mod operations;
mod pace;
mod read_back;
mod settle;
mod sleep;
mod think;

pub(crate) use ahead::spare_buffers;
pub(crate) use budget::OwnBudget;
pub(crate) use control::Control;
pub use control::EndReason;
pub(crate) use depth_search::DepthSearch;
pub(crate) use drive::drive;
pub(crate) use failure::{Failure, class_of};
pub(crate) use first_done::{FirstDone, Reached};
pub(crate) use flow::FlowStep;
pub(crate) use load_state::{Failed, LoadParts, LoadState, Pause, Start};
pub(crate) use operations::{Draw, Operations, drive_operations};
pub(crate) use pace::Pace;
pub(crate) use sleep::Sleeper;
pub(crate) use think::Think;

use std::sync::Arc;

use fathom_model::Phase;

use crate::access::{Access, AccessStream};
use crate::arena::Buffers;
use crate::engine::Op;
use crate::in_flight::InFlight;
use crate::payload::PayloadPool;
use crate::record::{Cuts, Exchange, Recorder};
use crate::usage::ThreadMeter;
use crate::verify::Verifier;
use ahead::Ahead;
use budget::{Budget, UsedUp};
use commit::Commit;
pub(crate) use commit::Rhythm;
use detail::Detailed;
use free::FreeSlots;

/// An idle or waiting worker looks at least this often whether to end.
const STOP_CHECK_NS: u64 = 100_000_000;

/// What the controlling thread can see of a worker.
#[derive(Debug)]
pub(crate) struct Visible {
    pub(crate) in_flight: InFlight,
    pub(crate) exchange: Arc<Exchange>,
}

/// Everything that a worker is made of.
pub(crate) struct Parts {
    pub(crate) depth: u32,
    pub(crate) batch: u32,
    pub(crate) think_ns: u64,
    pub(crate) think: Think,
    pub(crate) pairs: bool,
    pub(crate) step: Option<FlowStep>,
    pub(crate) depth_search: Option<DepthSearch>,
    pub(crate) reads_back: bool,
    pub(crate) ends_when_full: bool,
    /// Operations come from a recorded list, which has an end.
    pub(crate) replays: bool,
    pub(crate) first_file: u32,
    pub(crate) files: u32,
    pub(crate) final_flush: bool,
    pub(crate) flush_every: Rhythm,
    pub(crate) writes: bool,
    pub(crate) stop_on_error: bool,
    pub(crate) workers: u32,
    pub(crate) max_block_bytes: u64,
    pub(crate) own_budget: OwnBudget,
    pub(crate) stream: AccessStream,
    pub(crate) payload: Option<PayloadPool>,
    pub(crate) verifier: Option<Verifier>,
    pub(crate) pace: Option<Pace>,
    pub(crate) buffers: Buffers,
    pub(crate) visible: Arc<Visible>,
    pub(crate) control: Arc<Control>,
}

impl Parts {
    /// Whether operations may have to wait although there is a slot.
    fn may_wait(&self) -> bool {
        self.think_ns > 0
            || self.pairs
            || self.replays
            || self.step.is_some()
            || self.depth_search.is_some()
    }
}

/// An operation that has been drawn and not yet queued.
#[derive(Debug, Clone, Copy)]
struct Ready {
    op: Op,
    intended_ns: u64,
    /// It has been taken from the budget.
    paid: bool,
    /// The engine had no room for it.
    refused: bool,
    /// It waited for a write of the same place to end.
    waited: bool,
}

/// What to wait for between the halves of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wait {
    /// For one operation to end, at most until `until_ns`.
    Reap {
        /// When to come back at the latest.
        until_ns: u64,
        /// How long that is from the last reading of the clock.
        timeout_ns: u64,
        /// An operation is due at `until_ns`: come back exactly then.
        exact: bool,
    },
    /// Nothing is in flight: until `until_ns`.
    Sleep {
        /// When to come back.
        until_ns: u64,
        /// An operation is due at `until_ns`: come back exactly then.
        exact: bool,
    },
    /// For nothing: the worker has ended.
    Done,
}

/// One worker. See the module's description.
pub(crate) struct Worker {
    /// A closed loop without flushes, think time, verification, spare buffers
    /// or details to record: operations start as soon as there is a slot, and the loop is
    /// compiled a second time for them, without all the rest.
    plain: bool,
    batch: usize,
    think_ns: u64,
    think: Think,
    /// Blocks are trimmed and then written; the slot of the trim in flight.
    pairs: bool,
    trim_slot: Option<u32>,
    step: Option<FlowStep>,
    depth_search: Option<DepthSearch>,
    /// What was written is read again within the load; and that is all that
    /// is still done.
    reads_back: bool,
    closing: bool,
    ends_when_full: bool,
    /// Slot that flushes use, one above those of data operations.
    flush_slot: u32,
    first_file: u32,
    final_flush: bool,
    stop_on_error: bool,
    stream: AccessStream,
    payload: Option<PayloadPool>,
    verifier: Option<Verifier>,
    pace: Option<Pace>,
    buffers: Buffers,
    ahead: Ahead,
    visible: Arc<Visible>,
    control: Arc<Control>,
    recorder: Recorder,
    budget: Budget,
    commit: Commit,
    free: FreeSlots,
    ready: Option<Ready>,
    staged: Vec<u32>,
    in_flight: u32,
    /// Operations were handed to the engine since the last wait. The system can
    /// block in taking them over, which is no stop of the worker.
    handed_over: bool,
    /// The last reading of the clock.
    now_ns: u64,
    origin_ns: u64,
    draining: bool,
    meter: Option<ThreadMeter>,
    detailed: Option<Box<Detailed>>,
    flush_started_ns: Option<u64>,
    final_flush_ns: Option<u64>,
}

impl Worker {
    /// A worker that starts at the origin of `cuts`.
    pub(crate) fn new(parts: Parts, cuts: Cuts, meter: Option<ThreadMeter>) -> Worker {
        let may_wait = parts.may_wait();
        let mut pace = parts.pace;
        if let Some(pace) = &mut pace {
            pace.start_at(cuts.origin_ns);
        }
        let budget = Budget::new(
            Arc::clone(&parts.control),
            parts.workers,
            parts.max_block_bytes,
            parts.own_budget,
        );
        let rhythm = match parts.writes {
            true => parts.flush_every,
            false => Rhythm::NEVER,
        };
        let commit = Commit::new(rhythm, parts.final_flush && parts.writes, parts.files);
        let ahead = Ahead::new(parts.depth, parts.buffers.view().count());
        let waits = pace.is_some() || commit.is_active() || may_wait;
        let detail = parts.visible.exchange.shape().detail();
        let detailed = Detailed::new(detail, Worker::slots(parts.depth));
        let simple = parts.verifier.is_none() && !ahead.is_on() && detailed.is_none();
        Worker {
            plain: !waits && simple,
            batch: match parts.batch {
                0 => parts.depth as usize + 1,
                batch => batch as usize,
            },
            think_ns: if pace.is_some() || parts.think.is_on() {
                0
            } else {
                parts.think_ns
            },
            think: parts.think,
            pairs: parts.pairs,
            trim_slot: None,
            step: parts.step,
            depth_search: parts.depth_search,
            reads_back: parts.reads_back,
            closing: false,
            ends_when_full: parts.ends_when_full,
            flush_slot: parts.depth,
            first_file: parts.first_file,
            final_flush: parts.final_flush && parts.writes,
            stop_on_error: parts.stop_on_error,
            stream: parts.stream,
            payload: parts.payload,
            verifier: parts.verifier,
            pace,
            ahead,
            buffers: parts.buffers,
            recorder: Recorder::new(Arc::clone(&parts.visible.exchange), cuts),
            visible: parts.visible,
            control: parts.control,
            budget,
            commit,
            free: FreeSlots::new(parts.depth),
            ready: None,
            staged: Vec::with_capacity(parts.depth as usize + 1),
            in_flight: 0,
            handed_over: false,
            now_ns: cuts.origin_ns,
            origin_ns: cuts.origin_ns,
            draining: false,
            meter,
            detailed,
            flush_started_ns: None,
            final_flush_ns: None,
        }
    }

    /// Slots that an engine needs for a worker of this depth.
    pub(crate) fn slots(depth: u32) -> u32 {
        depth + 1
    }

    /// Where the search for a depth has come to, if there is one.
    pub(crate) fn depth_found(&self) -> Option<u32> {
        self.depth_search.as_ref().map(DepthSearch::result)
    }

    /// The load begins: joins those that keep step with it.
    pub(crate) fn join(&mut self) {
        if let Some(step) = &mut self.step {
            step.join();
        }
    }

    /// Duration of the final flush, if there was one and it succeeded.
    pub(crate) fn final_flush_ns(&self) -> Option<u64> {
        self.final_flush_ns
    }

    /// Hands over the last interval. Nothing may follow.
    pub(crate) fn finish(&mut self) -> Buffers {
        let used = self.used();
        self.recorder.finish(self.now_ns, used);
        std::mem::replace(&mut self.buffers, Buffers::none())
    }

    fn used(&mut self) -> crate::record::Used {
        self.meter
            .as_mut()
            .map(ThreadMeter::take)
            .unwrap_or_default()
    }

    /// Lets time pass in the records, up to `now_ns`.
    #[inline]
    fn pass(&mut self, now_ns: u64) {
        if self.recorder.is_over(now_ns) {
            self.cut(now_ns);
        }
        self.recorder.pass(now_ns, self.in_flight);
        self.now_ns = now_ns;
    }

    #[cold]
    fn cut(&mut self, now_ns: u64) {
        let before = self.recorder.phase();
        let used = self.used();
        self.recorder.cut(now_ns, self.in_flight, used);
        let after = self.recorder.phase();
        if before == Phase::Warmup && after != Phase::Warmup {
            self.charge_outstanding();
        }
        if after == Phase::Settle && !self.draining {
            self.control.end(EndReason::Time);
            self.drain();
        }
    }

    /// What was taken up in the warm-up and has not ended will count in the
    /// measure phase, and so against its bounds.
    fn charge_outstanding(&mut self) {
        let table = &self.visible.in_flight;
        let started = table.older_than(u64::MAX).map(|o| o.op);
        let staged = self.staged.iter().map(|slot| table.op(*slot));
        let (mut ops, mut bytes) = (0, 0);
        for op in started.chain(staged).filter(|op| op.kind.is_data()) {
            ops += 1;
            bytes += u64::from(op.len);
        }
        self.budget.charge(ops, bytes);
    }

    /// No new operations from here on.
    fn drain(&mut self) {
        self.draining = true;
        if let Some(step) = &mut self.step {
            step.leave();
        }
        self.commit.give_up_batch();
        if let Some(ready) = self.ready.take() {
            self.cancel(&ready.op);
        }
    }

    /// Ends the measure phase early.
    #[cold]
    fn end(&mut self, reason: EndReason, now_ns: u64) {
        self.control.end(reason);
        // What is in flight belongs to a bounded amount of work, but not to a
        // measurement that was broken off.
        if !matches!(reason, EndReason::Ops | EndReason::Bytes) {
            self.settle_records(now_ns);
        }
        self.drain();
    }

    /// Ends at a bound: the load of all workers, or this one alone.
    #[cold]
    fn end_bounded(&mut self, used_up: UsedUp, now_ns: u64) {
        if used_up.own && self.begin_closing() {
            return;
        }
        if used_up.own {
            self.control.end_one(used_up.reason);
            self.drain();
        } else {
            self.end(used_up.reason, now_ns);
        }
    }

    fn settle_records(&mut self, now_ns: u64) {
        let used = self.used();
        self.recorder.settle(now_ns, self.in_flight, used);
        self.now_ns = self.now_ns.max(now_ns);
    }

    /// Takes back an operation that was drawn but never queued.
    fn cancel(&mut self, op: &Op) {
        let access = self.access_of(op);
        if let Some(verifier) = &mut self.verifier {
            let block = self.buffers.block(self.ahead.buffer_of(op.slot), op.len);
            let _ = verifier.finish(op.slot as usize, &access, block, false);
        }
        self.free.give_back(op.slot);
    }

    #[inline]
    fn access_of(&self, op: &Op) -> Access {
        Access {
            kind: op.kind,
            file: op.file + self.first_file,
            offset: op.offset,
            bytes: op.len,
        }
    }
}
