//! When the next block of a connection is due.

use crate::clock::HostClock;

/// Spreads blocks evenly.
pub(super) struct Pace {
    due_ns: u64,
    /// Time of one block in 2^-16 ns, so that fast rates do not drift.
    step: u128,
    passed: u128,
    origin_ns: u64,
}

impl Pace {
    /// Blocks of `bytes` at `bits` per second from `origin_ns` on.
    pub(super) fn of_rate(origin_ns: u64, bits: u64, bytes: u32) -> Pace {
        let step = (u128::from(bytes) * 8_000_000_000) << 16;
        Pace::new(origin_ns, step / u128::from(bits.max(1)))
    }

    /// A block every `every_ns`.
    pub(super) fn every(origin_ns: u64, every_ns: u64) -> Pace {
        Pace::new(origin_ns, u128::from(every_ns) << 16)
    }

    fn new(origin_ns: u64, step: u128) -> Pace {
        Pace {
            due_ns: origin_ns,
            step,
            passed: 0,
            origin_ns,
        }
    }

    /// When the next block is due.
    pub(super) fn due_ns(&self) -> u64 {
        self.due_ns
    }

    /// Waits until the next block is due, if that is later than `now_ns`.
    pub(super) fn wait(&self, clock: &HostClock, now_ns: u64) {
        if self.due_ns > now_ns {
            clock.sleep_until(self.due_ns);
        }
    }

    /// The block was sent.
    pub(super) fn advance(&mut self) {
        self.passed += self.step;
        self.due_ns = self.origin_ns + u64::try_from(self.passed >> 16).unwrap_or(u64::MAX / 2);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_million_blocks_do_not_drift() {
        let mut pace = Pace::of_rate(5, 3_000_000_000, 1500);
        for _ in 0..1_000_000 {
            pace.advance();
        }
        assert_eq!(pace.due_ns() / 1000, 4_000_000);
    }
}
