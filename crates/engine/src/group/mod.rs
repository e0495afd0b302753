//! A group: the workers of one job on this host, from outside.
//!
//! One controlling thread starts it, opens the gate, polls it some ten times a
//! second and finishes it. Workers never wait for the controlling thread.

mod gate;
mod live;
mod plan;
mod spawn;
mod watch;

use fathom_model::run::{EngineReport, StuckOp};
use fathom_model::{Job, Sample};

use crate::Error;
use crate::prepare::Prepared;
pub use crate::worker::EndReason;
use live::Live;
use plan::GroupPlan;

/// The workers of one job on this host.
pub struct Group {
    live: Live,
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
}

impl Group {
    /// Starts the workers, opens files, rings and buffers, and returns when
    /// every worker is ready. Nothing is read from or written to the target yet.
    ///
    /// # Errors
    /// When the workload does not fit the target or exceeds a limit, or when
    /// any worker could not be made ready. Then none is left behind.
    pub fn start(job: &Job, prepared: &Prepared) -> Result<Group, Error> {
        let plan = GroupPlan::new(job, prepared)?;
        Ok(Group {
            live: Live::start(plan)?,
        })
    }

    /// Opens the gate: time 0 of all samples. Later calls do nothing.
    pub fn go(&mut self) {
        self.live.go();
    }

    /// `CLOCK_MONOTONIC` of time 0, nanoseconds; 0 before [`Group::go`].
    pub fn origin_monotonic_ns(&self) -> u64 {
        self.live.origin_ns()
    }

    /// Ends the load early: no new operations, those in flight are reaped.
    pub fn stop(&self) {
        self.live.stop();
    }

    /// Whether every worker has ended.
    pub fn is_finished(&self) -> bool {
        self.live.is_finished()
    }

    /// The intervals that every worker has ended, merged over the workers, in
    /// order. Each is given out once. Never blocks.
    pub fn drain(&mut self) -> Vec<Sample> {
        self.live.drain()
    }

    /// Operations in flight for longer than `older_than_ns`, at most 1,024. Works
    /// while workers hang in the kernel.
    pub fn stuck(&self, older_than_ns: u64) -> Vec<StuckOp> {
        self.live.stuck(older_than_ns)
    }

    /// Waits for every worker to end, and reports. Blocks for as long as an
    /// operation hangs; see [`Group::abandon`].
    pub fn finish(self) -> GroupEnd {
        self.live.finish()
    }

    /// Ends the load without waiting: workers that hang are left behind with
    /// their threads, files and buffers. What they recorded is kept.
    pub fn abandon(self) -> GroupEnd {
        self.live.abandon()
    }
}

#[cfg(test)]
#[path = "group_tests.rs"]
mod tests;
