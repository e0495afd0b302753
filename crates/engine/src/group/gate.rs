//! The gate behind which workers wait until all are ready.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Shut,
    Open { origin_ns: u64 },
    Cancelled,
}

/// Opens once, for everybody.
#[derive(Debug)]
pub(crate) struct Gate {
    state: Mutex<State>,
    changed: Condvar,
}

impl Gate {
    pub(crate) fn new() -> Gate {
        Gate {
            state: Mutex::new(State::Shut),
            changed: Condvar::new(),
        }
    }

    /// Waits until the gate opens; time 0, or `None` if it never will.
    pub(crate) fn pass(&self) -> Option<u64> {
        let mut state = self.lock();
        loop {
            match *state {
                State::Open { origin_ns } => return Some(origin_ns),
                State::Cancelled => return None,
                State::Shut => {
                    state = self
                        .changed
                        .wait(state)
                        .unwrap_or_else(PoisonError::into_inner);
                }
            }
        }
    }

    /// Opens the gate.
    pub(crate) fn open(&self, origin_ns: u64) {
        self.set(State::Open { origin_ns });
    }

    /// Sends everybody home, unless the gate is open.
    pub(crate) fn cancel(&self) {
        self.set(State::Cancelled);
    }

    fn set(&self, new: State) {
        let mut state = self.lock();
        if *state == State::Shut {
            *state = new;
        }
        self.changed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
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
    fn a_cancelled_gate_sends_home() {
        let gate = Gate::new();
        gate.cancel();
        gate.open(7);
        assert_eq!(gate.pass(), None);
    }
}
