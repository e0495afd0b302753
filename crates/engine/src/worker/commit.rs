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

use fathom_model::OpKind;
use fathom_model::workload::{SyncCall, SyncPolicy};

use crate::engine::Op;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
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
}

impl Rhythm {
    /// That of a workload.
    pub(crate) fn of(sync: &SyncPolicy) -> Rhythm {
        Rhythm {
            every: [sync.every_writes, sync.other_every_writes],
            other_is_stronger: sync.call == SyncCall::Fdatasync,
            undrained: sync.undrained,
        }
    }

    /// No flushes but the final one.
    pub(crate) const NEVER: Rhythm = Rhythm {
        every: [0; 2],
        other_is_stronger: false,
        undrained: false,
    };

    fn is_active(&self) -> bool {
        self.every != [0; 2]
    }
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
    state: State,
    queued: u32,
    writes_in_flight: u32,
    flushing: bool,
    failed: bool,
    first_start_ns: Option<u64>,
    /// Files written since their last flush, one bit each.
    dirty: Box<[u64]>,
    /// The file that an undrained flush is due for.
    undrained: Option<u32>,
}

impl Commit {
    /// Flushes in a rhythm over `files` files.
    pub(crate) fn new(rhythm: Rhythm, final_flush: bool, files: u32) -> Commit {
        let active = rhythm.is_active() || final_flush;
        let words = if active { files.div_ceil(64) } else { 0 };
        Commit {
            rhythm,
            since: [0; 2],
            due: [false; 2],
            active,
            state: State::Collecting,
            queued: 0,
            writes_in_flight: 0,
            flushing: false,
            failed: false,
            first_start_ns: None,
            dirty: vec![0; words as usize].into_boxed_slice(),
            undrained: None,
        }
    }

    /// Whether anything will have to be flushed.
    pub(crate) fn is_active(&self) -> bool {
        self.active
    }

    /// Whether an operation of this kind must wait for the flush.
    #[inline]
    pub(crate) fn blocks(&self, kind: OpKind) -> bool {
        self.state == State::Closing && kind != OpKind::Read
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
                self.state = State::Closing;
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

    /// How the flush that is due is made: the offset of its operation.
    pub(crate) fn flush_flags(&self) -> u64 {
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
        if self.state == State::Collecting || self.flushing {
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
        self.state = State::Collecting;
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
        if self.state == State::Collecting {
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
            self.state = State::Closing;
        }
        any
    }

    /// Whether a flush is due or under way.
    #[inline]
    pub(crate) fn is_closing(&self) -> bool {
        self.state == State::Closing
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn every(writes: u32) -> Rhythm {
        Rhythm {
            every: [writes, 0],
            ..Rhythm::NEVER
        }
    }

    #[test]
    fn an_undrained_flush_waits_for_no_write_and_covers_the_last_file() {
        let rhythm = Rhythm {
            undrained: true,
            ..every(2)
        };
        let mut commit = Commit::new(rhythm, true, 4);
        commit.write_queued(1);
        assert_eq!(commit.next_flush(), None, "one write is not two");
        commit.write_queued(3);
        commit.started(10);
        assert!(commit.blocks(OpKind::Write), "until the flush is queued");
        assert_eq!(commit.next_flush(), Some(3), "both writes are in flight");
        assert_eq!(commit.flush_flags(), Op::UNDRAINED);
        commit.flush_queued(3);
        assert!(!commit.blocks(OpKind::Write), "writes go on beside it");
        commit.write_queued(0);
        commit.write_queued(0);
        assert_eq!(commit.next_flush(), None, "one flush at a time");
        for _ in 0..4 {
            commit.write_ended(true);
        }
        assert_eq!(commit.flush_ended(true), None, "nothing is committed");
        assert_eq!(commit.next_flush(), Some(0));
        commit.flush_queued(0);
        assert_eq!(commit.flush_ended(true), None);
        assert!(!commit.is_closing());
        // The final flush covers every file that was written.
        assert!(commit.start_final());
        let mut flushed = Vec::new();
        while let Some(file) = commit.next_flush() {
            assert_eq!(commit.flush_flags(), 0);
            commit.flush_queued(file);
            flushed.push(file);
            commit.flush_ended(true);
        }
        assert_eq!(flushed, [0, 1, 3]);
    }

    #[test]
    fn two_rhythms_flush_each_with_its_call() {
        let rhythm = Rhythm {
            every: [2, 3],
            other_is_stronger: true,
            undrained: false,
        };
        let mut commit = Commit::new(rhythm, false, 1);
        let mut flushes = Vec::new();
        for write in 1..=12 {
            commit.write_queued(0);
            commit.started(write);
            commit.write_ended(true);
            if commit.is_closing() {
                flushes.push((write, commit.flushes_with_other()));
                commit.flush_queued(0);
                assert!(commit.flush_ended(true).is_some());
            }
        }
        let usual = [2, 4, 8, 10].map(|write| (write, false));
        let other = [3, 6, 9, 12].map(|write| (write, true));
        let mut expected = [usual, other].concat();
        expected.sort_unstable();
        assert_eq!(flushes, expected);
    }

    #[test]
    fn a_batch_commits_when_all_its_files_are_flushed() {
        let mut commit = Commit::new(every(3), false, 100);
        commit.write_queued(1);
        commit.write_queued(70);
        commit.started(10);
        assert!(!commit.blocks(OpKind::Write));
        commit.write_queued(1);
        commit.started(20);
        assert!(commit.blocks(OpKind::Write) && commit.blocks(OpKind::Trim));
        assert!(!commit.blocks(OpKind::Read));
        assert_eq!(commit.next_flush(), None, "writes are in flight");
        for _ in 0..3 {
            commit.write_ended(true);
        }
        assert_eq!(commit.next_flush(), Some(1));
        commit.flush_queued(1);
        assert_eq!(commit.next_flush(), None, "one flush at a time");
        assert_eq!(commit.flush_ended(true), None, "the other file is dirty");
        assert_eq!(commit.next_flush(), Some(70));
        commit.flush_queued(70);
        assert_eq!(commit.flush_ended(true), Some(10));
        assert!(!commit.blocks(OpKind::Write));
    }

    #[test]
    fn what_failed_is_not_committed() {
        for (write_ok, flush_ok) in [(false, true), (true, false)] {
            let mut commit = Commit::new(every(1), false, 1);
            commit.write_queued(0);
            commit.started(1);
            commit.write_ended(write_ok);
            commit.flush_queued(commit.first_dirty().unwrap());
            assert_eq!(commit.flush_ended(flush_ok), None);
            // The next batch starts clean.
            commit.write_queued(0);
            commit.started(2);
            commit.write_ended(true);
            commit.flush_queued(0);
            assert_eq!(commit.flush_ended(true), Some(2));
        }
    }

    #[test]
    fn the_final_flush_covers_what_no_batch_did() {
        let mut commit = Commit::new(every(0), true, 1);
        assert!(!commit.start_final(), "nothing was written");
        commit.write_queued(0);
        commit.started(1);
        assert!(!commit.is_closing());
        commit.write_ended(true);
        assert!(commit.start_final());
        assert_eq!(commit.next_flush(), Some(0));
        commit.flush_queued(0);
        assert_eq!(commit.flush_ended(true), None, "a final flush is no commit");
        assert!(!commit.is_closing());
    }
}
