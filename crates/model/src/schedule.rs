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

/// What a trial is for.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum TrialRole {
    /// An iteration of its row: part of the row's results.
    #[default]
    Row,
    /// The row's workload at twice the depth for a short time: tells whether
    /// the depth or the device set the row's number. No part of its results.
    DepthProbe,
    /// The row's writes with a payload of one kind for a short time: tells
    /// whether the content sets the speed. No part of the row's results.
    PayloadProbe,
}

impl TrialRole {
    /// Whether the trial is part of its row's results.
    pub fn counts(self) -> bool {
        self == TrialRole::Row
    }

    /// In words, for people.
    pub fn describe(self) -> &'static str {
        match self {
            TrialRole::Row => "iteration",
            TrialRole::DepthProbe => "probe at twice the depth",
            TrialRole::PayloadProbe => "probe of the payload",
        }
    }
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
    /// What the trial is for.
    #[serde(default)]
    pub role: TrialRole,
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
    /// A row whose limiter is unknown is followed by a probe at twice its
    /// depth.
    #[serde(default)]
    pub depth_probe: bool,
}
