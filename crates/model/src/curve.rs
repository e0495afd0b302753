//! A figure against a swept quantity: what `fathom curve` gives.
//!
//! A curve is drawn from a run's own rows, so that a stored run shows it again.
//! Numbers stay estimates with their intervals; conclusions (a knee, the
//! largest load that holds a target, a step) say how they were found.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::estimate::Estimate;
use crate::op::OpKind;
use crate::verdict::{Fitness, Limiter, Validity};

/// What is swept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Sweep {
    /// Operations in flight.
    Depth,
    /// Offered load, open loop.
    Load,
    /// Block size.
    Block,
    /// Bytes that are accessed.
    WorkingSet,
    /// Share of reads, each at several loads.
    Mix,
    /// Offset on the target.
    Position,
}

impl Sweep {
    /// Every sweep.
    pub const ALL: [Sweep; 6] = [
        Sweep::Depth,
        Sweep::Load,
        Sweep::Block,
        Sweep::WorkingSet,
        Sweep::Mix,
        Sweep::Position,
    ];

    /// The word that is stored with a run.
    pub fn name(self) -> &'static str {
        match self {
            Sweep::Depth => "depth",
            Sweep::Load => "load",
            Sweep::Block => "block",
            Sweep::WorkingSet => "working_set",
            Sweep::Mix => "mix",
            Sweep::Position => "position",
        }
    }

    /// The sweep of that name.
    pub fn of_name(name: &str) -> Option<Sweep> {
        Sweep::ALL.into_iter().find(|sweep| sweep.name() == name)
    }
}

/// A curve with what it says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Curve {
    /// What is swept.
    pub sweep: Sweep,
    /// The points, ascending in what is swept.
    pub points: Vec<CurvePoint>,
    /// What the curve says, in sentences, the most important first.
    pub answers: Vec<String>,
    /// Where throughput stops rising with depth. Depth and load curves only.
    pub knee: Option<Knee>,
    /// The highest rate of a closed loop. Load and mix curves only.
    pub ceiling: Option<CurveCeiling>,
    /// Ranges of the swept quantity over which the rate is the same.
    /// Working-set curves only.
    pub levels: Vec<CurveLevel>,
    /// Outer against inner end. Position curves only.
    pub zones: Option<Zones>,
    /// The highest load that holds the target, one for each mix of reads and
    /// writes. Load and mix curves only, where a target was set.
    pub holds: Vec<HoldingLoad>,
}

/// One point: the trials of one row of the run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CurvePoint {
    /// Row of the run.
    pub row: u32,
    /// What the row is called.
    pub label: String,
    /// Operations in flight that were asked for, all workers together.
    pub depth: u64,
    /// Largest block.
    pub block_bytes: u64,
    /// Bytes that the point could access.
    pub active_bytes: u64,
    /// Start of the accessed range.
    pub offset_bytes: u64,
    /// Share of reads in percent.
    pub read_percent: u8,
    /// Operations per second that were asked for; open loop only.
    pub offered_per_second: Option<f64>,
    /// Trials.
    pub trials: u32,
    /// Data operations per second, all kinds together.
    pub ops_per_second: Estimate,
    /// Bytes per second, all kinds together.
    pub bytes_per_second: Estimate,
    /// Latency of the kind of operation with the worst tail.
    pub latency: Option<CurveLatency>,
    /// 99th percentile of the lateness, the worst trial; open loop only.
    pub lateness_p99_ns: Option<f64>,
    /// Mean number of operations in flight, over the trials.
    pub mean_in_flight: Option<f64>,
    /// The asked-for rate was not reached: the target is saturated, and the
    /// latency grows with the length of the trial.
    pub saturated: bool,
    /// The rate was reached, but operations were submitted later than they
    /// took: the generator or its host was busy, and the response latency is
    /// not the target's alone.
    pub late: bool,
    /// Is it true?
    pub validity: Validity,
    /// What set it?
    pub limiter: Limiter,
    /// Does it hold the target? Only where one was set.
    pub fitness: Option<Fitness>,
    /// Trials whose own figures hold the target, intervals apart.
    pub trials_holding: Option<u32>,
    /// Trials whose own figures break the target. The rest could not tell.
    pub trials_breaking: Option<u32>,
    /// Evidence for another point only: found the depth of the ceiling.
    pub probe: bool,
}

/// Latency of a point.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CurveLatency {
    /// Of which kind of operation.
    pub kind: OpKind,
    /// From the intended start (open loop) rather than from submission.
    pub response: bool,
    /// Mean.
    pub mean_ns: Estimate,
    /// Median.
    pub p50_ns: Estimate,
    /// 99th percentile.
    pub p99_ns: Estimate,
    /// 99.9th percentile.
    pub p999_ns: Estimate,
    /// Largest.
    pub max_ns: Option<u64>,
}

/// Where throughput stops rising with depth.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Knee {
    /// The knee is above this depth; missing when the least measured depth
    /// already gives all.
    pub above_depth: Option<u64>,
    /// The least measured depth with at least 95 % of the highest rate.
    pub depth: u64,
    /// Where the two asymptotes meet: highest rate over the rate per
    /// operation in flight at the least depth.
    pub asymptotes_cross_at: f64,
    /// The highest rate, operations per second.
    pub plateau_ops_per_second: f64,
    /// How it was found, in one sentence.
    pub evidence: String,
}

/// What a closed loop reached.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CurveCeiling {
    /// Operations in flight.
    pub depth: u64,
    /// Share of reads in percent.
    pub read_percent: u8,
    /// Operations per second.
    pub ops_per_second: f64,
}

/// A range over which the rate is the same within noise.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CurveLevel {
    /// Least size of the range, bytes.
    pub from_bytes: u64,
    /// Largest size of the range, bytes.
    pub to_bytes: u64,
    /// Bytes per second: geometric mean of the points.
    pub bytes_per_second: f64,
}

/// The ends of a target that is not the same everywhere.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Zones {
    /// Rate at the lowest offset, bytes per second.
    pub outer_bytes_per_second: f64,
    /// Rate at the highest offset, bytes per second.
    pub inner_bytes_per_second: f64,
    /// Outer over inner, with its interval where the passes give one.
    pub ratio: Estimate,
}

/// The highest load that holds the target.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HoldingLoad {
    /// The target.
    pub target: String,
    /// Share of reads in percent.
    pub read_percent: u8,
    /// Highest load that holds it, operations per second; missing when none
    /// that was tried does.
    pub held_per_second: Option<f64>,
    /// Row of that load.
    pub held_row: Option<u32>,
    /// Lowest load above it that does not, operations per second; missing
    /// when all that were tried hold.
    pub failed_per_second: Option<f64>,
    /// Row of that load.
    pub failed_row: Option<u32>,
    /// Confirmed by an interval below the bound or by at least three trials.
    pub confirmed: bool,
    /// Trials, figures and confidence, in one sentence.
    pub evidence: String,
}
