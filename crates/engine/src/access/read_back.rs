//! Blocks that were written and are to be read again within the load.

use std::collections::{HashMap, VecDeque};

use fathom_model::workload::ReadBack;

/// Blocks that one worker keeps in mind at most; at this many they are read
/// back whatever was asked for.
const MOST_BLOCKS: u32 = 4 << 20;
/// Blocks for which there is room from the start.
const ROOM_BLOCKS: u32 = 1 << 16;

/// A block that was written: bytes, file, offset.
pub(super) type WrittenBlock = (u32, u32, u64);

/// The blocks of one worker that are still to be read back. Of a block that
/// was written again meanwhile, only the latest write is.
#[derive(Debug, Clone)]
pub(super) struct Backlog {
    /// In the order in which they were written, with their numbers.
    written: VecDeque<(u64, WrittenBlock)>,
    /// Number of the latest write by file and offset.
    latest: HashMap<(u32, u64), u64>,
    number: u64,
    every_writes: usize,
    at_once: usize,
    /// Blocks of the current batch that are left.
    batch: usize,
    /// Nothing more is written: all that is left is read.
    closing: bool,
    gave: bool,
}

impl Backlog {
    pub(super) fn new(rule: &ReadBack) -> Backlog {
        let every = rule.every_writes.clamp(1, MOST_BLOCKS);
        let room = every.min(ROOM_BLOCKS) as usize + 1;
        Backlog {
            written: VecDeque::with_capacity(room),
            latest: HashMap::with_capacity(room),
            number: 0,
            every_writes: every as usize,
            at_once: rule.at_once.clamp(1, every) as usize,
            batch: 0,
            closing: false,
            gave: false,
        }
    }

    /// A block is going to be written.
    pub(super) fn add(&mut self, block: WrittenBlock) {
        let (_, file, offset) = block;
        self.number += 1;
        self.latest.insert((file, offset), self.number);
        self.written.push_back((self.number, block));
        let due = self.latest.len() >= self.every_writes;
        if due || self.written.len() > MOST_BLOCKS as usize {
            self.batch = self.at_once;
        }
    }

    /// The block to be read back next, if it is time.
    #[inline]
    pub(super) fn next(&mut self) -> Option<WrittenBlock> {
        self.gave = false;
        if !self.closing {
            self.batch = self.batch.checked_sub(1)?;
        }
        while let Some((number, block)) = self.written.pop_front() {
            let (_, file, offset) = block;
            if self.latest.get(&(file, offset)) == Some(&number) {
                self.latest.remove(&(file, offset));
                self.gave = true;
                return Some(block);
            }
        }
        None
    }

    /// Whether the last access was one to read back.
    pub(super) fn gave(&self) -> bool {
        self.gave
    }

    /// Nothing more is written. `undone` is a write that was added last and
    /// will not be done.
    pub(super) fn close(&mut self, undone: Option<WrittenBlock>) {
        self.closing = true;
        let last = self.written.back().map(|(_, block)| *block);
        if undone.is_some() && last == undone {
            self.forget_last();
        }
    }

    fn forget_last(&mut self) {
        let Some((number, (_, file, offset))) = self.written.pop_back() else {
            return;
        };
        if self.latest.get(&(file, offset)) == Some(&number) {
            // What was there before is still to be read.
            let same = |(_, (_, f, o)): &&(u64, WrittenBlock)| (*f, *o) == (file, offset);
            match self.written.iter().rev().find(same) {
                Some((before, _)) => self.latest.insert((file, offset), *before),
                None => self.latest.remove(&(file, offset)),
            };
        }
    }

    /// Whether all has been read back and nothing more will be written.
    pub(super) fn is_over(&self) -> bool {
        self.closing && self.latest.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn backlog(every_writes: u32, at_once: u32) -> Backlog {
        Backlog::new(&ReadBack {
            every_writes,
            at_once,
        })
    }

    #[test]
    fn a_batch_is_due_after_so_many_writes() {
        let mut backlog = backlog(3, 2);
        for n in 0..3 {
            assert_eq!(backlog.next(), None);
            backlog.add((4096, 0, n * 4096));
        }
        assert_eq!(backlog.next(), Some((4096, 0, 0)));
        assert!(backlog.gave());
        assert_eq!(backlog.next(), Some((4096, 0, 4096)));
        assert_eq!((backlog.next(), backlog.gave()), (None, false));
        backlog.add((4096, 0, 5 * 4096));
        assert_eq!(backlog.next(), None, "two are left, three make a batch");
    }

    #[test]
    fn what_is_left_is_read_at_the_end_without_what_was_not_written() {
        let mut backlog = backlog(u32::MAX, u32::MAX);
        (0..3).for_each(|n| backlog.add((512, 1, n)));
        assert_eq!(backlog.next(), None);
        backlog.close(Some((512, 1, 2)));
        let rest: Vec<_> = std::iter::from_fn(|| backlog.next()).collect();
        assert_eq!(rest, [(512, 1, 0), (512, 1, 1)]);
        assert!(backlog.is_over());
    }

    #[test]
    fn of_a_block_that_was_written_twice_only_the_latest_write_is_read() {
        let mut backlog = backlog(u32::MAX, u32::MAX);
        for offset in [0, 4096, 0, 8192, 4096] {
            backlog.add((4096, 0, offset));
        }
        backlog.close(Some((4096, 0, 4096)));
        let rest: Vec<u64> = std::iter::from_fn(|| backlog.next())
            .map(|(_, _, offset)| offset)
            .collect();
        assert_eq!(rest, [4096, 0, 8192]);
        assert!(backlog.is_over() && backlog.next().is_none());
    }
}
