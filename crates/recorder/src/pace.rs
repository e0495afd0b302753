//! Ticks at an even distance, until the time is over or the user says stop.

use rustix::thread::nanosleep;
use rustix::time::Timespec;

/// The longest sleep at once: a signal that comes just before one is seen after
/// it.
const LONGEST_NS: u64 = 500_000_000;

/// Gives ticks by the monotonic clock. A tick that is missed is left out, so
/// that a host that stood still does not get them all at once.
pub struct Pace {
    every_ns: u64,
    next_ns: u64,
    end_ns: Option<u64>,
}

impl Pace {
    /// The first tick is now; the last one when `for_ns` are over.
    #[must_use]
    pub fn new(every_ns: u64, for_ns: Option<u64>) -> Pace {
        let now_ns = fathom_observe::monotonic_ns();
        Pace {
            every_ns: every_ns.max(1),
            next_ns: now_ns,
            end_ns: for_ns.map(|for_ns| now_ns.saturating_add(for_ns)),
        }
    }

    /// Waits for the next tick. False when there is none more, or it was stopped.
    pub fn wait(&mut self, stopped: impl Fn() -> bool) -> bool {
        if self.end_ns.is_some_and(|end_ns| self.next_ns > end_ns) {
            return false;
        }
        loop {
            if stopped() {
                return false;
            }
            let now_ns = fathom_observe::monotonic_ns();
            if now_ns >= self.next_ns {
                let missed = (now_ns - self.next_ns) / self.every_ns;
                self.next_ns = self
                    .next_ns
                    .saturating_add((missed + 1).saturating_mul(self.every_ns));
                return true;
            }
            // A signal ends the sleep early; then the loop looks at it.
            let _ = nanosleep(&timespec((self.next_ns - now_ns).min(LONGEST_NS)));
        }
    }
}

fn timespec(ns: u64) -> Timespec {
    Timespec {
        tv_sec: (ns / 1_000_000_000) as i64,
        tv_nsec: (ns % 1_000_000_000) as _,
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn ticks_end_with_the_time_and_with_the_user() {
        let stop = Cell::new(false);
        let mut pace = Pace::new(1_000_000, Some(3_000_000));
        let mut ticks = 0;
        while pace.wait(|| stop.get()) {
            ticks += 1;
        }
        assert!((1..=4).contains(&ticks), "{ticks}");
        let mut endless = Pace::new(1_000_000, None);
        assert!(endless.wait(|| stop.get()));
        stop.set(true);
        assert!(!endless.wait(|| stop.get()));
    }
}
