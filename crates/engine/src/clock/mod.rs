//! Where time comes from.
//!
//! The worker loop is generic over [`Clock`], so that the same code runs on
//! the host's time and on the virtual time of a simulated drive. All times are
//! nanoseconds on the scale of `CLOCK_MONOTONIC`.

mod host;
mod virtual_time;

pub(crate) use host::HostClock;
pub(crate) use host::monotonic_ns;
pub(crate) use virtual_time::VirtualClock;

/// Calibrates the clock of this process, which takes 10 ms once. Whoever calls
/// this early, beside other work, has the first operation sooner.
pub fn calibrate_clock() {
    let _ = HostClock::new();
}

/// A source of time.
pub(crate) trait Clock {
    /// Nanoseconds since an arbitrary start; never goes back.
    fn now(&self) -> u64;
}
