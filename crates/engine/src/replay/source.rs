//! One worker's part of a recorded list.

use std::sync::Arc;

use fathom_model::Workload;
use fathom_model::workload::{SyncCall, WorkerRegion};

use super::{Action, Recorded};
use crate::access::{Access, Layout};
use crate::engine::Op;

/// One worker's part of a recorded list.
#[derive(Debug, Clone)]
pub(crate) struct ReplaySource {
    recorded: Arc<Recorded>,
    /// Index of the next operation.
    next: usize,
    first: usize,
    stride: usize,
    laps_left: u32,
    /// Start of this lap, nanoseconds.
    lap_ns: u64,
    first_file: u32,
    /// Files of the worker; with one, all operations go to it.
    files: u32,
    base: u64,
    usual_call: SyncCall,
}

impl ReplaySource {
    pub(crate) fn new(
        recorded: Arc<Recorded>,
        workload: &Workload,
        layout: &Layout,
        worker: u32,
    ) -> ReplaySource {
        let files = layout.files_of(worker);
        let divided = layout.shared && workload.data_set.region == WorkerRegion::Split;
        let (first, stride) = match divided {
            true => (worker as usize, workload.workers.max(1) as usize),
            false => (0, 1),
        };
        let mut source = ReplaySource {
            next: first,
            first,
            stride,
            laps_left: workload.each_worker.passes.unwrap_or(1).max(1),
            lap_ns: 0,
            first_file: files.start,
            files: files.end - files.start,
            base: layout.files.first().map_or(0, |file| file.start_bytes),
            usual_call: workload.sync.call,
            recorded,
        };
        source.turn();
        source
    }

    /// Begins the next lap where this one is over.
    fn turn(&mut self) {
        if self.next < self.recorded.ops.len() || self.laps_left == 0 {
            return;
        }
        self.laps_left -= 1;
        if self.laps_left > 0 && self.first < self.recorded.ops.len() {
            self.lap_ns = self.lap_ns.saturating_add(self.recorded.span_ns);
            self.next = self.first;
        } else {
            self.laps_left = 0;
        }
    }

    /// Whether nothing is left.
    #[inline]
    pub(crate) fn is_over(&self) -> bool {
        self.laps_left == 0
    }

    /// When the next operation is due, from the start of the load; nothing when
    /// there is none.
    #[inline]
    pub(crate) fn due_ns(&self) -> Option<u64> {
        let op = self.recorded.ops.get(self.next)?;
        Some(self.lap_ns.saturating_add(op.at_ns))
    }

    /// The next operation; the last one again when nothing is left.
    #[inline(never)]
    pub(crate) fn next(&mut self) -> Access {
        let last = self.recorded.ops.len() - 1;
        let op = self.recorded.ops[self.next.min(last)];
        self.next = self.next.saturating_add(self.stride);
        self.turn();
        let offset = match (op.action, self.usual_call) {
            (Action::Fsync, SyncCall::Fdatasync) | (Action::Fdatasync, SyncCall::Fsync) => {
                Op::OTHER_CALL
            }
            (Action::Fsync | Action::Fdatasync, _) => 0,
            _ => self.base + op.offset,
        };
        Access {
            kind: op.action.kind(),
            file: self.first_file + u32::from(op.file) % self.files.max(1),
            offset,
            bytes: op.len,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::super::RecordedOp;
    use super::*;
    use crate::access::TargetKind;

    fn source(workers: u32, worker: u32, passes: u32) -> ReplaySource {
        let ops = (0..5).map(|n| RecordedOp {
            at_ns: n * 10,
            offset: n * 4096,
            len: 4096,
            file: 0,
            action: Action::Read,
        });
        let recorded = Recorded {
            ops: ops.collect(),
            files: Box::new(["f".to_owned()]),
            span_ns: 100,
        };
        let mut workload = Workload::example("replay");
        workload.workers = workers;
        workload.each_worker.passes = Some(passes);
        let path = |n| PathBuf::from(format!("f.{n}"));
        let layout = Layout::new(TargetKind::Device, &workload, 1 << 20, path).unwrap();
        ReplaySource::new(Arc::new(recorded), &workload, &layout, worker)
    }

    fn all(mut source: ReplaySource) -> Vec<(u64, u64)> {
        let mut seen = Vec::new();
        while !source.is_over() {
            let due = source.due_ns().unwrap();
            seen.push((due, source.next().offset / 4096));
        }
        seen
    }

    #[test]
    fn workers_that_share_take_turns() {
        assert_eq!(all(source(2, 0, 1)), [(0, 0), (20, 2), (40, 4)]);
        assert_eq!(all(source(2, 1, 1)), [(10, 1), (30, 3)]);
        assert_eq!(all(source(9, 7, 1)), []);
    }

    #[test]
    fn a_list_is_repeated_with_its_length_between() {
        let twice = all(source(1, 0, 2));
        assert_eq!(twice.len(), 10);
        assert_eq!(twice[5..7], [(100, 0), (110, 1)]);
    }
}
