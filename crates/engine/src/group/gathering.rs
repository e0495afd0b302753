//! Groups that load the host at the same time: one time 0, one watch.

use std::sync::Arc;

use super::watch::Watch;
use super::{Group, GroupKind};
use crate::clock::{Clock, HostClock};

/// The common time 0 of several groups. They are started one by one, then
/// released, each at its moment.
#[derive(Debug)]
pub struct Gathering {
    origin_ns: u64,
    watch: Arc<Watch>,
}

impl Gathering {
    /// Time 0 is now.
    pub fn begin() -> Gathering {
        Gathering::begin_at(HostClock::new().now())
    }

    /// Time 0 is at `origin_ns` of `CLOCK_MONOTONIC`, which may lie ahead.
    pub fn begin_at(origin_ns: u64) -> Gathering {
        Gathering {
            origin_ns: origin_ns.max(1),
            watch: Arc::new(Watch::start()),
        }
    }

    /// `CLOCK_MONOTONIC` of the common time 0, nanoseconds.
    pub fn origin_monotonic_ns(&self) -> u64 {
        self.origin_ns
    }

    /// Opens the gate of `group`, whose time 0 is `after_ns` nanoseconds after
    /// the common one; its workers wait for that moment by themselves. A
    /// simulated group has its own time and begins at once. Later calls for the
    /// same group do nothing.
    pub fn release(&self, group: &mut Group, after_ns: u64) {
        match &mut group.kind {
            GroupKind::Live(live) => {
                live.go_at(self.origin_ns.saturating_add(after_ns), &self.watch);
            }
            GroupKind::Simulated(simulated) => simulated.go(),
        }
    }
}

#[cfg(test)]
#[path = "gathering_tests.rs"]
mod tests;
