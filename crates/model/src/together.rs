//! Results of trials that ran at the same time.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::estimate::Estimate;
use crate::summary::{LatencySummary, OpSummary};

/// How a trial stood to the others of its set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct InSet {
    /// Index into [`crate::JudgedRun::sets`].
    pub set: usize,
    /// Which time the set ran, from 0: index into [`ResultSet::trials`].
    pub turn: usize,
    /// When its load began, from the opening of the gate of the set. `None`
    /// when it never began.
    pub load_started_ns: Option<u64>,
}

/// Rows that ran at the same time, added up.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ResultSet {
    /// The names of its rows, the first three of them.
    pub label: String,
    /// Its rows: indexes into [`crate::JudgedRun::rows`].
    pub rows: Vec<usize>,
    /// Its trials, for each time that it ran: indexes into
    /// [`crate::JudgedRun::trials`].
    pub trials: Vec<Vec<usize>>,
    /// What they did together; `None` when there was no time in which all of
    /// them were being measured.
    pub sum: Option<SetSum>,
    /// Why there is no sum, or what is not in it.
    pub note: Option<String>,
}

/// What the trials of a set did together, in whole seconds in which all of them
/// were being measured. Rates are counts over that time, percentiles come from
/// merged histograms.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SetSum {
    /// Begin of the time of which the counts are, from the opening of the
    /// gate, the first time that the set ran.
    pub from_ns: u64,
    /// Length of that time, over all times that the set ran.
    pub duration_ns: u64,
    /// By kind of operation.
    pub ops: Vec<OpSummary>,
    /// Reads, writes and trims together, per second.
    pub ops_per_second: Estimate,
    /// Their bytes, per second.
    pub bytes_per_second: Estimate,
    /// Their latency from submission.
    pub service: LatencySummary,
}
