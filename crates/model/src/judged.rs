//! A run after analysis: what reports show and machine output carries.
//!
//! `JudgedRun` serialises to the schema [`crate::RUN_SCHEMA`]. Fields are only
//! ever added; a change of meaning gets a new schema version.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::comparison::Comparison;
use crate::curve::Curve;
use crate::fingerprint::{Fingerprint, TargetFingerprint};
use crate::fleet::FleetReport;
use crate::idle_gate::IdleGate;
use crate::op::OpKind;
use crate::run::{Ceiling, ErrorDetail, Finishers, RunState, StuckOp};
use crate::sample::Phase;
use crate::scale::ScaleStudy;
use crate::schedule::{Purpose, TrialRole};
use crate::snia::SniaReport;
use crate::steadiness::Steadiness;
use crate::target::Target;
use crate::together::{InSet, ResultSet};
use crate::verdict::Verdict;
use crate::view::View;
use crate::workload::{EngineKind, Workload};

pub use crate::summary::{ErrorCount, LatencySummary, OpSummary, Percentile};

/// One run, judged.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JudgedRun {
    /// Always `fathom.run/1`.
    pub schema: String,
    /// The run.
    pub run: RunSummary,
    /// The host on which it ran.
    pub host: Fingerprint,
    /// Results by row: the iterations of one workload on one target combined.
    pub rows: Vec<ResultRow>,
    /// Every trial that ran, in order. Nothing is discarded.
    pub trials: Vec<JudgedTrial>,
    /// The trials' verdicts folded: the worst validity, and every finding of
    /// any trial once, with the trials it concerns in the evidence.
    pub verdict: Verdict,
    /// The two sides compared, when that is what the run is for.
    #[serde(default)]
    pub comparison: Option<Comparison>,
    /// The curve, where the run is one.
    #[serde(default)]
    pub curve: Option<Curve>,
    /// The report of a test of the SNIA specification, where the run is one.
    #[serde(default)]
    pub snia: Option<SniaReport>,
    /// The disks beside one another, where the run is about disks.
    #[serde(default)]
    pub disks: Option<crate::disks::DiskSweep>,
    /// Rows that ran at the same time, added up.
    #[serde(default)]
    pub sets: Vec<ResultSet>,
    /// The hosts beside one another, where there are several.
    #[serde(default)]
    pub fleet: Option<FleetReport>,
    /// Listings of growing directories, where the run is about them.
    #[serde(default)]
    pub enumeration: Option<crate::enumeration::Enumeration>,
    /// The scale-out study, where the run is one.
    #[serde(default)]
    pub scale: Option<ScaleStudy>,
    /// The answer of the study that the run belongs to, as it is shown: not part
    /// of the schema.
    #[serde(skip)]
    pub view: Option<View>,
}

impl JudgedRun {
    /// The levels of a row that no one rate describes; nothing where one does.
    pub fn levels_of(&self, row: &ResultRow) -> Option<&Steadiness> {
        let mut trials = row.trials.iter().filter_map(|at| self.trials.get(*at));
        trials.find_map(|trial| {
            let steadiness = trial.steadiness.as_ref()?;
            steadiness.has_no_single_rate().then_some(steadiness)
        })
    }
}

/// Facts of the run itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunSummary {
    /// Id in the store.
    pub id: String,
    /// Name of the plan.
    pub name: String,
    /// Start, nanoseconds since 1970-01-01 UTC.
    pub started_unix_ns: u64,
    /// End, where it is known.
    pub ended_unix_ns: Option<u64>,
    /// How far it came.
    pub state: RunState,
    /// Why it ended early.
    pub reason: Option<String>,
    /// `burst`, `sustained` or nothing.
    pub label: Option<String>,
    /// Version of fathom.
    pub tool_version: String,
    /// What was typed.
    pub command_line: Vec<String>,
    /// The exact plan, YAML.
    pub plan_yaml: String,
    /// Seed of the run.
    pub seed: u64,
    /// Trials that were planned.
    pub planned_trials: u32,
    /// What the run is for.
    #[serde(default)]
    pub purpose: Purpose,
}

/// The iterations of one workload on one target, combined.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ResultRow {
    /// Number of the row in the plan.
    pub row: u32,
    /// Workload name and matrix values.
    pub label: String,
    /// What was measured.
    pub target: Target,
    /// What its trials are for.
    #[serde(default)]
    pub role: TrialRole,
    /// The set with which it ran at the same time: index into `sets`.
    #[serde(default)]
    pub set: Option<usize>,
    /// Indexes into `trials`.
    pub trials: Vec<usize>,
    /// Results by kind of operation, over all trials of the row.
    pub ops: Vec<OpSummary>,
    /// The verdicts of the row's trials folded.
    pub verdict: Verdict,
}

/// One trial, judged.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JudgedTrial {
    /// Position in the schedule.
    pub index: u32,
    /// Row of the plan.
    pub row: u32,
    /// Repetition, from 0.
    pub iteration: u32,
    /// Workload name and matrix values.
    pub label: String,
    /// What was measured.
    pub target: Target,
    /// What was done, complete.
    pub workload: Workload,
    /// Seed of the trial.
    pub seed: u64,
    /// What the trial was for: a probe does not count among its row's results.
    #[serde(default)]
    pub role: TrialRole,
    /// Its place among the trials that ran at the same time.
    #[serde(default)]
    pub in_set: Option<InSet>,
    /// Which host carried it out: index into the hosts of `fleet`.
    #[serde(default)]
    pub host: Option<u32>,
    /// Start, nanoseconds since 1970-01-01 UTC.
    pub started_unix_ns: u64,
    /// How far it came.
    pub state: RunState,
    /// Why it ended early or failed.
    pub reason: Option<String>,
    /// Results over the measure phase.
    pub summary: TrialSummary,
    /// Whether one number describes the trial, and if not, which ones do.
    /// Missing when nothing was measured.
    #[serde(default)]
    pub steadiness: Option<Steadiness>,
    /// One entry per second of warm-up and measure.
    pub intervals: Vec<Interval>,
    /// Verdict on the trial.
    pub verdict: Verdict,
    /// The target before the trial.
    pub target_before: Option<TargetFingerprint>,
    /// The first failures in full.
    pub errors: Vec<ErrorDetail>,
    /// Operations that did not come back.
    pub stuck: Vec<StuckOp>,
    /// The wait before the trial until its devices were quiet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gate: Option<Box<IdleGate>>,
    /// What is only drawn: not part of the schema.
    #[serde(skip)]
    pub charts: Charts,
}

/// Results of the measure phase of a trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TrialSummary {
    /// Length of the measure phase.
    pub duration_ns: u64,
    /// Results by kind of operation.
    pub ops: Vec<OpSummary>,
    /// The engine that ran.
    pub engine: Option<EngineKind>,
    /// Whether `O_DIRECT` was in force.
    pub direct: bool,
    /// CPU time of the workers per data operation.
    pub cpu_ns_per_op: Option<f64>,
    /// Mean number of operations in flight.
    pub mean_in_flight: Option<f64>,
    /// The generator's own ceiling with the same shape.
    pub ceiling: Option<Ceiling>,
    /// Lateness against intended starts, open loop only.
    pub lateness: Option<LatencySummary>,
    /// Bytes of the data set that the trial could access.
    pub active_bytes: u64,
    /// Duration of the final flush.
    pub final_flush_ns: Option<u64>,
    /// First and last worker that had done their parts, where workers have
    /// parts of their own.
    #[serde(default)]
    pub finishers: Option<Finishers>,
    /// What each endpoint of an object store did.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub endpoints: Vec<crate::workload::EndpointReport>,
    /// System calls on the target, by name, as the engine counted them.
    #[serde(default)]
    pub calls: Vec<CallCount>,
    /// What was asked of the bricks meanwhile, where the target is on Gluster.
    #[serde(default)]
    pub gluster: Option<crate::gluster::GlusterUse>,
}

/// System calls of one name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CallCount {
    /// As the manual has it.
    pub name: String,
    /// How many.
    pub count: u64,
}

/// One second of a trial, for charts and machine readers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Interval {
    /// Warm-up or measure.
    pub phase: Phase,
    /// Start, from the start of the load.
    pub start_ns: u64,
    /// Length.
    pub duration_ns: u64,
    /// By kind of operation.
    pub ops: Vec<IntervalOp>,
    /// Bytes that the leaf devices read, where known.
    pub device_read_bytes: Option<u64>,
    /// Bytes that the leaf devices wrote, where known.
    pub device_write_bytes: Option<u64>,
    /// Share of the host's CPU time that was busy, 0 to 1.
    pub host_cpu_busy: Option<f64>,
    /// CPU time of the worker threads.
    pub worker_cpu_ns: u64,
}

/// One kind of operation in one second. Percentiles here describe what
/// happened in that second; they are not estimates.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct IntervalOp {
    /// Which kind.
    pub kind: OpKind,
    /// Successful operations.
    pub ops: u64,
    /// Bytes.
    pub bytes: u64,
    /// Failures.
    pub errors: u64,
    /// Median latency (response in an open loop, else service).
    pub p50_ns: Option<u64>,
    /// 90th percentile.
    pub p90_ns: Option<u64>,
    /// 99th percentile.
    pub p99_ns: Option<u64>,
    /// 99.9th percentile.
    pub p999_ns: Option<u64>,
    /// Largest.
    pub max_ns: Option<u64>,
}

/// What is only drawn.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Charts {
    /// One per kind of data or commit operation.
    pub ops: Vec<OpCharts>,
}

/// Drawings of one kind of operation, over the measure phase.
#[derive(Debug, Clone, PartialEq)]
pub struct OpCharts {
    /// Which kind.
    pub kind: OpKind,
    /// Merged distribution: (lowest ns of the cell, highest ns, count), cells
    /// of equal width on a log axis, ascending, empty cells left out.
    pub distribution: Vec<(u64, u64, u64)>,
    /// The cumulative distribution: (percent, ns), ascending.
    pub percentile_curve: Vec<(f64, u64)>,
    /// Latency over time.
    pub heat_map: HeatMap,
}

/// Counts by time and latency.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct HeatMap {
    /// Start of each column, from the start of the load, in ns, ascending.
    pub column_start_ns: Vec<u64>,
    /// Length of a column.
    pub column_ns: u64,
    /// Lower edges of the rows in ns, ascending, evenly spaced on a log axis;
    /// one more than there are rows.
    pub row_edges_ns: Vec<u64>,
    /// Counts, column by column.
    pub counts: Vec<u64>,
}
