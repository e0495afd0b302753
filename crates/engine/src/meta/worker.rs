//! The loop of one worker on a tree: draw, make ready, carry out, count.
//!
//! One clock reading right before the system calls of an operation and one
//! right after; everything else lies outside. Nothing is allocated per
//! operation.

mod waiting;

use std::sync::Arc;

use fathom_model::sample::Phase;
use fathom_model::{OpKind, Operation};

use super::hand::{Hand, Trouble};
use super::picker::{self, Picker};
use super::rank::Rank;
use super::task::Task;
use super::work::{Done, Work};
use crate::clock::{Clock, HostClock};
use crate::engine::Op;
use crate::record::{Cuts, Recorder};
use crate::usage::ThreadMeter;
use crate::worker::{Allowance, Cause, Control, EndReason, Failure, Pace, Sleeper, Visible};

/// A waiting worker looks at least this often whether to end.
const STOP_CHECK_NS: u64 = 100_000_000;
/// Operations that are taken from a common bound at once.
const BUDGET_CHUNK: u64 = 64;

/// Everything that a worker on a tree is made of.
pub(crate) struct Parts {
    pub(crate) work: Arc<Work>,
    /// Which worker it is, and on whose files it works.
    pub(crate) index: u32,
    pub(crate) rank: u32,
    pub(crate) hand: Hand,
    pub(crate) picker: Picker,
    pub(crate) pace: Option<Pace>,
    pub(crate) stop_on_error: bool,
    pub(crate) workers: u32,
    pub(crate) think_ns: u64,
    pub(crate) may_spin: bool,
    /// Operations are recorded one by one.
    pub(crate) detailed: bool,
    pub(crate) visible: Arc<Visible>,
    pub(crate) control: Arc<Control>,
}

/// One worker under way.
pub(crate) struct Worker {
    parts: Parts,
    state: Rank,
    clock: HostClock,
    recorder: Recorder,
    meter: ThreadMeter,
    sleeper: Sleeper,
    origin_ns: u64,
    now_ns: u64,
    allowance: Allowance,
    done: Done,
    first_seen: bool,
    /// The shortest wait for somebody else's file; 0 before the first.
    shortest_wait_ns: u64,
}

impl Worker {
    /// A worker that starts at the origin of `cuts`.
    pub(crate) fn new(mut parts: Parts, cuts: Cuts) -> Worker {
        if let Some(pace) = &mut parts.pace {
            pace.start_at(cuts.origin_ns);
        }
        let tree = parts.work.tree.as_ref();
        let clock = HostClock::new();
        Worker {
            state: tree.map_or_else(|| imagined(&parts), |tree| tree.take(parts.rank)),
            recorder: Recorder::new(Arc::clone(&parts.visible.exchange), cuts),
            meter: ThreadMeter::start(),
            sleeper: Sleeper::new(parts.may_spin, cuts.origin_ns),
            clock,
            origin_ns: cuts.origin_ns,
            now_ns: cuts.origin_ns,
            allowance: Allowance::new(BUDGET_CHUNK, parts.workers),
            done: Done::default(),
            first_seen: false,
            shortest_wait_ns: 0,
            parts,
        }
    }

    /// Works until there is nothing left, a bound is reached, or it must end.
    pub(crate) fn run(mut self) -> Done {
        let reason = self.work_on();
        self.end(reason);
        self.done.ended_ns = self.now_ns;
        self.done.calls = *self.parts.hand.calls();
        if !self.first_seen {
            self.done.ops_at_first = self.done.ops;
            self.done.records_at_first = self.done.calls.records;
        }
        let used = self.meter.take();
        self.recorder.finish(self.now_ns, used);
        if let Some(tree) = &self.parts.work.tree {
            tree.give_back(self.parts.rank, self.state);
        }
        self.done
    }

    fn work_on(&mut self) -> Option<EndReason> {
        loop {
            if self.parts.control.must_end() {
                return None;
            }
            let Some(due_ns) = self.until_due() else {
                return self.over();
            };
            if !self.allowance.take(&self.parts.control) {
                return Some(EndReason::Ops);
            }
            let Some(task) = self.parts.picker.next(&self.state) else {
                let now_ns = self.clock.now();
                self.parts.work.done_at(now_ns);
                return Some(EndReason::Ops);
            };
            match task.kind {
                OpKind::AwaitCreate => self.wait_for_file(&task),
                _ => self.one(&task, due_ns),
            }
            if self.recorder.phase() == Phase::Settle {
                return Some(EndReason::Time);
            }
            self.look_for_first();
            self.think();
        }
    }

    /// Waits until the next operation is due, and says since when it is; 0
    /// where there is no schedule. `None` when the load is over before.
    #[inline]
    fn until_due(&mut self) -> Option<u64> {
        let Some(pace) = &mut self.parts.pace else {
            return Some(0);
        };
        let due_ns = pace.next_ns();
        pace.advance(0);
        self.wait_until(due_ns).then_some(due_ns)
    }

    /// False when the load is over before.
    fn wait_until(&mut self, due_ns: u64) -> bool {
        loop {
            let now_ns = self.clock.now();
            self.pass(now_ns, 0);
            if self.parts.control.must_end() || self.recorder.phase() == Phase::Settle {
                return false;
            }
            if now_ns >= due_ns {
                return true;
            }
            let until_ns = due_ns
                .min(now_ns + STOP_CHECK_NS)
                .min(self.recorder.end_ns().max(now_ns + 1));
            self.sleeper.sleep_until(&self.clock, until_ns);
        }
    }

    fn over(&self) -> Option<EndReason> {
        match self.parts.control.must_end() {
            true => None,
            false => Some(EndReason::Time),
        }
    }

    /// Carries out one operation and counts it.
    #[inline]
    fn one(&mut self, task: &Task, due_ns: u64) {
        let parts = &mut self.parts;
        let ready = parts.hand.make_ready(task, self.state.altered);
        parts.visible.in_flight.describe(
            &Op {
                slot: 0,
                kind: task.kind,
                file: 0,
                offset: task.number,
                len: 0,
            },
            due_ns,
        );
        let start_ns = self.clock.now();
        self.pass(start_ns, 0);
        if due_ns != 0 {
            self.recorder.late(start_ns.saturating_sub(due_ns));
        }
        let parts = &mut self.parts;
        if parts.work.meta.stamped {
            let created_ns = start_ns.saturating_sub(self.origin_ns);
            parts.hand.set_created_ns(created_ns);
        }
        parts.visible.in_flight.start(0, start_ns);
        let result = ready.and_then(|()| parts.hand.carry_out(task));
        let end_ns = self.clock.now();
        parts.visible.in_flight.end(0);
        self.pass(end_ns, 1);
        let checked = result.and_then(|bytes| {
            let expected = self.expected(task);
            self.parts.hand.check(task, expected).map(|()| bytes)
        });
        picker::note(task, checked.is_ok(), &mut self.state);
        match checked {
            Ok(bytes) => {
                let service_ns = end_ns.saturating_sub(start_ns);
                if service_ns == 0 {
                    self.recorder.impossible();
                }
                self.recorder.complete(task.kind, bytes, service_ns.max(1));
                if self.parts.detailed {
                    self.detail(task, bytes, service_ns.max(1), end_ns);
                }
                if due_ns != 0 {
                    let response_ns = end_ns.saturating_sub(due_ns).max(1);
                    self.recorder.respond(task.kind, response_ns);
                }
                self.done.ops += 1;
            }
            Err(trouble) => self.failed(task, &trouble, end_ns),
        }
    }

    /// What only some trials record of an operation that succeeded.
    #[cold]
    fn detail(&mut self, task: &Task, bytes: u64, service_ns: u64, ended_ns: u64) {
        self.recorder.detail(Operation {
            kind: task.kind,
            worker: self.parts.index,
            file: 0,
            bytes: u32::try_from(bytes).unwrap_or(u32::MAX),
            offset_bytes: task.number,
            ended_ns,
            service_ns,
            submission_ns: 0,
        });
    }

    /// Entries that a listing should find, where that can be known: in a tree
    /// of the worker's own, with nothing but files in it.
    fn expected(&self, task: &Task) -> Option<u64> {
        let work = &self.parts.work;
        if task.thing().is_some() || work.geometry.tree.shared || work.meta.phase().is_none() {
            return None;
        }
        let state = &self.state;
        let others = state.links.count() + state.symlinks.count() + state.directories.count();
        if others > 0 || state.unsure {
            return None;
        }
        let below = |count| work.geometry.below_in_leaf(count, task.number);
        Some(below(state.files.tail)? - below(state.files.head)?)
    }

    #[cold]
    fn failed(&mut self, task: &Task, trouble: &Trouble, at_ns: u64) {
        let class = trouble.class();
        self.recorder.fail(task.kind, class);
        let parts = &self.parts;
        parts.control.note_failure(|| Failure {
            kind: task.kind,
            cause: Cause::Told(
                class,
                format!(
                    "{} of {}: {}",
                    task.kind.name(),
                    parts.hand.path(task),
                    trouble.text()
                ),
            ),
            file: 0,
            offset: task.number,
            len: 0,
            at_ns: at_ns.saturating_sub(self.origin_ns),
        });
        if parts.stop_on_error {
            parts.control.end(EndReason::Error);
        }
    }

    /// Lets time pass in the records.
    #[inline]
    fn pass(&mut self, now_ns: u64, in_flight: u32) {
        if self.recorder.is_over(now_ns) {
            let used = self.meter.take();
            self.recorder.cut(now_ns, in_flight, used);
        }
        self.recorder.pass(now_ns, in_flight);
        self.now_ns = now_ns;
    }

    /// Notes how far this worker was when the first had done its part.
    #[inline]
    fn look_for_first(&mut self) {
        if self.first_seen || self.parts.work.first_done_ns() == 0 {
            return;
        }
        self.first_seen = true;
        self.done.ops_at_first = self.done.ops;
        self.done.records_at_first = self.parts.hand.calls().records;
        if self.parts.work.meta.stop_with_first {
            self.parts.control.end(EndReason::Stopped);
        }
    }

    #[inline]
    fn think(&mut self) {
        if self.parts.think_ns > 0 && self.parts.pace.is_none() {
            let until_ns = self.now_ns.saturating_add(self.parts.think_ns);
            self.wait_until(until_ns);
        }
    }

    fn end(&mut self, reason: Option<EndReason>) {
        let control = &self.parts.control;
        self.allowance.give_back(control);
        match reason {
            Some(EndReason::Ops) => control.end_one(EndReason::Ops),
            Some(reason) => control.end(reason),
            None => {}
        }
        let now_ns = self.clock.now();
        let broken_off = !matches!(reason, Some(EndReason::Ops));
        if broken_off && self.recorder.phase() != Phase::Settle {
            let used = self.meter.take();
            self.recorder.settle(now_ns, 0, used);
        } else {
            self.pass(now_ns, 0);
        }
        self.now_ns = now_ns;
    }
}

/// What there would be on a target that takes no time.
fn imagined(parts: &Parts) -> Rank {
    let files = parts.work.geometry.tree.files;
    let all = super::rank::Window {
        head: 0,
        tail: files,
    };
    let creates = parts.work.meta.phase() == Some(OpKind::Create);
    Rank {
        files: if creates { Default::default() } else { all },
        marked: files,
        symlinks: all,
        directories: all,
        ..Rank::default()
    }
}
