//! Slots without an operation, in the order in which they became free.

/// A ring of free slots and when each may be used again (think time).
#[derive(Debug)]
pub(crate) struct FreeSlots {
    ring: Box<[(u32, u64)]>,
    head: u32,
    len: u32,
}

impl FreeSlots {
    /// All of `0..slots`, usable at once.
    pub(crate) fn new(slots: u32) -> FreeSlots {
        FreeSlots {
            ring: (0..slots).map(|slot| (slot, 0)).collect(),
            head: 0,
            len: slots,
        }
    }

    /// When the next slot may be used; `None` when all are taken.
    #[inline]
    pub(crate) fn next_ready_ns(&self) -> Option<u64> {
        (self.len > 0).then(|| self.ring[self.head as usize].1)
    }

    /// Takes the next slot.
    #[inline]
    pub(crate) fn pop(&mut self) -> Option<u32> {
        if self.len == 0 {
            return None;
        }
        let slot = self.ring[self.head as usize].0;
        self.head = self.wrap(self.head + 1);
        self.len -= 1;
        Some(slot)
    }

    /// Gives a slot back, to be used no earlier than `ready_ns`.
    #[inline]
    pub(crate) fn push(&mut self, slot: u32, ready_ns: u64) {
        debug_assert!((self.len as usize) < self.ring.len());
        let tail = self.wrap(self.head + self.len);
        self.ring[tail as usize] = (slot, ready_ns);
        self.len += 1;
    }

    #[inline]
    fn wrap(&self, index: u32) -> u32 {
        let slots = self.ring.len() as u32;
        if index >= slots { index - slots } else { index }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_come_back_in_order_with_their_time() {
        let mut free = FreeSlots::new(3);
        let taken: Vec<_> = std::iter::from_fn(|| free.pop()).collect();
        assert_eq!(taken, [0, 1, 2]);
        assert_eq!(free.next_ready_ns(), None);
        free.push(2, 50);
        free.push(0, 60);
        assert_eq!(free.next_ready_ns(), Some(50));
        assert_eq!(
            (free.pop(), free.pop(), free.pop()),
            (Some(2), Some(0), None)
        );
    }
}
