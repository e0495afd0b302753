//! Noticing that the whole process, or the machine under it, stood still.
//!
//! A worker cannot tell a device that took a second from a second in which it
//! was not allowed to run. A thread that does nothing but wake up every ten
//! milliseconds can: when it comes late, and was not merely waiting for a CPU (its own
//! run delay says so), then nobody in the process ran, and every latency that
//! spans that time is at least in doubt. Catches SIGSTOP, a debugger, a
//! suspended virtual machine, a frozen control group.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::clock::monotonic_ns;
use crate::record::Stalls;
use crate::usage::ThreadMeter;

const TICK_NS: u64 = 10_000_000;
/// Shorter stops are the scheduler's ordinary business.
const NOTABLE_NS: u64 = 2_000_000;

/// The watching thread.
#[derive(Debug)]
pub(crate) struct Watch {
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Watch {
    /// Watches from `origin_ns` on and notes stops in `stalls`. Without a
    /// thread to spare there is no watch, and no error either.
    pub(crate) fn start(origin_ns: u64, stalls: Arc<Stalls>) -> Watch {
        let over = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&over);
        let thread = std::thread::Builder::new()
            .name("fathom-watch".to_owned())
            .stack_size(128 << 10)
            .spawn(move || watch(origin_ns, &stalls, &seen))
            .ok();
        Watch { over, thread }
    }

    /// Ends the watch.
    pub(crate) fn end(&mut self) {
        self.over.store(true, Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            let _ = thread.join();
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.end();
    }
}

fn watch(origin_ns: u64, stalls: &Stalls, over: &AtomicBool) {
    let meter = ThreadMeter::start();
    let mut delay_ns = meter.run_delay_ns();
    let mut last_ns = monotonic_ns();
    while !over.load(Relaxed) {
        let due_ns = last_ns + TICK_NS;
        // Parked, not asleep: whoever ends the watch need not wait for it.
        std::thread::park_timeout(Duration::from_nanos(TICK_NS));
        let now_ns = monotonic_ns();
        if now_ns > due_ns + NOTABLE_NS {
            let delay_now_ns = meter.run_delay_ns();
            let stop_ns = stop_length(now_ns - due_ns, delay_ns, delay_now_ns);
            delay_ns = delay_now_ns;
            if stop_ns > NOTABLE_NS {
                stalls.push(now_ns.saturating_sub(origin_ns), stop_ns);
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
    fn a_watch_ends_when_told() {
        let stalls = Arc::new(Stalls::default());
        let mut watch = Watch::start(monotonic_ns(), Arc::clone(&stalls));
        watch.end();
        assert!(watch.thread.is_none());
    }
}
