//! Results of a kind of operation in numbers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::estimate::{Estimate, Unit};
use crate::op::{ErrorClass, OpKind};

/// Results of one kind of operation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OpSummary {
    /// Which kind.
    pub kind: OpKind,
    /// Successful operations.
    pub ops: u64,
    /// Bytes that they moved.
    pub bytes: u64,
    /// Failures by class; empty when there were none.
    pub errors: Vec<ErrorCount>,
    /// Operations per second.
    pub ops_per_second: Estimate,
    /// Bytes per second.
    pub bytes_per_second: Estimate,
    /// Latency from submission.
    pub service: LatencySummary,
    /// Latency from the intended start; open loop only.
    pub response: Option<LatencySummary>,
}

/// Failures of one class.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ErrorCount {
    /// Class.
    pub class: ErrorClass,
    /// How many.
    pub count: u64,
}

/// A latency distribution in numbers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LatencySummary {
    /// Recorded values.
    pub count: u64,
    /// Exact smallest.
    pub min_ns: Option<u64>,
    /// Exact largest.
    pub max_ns: Option<u64>,
    /// Mean.
    pub mean_ns: Estimate,
    /// p50, p90, p95, p99, p99.9, p99.99 in this order.
    pub percentiles: Vec<Percentile>,
}

impl LatencySummary {
    /// The estimate of one percentile; when it was not computed, its absence.
    pub fn percentile(&self, percent: f64) -> Estimate {
        let found = self.percentiles.iter();
        let mut found = found.filter(|p| (p.percent - percent).abs() < 1e-9);
        found.next().map_or_else(
            || Estimate::unknown(Unit::Nanoseconds, "not computed"),
            |p| p.latency_ns.clone(),
        )
    }
}

/// One percentile.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Percentile {
    /// In percent, for example 99.9.
    pub percent: f64,
    /// The value with its interval, or why there is none.
    pub latency_ns: Estimate,
}
