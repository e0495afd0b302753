//! A group: the workers of one job on this host, from outside.
//!
//! One controlling thread starts it, opens the gate, polls it some ten times a
//! second and finishes it. Workers never wait for the controlling thread.

pub(crate) mod gate;
mod gathering;
mod live;
pub(crate) mod plan;
mod simulated;
pub(crate) mod spawn;
mod watch;

pub use self::gathering::Gathering;
pub(crate) use self::spawn::batch;

use std::time::Duration;

use fathom_drives::{Counters, Truth};
use fathom_model::run::{EngineReport, StuckOp};
use fathom_model::workload::EngineKind;
use fathom_model::{Job, Sample};

use crate::Error;
use crate::prepare::Prepared;
pub use crate::worker::EndReason;
use live::Live;
use plan::GroupPlan;
use simulated::SimulatedGroup;

/// The workers of one job on this host.
pub struct Group {
    kind: GroupKind,
}

/// Host time or virtual time.
enum GroupKind {
    Live(Box<Live>),
    Simulated(Box<SimulatedGroup>),
}

macro_rules! of {
    ($group:expr, $inner:ident => $call:expr) => {
        match $group.kind {
            GroupKind::Live(ref $inner) => $call,
            GroupKind::Simulated(ref $inner) => $call,
        }
    };
    ($group:expr, mut $inner:ident => $call:expr) => {
        match $group.kind {
            GroupKind::Live(ref mut $inner) => $call,
            GroupKind::Simulated(ref mut $inner) => $call,
        }
    };
    ($group:expr, move $inner:ident => $call:expr) => {
        match $group.kind {
            GroupKind::Live($inner) => $call,
            GroupKind::Simulated($inner) => $call,
        }
    };
}

/// What a group leaves behind.
#[derive(Debug, Clone, PartialEq)]
pub struct GroupEnd {
    /// How the engine really worked.
    pub report: EngineReport,
    /// Samples that were not drained before.
    pub samples: Vec<Sample>,
    /// Duration of the final flush, the longest of any worker; `None` when
    /// there was none or it failed.
    pub final_flush_ns: Option<u64>,
    /// Why the load ended.
    pub end_reason: EndReason,
    /// What a simulated drive says about itself; `None` for anything real.
    pub simulated: Option<Box<SimulatedEnd>>,
}

/// What a simulated drive leaves behind.
#[derive(Debug, Clone, PartialEq)]
pub struct SimulatedEnd {
    /// What the drive is and did in its whole life.
    pub truth: Truth,
    /// Its statistics at time 0. They count over its whole life.
    pub start: Counters,
    /// The same at the end of each second from time 0 on, the first
    /// [`SIMULATED_SECONDS_MAX`] of them.
    pub seconds: Vec<Counters>,
}

/// Seconds of which a simulated drive's statistics are kept: a day and more.
pub const SIMULATED_SECONDS_MAX: usize = 100_000;

impl Group {
    /// Starts the workers, opens files, rings and buffers, and returns when
    /// every worker is ready. Nothing is read from or written to the target yet.
    ///
    /// # Errors
    /// When the workload does not fit the target or exceeds a limit, or when
    /// any worker could not be made ready. Then none is left behind.
    pub fn start(job: &Job, prepared: &Prepared) -> Result<Group, Error> {
        let plan = GroupPlan::new(job, prepared)?;
        let kind = if plan.engine == EngineKind::Sim {
            GroupKind::Simulated(Box::new(SimulatedGroup::start(plan, prepared)?))
        } else {
            GroupKind::Live(Box::new(Live::start(plan)?))
        };
        Ok(Group { kind })
    }

    /// Opens the gate: time 0 of all samples. Later calls do nothing.
    pub fn go(&mut self) {
        of!(self, mut group => group.go());
    }

    /// `CLOCK_MONOTONIC` of time 0, nanoseconds; 0 before [`Group::go`].
    pub fn origin_monotonic_ns(&self) -> u64 {
        of!(self, group => group.origin_ns())
    }

    /// How long after time 0 the last worker so far was under way, nanoseconds;
    /// `None` where time is virtual.
    pub fn start_lateness_ns(&self) -> Option<u64> {
        match &self.kind {
            GroupKind::Live(live) => Some(live.start_lateness_ns()),
            GroupKind::Simulated(_) => None,
        }
    }

    /// Ends the load early: no new operations, those in flight are reaped.
    pub fn stop(&self) {
        of!(self, group => group.stop());
    }

    /// Whether every worker has ended.
    pub fn is_finished(&self) -> bool {
        of!(self, group => group.is_finished())
    }

    /// The intervals that every worker has ended, merged over the workers, in
    /// order. Each is given out once. Never blocks.
    pub fn drain(&mut self) -> Vec<Sample> {
        of!(self, mut group => group.drain())
    }

    /// Whether time is virtual. Then samples come as fast as they can be
    /// computed, and the load waits until they are taken.
    pub fn is_simulated(&self) -> bool {
        matches!(self.kind, GroupKind::Simulated(_))
    }

    /// The next sample of a simulated group; `None` when there is none within
    /// `timeout`, and always for a group on the host's time.
    pub fn wait_sample(&self, timeout: Duration) -> Option<Sample> {
        match &self.kind {
            GroupKind::Simulated(group) => group.wait(timeout),
            GroupKind::Live(_) => None,
        }
    }

    /// Operations in flight for longer than `older_than_ns`, at most 1,024. Works
    /// while workers hang in the kernel.
    pub fn stuck(&self, older_than_ns: u64) -> Vec<StuckOp> {
        match &self.kind {
            GroupKind::Live(live) => live.stuck(older_than_ns),
            // Virtual time is never late.
            GroupKind::Simulated(_) => Vec::new(),
        }
    }

    /// Waits for every worker to end, and reports. Blocks for as long as an
    /// operation hangs; see [`Group::abandon`].
    pub fn finish(self) -> GroupEnd {
        of!(self, move group => group.finish())
    }

    /// Ends the load without waiting: workers that hang are left behind with
    /// their threads, files and buffers. What they recorded is kept.
    pub fn abandon(self) -> GroupEnd {
        of!(self, move group => group.abandon())
    }
}

#[cfg(test)]
mod drive_state_tests;
#[cfg(test)]
mod drive_truth_tests;
#[cfg(test)]
#[path = "group_tests.rs"]
mod tests;
