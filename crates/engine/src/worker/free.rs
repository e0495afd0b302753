//! Slots without an operation.

use std::collections::VecDeque;

/// Free slots: those that may be used at once, and those that think first.
#[derive(Debug)]
pub(crate) struct FreeSlots {
    /// Last in, first out, so that buffers stay in the cache.
    ready: Vec<u32>,
    /// Slots and when they may be used again, in that order.
    thinking: VecDeque<(u32, u64)>,
    slots: usize,
}

impl FreeSlots {
    /// All of `0..slots`, usable at once.
    pub(crate) fn new(slots: u32) -> FreeSlots {
        FreeSlots {
            ready: (0..slots).rev().collect(),
            thinking: VecDeque::with_capacity(slots as usize),
            slots: slots as usize,
        }
    }

    /// When the next slot may be used: 0 for at once, `None` when all are taken.
    #[inline]
    pub(crate) fn next_ready_ns(&self) -> Option<u64> {
        if !self.ready.is_empty() {
            return Some(0);
        }
        self.thinking.front().map(|(_, ready_ns)| *ready_ns)
    }

    /// Takes a slot that may be used at `now_ns`.
    #[inline]
    pub(crate) fn take(&mut self, now_ns: u64) -> Option<u32> {
        self.ready.pop().or_else(|| self.take_thinking(now_ns))
    }

    /// Takes a slot that may be used at once.
    #[inline]
    pub(crate) fn take_ready(&mut self) -> Option<u32> {
        self.ready.pop()
    }

    fn take_thinking(&mut self, now_ns: u64) -> Option<u32> {
        let (_, ready_ns) = self.thinking.front()?;
        if *ready_ns > now_ns {
            return None;
        }
        self.thinking.pop_front().map(|(slot, _)| slot)
    }

    /// Gives a slot back, to be used at once.
    #[inline]
    pub(crate) fn give_back(&mut self, slot: u32) {
        self.expect_room(slot);
        self.ready.push(slot);
    }

    /// A slot that comes back twice would be given to two operations, which then
    /// share a buffer and a start.
    #[inline]
    fn expect_room(&self, slot: u32) {
        debug_assert!(
            self.ready.len() + self.thinking.len() < self.slots,
            "slot {slot} was free already"
        );
    }

    /// Gives a slot back, to be used from `ready_ns` on: hardly ever earlier than
    /// one that was given back before.
    pub(crate) fn give_back_thinking(&mut self, slot: u32, ready_ns: u64) {
        self.expect_room(slot);
        let later = self.thinking.iter().rev();
        let later = later.take_while(|(_, of_other_ns)| *of_other_ns > ready_ns);
        let at = self.thinking.len() - later.count();
        self.thinking.insert(at, (slot, ready_ns));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_slot_is_taken_once() {
        let mut free = FreeSlots::new(3);
        let taken: Vec<_> = std::iter::from_fn(|| free.take(0)).collect();
        assert_eq!(taken, [0, 1, 2]);
        assert_eq!(free.next_ready_ns(), None);
        free.give_back(1);
        assert_eq!(free.next_ready_ns(), Some(0));
        assert_eq!((free.take(0), free.take(0)), (Some(1), None));
    }

    #[test]
    fn who_thinks_is_not_taken_before_its_time() {
        let mut free = FreeSlots::new(2);
        assert_eq!((free.take(0), free.take(0)), (Some(0), Some(1)));
        free.give_back_thinking(0, 60);
        free.give_back_thinking(1, 50);
        assert_eq!(free.next_ready_ns(), Some(50));
        assert_eq!(free.take(49), None);
        assert_eq!((free.take(55), free.take(55)), (Some(1), None));
        assert_eq!(free.take(60), Some(0));
    }
}
