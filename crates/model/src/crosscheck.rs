//! A workload measured by fathom and by another tool in turns: how far the
//! two agree.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::estimate::Estimate;
use crate::op::OpKind;
use crate::run::RunState;

/// Version of the document: its `schema` field.
pub const CROSSCHECK_SCHEMA: &str = "fathom.crosscheck/1";

/// A figure on which two tools can agree.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum CrossFigure {
    /// Data operations per second, all kinds together.
    OpsPerSecond,
    /// Bytes per second, all kinds together.
    BytesPerSecond,
    /// Mean latency of a kind of operation, from submission.
    LatencyMean,
    /// Its median.
    LatencyP50,
    /// Its 99th percentile.
    LatencyP99,
    /// Its 99.9th percentile.
    LatencyP999,
    /// CPU time of the workers per data operation. It differs by right and
    /// never decides.
    CpuPerOp,
}

impl CrossFigure {
    /// Whether more of it is better.
    pub fn higher_is_better(self) -> bool {
        matches!(
            self,
            CrossFigure::OpsPerSecond | CrossFigure::BytesPerSecond
        )
    }

    /// Whether it is a rate, which has a margin of its own.
    pub fn is_rate(self) -> bool {
        self.higher_is_better()
    }
}

/// What may be said of two tools' figures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Agreement {
    /// Proved to be equal within the margin.
    Agree,
    /// Proved to differ by more than the margin.
    Differ,
    /// Neither is proved.
    Inconclusive,
}

/// The other tool.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PeerTool {
    /// Its executable.
    pub path: String,
    /// As it names itself, for example `fio-3.33`.
    pub version: String,
}

/// Both tools, workload by workload.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Crosscheck {
    /// Always `fathom.crosscheck/1`.
    pub schema: String,
    /// The stored run that holds fathom's trials.
    pub run: String,
    /// How far it came.
    pub state: RunState,
    /// Why it ended early.
    pub reason: Option<String>,
    /// The other tool.
    pub peer: PeerTool,
    /// Directory with the other tool's job files and documents.
    pub documents: Option<String>,
    /// Pairs of trials per row that were planned.
    pub planned_pairs: u32,
    /// Rates within this many percent agree.
    pub rate_margin_percent: f64,
    /// Latencies within this many percent agree.
    pub latency_margin_percent: f64,
    /// Of all rows: differ if any does, else inconclusive if any is.
    pub outcome: Agreement,
    /// One entry per workload and target.
    pub rows: Vec<CrosscheckRow>,
}

/// One workload on one target.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CrosscheckRow {
    /// What it is called.
    pub label: String,
    /// What was measured.
    pub target: String,
    /// Of the figures that decide.
    pub outcome: Agreement,
    /// Figures.
    pub figures: Vec<ComparedFigure>,
    /// What the other tool is known to do otherwise, in words.
    pub differences: Vec<String>,
    /// What was seen that may explain a difference, in words.
    pub causes: Vec<String>,
    /// What went wrong in single trials, in words.
    pub remarks: Vec<String>,
}

/// One figure of one row.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ComparedFigure {
    /// Which figure.
    pub figure: CrossFigure,
    /// Of which kind of operation; `None` for all together.
    pub op: Option<OpKind>,
    /// Whether it decides the row.
    pub decides: bool,
    /// fathom: geometric mean of its trials.
    pub fathom: Estimate,
    /// The other tool.
    pub peer: Estimate,
    /// fathom over the other tool, with its 95 % interval; `n_effective` is
    /// the number of pairs behind it.
    pub ratio: Estimate,
    /// Within so many percent the two agree.
    pub margin_percent: f64,
    /// The pairs.
    pub pairs: Vec<FigurePair>,
    /// Probability of a ratio this near to one if the tools differed by the
    /// margin (two one-sided tests).
    pub p_agree: Option<f64>,
    /// Probability of a ratio this far beyond the margin if the tools differed
    /// by no more than it, after Holm's correction for all figures.
    pub p_differ: Option<f64>,
    /// What may be said.
    pub outcome: Agreement,
    /// Pairs that would be needed in addition for a decision in four of five
    /// cases, if ratio and spread stay as seen.
    pub more_pairs: Option<u32>,
}

/// One pair.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FigurePair {
    /// Number of the pair, from 0.
    pub pair: u32,
    /// The other tool ran before fathom.
    pub peer_first: bool,
    /// fathom's figure, base units.
    pub fathom: f64,
    /// The other tool's.
    pub peer: f64,
}
