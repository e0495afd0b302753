//! Time that passes only when everybody waits.

use std::cell::Cell;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// One worker's hand on a virtual clock that a group of workers shares.
///
/// Only the worker whose wake-up time is the earliest runs (ties go to the
/// lower index), so that a group of threads behaves like one deterministic
/// event loop: whoever runs may touch shared simulated state at `now_ns`
/// without racing, and calls [`VirtualClock::wait_until`] to let time pass.
#[derive(Debug)]
pub struct VirtualClock {
    shared: Arc<Shared>,
    index: usize,
    now_ns: Cell<u64>,
    entered: Cell<bool>,
}

#[derive(Debug)]
struct Shared {
    /// Wake-up time of each worker; `None` after it has left.
    wake_ns: Mutex<Vec<Option<u64>>>,
    turn: Condvar,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Vec<Option<u64>>> {
        self.wake_ns.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Index of the worker whose turn it is.
fn next_worker(wake_ns: &[Option<u64>]) -> Option<usize> {
    let due = wake_ns.iter().enumerate();
    due.filter_map(|(index, at)| at.map(|at| (at, index)))
        .min()
        .map(|(_, index)| index)
}

impl VirtualClock {
    /// Clocks for `workers` workers, all at 0. Each must be used or dropped,
    /// or the others wait for it for ever.
    pub fn group(workers: usize) -> Vec<VirtualClock> {
        let shared = Arc::new(Shared {
            wake_ns: Mutex::new(vec![Some(0); workers]),
            turn: Condvar::new(),
        });
        (0..workers)
            .map(|index| VirtualClock {
                shared: Arc::clone(&shared),
                index,
                now_ns: Cell::new(0),
                entered: Cell::new(false),
            })
            .collect()
    }

    /// A clock for one worker.
    pub fn single() -> VirtualClock {
        let shared = Arc::new(Shared {
            wake_ns: Mutex::new(vec![Some(0)]),
            turn: Condvar::new(),
        });
        VirtualClock {
            shared,
            index: 0,
            now_ns: Cell::new(0),
            entered: Cell::new(false),
        }
    }

    /// The virtual time. The first call waits for this worker's turn.
    pub fn now_ns(&self) -> u64 {
        if !self.entered.get() {
            self.wait_until(0);
        }
        self.now_ns.get()
    }

    /// Lets time pass until `at_ns` (not at all when that is in the past) and
    /// until it is this worker's turn.
    pub fn wait_until(&self, at_ns: u64) {
        self.entered.set(true);
        self.now_ns.set(self.now_ns.get().max(at_ns));
        let mut wake_ns = self.shared.lock();
        wake_ns[self.index] = Some(self.now_ns.get());
        if wake_ns.len() > 1 {
            self.shared.turn.notify_all();
        }
        while next_worker(&wake_ns) != Some(self.index) {
            wake_ns = self
                .shared
                .turn
                .wait(wake_ns)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl Drop for VirtualClock {
    fn drop(&mut self) {
        self.shared.lock()[self.index] = None;
        self.shared.turn.notify_all();
    }
}
