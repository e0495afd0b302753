//! Flushes: after every N writes of a worker, and once at the end. A second
//! rhythm may flush with the other call; where both are due `fsync` does for
//! both, since it makes durable what `fdatasync` does and more.
//!
//! A batch is N writes. When the last one has been queued, further writes
//! and trims wait; when all writes of the batch have ended, every file that
//! it touched is flushed, one after the other, through the engine like any
//! operation. From the submission of the first write to the end of the last
//! flush is one commit. A batch in which anything failed commits nothing.
//!
//! Undrained, as fio does it, the file of the last write of a batch is flushed
//! as soon as that write is queued, and writes go on once the flush is queued.
//! It covers only what has ended, so nothing is committed, and it is one of the
//! operations that the depth allows in flight.
//!
//! A range sync is undrained. It covers what the writes of its file that have
//! ended since the last one span, and is left out where none has. For the final
//! flush it counts as nothing.

use fathom_model::OpKind;
use fathom_model::workload::{RangeSync, SyncCall, SyncPolicy};

use crate::engine::Op;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BatchState {
    /// Writes go on.
    Collecting,
    /// The batch is full; its writes or flushes are under way.
    Closing,
}

/// After how many writes a worker flushes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Rhythm {
    /// With the usual call, and with the other one; 0 is never.
    pub(crate) every: [u32; 2],
    /// The other call is `fsync`.
    pub(crate) other_is_stronger: bool,
    /// A flush does not wait for the writes in flight.
    pub(crate) undrained: bool,
    /// Flags of `sync_file_range`, which is called instead; 0 is a real flush.
    pub(crate) range_flags: u32,
}

impl Rhythm {
    /// That of a workload.
    pub(crate) fn of(sync: &SyncPolicy) -> Rhythm {
        let flushes = Rhythm {
            every: [sync.every_writes, sync.other_every_writes],
            other_is_stronger: sync.call == SyncCall::Fdatasync,
            undrained: sync.undrained,
            range_flags: 0,
        };
        match &sync.ranges {
            Some(ranges) if !flushes.is_active() => Rhythm::of_ranges(ranges),
            _ => flushes,
        }
    }

    fn of_ranges(ranges: &RangeSync) -> Rhythm {
        let flags = [
            (ranges.wait_before, libc::SYNC_FILE_RANGE_WAIT_BEFORE),
            (ranges.write, libc::SYNC_FILE_RANGE_WRITE),
            (ranges.wait_after, libc::SYNC_FILE_RANGE_WAIT_AFTER),
        ];
        let set = flags.iter().filter(|(set, _)| *set);
        match set.fold(0, |sum, (_, flag)| sum | flag) {
            0 => Rhythm::NEVER,
            range_flags => Rhythm {
                every: [ranges.every_writes, 0],
                other_is_stronger: false,
                undrained: true,
                range_flags,
            },
        }
    }

    /// No flushes but the final one.
    pub(crate) const NEVER: Rhythm = Rhythm {
        every: [0; 2],
        other_is_stronger: false,
        undrained: false,
        range_flags: 0,
    };

    fn is_active(&self) -> bool {
        self.every != [0; 2]
    }
}

/// What writes of a file that have ended span.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Written {
    first: u64,
    end: u64,
}

impl Written {
    const NOTHING: Written = Written {
        first: u64::MAX,
        end: 0,
    };
}

/// The batch of one worker.
#[derive(Debug)]
pub(crate) struct Commit {
    rhythm: Rhythm,
    /// Writes since the last flush of each rhythm.
    since: [u32; 2],
    /// Rhythms whose flush is due.
    due: [bool; 2],
    /// Something will have to be flushed, so writes are followed.
    active: bool,
    state: BatchState,
    queued: u32,
    writes_in_flight: u32,
    flushing: bool,
    failed: bool,
    first_start_ns: Option<u64>,
    /// Files written since their last flush, one bit each.
    dirty: Box<[u64]>,
    /// The file that an undrained flush is due for.
    undrained: Option<u32>,
    /// What each file's next range sync covers; empty without them.
    written: Box<[Written]>,
}

impl Commit {
    /// Flushes in a rhythm over `files` files.
    pub(crate) fn new(rhythm: Rhythm, final_flush: bool, files: u32) -> Commit {
        let active = rhythm.is_active() || final_flush;
        let words = if active { files.div_ceil(64) } else { 0 };
        let ranges = if rhythm.range_flags == 0 { 0 } else { files };
        Commit {
            rhythm,
            since: [0; 2],
            due: [false; 2],
            active,
            state: BatchState::Collecting,
            queued: 0,
            writes_in_flight: 0,
            flushing: false,
            failed: false,
            first_start_ns: None,
            dirty: vec![0; words as usize].into_boxed_slice(),
            undrained: None,
            written: vec![Written::NOTHING; ranges as usize].into_boxed_slice(),
        }
    }

    /// Whether anything will have to be flushed.
    pub(crate) fn is_active(&self) -> bool {
        self.active
    }

    /// Whether an operation of this kind must wait for the flush.
    #[inline]
    pub(crate) fn blocks(&self, kind: OpKind) -> bool {
        self.state == BatchState::Closing && kind != OpKind::Read
    }

    /// A write has been queued.
    #[inline]
    pub(crate) fn write_queued(&mut self, file: u32) {
        if !self.active {
            return;
        }
        self.dirty[file as usize / 64] |= 1 << (file % 64);
        self.writes_in_flight += 1;
        self.queued += 1;
        for n in 0..2 {
            self.since[n] = self.since[n].wrapping_add(1);
            if self.since[n] == self.rhythm.every[n] {
                self.due[n] = true;
                self.state = BatchState::Closing;
                self.undrained = self.rhythm.undrained.then_some(file);
            }
        }
    }

    /// Whether the flush that is due is one of the operations in flight, for
    /// which there must be room. Otherwise it is alone.
    pub(crate) fn is_undrained(&self) -> bool {
        self.undrained.is_some()
    }

    /// Whether a flush is under way that is one of the operations in flight.
    #[inline]
    pub(crate) fn flushes_beside(&self) -> bool {
        self.flushing && self.rhythm.undrained
    }

    /// Whether ranges are synced, so that it matters where writes were.
    #[inline]
    pub(crate) fn follows_ranges(&self) -> bool {
        self.rhythm.range_flags != 0
    }

    /// A write has succeeded, while ranges are followed.
    pub(crate) fn wrote(&mut self, op: &Op) {
        let written = &mut self.written[op.file as usize];
        written.first = written.first.min(op.offset);
        written.end = written.end.max(op.offset + u64::from(op.len));
    }

    /// How the flush of a file that is due is made: offset and length of its
    /// operation. Nothing when it would be a range without any write.
    pub(crate) fn flush(&self, file: u32) -> Option<(u64, u32)> {
        if !self.follows_ranges() {
            return Some((self.flush_flags(), 0));
        }
        let written = self.written[file as usize];
        let flags = self.rhythm.range_flags;
        (written.end > written.first).then(|| Op::of_range(flags, written.first, written.end))
    }

    /// The flush that is due has nothing to do.
    pub(crate) fn skip_flush(&mut self) {
        self.undrained = None;
        self.begin_batch();
    }

    fn flush_flags(&self) -> u64 {
        let mut flags = 0;
        if self.flushes_with_other() {
            flags |= Op::OTHER_CALL;
        }
        if self.undrained.is_some() {
            flags |= Op::UNDRAINED;
        }
        flags
    }

    fn flushes_with_other(&self) -> bool {
        match self.due {
            [true, true] => self.rhythm.other_is_stronger,
            [_, other] => other,
        }
    }

    /// What was queued is handed over now.
    #[inline]
    pub(crate) fn started(&mut self, now_ns: u64) {
        if self.queued > 0 && self.first_start_ns.is_none() {
            self.first_start_ns = Some(now_ns);
        }
    }

    /// A write has ended.
    #[inline]
    pub(crate) fn write_ended(&mut self, succeeded: bool) {
        if self.active {
            self.writes_in_flight -= 1;
            self.failed |= !succeeded;
        }
    }

    /// The next file to be flushed, if a flush is due now.
    #[inline]
    pub(crate) fn next_flush(&mut self) -> Option<u32> {
        if self.state == BatchState::Collecting || self.flushing {
            return None;
        }
        match self.undrained {
            Some(file) => Some(file),
            None if self.writes_in_flight > 0 => None,
            None => self.first_dirty(),
        }
    }

    fn first_dirty(&self) -> Option<u32> {
        let (word, bits) = self
            .dirty
            .iter()
            .enumerate()
            .find(|(_, bits)| **bits != 0)?;
        Some(word as u32 * 64 + bits.trailing_zeros())
    }

    /// The flush of a file has been queued.
    pub(crate) fn flush_queued(&mut self, file: u32) {
        if self.undrained.take().is_some() {
            // The file stays dirty for the final flush: writes are in flight.
            self.flushing = true;
            if self.follows_ranges() {
                self.written[file as usize] = Written::NOTHING;
            }
            self.begin_batch();
            return;
        }
        self.dirty[file as usize / 64] &= !(1 << (file % 64));
        self.flushing = true;
    }

    /// The flush has ended. Returns the start of the batch when it is now
    /// committed.
    pub(crate) fn flush_ended(&mut self, succeeded: bool) -> Option<u64> {
        self.flushing = false;
        if self.rhythm.undrained {
            self.failed = false;
            self.first_start_ns = None;
            return None;
        }
        self.failed |= !succeeded;
        if self.first_dirty().is_some() {
            return None;
        }
        self.begin_batch();
        let start_ns = self.first_start_ns.take();
        let failed = std::mem::take(&mut self.failed);
        if failed { None } else { start_ns }
    }

    fn begin_batch(&mut self) {
        self.state = BatchState::Collecting;
        self.queued = 0;
        for n in 0..2 {
            if std::mem::take(&mut self.due[n]) {
                self.since[n] = 0;
            }
        }
    }

    /// No more writes will come: the batch under way is not committed, but a
    /// flush that is due is still carried out.
    pub(crate) fn give_up_batch(&mut self) {
        if self.state == BatchState::Collecting {
            self.queued = 0;
            self.first_start_ns = None;
        }
    }

    /// Starts the final flush. Returns whether there is anything to flush.
    pub(crate) fn start_final(&mut self) -> bool {
        self.rhythm = Rhythm::NEVER;
        self.due = [false; 2];
        self.undrained = None;
        self.failed = false;
        self.first_start_ns = None;
        let any = self.active && self.first_dirty().is_some();
        if any {
            self.state = BatchState::Closing;
        }
        any
    }

    /// Whether a flush is due or under way.
    #[inline]
    pub(crate) fn is_closing(&self) -> bool {
        self.state == BatchState::Closing
    }
}

#[cfg(test)]
#[path = "commit_tests.rs"]
mod tests;
