//! What only some trials record: sums of squares and a log of operations.
//! Allocated before the start, like the interval buffers, and written by one
//! thread with plain stores.

use std::io;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use fathom_model::recording::MOST_LOGGED_OPS;
use fathom_model::{OpKind, Operation, Recording};

use crate::arena::{SharedTable, Zeroed};

// SAFETY: an atomic; zero is 0.
unsafe impl Zeroed for AtomicU64 {}

/// What a trial records beyond counts and histograms of each interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Detail {
    /// Service latency in two halves.
    pub(crate) halves: bool,
    /// Depths, batches and squares.
    pub(crate) distributions: bool,
    /// Entries of the log of each worker.
    pub(crate) log: u32,
    /// Length of an interval.
    pub(crate) interval_ns: u64,
}

impl Detail {
    /// What `recording` asks of one of `workers` workers. Only an engine whose
    /// operations go on by themselves has two halves.
    pub(crate) fn new(recording: &Recording, workers: u32, asynchronous: bool) -> Detail {
        let log = recording.op_log.min(MOST_LOGGED_OPS);
        Detail {
            halves: recording.submission && asynchronous,
            distributions: recording.distributions,
            log: log.div_ceil(workers.max(1)),
            interval_ns: recording.interval_ns(),
        }
    }

    /// Whether anything is recorded operation by operation.
    pub(crate) fn is_any(&self) -> bool {
        self.halves || self.distributions || self.log > 0
    }
}

impl Default for Detail {
    fn default() -> Self {
        Detail::new(&Recording::default(), 1, false)
    }
}

/// Sums of squares, one for each histogram of each interval buffer, as two
/// cells.
#[derive(Debug)]
pub(crate) struct Squares {
    cells: SharedTable<AtomicU64>,
}

impl Squares {
    pub(crate) fn new(histograms: usize) -> io::Result<Squares> {
        Ok(Squares {
            cells: SharedTable::new(2 * histograms)?,
        })
    }

    #[inline]
    pub(crate) fn add(&self, histogram: usize, value_ns: u64) {
        let sum = self.sum(histogram) + u128::from(value_ns).pow(2);
        self.set(histogram, sum);
    }

    #[inline]
    pub(crate) fn sum(&self, histogram: usize) -> u128 {
        let (low, high) = (&self.cells[2 * histogram], &self.cells[2 * histogram + 1]);
        u128::from(high.load(Relaxed)) << 64 | u128::from(low.load(Relaxed))
    }

    #[inline]
    pub(crate) fn set(&self, histogram: usize, sum: u128) {
        self.cells[2 * histogram].store(sum as u64, Relaxed);
        self.cells[2 * histogram + 1].store((sum >> 64) as u64, Relaxed);
    }
}

/// One entry of the log.
#[derive(Debug)]
#[repr(C)]
struct LoggedOperation {
    /// Kind (8 bits), file (24 bits), length (32 bits).
    what: AtomicU64,
    offset: AtomicU64,
    ended_ns: AtomicU64,
    service_ns: AtomicU64,
    submission_ns: AtomicU64,
}

// SAFETY: atomics only, without padding; zero is a read of nothing.
unsafe impl Zeroed for LoggedOperation {}

const _: () = assert!(size_of::<LoggedOperation>() == 5 * 8);

/// The log of one worker: filled once from its start, never wrapped.
#[derive(Debug)]
pub(crate) struct OpLog {
    worker: u32,
    entries: SharedTable<LoggedOperation>,
    written: AtomicU64,
    missed: AtomicU64,
}

impl OpLog {
    pub(crate) fn new(worker: u32, entries: u32) -> io::Result<OpLog> {
        Ok(OpLog {
            worker,
            entries: SharedTable::new(entries as usize)?,
            written: AtomicU64::new(0),
            missed: AtomicU64::new(0),
        })
    }

    /// Adds an operation, or counts it when there is no room.
    pub(crate) fn push(&self, operation: &Operation) {
        let written = self.written.load(Relaxed);
        let Some(entry) = self.entries.get(written as usize) else {
            let missed = self.missed.load(Relaxed);
            self.missed.store(missed + 1, Relaxed);
            return;
        };
        // More files cannot be told apart in 24 bits; none of the others is hurt.
        let file = u64::from(operation.file) & 0xff_ffff;
        let what = (operation.kind as u64) << 56 | file << 32 | u64::from(operation.bytes);
        entry.what.store(what, Relaxed);
        entry.offset.store(operation.offset_bytes, Relaxed);
        entry.ended_ns.store(operation.ended_ns, Relaxed);
        entry.service_ns.store(operation.service_ns, Relaxed);
        entry.submission_ns.store(operation.submission_ns, Relaxed);
        self.written.store(written + 1, Release);
    }

    /// Entries so far.
    pub(crate) fn written(&self) -> u64 {
        self.written.load(Acquire)
    }

    /// Operations for which there was no room.
    pub(crate) fn missed(&self) -> u64 {
        self.missed.load(Relaxed)
    }

    /// The entries `from..to`.
    pub(crate) fn entries(&self, from: u64, to: u64) -> impl Iterator<Item = Operation> + '_ {
        debug_assert!(from <= to, "entries {from} to {to}");
        let to = to.min(self.written()) as usize;
        let entries = self.entries.get(from as usize..to).unwrap_or_default();
        entries.iter().map(|entry| {
            let what = entry.what.load(Relaxed);
            Operation {
                kind: OpKind::from_index((what >> 56) as usize).unwrap_or(OpKind::Read),
                worker: self.worker,
                file: (what >> 32) as u32 & 0xff_ffff,
                bytes: what as u32,
                offset_bytes: entry.offset.load(Relaxed),
                ended_ns: entry.ended_ns.load(Relaxed),
                service_ns: entry.service_ns.load(Relaxed),
                submission_ns: entry.submission_ns.load(Relaxed),
            }
        })
    }
}

/// What one worker's thread used in an interval.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Used {
    pub(crate) cpu_user_ns: u64,
    pub(crate) cpu_system_ns: u64,
    pub(crate) run_delay_ns: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn operation(offset_bytes: u64) -> Operation {
        Operation {
            kind: OpKind::Trim,
            worker: 7,
            file: 0xff_fffe,
            bytes: u32::MAX,
            offset_bytes,
            ended_ns: 3,
            service_ns: 2,
            submission_ns: 1,
        }
    }

    #[test]
    fn a_full_log_counts_what_it_misses() {
        let log = OpLog::new(7, 3).unwrap();
        for offset in 0..5 {
            log.push(&operation(offset));
        }
        assert_eq!((log.written(), log.missed()), (3, 2));
        let read: Vec<_> = log.entries(1, 9).collect();
        assert_eq!(read, [operation(1), operation(2)]);
        assert_eq!(log.entries(3, 3).count(), 0);
    }

    #[test]
    fn squares_do_not_overflow() {
        let squares = Squares::new(2).unwrap();
        squares.add(1, u64::MAX);
        squares.add(1, 3);
        assert_eq!(squares.sum(1), u128::from(u64::MAX).pow(2) + 9);
        assert_eq!(squares.sum(0), 0);
    }

    #[test]
    fn a_limit_is_shared_between_workers() {
        let recording = Recording {
            op_log: 10,
            submission: true,
            ..Recording::default()
        };
        let detail = Detail::new(&recording, 4, false);
        assert_eq!((detail.log, detail.halves), (3, false));
        assert!(detail.is_any() && !Detail::default().is_any());
    }
}
