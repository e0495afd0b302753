//! Two sides compared: what was declared to differ, what each row gave, and
//! what may be concluded.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::estimate::Estimate;
use crate::op::OpKind;
use crate::unit;
use crate::verdict::Finding;

/// Version of the comparison: its `schema` field.
pub const COMPARISON_SCHEMA: &str = "fathom.comparison/1";

/// Version of several comparisons in one document: its `schema` field.
pub const COMPARISONS_SCHEMA: &str = "fathom.comparisons/1";

/// A figure by which two sides are compared.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Metric {
    /// Data operations per second, all kinds together.
    OpsPerSecond,
    /// Bytes per second, all kinds together.
    BytesPerSecond,
    /// Median latency of a kind of operation: response in an open loop, else
    /// service.
    LatencyP50,
    /// Its 99th percentile.
    LatencyP99,
    /// Its 99.9th percentile.
    LatencyP999,
    /// CPU time of the workers per data operation.
    CpuPerOp,
}

impl Metric {
    /// Whether more of it is better.
    pub fn higher_is_better(self) -> bool {
        matches!(self, Metric::OpsPerSecond | Metric::BytesPerSecond)
    }
}

/// What was planned to be compared; kept with the schedule.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ComparisonDesign {
    /// Side A.
    pub a: SideDesign,
    /// Side B.
    pub b: SideDesign,
    /// Pairs per row.
    pub pairs: u32,
    /// The figure that decides, when the user chose one.
    pub decides: Option<Metric>,
    /// The rows.
    pub rows: Vec<RowDesign>,
    /// What the two plans declare as different: the factor.
    pub factor: Vec<Difference>,
    /// The untouched control and why it was chosen; `None` when there is none.
    pub control: Option<ControlDesign>,
}

/// One side of a planned comparison.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SideDesign {
    /// What the side is called.
    pub label: String,
    /// Shell command that runs before each of its trials.
    pub before: Option<String>,
    /// Its plan, as YAML.
    pub plan_yaml: String,
}

/// One row of a planned comparison.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RowDesign {
    /// What the row is called.
    pub label: String,
    /// Row number of the trials of side A.
    pub a_row: u32,
    /// Row number of the trials of side B.
    pub b_row: u32,
}

/// The untouched control of a planned comparison.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ControlDesign {
    /// What is measured.
    pub target: String,
    /// Why this.
    pub why: String,
}

/// How much a comparison can prove.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// Measured in turns, in one session, and nothing speaks against it.
    Proven,
    /// Not measured in turns: what changed between the sessions is in it.
    Indicative,
    /// Something else moved with the sides, or a side is not trusted.
    Unproven,
}

/// What B is against A.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ComparisonOutcome {
    /// B is better: a higher rate, a lower latency, less CPU.
    Faster,
    /// B is worse.
    Slower,
    /// The difference is proved to be within the margin.
    Equivalent,
    /// Neither a difference nor its absence is proved.
    Inconclusive,
}

/// Two sides, compared: what `fathom compare --format json` prints. `fathom ab --json`
/// prints its run, which has this as `comparison`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Comparison {
    /// Always `fathom.comparison/1`.
    pub schema: String,
    /// How much it can prove.
    pub standing: Standing,
    /// Why it proves no more, in words; empty when proven.
    pub reasons: Vec<String>,
    /// Of all rows: slower if any is, else inconclusive if any is, else faster
    /// if any is, else equivalent.
    pub outcome: ComparisonOutcome,
    /// Differences up to this many percent count as none.
    pub margin_percent: f64,
    /// Pairs per row that were planned; `None` when not measured in pairs.
    pub planned_pairs: Option<u32>,
    /// Side A.
    pub a: ComparedSide,
    /// Side B.
    pub b: ComparedSide,
    /// Differences that were declared, or follow from one: the factor.
    pub declared: Vec<Difference>,
    /// Differences that nobody declared.
    pub undeclared: Vec<Difference>,
    /// Results by row.
    pub rows: Vec<ComparedRow>,
    /// Rows that only one side has.
    pub unmatched: Vec<String>,
    /// The untouched control, before the trials of B against before those of A.
    pub control: Option<ComparedControl>,
    /// Checks V50 to V53, worst first.
    pub findings: Vec<Finding>,
}

/// Side A beside each of several others: what `fathom compare A B C --format json`
/// prints.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Comparisons {
    /// Always `fathom.comparisons/1`.
    pub schema: String,
    /// One for each side beside A, in the order in which they were named.
    pub comparisons: Vec<Comparison>,
}

/// One side.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ComparedSide {
    /// What it is called.
    pub label: String,
    /// The runs from which its figures come.
    pub runs: Vec<String>,
    /// Shell command that ran before each of its trials.
    pub before: Option<String>,
}

/// Something that is not the same on both sides.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Difference {
    /// What differs, for example `workload.queue_depth` or `device.scheduler`.
    pub field: String,
    /// On side A.
    pub a: String,
    /// On side B.
    pub b: String,
}

impl Difference {
    /// What differs, as people call it: `queue depth` for `workload.queue_depth`. Facts of
    /// hosts and targets keep the names that documents have.
    pub fn name(&self) -> String {
        match self.field.strip_prefix("workload.") {
            Some(key) => {
                let key = key.trim_end_matches("_ns").trim_end_matches("_bytes");
                key.replace(['_', '.'], " ")
            }
            None => self.field.clone(),
        }
    }

    /// A value of it as people read it: a time or a size with its unit.
    pub fn shown(&self, value: &str) -> String {
        let number = value.parse::<u64>().ok();
        match number {
            Some(ns) if self.field.ends_with("_ns") => unit::span(ns),
            Some(bytes) if self.field.ends_with("_bytes") => unit::bytes_exact(bytes),
            _ => value.to_owned(),
        }
    }
}

/// The control.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ComparedControl {
    /// What was measured.
    pub target: String,
    /// Why this.
    pub why: String,
    /// Its rate.
    pub metric: ComparedMetric,
    /// Whether it moved with the sides.
    pub moved: bool,
}

/// One row.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ComparedRow {
    /// What it is called.
    pub label: String,
    /// Outcome of the figure that decides.
    pub outcome: ComparisonOutcome,
    /// Figures; the first decides.
    pub metrics: Vec<ComparedMetric>,
}

/// One figure of one row.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ComparedMetric {
    /// Which figure.
    pub metric: Metric,
    /// Of which kind of operation; `None` for all together.
    pub op: Option<OpKind>,
    /// Side A: geometric mean of its trials.
    pub a: Estimate,
    /// Side B.
    pub b: Estimate,
    /// B over A with its 95 % interval; `n_effective` is the number of pairs
    /// (or trials) behind it.
    pub ratio: Estimate,
    /// The pairs; empty when not measured in pairs.
    pub pairs: Vec<ComparedPair>,
    /// Probability of a difference like this between equal sides (t test).
    pub p_value: Option<f64>,
    /// The same after Holm's correction for all figures; this decides.
    pub p_adjusted: Option<f64>,
    /// The same as `p_value` by flipping signs of the pairs, which assumes no
    /// distribution. Six pairs cannot give less than 0.031.
    pub p_sign_flip: Option<f64>,
    /// Probability of a difference this small between sides that differ by the
    /// margin (two one-sided tests), after Holm's correction.
    pub p_equivalence: Option<f64>,
    /// What B is against A.
    pub outcome: ComparisonOutcome,
    /// Pairs (or trials per side) that would be needed in addition for a
    /// decision in four of five cases, if difference and spread stay as seen.
    pub more_pairs: Option<u32>,
}

/// One pair.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ComparedPair {
    /// Number of the pair, from 0.
    pub pair: u32,
    /// B was measured before A.
    pub b_first: bool,
    /// Figure of side A, base units.
    pub a: f64,
    /// Figure of side B, base units.
    pub b: f64,
}

#[cfg(test)]
mod tests {
    use super::Difference;

    #[test]
    fn what_differs_is_shown_with_its_unit() {
        let of = |field: &str, value: &str| {
            let difference = Difference {
                field: field.to_owned(),
                ..Difference::default()
            };
            difference.shown(value)
        };
        assert_eq!(of("workload.bounds.time_ns", "5000000000"), "5 s");
        assert_eq!(of("workload.block.read_bytes", "4096"), "4 KiB");
        assert_eq!(of("workload.queue_depth", "32"), "32");
        assert_eq!(of("workload.bounds.time_ns", "none"), "none");
    }
}
