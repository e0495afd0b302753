//! The clocks of a host.

use std::time::{SystemTime, UNIX_EPOCH};

/// Now, on the clock of `start_ns` of observations without an origin:
/// `CLOCK_MONOTONIC`.
pub fn monotonic_ns() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    let seconds = u64::try_from(now.tv_sec).unwrap_or(0);
    let nanoseconds = u64::try_from(now.tv_nsec).unwrap_or(0);
    seconds
        .saturating_mul(1_000_000_000)
        .saturating_add(nanoseconds)
}

/// Now, in nanoseconds since 1970 on the clock that the host shows; 0 before.
#[expect(clippy::disallowed_methods, reason = "the one reading of the date")]
pub fn unix_now_ns() -> u64 {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}
