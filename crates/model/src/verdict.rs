//! What fathom concludes: validity, limiter, fitness; three questions that
//! are never melted into one score.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Is the number true?
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Validity {
    /// The checks that this rests on ran, and none of all objected.
    Trusted,
    /// True within limits that the findings state.
    Caveats,
    /// Nothing speaks against the number, but most of the checks that could have
    /// were not able to run.
    NotDetermined,
    /// The number is not what it says it is.
    NotTrusted,
}

/// What set the number?
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Limiter {
    /// The device itself.
    Device,
    /// More operations in flight would have given more.
    QueueDepth,
    /// The generator's CPU.
    GeneratorCpu,
    /// The rate that was asked for.
    Rate,
    /// A provisioned or configured limit.
    Cap,
    /// The device or a limit in front of it: one of them is reached for sure, and what was
    /// measured does not tell which.
    DeviceOrCap,
    /// A cache answered.
    Cache,
    /// Waiting for data to become durable.
    Flush,
    /// The file system.
    Filesystem,
    /// Memory.
    Memory,
    /// The network.
    Network,
    /// Heat.
    Thermal,
    /// Somebody else's load.
    ForeignLoad,
    /// Nothing could be proved. Better than a wrong name.
    Unknown,
}

impl Limiter {
    /// Every limiter.
    pub const ALL: [Limiter; 14] = [
        Limiter::Device,
        Limiter::QueueDepth,
        Limiter::GeneratorCpu,
        Limiter::Rate,
        Limiter::Cap,
        Limiter::DeviceOrCap,
        Limiter::Cache,
        Limiter::Flush,
        Limiter::Filesystem,
        Limiter::Memory,
        Limiter::Network,
        Limiter::Thermal,
        Limiter::ForeignLoad,
        Limiter::Unknown,
    ];

    /// Whether more evidence would give one name: there is none, or one of two.
    pub fn wants_evidence(self) -> bool {
        matches!(self, Limiter::Unknown | Limiter::DeviceOrCap)
    }
}

/// Outcome of one check.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum FindingStatus {
    /// Measured, and within the threshold.
    Pass,
    /// Could not be measured here; the evidence says why.
    NotMeasured,
    /// Worth knowing; no influence on validity.
    Info,
    /// A caveat on the number.
    Caveat,
    /// The number is invalid.
    Invalid,
}

/// One check's outcome.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    /// Id of the check, for example `V01`. `fathom explain ID` describes it.
    pub id: String,
    /// Name of the check, for example `APP_VS_DEVICE_BYTES`.
    pub name: String,
    /// Outcome.
    pub status: FindingStatus,
    /// What was measured, in the check's unit; missing when not measured.
    pub measured: Option<f64>,
    /// The threshold that decided, in the same unit; missing for plain facts.
    pub threshold: Option<f64>,
    /// One sentence with the figures.
    pub evidence: String,
    /// What the user can do.
    pub remedy: String,
}

/// The findings folded.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Verdict {
    /// Is the number true?
    pub validity: Validity,
    /// What set it?
    pub limiter: Limiter,
    /// Why the limiter is named so, in one sentence.
    pub limiter_evidence: String,
    /// Every check that ran, worst first.
    pub findings: Vec<Finding>,
    /// Is it good enough? Only when the user set a target.
    #[serde(default)]
    pub fitness: Option<Fitness>,
}

/// Whether a target is held.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Fit {
    /// Every condition holds, with its whole 95 % interval.
    Met,
    /// The data do not decide, or the number is not trusted.
    NotProven,
    /// At least one condition is broken, with its whole 95 % interval.
    NotMet,
}

/// Is it good enough for what the user asked for?
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Fitness {
    /// The target, as it was set.
    pub target: String,
    /// Whether it is held.
    pub outcome: Fit,
    /// The figure of the tightest condition over its bound (the bound over
    /// the figure where more is better): at most 1 holds it, intervals apart.
    pub worst_ratio: Option<f64>,
    /// The figures, in one sentence.
    pub evidence: String,
}
