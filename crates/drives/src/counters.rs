//! What a device's own statistics show, and the counting behind it.

use fathom_model::{Histogram, OpKind};
use serde::{Deserialize, Serialize};

use super::SimEnd;
use super::truth::{Inside, KindDone, LatencyCounts};

/// A drive's statistics at one time, all since its start. An operation counts
/// when its end is known, which for most models is its submission.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Counters {
    /// Reads that succeeded, the neighbour's with them.
    pub reads: u64,
    /// 512-byte sectors read.
    pub read_sectors: u64,
    /// Time spent by reads, from submission to end, summed.
    pub read_ns: u64,
    /// Writes that succeeded, the neighbour's with them.
    pub writes: u64,
    /// 512-byte sectors written.
    pub write_sectors: u64,
    /// Time spent by writes.
    pub write_ns: u64,
    /// Discards.
    pub discards: u64,
    /// Flushes.
    pub flushes: u64,
    /// Operations that failed.
    pub errors: u64,
    /// Operations that will never end.
    pub hung: u64,
    /// Time during which at least one operation was under way.
    pub busy_ns: u64,
    /// Of these operations, the neighbour's.
    pub foreign_ops: u64,
    /// Bytes of the neighbour's operations.
    pub foreign_bytes: u64,
    /// What the model counted inside: temperature, throttling and so on.
    pub inside: Inside,
}

/// Counts what ends.
#[derive(Debug)]
pub(super) struct DriveTally {
    kinds: [KindCounters; OpKind::ALL.len()],
    hung: u64,
    foreign: [Foreign; 2],
    busy_ns: u64,
    /// Until when somebody is being served, as far as is known.
    busy_until_ns: u64,
}

#[derive(Debug, Default)]
struct KindCounters {
    bytes: u64,
    errors: u64,
    latency: Histogram,
}

/// The neighbour's reads or writes.
#[derive(Debug, Default, Clone, Copy)]
struct Foreign {
    ops: u64,
    bytes: u64,
    spent_ns: u64,
}

impl DriveTally {
    pub(super) fn new() -> DriveTally {
        DriveTally {
            kinds: std::array::from_fn(|_| KindCounters::default()),
            hung: 0,
            foreign: [Foreign::default(); 2],
            busy_ns: 0,
            busy_until_ns: 0,
        }
    }

    /// An operation that began at `start_ns` has an end.
    #[inline]
    pub(super) fn count(&mut self, kind: OpKind, start_ns: u64, end: &SimEnd) {
        if end.at_ns == u64::MAX {
            self.hung += 1;
            return;
        }
        debug_assert!(
            start_ns <= end.at_ns,
            "{kind:?} of {start_ns} ended at {}",
            end.at_ns
        );
        self.be_busy(start_ns, end.at_ns);
        let done = &mut self.kinds[kind.index()];
        match end.result {
            Ok(bytes) => {
                done.bytes += u64::from(bytes);
                done.latency.record(end.at_ns - start_ns);
            }
            Err(_) => done.errors += 1,
        }
    }

    /// An operation of the neighbour has an end.
    pub(super) fn count_foreign(&mut self, write: bool, start_ns: u64, end: &SimEnd) {
        if end.at_ns == u64::MAX {
            return;
        }
        self.be_busy(start_ns, end.at_ns);
        let foreign = &mut self.foreign[usize::from(write)];
        foreign.ops += 1;
        foreign.bytes += u64::from(end.result.unwrap_or(0));
        foreign.spent_ns += end.at_ns - start_ns;
    }

    #[inline]
    fn be_busy(&mut self, start_ns: u64, end_ns: u64) {
        // Time in which several are under way is busy once.
        let from_ns = start_ns.max(self.busy_until_ns);
        if end_ns > from_ns {
            self.busy_ns += end_ns - from_ns;
            self.busy_until_ns = end_ns;
        }
    }

    /// The end of the last operation.
    pub(super) fn last_end_ns(&self) -> u64 {
        self.busy_until_ns
    }

    pub(super) fn hung(&self) -> u64 {
        self.hung
    }

    pub(super) fn busy_ns(&self) -> u64 {
        self.busy_ns
    }

    pub(super) fn foreign_ops(&self) -> u64 {
        self.foreign.iter().map(|f| f.ops).sum()
    }

    pub(super) fn foreign_bytes(&self) -> u64 {
        self.foreign.iter().map(|f| f.bytes).sum()
    }

    /// What was done, by kind.
    pub(super) fn done(&self) -> Vec<KindDone> {
        let done = OpKind::ALL.into_iter().zip(&self.kinds);
        done.filter(|(_, done)| done.errors > 0 || !done.latency.is_empty())
            .map(|(kind, done)| KindDone {
                kind,
                ops: done.latency.count(),
                bytes: done.bytes,
                errors: done.errors,
                latency: LatencyCounts::from(&done.latency),
            })
            .collect()
    }

    /// The statistics at `now_ns`.
    pub(super) fn counters(&self, now_ns: u64, inside: Inside) -> Counters {
        let of = |kind: OpKind| &self.kinds[kind.index()];
        let spent_ns = |kind| u64::try_from(of(kind).latency.sum()).unwrap_or(u64::MAX);
        let [read, write] = self.foreign;
        Counters {
            reads: of(OpKind::Read).latency.count() + read.ops,
            read_sectors: (of(OpKind::Read).bytes + read.bytes) / 512,
            read_ns: spent_ns(OpKind::Read).saturating_add(read.spent_ns),
            writes: of(OpKind::Write).latency.count() + write.ops,
            write_sectors: (of(OpKind::Write).bytes + write.bytes) / 512,
            write_ns: spent_ns(OpKind::Write).saturating_add(write.spent_ns),
            discards: of(OpKind::Trim).latency.count(),
            flushes: of(OpKind::Sync).latency.count(),
            errors: self.kinds.iter().map(|kind| kind.errors).sum(),
            hung: self.hung,
            // What lies ahead has not been spent yet.
            busy_ns: self
                .busy_ns
                .saturating_sub(self.busy_until_ns.saturating_sub(now_ns)),
            foreign_ops: self.foreign_ops(),
            foreign_bytes: self.foreign_bytes(),
            inside,
        }
    }
}
