//! Coming back exactly when an operation is due.
//!
//! A sleeping thread wakes up tens of microseconds late. So the wait ends a
//! little early, by as much as wake-ups have lately been late, and the rest is
//! spent looking at the clock and for completions. Spinning is limited to a
//! tenth of the time, and not done at all where workers outnumber CPUs.

use crate::clock::{Clock, HostClock};
use crate::engine::{Broken, Completion, Engine};

/// Most that is ever spent spinning before one operation.
const MAX_MARGIN_NS: u64 = 100_000;
/// Share of the time that may be spent spinning: one part in ...
const SPIN_SHARE: u64 = 10;

/// How a worker waits.
#[derive(Debug)]
pub(crate) struct Sleeper {
    may_spin: bool,
    /// How late wake-ups have been lately.
    margin_ns: u64,
    /// Spinning that is still allowed.
    allowance_ns: u64,
    last_ns: u64,
}

impl Sleeper {
    pub(crate) fn new(may_spin: bool, now_ns: u64) -> Sleeper {
        Sleeper {
            may_spin,
            margin_ns: 20_000,
            allowance_ns: 1_000_000,
            last_ns: now_ns,
        }
    }

    /// When to wake up in order to be ready at `due_ns`.
    fn wake_ns(&mut self, due_ns: u64, now_ns: u64) -> u64 {
        let passed = now_ns.saturating_sub(self.last_ns);
        self.last_ns = now_ns;
        self.allowance_ns = (self.allowance_ns + passed / SPIN_SHARE).min(10_000_000);
        if self.may_spin && self.allowance_ns > self.margin_ns {
            due_ns.saturating_sub(self.margin_ns)
        } else {
            due_ns
        }
    }

    /// Learns from a wake-up that should have come at `wake_ns`.
    fn woke(&mut self, wake_ns: u64, now_ns: u64) {
        let late_ns = now_ns.saturating_sub(wake_ns).min(MAX_MARGIN_NS);
        // Rises quickly, falls slowly: being early is cheap, late is not.
        self.margin_ns = if late_ns > self.margin_ns {
            (self.margin_ns + late_ns) / 2
        } else {
            self.margin_ns - (self.margin_ns - late_ns) / 16
        };
    }

    /// Waits with operations in flight until one ends or `due_ns` has come.
    pub(crate) fn reap_until<E: Engine>(
        &mut self,
        engine: &mut E,
        clock: &HostClock,
        due_ns: u64,
        out: &mut Vec<Completion>,
    ) -> Result<(), Broken> {
        let mut now_ns = clock.now();
        let wake_ns = self.wake_ns(due_ns, now_ns);
        if wake_ns > now_ns {
            engine.reap(1, Some(wake_ns - now_ns), out)?;
            if !out.is_empty() {
                return Ok(());
            }
            now_ns = clock.now();
            self.woke(wake_ns, now_ns);
        } else {
            // Hands over what is queued; does not wait.
            engine.reap(0, None, out)?;
        }
        let spin_start_ns = now_ns;
        while out.is_empty() && now_ns < due_ns {
            std::hint::spin_loop();
            engine.reap(0, None, out)?;
            now_ns = clock.now();
        }
        self.spent(now_ns - spin_start_ns);
        Ok(())
    }

    /// Waits with nothing in flight until `due_ns`.
    pub(crate) fn sleep_until(&mut self, clock: &HostClock, due_ns: u64) {
        let mut now_ns = clock.now();
        let wake_ns = self.wake_ns(due_ns, now_ns);
        if wake_ns > now_ns {
            clock.sleep_until(wake_ns);
            now_ns = clock.now();
            self.woke(wake_ns, now_ns);
        }
        let spin_start_ns = now_ns;
        while now_ns < due_ns {
            std::hint::spin_loop();
            now_ns = clock.now();
        }
        self.spent(now_ns - spin_start_ns);
    }

    fn spent(&mut self, spin_ns: u64) {
        self.allowance_ns = self.allowance_ns.saturating_sub(spin_ns);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spinning_is_a_tenth_of_the_time_at_most() {
        let mut sleeper = Sleeper::new(true, 0);
        let mut now_ns = 0;
        let mut spun_ns = 0;
        for _ in 0..10_000 {
            let due_ns = now_ns + 50_000;
            let wake_ns = sleeper.wake_ns(due_ns, now_ns);
            // Wakes up exactly: everything from there is spinning.
            sleeper.spent(due_ns - wake_ns);
            spun_ns += due_ns - wake_ns;
            now_ns = due_ns;
        }
        assert!(spun_ns <= now_ns / SPIN_SHARE + 1_000_000, "{spun_ns}");
        assert!(spun_ns > now_ns / 20, "{spun_ns}");
    }

    #[test]
    fn where_cpus_are_short_nobody_spins() {
        let mut sleeper = Sleeper::new(false, 0);
        assert_eq!(sleeper.wake_ns(1_000_000, 0), 1_000_000);
    }

    #[test]
    fn the_margin_follows_how_late_wake_ups_are() {
        let mut sleeper = Sleeper::new(true, 0);
        for _ in 0..200 {
            sleeper.woke(0, 5_000);
        }
        assert!((5_000..6_000).contains(&sleeper.margin_ns));
        sleeper.woke(0, 80_000_000);
        assert!(sleeper.margin_ns > 50_000 && sleeper.margin_ns <= MAX_MARGIN_NS);
    }
}
