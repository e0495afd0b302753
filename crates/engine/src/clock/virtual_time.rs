//! Time that is told what it is: the clock of simulated trials.

use std::cell::Cell;
use std::rc::Rc;

use super::Clock;

/// A clock that moves only when it is moved. Clones show the same time.
#[derive(Debug, Clone, Default)]
pub(crate) struct VirtualClock {
    now_ns: Rc<Cell<u64>>,
}

impl VirtualClock {
    /// A clock that shows `now_ns`.
    pub(crate) fn new(now_ns: u64) -> VirtualClock {
        VirtualClock {
            now_ns: Rc::new(Cell::new(now_ns)),
        }
    }

    /// Moves the clock on. It never goes back.
    pub(crate) fn advance_to(&self, now_ns: u64) {
        self.now_ns.set(self.now_ns.get().max(now_ns));
    }
}

impl Clock for VirtualClock {
    #[inline]
    fn now(&self) -> u64 {
        self.now_ns.get()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clones_share_one_time_that_never_goes_back() {
        let clock = VirtualClock::new(5);
        let other = clock.clone();
        clock.advance_to(9);
        other.advance_to(7);
        assert_eq!((clock.now(), other.now()), (9, 9));
    }
}
