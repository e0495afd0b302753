//! Where time comes from.
//!
//! The worker loop is generic over [`Clock`], so that the same code runs on
//! the host's time and on the virtual time of a simulated drive. All times are
//! nanoseconds on the scale of `CLOCK_MONOTONIC`.

mod host;
mod virtual_time;

pub(crate) use host::HostClock;
pub(crate) use host::{monotonic_ns, sleep_until};
pub(crate) use virtual_time::VirtualClock;

/// A source of time.
pub(crate) trait Clock {
    /// Nanoseconds since an arbitrary start; never goes back.
    fn now(&self) -> u64;
}
