//! Flushes: after every N writes of a worker, and once at the end.
//!
//! A batch is N writes. When the last one has been queued, further writes
//! and trims wait; when all writes of the batch have ended, every file that
//! it touched is flushed, one after the other, through the engine like any
//! operation. From the submission of the first write to the end of the last
//! flush is one commit. A batch in which anything failed commits nothing.

use fathom_model::OpKind;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Writes go on.
    Collecting,
    /// The batch is full; its writes or flushes are under way.
    Closing,
}

/// The batch of one worker.
#[derive(Debug)]
pub(crate) struct Commit {
    every: u32,
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
}

impl Commit {
    /// Flushes after `every` writes (0: never) over `files` files.
    pub(crate) fn new(every: u32, final_flush: bool, files: u32) -> Commit {
        let active = every > 0 || final_flush;
        let words = if active { files.div_ceil(64) } else { 0 };
        Commit {
            every,
            active,
            state: State::Collecting,
            queued: 0,
            writes_in_flight: 0,
            flushing: false,
            failed: false,
            first_start_ns: None,
            dirty: vec![0; words as usize].into_boxed_slice(),
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
        if self.queued == self.every {
            self.state = State::Closing;
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
        if self.state == State::Collecting || self.flushing || self.writes_in_flight > 0 {
            return None;
        }
        self.first_dirty()
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
        self.dirty[file as usize / 64] &= !(1 << (file % 64));
        self.flushing = true;
    }

    /// The flush has ended. Returns the start of the batch when it is now
    /// committed.
    pub(crate) fn flush_ended(&mut self, succeeded: bool) -> Option<u64> {
        self.flushing = false;
        self.failed |= !succeeded;
        if self.first_dirty().is_some() {
            return None;
        }
        self.state = State::Collecting;
        self.queued = 0;
        let start_ns = self.first_start_ns.take();
        let failed = std::mem::take(&mut self.failed);
        if failed { None } else { start_ns }
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
        self.every = 0;
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

    #[test]
    fn a_batch_commits_when_all_its_files_are_flushed() {
        let mut commit = Commit::new(3, false, 100);
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
            let mut commit = Commit::new(1, false, 1);
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
        let mut commit = Commit::new(0, true, 1);
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
