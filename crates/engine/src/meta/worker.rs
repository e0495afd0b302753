//! Operations on a tree: draw, make ready, carry out, count.
//!
//! One clock reading right before the system calls of an operation and one
//! right after; everything else lies outside. Nothing is allocated per
//! operation.

mod waiting;

use std::sync::Arc;

use fathom_model::{OpKind, Operation};

use super::hand::{Hand, Trouble};
use super::picker::{self, Picker};
use super::rank::Rank;
use super::task::Task;
use super::work::{TreeProgress, TreeWork};
use crate::clock::Clock;
use crate::engine::Op;
use crate::worker::{self, Draw, Failed, LoadState, Operations, Pause, Sleeper};

/// The one slot: an operation on files blocks.
const SLOT: u32 = 0;

/// Everything that a worker on a tree is made of.
pub(crate) struct Parts {
    pub(crate) work: Arc<TreeWork>,
    /// Which worker it is, and on whose files it works.
    pub(crate) index: u32,
    pub(crate) rank: u32,
    pub(crate) hand: Hand,
    pub(crate) picker: Picker,
    pub(crate) may_spin: bool,
    /// Operations are recorded one by one.
    pub(crate) detailed: bool,
}

/// When an operation ended, and how long it took.
#[derive(Clone, Copy)]
struct Took {
    ended_ns: u64,
    service_ns: u64,
}

/// One worker under way.
pub(crate) struct Worker {
    parts: Parts,
    state: Rank,
    sleeper: Option<Sleeper>,
    records_at_first: Option<u64>,
    /// The shortest wait for somebody else's file; 0 before the first.
    shortest_wait_ns: u64,
}

impl Worker {
    pub(crate) fn new(parts: Parts) -> Worker {
        let tree = parts.work.tree.as_ref();
        Worker {
            state: tree.map_or_else(|| imagined(&parts), |tree| tree.take(parts.rank)),
            sleeper: None,
            records_at_first: None,
            shortest_wait_ns: 0,
            parts,
        }
    }

    /// Works until there is nothing left, a bound is reached, or it must end.
    pub(crate) fn run(mut self, load: LoadState) -> TreeProgress {
        let reached = worker::drive_operations(&mut self, load);
        let calls = *self.parts.hand.calls();
        if let Some(tree) = &self.parts.work.tree {
            tree.give_back(self.parts.rank, self.state);
        }
        TreeProgress {
            reached,
            records_at_first: self.records_at_first.unwrap_or(calls.records),
            calls,
        }
    }

    /// Carries out one operation and counts it.
    #[inline]
    fn carry_out(&mut self, load: &mut LoadState, task: &Task, due_ns: u64) {
        let ready = self.make_ready(load, task, due_ns);
        let start = load.start(SLOT, due_ns);
        let hand = &mut self.parts.hand;
        if self.parts.work.meta.stamped {
            hand.set_created_ns(start.start_ns.saturating_sub(load.origin_ns()));
        }
        let result = ready.and_then(|()| hand.carry_out(task));
        let end_ns = load.clock.now();
        load.pass(end_ns);
        load.end(SLOT, end_ns);
        let checked = result.and_then(|bytes| {
            let expected = self.expected(task);
            self.parts.hand.check(task, expected).map(|()| bytes)
        });
        picker::note(task, checked.is_ok(), &mut self.state);
        match checked {
            Ok(bytes) => {
                let service_ns = load.succeeded(task.kind, bytes, start, end_ns);
                if self.parts.detailed {
                    let took = Took {
                        ended_ns: end_ns,
                        service_ns,
                    };
                    self.detail(load, task, bytes, took);
                }
            }
            Err(trouble) => self.failed(load, task, &trouble, end_ns),
        }
    }

    /// Makes the operation in the slot ready; what went wrong in that.
    #[inline]
    fn make_ready(&mut self, load: &LoadState, task: &Task, due_ns: u64) -> Result<(), Trouble> {
        let altered = self.state.altered && task.kind != OpKind::AwaitCreate;
        let made = self.parts.hand.make_ready(task, altered);
        let op = Op {
            slot: SLOT,
            kind: task.kind,
            file: 0,
            offset: task.number,
            len: 0,
        };
        load.visible.in_flight.describe(&op, due_ns);
        made
    }

    /// What only some trials record of an operation that succeeded.
    #[cold]
    fn detail(&self, load: &mut LoadState, task: &Task, bytes: u64, took: Took) {
        load.recorder.detail(Operation {
            kind: task.kind,
            worker: self.parts.index,
            file: 0,
            bytes: u32::try_from(bytes).unwrap_or(u32::MAX),
            offset_bytes: task.number,
            ended_ns: took.ended_ns,
            service_ns: took.service_ns,
            submission_ns: 0,
        });
    }

    /// Sleeps until something is due.
    fn sleep_until(&mut self, load: &LoadState, due_ns: u64) {
        let sleeper = &mut self.sleeper;
        let may_spin = self.parts.may_spin;
        let sleeper = sleeper.get_or_insert_with(|| Sleeper::new(may_spin, load.origin_ns()));
        sleeper.sleep_until(&load.clock, due_ns);
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
    fn failed(&self, load: &mut LoadState, task: &Task, trouble: &Trouble, at_ns: u64) {
        let failed = Failed {
            kind: task.kind,
            class: trouble.class(),
            number: task.number,
            at_ns,
        };
        load.failed(failed, || {
            let path = self.parts.hand.path(task);
            format!("{} of {path}: {}", task.kind.name(), trouble.text())
        });
    }
}

impl Operations for Worker {
    type Task = Task;

    const BLOCKS: bool = true;

    #[inline]
    fn draw(&mut self) -> Draw<Task> {
        match self.parts.picker.next(&self.state) {
            Some(task) => Draw::Task(task),
            None => Draw::Done,
        }
    }

    #[inline]
    fn begin(&mut self, load: &mut LoadState, _: u32, task: Task, due_ns: u64) {
        match task.kind {
            OpKind::AwaitCreate => self.wait_for_file(load, &task),
            _ => self.carry_out(load, &task, due_ns),
        }
    }

    fn wait(&mut self, load: &mut LoadState, pause: Pause) {
        if pause.exact {
            self.sleep_until(load, pause.until_ns);
        } else {
            load.clock.sleep_until(pause.until_ns);
        }
    }

    fn first_is_done(&mut self) {
        self.records_at_first = Some(self.parts.hand.calls().records);
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
