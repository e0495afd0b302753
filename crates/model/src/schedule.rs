//! The plan unrolled: an ordered list of trials.

use std::collections::VecDeque;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::comparison::ComparisonDesign;
use crate::host_mode::{HostMode, HostPart};
use crate::network::Ends;
use crate::rng::derive_seed;
use crate::snia::SniaSettings;
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

impl Pause {
    /// The next trial follows at once.
    pub const NONE: Pause = Pause {
        floor_ns: 0,
        ceiling_ns: 0,
        until_quiet: false,
    };
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
    /// Consecutive trials with the same number are a set: they run at the same
    /// time, released by one gate after all of them have been prepared. `None`
    /// runs alone.
    #[serde(default)]
    pub together: Option<u32>,
    /// The load begins this long after the trial's gate has opened.
    #[serde(default)]
    pub start_delay_ns: u64,
    /// Index of a trial of the same set whose end opens this one's gate,
    /// instead of the gate of the set.
    #[serde(default)]
    pub follows: Option<u32>,
    /// When it ends, the other trials of its set end as well.
    #[serde(default)]
    pub ends_others: bool,
    /// Which test files in a directory target: trials with the same number use
    /// the same files, also within a set. 0 is what trials that run alone use.
    #[serde(default)]
    pub file_set: u32,
    /// Which of the run's hosts carries it out: index into
    /// [`crate::run::RunMeta::hosts`]. `None` in a run without other hosts.
    #[serde(default)]
    pub host: Option<u32>,
    /// When it fails, the others of its set and what comes after it still run;
    /// the run counts as failed at its end.
    #[serde(default)]
    pub spares_others: bool,
    /// Whose part of the hosts' data it uses. `None`: test files of its own
    /// host, nothing divided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<HostPart>,
    /// The two hosts of a load between hosts. `None`: the load has one end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ends: Option<Ends>,
}

impl ScheduledTrial {
    /// The first trial of a schedule, which runs alone, on this host, without a
    /// pause after it, and whose figures are the result. Everything else is set
    /// over it: `ScheduledTrial { row, seed, ..ScheduledTrial::new(…) }`.
    pub fn new(label: impl Into<String>, target: Target, workload: Workload) -> ScheduledTrial {
        ScheduledTrial {
            index: 0,
            iteration: 0,
            row: 0,
            label: label.into(),
            target,
            workload,
            seed: 0,
            pause: Pause::NONE,
            role: TrialRole::Measure,
            together: None,
            start_delay_ns: 0,
            follows: None,
            ends_others: false,
            file_set: 0,
            host: None,
            spares_others: false,
            part: None,
            ends: None,
        }
    }

    /// The same trial as repetition `iteration` of a row. Its own seed follows
    /// from `seed`, so that no two trials of a schedule draw the same offsets.
    #[must_use]
    pub fn in_row(self, row: u32, iteration: u32, seed: u64) -> ScheduledTrial {
        ScheduledTrial {
            row,
            iteration,
            seed: derive_seed(derive_seed(seed, u64::from(row)), u64::from(iteration)),
            ..self
        }
    }
}

/// Trials that a set may have at most.
pub const MAX_TOGETHER: usize = 4096;

/// Takes the next trial off the front, with those that run at the same time.
/// Empty when none is left.
pub fn take_set(left: &mut VecDeque<ScheduledTrial>) -> Vec<ScheduledTrial> {
    let Some(first) = left.pop_front() else {
        return Vec::new();
    };
    let together = first.together;
    let mut set = vec![first];
    while together.is_some() && left.front().is_some_and(|next| next.together == together) {
        set.extend(left.pop_front());
    }
    set
}

/// What a trial is for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TrialRole {
    /// Its figures are the result.
    #[default]
    Measure,
    /// Evidence for another row: the same workload at twice the depth, or small
    /// requests without load or beside one. No result of its own.
    Probe,
    /// Side A of a comparison.
    A,
    /// Side B of a comparison.
    B,
    /// The untouched control of a comparison.
    Control,
    /// Brings the target into a defined state. No result of its own.
    Precondition,
    /// Evidence for another row: its writes with a payload of one kind. No
    /// result of its own.
    PayloadProbe,
}

impl TrialRole {
    /// Whether it is evidence for another row and no result.
    pub fn is_probe(self) -> bool {
        matches!(self, TrialRole::Probe | TrialRole::PayloadProbe)
    }
}

/// What a run is for: decides how its result is shown.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// Rows of workloads.
    #[default]
    Measure,
    /// Two sides in turns, and perhaps a control.
    Comparison {
        /// Differences up to this many percent count as none.
        margin_percent: f64,
        /// Sides, rows, factor and control.
        #[serde(default)]
        design: Box<ComparisonDesign>,
    },
    /// A figure against a swept quantity.
    Curve {
        /// What is swept: `depth`, `load`, `block`, `working_set`, `mix` or
        /// `position`.
        sweep: String,
        /// The target that a point must hold, as it was typed.
        slo: Option<String>,
    },
    /// The disks of a machine, each alone and all at once.
    Disks,
    /// Listings of directories of growing size.
    Enumeration,
    /// The same work on growing numbers of hosts.
    Scale {
        /// The numbers of hosts.
        numbers: Vec<u32>,
        /// Blocks: in each, every number once.
        blocks: u32,
    },
    /// The network between hosts: each load is a trial with two ends.
    Network {},
    /// A test of the SNIA performance test specification.
    Snia {
        /// `iops`, `throughput`, `latency` or `wsat`.
        test: String,
        /// What was decided before it began.
        #[serde(default)]
        settings: SniaSettings,
    },
}

impl Schedule {
    /// No trials.
    pub fn nothing(name: &str) -> Schedule {
        Schedule::new(name, Vec::new())
    }

    /// A schedule for rows of workloads that overwrites nothing of others and
    /// keeps no files. Everything else is set over it:
    /// `Schedule { seed, ..Schedule::new(…) }`.
    pub fn new(name: impl Into<String>, trials: Vec<ScheduledTrial>) -> Schedule {
        Schedule {
            name: name.into(),
            seed: 0,
            destructive: false,
            keep_files: false,
            purpose: Purpose::Measure,
            trials,
            depth_probe: false,
            host_mode: HostMode::default(),
        }
    }
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
    /// What the run is for.
    #[serde(default)]
    pub purpose: Purpose,
    /// The trials in order.
    pub trials: Vec<ScheduledTrial>,
    /// A row whose limiter is unknown is followed by a probe at twice its
    /// depth.
    #[serde(default)]
    pub depth_probe: bool,
    /// How it is spread over several hosts.
    #[serde(default)]
    pub host_mode: HostMode,
}
