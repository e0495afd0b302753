//! Waiting for files that another host (or another run) creates: how long it
//! takes until what one has made can be read by the other.
//!
//! The worker looks again and again: every tenth of a millisecond, or an eighth
//! of the shortest time that it has found so far, and more seldom where it waits
//! for long. A file of the same run begins with
//! the time of its creation, counted from the opening of the gate, which all
//! hosts share as well as their clocks are known; that of another run tells
//! only how long it was waited for.

use fathom_model::sample::Phase;

use super::Worker;
use crate::clock::Clock;
use crate::engine::Op;
use crate::meta::task::Task;

/// The pause between two looks: a part of the shortest time found so far, or of
/// what was waited for this file, within bounds.
const PART_OF_SHORTEST: u64 = 8;
const PART_OF_WAIT: u64 = 256;
const SHORTEST_NS: u64 = 100_000;
const LONGEST_NS: u64 = 20_000_000;

impl Worker {
    /// Waits for the file of a task and counts how long it took; nothing is
    /// counted when the load ends before.
    pub(super) fn wait_for_file(&mut self, task: &Task) {
        let parts = &mut self.parts;
        let ready = parts.hand.make_ready(task, false);
        let op = Op {
            slot: 0,
            kind: task.kind,
            file: 0,
            offset: task.number,
            len: 0,
        };
        parts.visible.in_flight.describe(&op, 0);
        let start_ns = self.clock.now();
        self.pass(start_ns, 0);
        self.parts.visible.in_flight.start(0, start_ns);
        let seen = loop {
            let looked = match &ready {
                Ok(()) => self.parts.hand.carry_out(task),
                Err(trouble) => Err(trouble.clone()),
            };
            let now_ns = self.clock.now();
            self.pass(now_ns, 1);
            match looked {
                Ok(_) => break Some(Ok(now_ns)),
                Err(trouble) if trouble.is_not_yet() => {}
                Err(trouble) => break Some(Err(trouble)),
            }
            if self.parts.control.must_end() || self.recorder.phase() == Phase::Settle {
                break None;
            }
            let pause_ns = (now_ns - start_ns) / PART_OF_WAIT;
            let pause_ns = pause_ns.max(self.shortest_wait_ns / PART_OF_SHORTEST);
            let until_ns = now_ns + pause_ns.clamp(SHORTEST_NS, LONGEST_NS);
            self.sleeper.sleep_until(&self.clock, until_ns);
        };
        self.parts.visible.in_flight.end(0);
        match seen {
            Some(Ok(seen_ns)) => self.count_wait(task, start_ns, seen_ns),
            Some(Err(trouble)) => self.failed(task, &trouble, self.now_ns),
            None => {}
        }
    }

    fn count_wait(&mut self, task: &Task, start_ns: u64, seen_ns: u64) {
        let since_ns = match self.parts.hand.created_ns() {
            Some(created_ns) => self.origin_ns.saturating_add(created_ns),
            None => start_ns,
        };
        let took_ns = seen_ns.saturating_sub(since_ns);
        if took_ns == 0 {
            // Seen before it was made: the clocks are not known that well.
            self.recorder.impossible();
        }
        self.shortest_wait_ns = match self.shortest_wait_ns {
            0 => took_ns,
            shortest => shortest.min(took_ns),
        };
        self.recorder.complete(task.kind, 0, took_ns.max(1));
        if self.parts.detailed {
            self.detail(task, 0, took_ns.max(1), seen_ns);
        }
        self.done.ops += 1;
    }
}
