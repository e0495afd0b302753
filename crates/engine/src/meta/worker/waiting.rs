//! Waiting for files that another host (or another run) creates: how long it
//! takes until what one has made can be read by the other.
//!
//! The worker looks again and again: every tenth of a millisecond, or an eighth
//! of the shortest time that it has found so far, and more seldom where it waits
//! for long. A file of the same run begins with
//! the time of its creation, counted from the opening of the gate, which all
//! hosts share as well as their clocks are known; that of another run tells
//! only how long it was waited for.

use super::{SLOT, Took, Worker};
use crate::meta::task::Task;
use crate::worker::{LoadState, Start};

/// The pause between two looks: a part of the shortest time found so far, or of
/// what was waited for this file, within bounds.
const PART_OF_SHORTEST: u64 = 8;
const PART_OF_WAIT: u64 = 256;
const SHORTEST_NS: u64 = 100_000;
const LONGEST_NS: u64 = 20_000_000;

impl Worker {
    /// Waits for the file of a task and counts how long it took; nothing is
    /// counted when the load ends before.
    pub(super) fn wait_for_file(&mut self, load: &mut LoadState, task: &Task) {
        let ready = self.make_ready(load, task, 0);
        let start = load.start(SLOT, 0);
        let seen = loop {
            let looked = match &ready {
                Ok(()) => self.parts.hand.carry_out(task),
                Err(trouble) => Err(trouble.clone()),
            };
            load.tick();
            let now_ns = load.now_ns();
            match looked {
                Ok(_) => break Some(Ok(now_ns)),
                Err(trouble) if trouble.is_not_yet() => {}
                Err(trouble) => break Some(Err(trouble)),
            }
            if load.must_end() {
                break None;
            }
            let pause_ns = (now_ns - start.start_ns) / PART_OF_WAIT;
            let pause_ns = pause_ns.max(self.shortest_wait_ns / PART_OF_SHORTEST);
            let until_ns = now_ns + pause_ns.clamp(SHORTEST_NS, LONGEST_NS);
            self.sleep_until(load, until_ns);
        };
        load.end(SLOT, load.now_ns());
        match seen {
            Some(Ok(seen_ns)) => self.count_wait(load, task, start, seen_ns),
            Some(Err(trouble)) => self.failed(load, task, &trouble, load.now_ns()),
            None => {}
        }
    }

    fn count_wait(&mut self, load: &mut LoadState, task: &Task, start: Start, seen_ns: u64) {
        // Seen before it was made: the clocks are not known that well.
        let since = match self.parts.hand.created_ns() {
            Some(created_ns) => Start {
                start_ns: load.origin_ns().saturating_add(created_ns),
                due_ns: 0,
            },
            None => start,
        };
        let service_ns = load.succeeded(task.kind, 0, since, seen_ns);
        self.shortest_wait_ns = match self.shortest_wait_ns {
            0 => service_ns,
            shortest => shortest.min(service_ns),
        };
        if self.parts.detailed {
            let took = Took {
                ended_ns: seen_ns,
                service_ns,
            };
            self.detail(load, task, 0, took);
        }
    }
}
