//! How fast operations come: rates, steps that several loads keep, and a depth
//! that keeps within a latency.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An asked-for rate: the trial is open loop (response latency counts from
/// the intended start).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Rate {
    /// Per second, over all workers together; above 0.
    pub per_second: f64,
    /// What is counted.
    pub unit: RateUnit,
    /// How intended starts are spaced.
    pub arrival: Arrival,
}

/// What a rate counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RateUnit {
    /// Operations per second.
    Ops,
    /// Bytes per second.
    Bytes,
}

/// How intended starts are spaced.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Arrival {
    /// Evenly.
    #[default]
    Constant,
    /// With exponential gaps, as independent users arrive.
    Poisson,
}

/// Trials of a set with the same number keep step: each does its share of all
/// their operations, in proportion to its weight.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Flow {
    /// Who keeps step with whom.
    pub id: u32,
    /// Share of each worker, in proportion to those of the others; above 0.
    pub weight: u32,
    /// How long a worker that is ahead waits before it looks again; 0 lets the
    /// engine choose.
    #[serde(default, skip_serializing_if = "super::unset")]
    pub pause_ns: u64,
}

/// The queue depth is the highest, up to that of the workload, at which a
/// share of operations keeps within a latency. It is searched for from depth 1
/// on; the load ends once it is found, unless told otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LatencyTarget {
    /// Service latency; above 0.
    pub latency_ns: u64,
    /// Each depth is tried for this long; above 0.
    pub window_ns: u64,
    /// Share of operations that must keep within it, percent, above 0 to 100.
    pub percentile: f64,
    /// The load goes on at the depth that was found, and goes on adapting it.
    pub goes_on: bool,
}
