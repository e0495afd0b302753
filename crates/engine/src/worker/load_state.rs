//! What a worker keeps of its load whatever its operations are: the time and
//! the records, what may still be begun and when, what is in flight, and
//! whether the load ends.

use std::sync::Arc;

use fathom_model::{ErrorClass, OpKind, Phase};

use super::budget::{Budget, OwnBudget};
use super::control::{Control, EndReason};
use super::failure::{Cause, Failure};
use super::first_done::{FirstDone, Reached};
use super::free::FreeSlots;
use super::pace::Pace;
use super::{STOP_CHECK_NS, Visible};
use crate::clock::{Clock, HostClock};
use crate::record::{Cuts, Recorder};
use crate::usage::ThreadMeter;

/// How long an end that somebody asked for waits for what is in flight.
const LEAVE_NS: u64 = 2_000_000_000;

/// What the state of a load is made of.
pub(crate) struct LoadParts {
    pub(crate) depth: u32,
    pub(crate) pace: Option<Pace>,
    pub(crate) think_ns: u64,
    pub(crate) stop_on_error: bool,
    pub(crate) workers: u32,
    pub(crate) own_budget: OwnBudget,
    pub(crate) first_done: Arc<FirstDone>,
    /// The load ends for all when the first worker has done its part.
    pub(crate) stops_with_first: bool,
    pub(crate) visible: Arc<Visible>,
    pub(crate) control: Arc<Control>,
}

/// When an operation was begun, and when it should have been; 0 where there is
/// no schedule.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Start {
    pub(crate) start_ns: u64,
    pub(crate) due_ns: u64,
}

/// For how long there is nothing to begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Pause {
    /// When to come back at the latest.
    pub(crate) until_ns: u64,
    /// How long that is from now.
    pub(crate) timeout_ns: u64,
    /// Something is due at `until_ns`: come back exactly then.
    pub(crate) exact: bool,
}

/// An operation that failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Failed {
    pub(crate) kind: OpKind,
    pub(crate) class: ErrorClass,
    /// Which file or object it was on.
    pub(crate) number: u64,
    pub(crate) at_ns: u64,
}

/// See the module's description.
pub(crate) struct LoadState {
    pub(crate) clock: HostClock,
    pub(crate) recorder: Recorder,
    pub(crate) control: Arc<Control>,
    pub(crate) visible: Arc<Visible>,
    meter: ThreadMeter,
    origin_ns: u64,
    /// The last time that was read or told.
    now_ns: u64,
    pace: Option<Pace>,
    think_ns: u64,
    free: FreeSlots,
    budget: Budget,
    /// Operations that were taken up in the warm-up and have not ended.
    unpaid: u64,
    in_flight: u32,
    nothing_left: bool,
    /// Nothing new is begun, for this reason, or for that of another.
    draining: Option<Option<EndReason>>,
    drain_until_ns: u64,
    stop_on_error: bool,
    stops_with_first: bool,
    first_done: Arc<FirstDone>,
    first_seen: bool,
    reached: Reached,
}

impl LoadState {
    /// The state of a load that starts at the origin of `cuts`.
    pub(crate) fn new(parts: LoadParts, cuts: Cuts) -> LoadState {
        let mut pace = parts.pace;
        if let Some(pace) = &mut pace {
            pace.start_at(cuts.origin_ns);
        }
        let control = Arc::clone(&parts.control);
        LoadState {
            clock: HostClock::new(),
            recorder: Recorder::new(Arc::clone(&parts.visible.exchange), cuts),
            meter: ThreadMeter::start(),
            origin_ns: cuts.origin_ns,
            now_ns: cuts.origin_ns,
            // Intended starts leave no room for pauses.
            think_ns: if pace.is_some() { 0 } else { parts.think_ns },
            pace,
            free: FreeSlots::new(parts.depth),
            budget: Budget::new(control, parts.workers, 1, parts.own_budget),
            unpaid: 0,
            in_flight: 0,
            nothing_left: false,
            draining: None,
            drain_until_ns: u64::MAX,
            stop_on_error: parts.stop_on_error,
            stops_with_first: parts.stops_with_first,
            first_done: parts.first_done,
            first_seen: false,
            reached: Reached::default(),
            control: parts.control,
            visible: parts.visible,
        }
    }

    /// Time 0 of the samples.
    pub(crate) fn origin_ns(&self) -> u64 {
        self.origin_ns
    }

    /// The last time that was read or told.
    pub(crate) fn now_ns(&self) -> u64 {
        self.now_ns
    }

    /// Whether what ends now is measured.
    pub(crate) fn is_measuring(&self) -> bool {
        self.recorder.phase() == Phase::Measure
    }

    /// Whether the load is over for this worker, though operations may be in flight.
    pub(crate) fn must_end(&self) -> bool {
        self.control.must_end() || self.recorder.phase() == Phase::Settle
    }

    /// Reads the clock, and lets time pass up to then.
    #[inline]
    pub(crate) fn tick(&mut self) {
        let now_ns = self.clock.now();
        self.pass(now_ns);
    }

    /// Lets time pass in the records.
    #[inline]
    pub(crate) fn pass(&mut self, now_ns: u64) {
        if self.recorder.is_over(now_ns) {
            self.cut(now_ns);
        }
        self.recorder.pass(now_ns, self.in_flight);
        self.now_ns = now_ns;
    }

    #[cold]
    fn cut(&mut self, now_ns: u64) {
        let before = self.recorder.phase();
        let used = self.meter.take();
        self.recorder.cut(now_ns, self.in_flight, used);
        if before == Phase::Warmup && self.recorder.phase() != Phase::Warmup {
            // What has not ended will count in the measure phase, and so against
            // its bounds.
            self.budget.charge(std::mem::take(&mut self.unpaid), 0);
        }
        if self.recorder.phase() == Phase::Settle && self.draining.is_none() {
            self.drain(Some(EndReason::Time));
        }
    }

    /// When the operation that may be begun now should begin, 0 without a
    /// schedule; `None` when it is not due yet.
    #[inline]
    pub(super) fn due_ns(&self) -> Option<u64> {
        match &self.pace {
            None => Some(0),
            Some(pace) => Some(pace.next_ns()).filter(|due_ns| *due_ns <= self.now_ns),
        }
    }

    /// Takes a slot that may be used now, if anything may still be begun.
    #[inline]
    pub(super) fn take_slot(&mut self) -> Option<u32> {
        if self.draining.is_some() || self.nothing_left {
            return None;
        }
        self.free.take(self.now_ns)
    }

    /// The slot that was taken is not used.
    pub(super) fn give_back_slot(&mut self, slot: u32) {
        self.free.give_back(slot);
    }

    /// Takes one operation of the budget. Where it is used up, the worker drains.
    #[inline]
    pub(super) fn pay(&mut self) -> bool {
        if self.recorder.phase() != Phase::Measure {
            self.unpaid += 1;
            return true;
        }
        let paid = self.budget.take(0).is_ok();
        if !paid {
            self.drain(Some(EndReason::Ops));
        }
        paid
    }

    /// The operation that was paid for last is not begun now.
    pub(super) fn refund(&mut self) {
        match self.recorder.phase() {
            Phase::Measure => self.budget.put_back(),
            _ => self.unpaid = self.unpaid.saturating_sub(1),
        }
    }

    /// The schedule moves on to the next operation.
    #[inline]
    pub(super) fn advance(&mut self) {
        if let Some(pace) = &mut self.pace {
            pace.advance(0);
        }
    }

    /// There is nothing more to draw, ever.
    pub(super) fn note_nothing_left(&mut self) {
        self.nothing_left = true;
    }

    /// The operation in a slot starts now; when it was due, where that is known.
    #[inline]
    pub(crate) fn start(&mut self, slot: u32, due_ns: u64) -> Start {
        let start_ns = self.clock.now();
        self.start_at(slot, Start { start_ns, due_ns });
        Start { start_ns, due_ns }
    }

    /// The operation in a slot has started.
    #[inline]
    pub(crate) fn start_at(&mut self, slot: u32, start: Start) {
        self.pass(start.start_ns);
        self.visible.in_flight.start(slot, start.start_ns);
        if start.due_ns != 0 {
            let late_ns = start.start_ns.saturating_sub(start.due_ns);
            self.recorder.late(late_ns);
        }
        self.in_flight += 1;
    }

    /// The operation in a slot has ended; the time has passed already.
    #[inline]
    pub(crate) fn end(&mut self, slot: u32, end_ns: u64) {
        self.visible.in_flight.end(slot);
        self.in_flight -= 1;
        if self.recorder.phase() == Phase::Warmup {
            self.unpaid = self.unpaid.saturating_sub(1);
        }
        match self.think_ns {
            0 => self.free.give_back(slot),
            think_ns => {
                let ready_ns = end_ns.saturating_add(think_ns);
                self.free.give_back_thinking(slot, ready_ns);
            }
        }
    }

    /// Counts an operation that succeeded.
    #[inline]
    pub(crate) fn succeeded(&mut self, kind: OpKind, bytes: u64, start: Start, end_ns: u64) -> u64 {
        let service_ns = end_ns.saturating_sub(start.start_ns);
        if service_ns == 0 {
            self.recorder.impossible();
        }
        let service_ns = service_ns.max(1);
        self.recorder.complete(kind, bytes, service_ns);
        if start.due_ns != 0 {
            let response_ns = end_ns.saturating_sub(start.due_ns).max(1);
            self.recorder.respond(kind, response_ns);
        }
        self.reached.ops += 1;
        service_ns
    }

    /// Counts an operation that failed, of which `text` tells.
    #[cold]
    pub(crate) fn failed(&mut self, failed: Failed, text: impl FnOnce() -> String) {
        self.recorder.fail(failed.kind, failed.class);
        self.control.note_failure(|| Failure {
            kind: failed.kind,
            cause: Cause::Told(failed.class, text()),
            file: 0,
            offset: failed.number,
            len: 0,
            at_ns: failed.at_ns.saturating_sub(self.origin_ns),
        });
        if self.stop_on_error {
            self.control.end(EndReason::Error);
        }
    }

    /// Whether nothing more is begun.
    #[inline]
    pub(crate) fn is_draining(&self) -> bool {
        self.draining.is_some()
    }

    /// Whether the worker is done.
    #[inline]
    pub(super) fn is_over(&self) -> bool {
        let all_ended = self.in_flight == 0 && (self.draining.is_some() || self.nothing_left);
        all_ended || self.now_ns >= self.drain_until_ns
    }

    /// Notes once that the first worker has done its part. Whether it did so now.
    #[inline]
    pub(super) fn look_for_first(&mut self) -> bool {
        if self.first_seen || !self.first_done.is_known() {
            return false;
        }
        self.first_seen = true;
        self.reached.ops_at_first = self.reached.ops;
        if self.stops_with_first {
            self.control.end(EndReason::Stopped);
        }
        true
    }

    /// Begins to drain when the load is to end.
    #[inline]
    pub(super) fn look_for_end(&mut self) {
        if self.draining.is_some() {
            if self.control.reason() == Some(EndReason::Stopped) {
                self.drain_until_ns = self.drain_until_ns.min(self.now_ns + LEAVE_NS);
            }
        } else if self.control.must_end() {
            self.drain(None);
            self.drain_until_ns = self.now_ns + LEAVE_NS;
        }
    }

    /// Nothing new from here on.
    #[cold]
    fn drain(&mut self, reason: Option<EndReason>) {
        self.draining = Some(reason);
        self.budget.give_back();
        match reason {
            // What is in flight belongs to a bounded amount of work.
            Some(EndReason::Ops) => return,
            Some(reason) => self.control.end(reason),
            None => {}
        }
        if self.recorder.phase() != Phase::Settle {
            let used = self.meter.take();
            self.recorder.settle(self.now_ns, self.in_flight, used);
        }
    }

    /// How long there is nothing to begin, given that something else has to be
    /// done at `other_ns`.
    pub(super) fn pause(&self, other_ns: Option<u64>) -> Pause {
        let now_ns = self.clock.now();
        let mut until_ns = now_ns + STOP_CHECK_NS;
        until_ns = until_ns.min(self.recorder.end_ns().max(now_ns + 1));
        let mut exact = false;
        let begins = self.draining.is_none() && !self.nothing_left;
        if let Some(ready_ns) = self.free.next_ready_ns().filter(|_| begins) {
            let due_ns = self.pace.as_ref().map_or(ready_ns, Pace::next_ns);
            // At 0 something that is in flight has to end first.
            if due_ns > 0 && due_ns < until_ns {
                (until_ns, exact) = (due_ns, true);
            }
        }
        if let Some(other_ns) = other_ns {
            until_ns = until_ns.min(other_ns);
            exact = true;
        }
        Pause {
            until_ns,
            timeout_ns: until_ns.saturating_sub(now_ns),
            exact,
        }
    }

    /// Hands over the last interval; how far the worker came. Nothing may follow.
    pub(super) fn finish(mut self) -> Reached {
        let now_ns = self.clock.now();
        let all_done = self.nothing_left && self.draining.is_none();
        if all_done {
            self.first_done.note(now_ns);
            self.budget.give_back();
        }
        if all_done || self.draining == Some(Some(EndReason::Ops)) {
            self.control.end_one(EndReason::Ops);
        }
        self.pass(now_ns);
        self.reached.ended_ns = now_ns;
        if !self.first_seen {
            self.reached.ops_at_first = self.reached.ops;
        }
        let used = self.meter.take();
        self.recorder.finish(now_ns, used);
        self.reached
    }
}
