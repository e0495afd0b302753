//! The gate behind which workers wait until all are ready.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::clock::{Clock, HostClock};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum GateState {
    Shut,
    Open { origin_ns: u64 },
    Cancelled,
}

/// Opens once, for everybody.
#[derive(Debug)]
pub(crate) struct Gate {
    state: Mutex<GateState>,
    changed: Condvar,
    /// How long after time 0 the last one passed.
    lateness_ns: AtomicU64,
    /// The clock that time 0 is read from: another one would be ahead or behind.
    clock: HostClock,
}

impl Gate {
    pub(crate) fn new() -> Gate {
        Gate {
            state: Mutex::new(GateState::Shut),
            changed: Condvar::new(),
            lateness_ns: AtomicU64::new(0),
            clock: HostClock::new(),
        }
    }

    /// Waits until the gate is open and time 0 has come; time 0, or `None` if
    /// it never will.
    pub(crate) fn pass(&self) -> Option<u64> {
        let mut state = self.lock();
        loop {
            let ahead_ns = match *state {
                GateState::Open { origin_ns } => {
                    let now_ns = self.clock.now();
                    if now_ns >= origin_ns {
                        self.lateness_ns.fetch_max(now_ns - origin_ns, Relaxed);
                        return Some(origin_ns);
                    }
                    Some(origin_ns - now_ns)
                }
                GateState::Cancelled => return None,
                GateState::Shut => None,
            };
            state = match ahead_ns {
                None => self
                    .changed
                    .wait(state)
                    .unwrap_or_else(PoisonError::into_inner),
                Some(ahead_ns) => {
                    let wait = Duration::from_nanos(ahead_ns);
                    let waited = self.changed.wait_timeout(state, wait);
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
            };
        }
    }

    /// How long after time 0 the last one so far has passed, nanoseconds.
    pub(crate) fn lateness_ns(&self) -> u64 {
        self.lateness_ns.load(Relaxed)
    }

    /// Opens the gate for `origin_ns` on the host's clock, which may lie ahead.
    pub(crate) fn open(&self, origin_ns: u64) {
        let mut state = self.lock();
        if *state == GateState::Shut {
            *state = GateState::Open { origin_ns };
        }
        self.changed.notify_all();
    }

    /// Sends everybody home, unless the gate is open and time 0 has come.
    pub(crate) fn cancel(&self) {
        let mut state = self.lock();
        let too_late = match *state {
            GateState::Open { origin_ns } => origin_ns <= self.clock.now(),
            GateState::Shut | GateState::Cancelled => false,
        };
        if !too_late {
            *state = GateState::Cancelled;
        }
        self.changed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, GateState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn all_pass_with_the_same_time_and_a_cancel_comes_too_late() {
        let gate = Arc::new(Gate::new());
        let waiting: Vec<_> = (0..4)
            .map(|_| {
                let gate = Arc::clone(&gate);
                std::thread::spawn(move || gate.pass())
            })
            .collect();
        gate.open(7);
        gate.cancel();
        for thread in waiting {
            assert_eq!(thread.join().unwrap(), Some(7));
        }
    }

    #[test]
    fn a_gate_that_is_open_now_cannot_be_cancelled() {
        for _ in 0..1000 {
            let gate = Gate::new();
            let origin_ns = HostClock::new().now();
            gate.open(origin_ns);
            gate.cancel();
            assert_eq!(gate.pass(), Some(origin_ns));
        }
    }

    #[test]
    fn who_waits_for_time_0_can_still_be_sent_home() {
        let gate = Arc::new(Gate::new());
        gate.open(HostClock::new().now() + 3_600_000_000_000);
        let waiting = {
            let gate = Arc::clone(&gate);
            std::thread::spawn(move || gate.pass())
        };
        gate.cancel();
        assert_eq!(waiting.join().unwrap(), None);
    }

    #[test]
    fn nobody_passes_before_time_0() {
        let gate = Gate::new();
        let clock = HostClock::new();
        let origin_ns = clock.now() + 20_000_000;
        gate.open(origin_ns);
        assert_eq!(gate.pass(), Some(origin_ns));
        let now_ns = clock.now();
        assert!(now_ns >= origin_ns);
        assert!(gate.lateness_ns() <= now_ns - origin_ns);
    }

    #[test]
    fn a_cancelled_gate_sends_home() {
        let gate = Gate::new();
        gate.cancel();
        gate.open(7);
        assert_eq!(gate.pass(), None);
    }
}
