//! The plan unrolled: an ordered list of trials.

use serde::{Deserialize, Serialize};

use crate::target::Target;
use crate::workload::Workload;

/// How long to wait between two trials.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pause {
    /// At least this long.
    pub floor_ns: u64,
    /// At most this long, even if the device is still busy.
    pub ceiling_ns: u64,
    /// Between the two, until the devices under the target are quiet.
    pub until_quiet: bool,
}

/// One trial to be run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ScheduledTrial {
    /// Position in the schedule, from 0.
    pub index: u32,
    /// Which repetition of the same workload and target this is, from 0.
    pub iteration: u32,
    /// Trials with the same row are iterations of one another and are
    /// combined in results.
    pub row: u32,
    /// What the row is called: workload name plus its matrix values.
    pub label: String,
    /// What is measured.
    pub target: Target,
    /// What is done.
    pub workload: Workload,
    /// Seed of the trial, derived from the plan's.
    pub seed: u64,
    /// Wait after the trial.
    pub pause: Pause,
}

/// An ordered list of trials.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Schedule {
    /// Name of the plan.
    pub name: String,
    /// Seed from which all others are derived.
    pub seed: u64,
    /// The user allowed devices and foreign files to be overwritten.
    pub destructive: bool,
    /// Test files stay for the next run.
    pub keep_files: bool,
    /// The trials in order.
    pub trials: Vec<ScheduledTrial>,
}
