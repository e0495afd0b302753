//! Noticing that the whole process, or the machine under it, stood still.
//!
//! A worker cannot tell a device that took a second from a second in which it
//! was not allowed to run. A thread that does nothing but wake up every ten
//! milliseconds can: when it comes late, and was not merely waiting for a CPU (its own
//! run delay says so), then nobody in the process ran, and every latency that
//! spans that time is at least in doubt. Catches SIGSTOP, a debugger, a
//! suspended virtual machine, a frozen control group.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::clock::{Clock, HostClock};
use crate::record::Stalls;
use crate::usage::ThreadMeter;

const TICK_NS: u64 = 10_000_000;
/// Shorter stops are the scheduler's ordinary business.
const NOTABLE_NS: u64 = 2_000_000;

/// The watching thread. Ends when it is dropped.
#[derive(Debug)]
pub(crate) struct Watch {
    told: Arc<Told>,
    thread: Option<JoinHandle<()>>,
}

/// Whom the watch tells what it saw.
#[derive(Debug, Default)]
struct Told {
    over: AtomicBool,
    /// Time 0 of each listener, and where its stops go.
    listeners: Mutex<Vec<(u64, Arc<Stalls>)>>,
}

impl Watch {
    /// Watches from now on. Without a thread to spare there is no watch, and
    /// no error either.
    pub(crate) fn start() -> Watch {
        let told = Arc::new(Told::default());
        let seen = Arc::clone(&told);
        let thread = std::thread::Builder::new()
            .name("fathom-watch".to_owned())
            .stack_size(128 << 10)
            .spawn(move || watch(&seen))
            .ok();
        Watch { told, thread }
    }

    /// Notes stops from `origin_ns` on in `stalls` as well.
    pub(crate) fn tell(&self, origin_ns: u64, stalls: &Arc<Stalls>) {
        self.told.lock().push((origin_ns, Arc::clone(stalls)));
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.told.over.store(true, Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            let _ = thread.join();
        }
    }
}

impl Told {
    fn lock(&self) -> MutexGuard<'_, Vec<(u64, Arc<Stalls>)>> {
        self.listeners
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn stopped(&self, now_ns: u64, stop_ns: u64) {
        for (origin_ns, stalls) in self.lock().iter() {
            // A load that had not begun was not stopped.
            if let Some(at_ns) = now_ns.checked_sub(*origin_ns) {
                stalls.push(at_ns, stop_ns);
            }
        }
    }
}

fn watch(told: &Told) {
    let meter = ThreadMeter::start();
    let mut delay_ns = meter.run_delay_ns();
    let clock = HostClock::new();
    let mut last_ns = clock.now();
    while !told.over.load(Relaxed) {
        let due_ns = last_ns + TICK_NS;
        // Parked, not asleep: whoever ends the watch need not wait for it.
        std::thread::park_timeout(Duration::from_nanos(TICK_NS));
        let now_ns = clock.now();
        if now_ns > due_ns + NOTABLE_NS {
            let delay_now_ns = meter.run_delay_ns();
            let stop_ns = stop_length(now_ns - due_ns, delay_ns, delay_now_ns);
            delay_ns = delay_now_ns;
            if stop_ns > NOTABLE_NS {
                told.stopped(now_ns, stop_ns);
            }
        }
        last_ns = now_ns;
    }
}

/// How much of being late is not explained by waiting for a CPU. Where the
/// kernel does not count that, nothing is, so only long stops are believed.
fn stop_length(late_ns: u64, delay_before: Option<u64>, delay_after: Option<u64>) -> u64 {
    match (delay_before, delay_after) {
        (Some(before), Some(after)) => late_ns.saturating_sub(after.saturating_sub(before)),
        _ if late_ns > 200_000_000 => late_ns,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_for_a_cpu_is_no_stop() {
        assert_eq!(stop_length(50, Some(100), Some(140)), 10);
        assert_eq!(stop_length(50, Some(100), Some(200)), 0);
        assert_eq!(stop_length(50_000_000, None, None), 0);
        assert_eq!(stop_length(900_000_000, None, None), 900_000_000);
    }

    #[test]
    fn only_who_had_begun_hears_of_a_stop() {
        let watch = Watch::start();
        let (early, late) = (Arc::new(Stalls::default()), Arc::new(Stalls::default()));
        watch.tell(100, &early);
        watch.tell(900, &late);
        watch.told.stopped(500, 50);
        assert_eq!(early.take_before(1_000), 50);
        assert_eq!(late.take_before(1_000), 0);
    }
}
