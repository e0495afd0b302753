//! A second opinion: what can be said about another tool's result.
//!
//! `Opinion` serialises to the schema [`crate::OPINION_SCHEMA`]. Fields are
//! only ever added; a change of meaning gets a new schema version. Numbers
//! named `stated` are the other tool's and were not measured by fathom.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::estimate::Estimate;
use crate::verdict::{Validity, Verdict};

/// Opinions on everything that was handed in.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Opinion {
    /// Always `fathom.opinion/1`.
    pub schema: String,
    /// The worst of the results' validities.
    pub validity: Validity,
    /// One entry per document of results.
    pub results: Vec<ResultOpinion>,
}

/// Opinion on one document of results.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ResultOpinion {
    /// File.
    pub source: String,
    /// The tool and version, as stated.
    pub tool: Option<String>,
    /// When it was written, seconds since 1970-01-01 UTC.
    pub written_unix_s: Option<u64>,
    /// What was odd about the file itself.
    pub remarks: Vec<String>,
    /// The entries of the document.
    pub jobs: Vec<JobOpinion>,
    /// Facts that the document does not hold, and what would supply them.
    pub missing: Vec<MissingFact>,
    /// The verdicts of the entries and of the file folded.
    pub verdict: Verdict,
}

/// Opinion on one entry.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JobOpinion {
    /// Name.
    pub name: String,
    /// Host, for results of a client.
    pub host: Option<String>,
    /// What was done, as far as stated, in one line.
    pub workload: String,
    /// Length of the measurement.
    pub duration_ns: Option<u64>,
    /// Figures by direction.
    pub figures: Vec<StatedFigures>,
    /// What of it holds.
    pub stands: Vec<Stand>,
    /// Verdict on the entry.
    pub verdict: Verdict,
}

/// Figures of one direction, restated.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StatedFigures {
    /// `read`, `write`, `trim` or `mixed`.
    pub direction: String,
    /// Operations.
    pub ops: Option<u64>,
    /// Bytes.
    pub bytes: Option<u64>,
    /// Operations per second, with an interval where logs allow one.
    pub ops_per_second: Estimate,
    /// Bytes per second, with an interval where logs allow one.
    pub bytes_per_second: Estimate,
    /// Which latency the tool states: `total` or `completion`.
    pub latency_kind: Option<String>,
    /// Its mean.
    pub stated_mean_ns: Option<f64>,
    /// Its largest value.
    pub stated_max_ns: Option<f64>,
    /// Which latency the percentiles are of: `total` or `completion`.
    pub percentile_kind: Option<String>,
    /// Percentiles of the upper half that were stated, each with what its
    /// data can carry.
    pub percentiles: Vec<StatedPercentile>,
}

/// One percentile of another tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StatedPercentile {
    /// In percent.
    pub percent: f64,
    /// The value that the tool printed.
    pub stated_ns: f64,
    /// Independent operations that a 95 % interval of it needs.
    pub ops_needed: f64,
    /// Whether there were as many at all.
    pub supported: bool,
}

/// Whether one side of a result holds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Stand {
    /// Which side.
    pub aspect: Aspect,
    /// The answer.
    pub holds: Holds,
    /// Ids of the checks that decided.
    pub checks: Vec<String>,
}

/// A side of a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Aspect {
    /// Operations and bytes per second.
    Throughput,
    /// Mean and largest latency.
    Latency,
    /// Latency percentiles.
    Percentiles,
    /// The queue depth by which the result is known.
    QueueDepth,
    /// That a repetition would give the same.
    Steadiness,
    /// That written data survive a power cut.
    Durability,
}

/// Whether it can be believed.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Holds {
    /// Nothing speaks against it.
    Yes,
    /// Within the limits that the findings state.
    WithinLimits,
    /// The facts that would decide are not in the files.
    Unknown,
    /// It does not hold.
    No,
}

/// A fact that is not in the files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MissingFact {
    /// What is not known.
    pub fact: String,
    /// What of the tool would supply it.
    pub supplied_by: String,
}
