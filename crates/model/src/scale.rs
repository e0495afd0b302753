//! A scale-out study: the same work on growing numbers of hosts, and the
//! universal scalability law through it.
//!
//! The law (Gunther, *Guerrilla Capacity Planning*, 2007) says that N hosts
//! reach λN / (1 + σ(N − 1) + κN(N − 1)): λ is what one reaches, σ the share
//! of the work for which they wait for one another (contention), κ what each
//! pair costs (coherency). With κ above 0 there is a number of hosts beyond
//! which more of them reach less.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::estimate::Estimate;
use crate::op::OpKind;
use crate::verdict::{Limiter, Validity};

/// A scale-out study with what it says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ScaleStudy {
    /// The numbers of hosts, ascending.
    pub numbers: Vec<u32>,
    /// Blocks that were run: in each, every number once, in random order.
    pub blocks: u32,
    /// Machines on which the hosts' agents ran, where several ran on one: those do
    /// not count as hosts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machines: Option<u32>,
    /// One entry for each kind of operation of each workload.
    pub operations: Vec<ScaledOperation>,
    /// What the study says, in sentences, the most important first.
    pub answers: Vec<String>,
}

/// One kind of operation of a workload on growing numbers of hosts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ScaledOperation {
    /// Name of the workload.
    pub label: String,
    /// The kind of operation.
    pub kind: OpKind,
    /// The points, ascending in hosts.
    pub points: Vec<ScalePoint>,
    /// The law through them.
    pub law: Option<ScalingLaw>,
    /// Why there is no law, or no interval of it.
    pub note: Option<String>,
    /// What stops it from growing; `None` as long as it grows with the hosts.
    pub saturation: Option<Saturation>,
}

/// What some hosts did together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ScalePoint {
    /// How many.
    pub hosts: u32,
    /// Operations (of data in sequence: bytes) per second of all together, over
    /// the seconds in which all were measured.
    pub rate: Estimate,
    /// The same for each block; nothing for one in which a host was missing.
    pub of_blocks: Vec<Option<f64>>,
    /// Over the rate of one host in the same block.
    pub speed_up: Estimate,
    /// The speed-up over the number of hosts.
    pub efficiency: Estimate,
    /// The worst verdict of its trials.
    pub validity: Validity,
    /// What its trials say limited them, the most frequent first.
    pub limiters: Vec<LimiterCount>,
}

/// A limiter and how many trials name it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LimiterCount {
    /// What set the number.
    pub limiter: Limiter,
    /// Trials that say so.
    pub trials: u32,
    /// What one of them says.
    pub evidence: String,
}

/// The universal scalability law through the points of an operation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ScalingLaw {
    /// What one host reaches, in the unit of the points.
    pub lambda: f64,
    /// Contention: share of the work that hosts do one after the other. Below 0
    /// where more hosts gain more than their number.
    pub sigma: Estimate,
    /// Coherency: cost of each pair of hosts.
    pub kappa: Estimate,
    /// The number of hosts with the highest rate, where κ is above 0 for sure.
    pub peak_hosts: Option<f64>,
    /// Scatter of the points about the law, as a share of them.
    pub scatter: f64,
}

impl ScalingLaw {
    /// What so many hosts reach by the law.
    pub fn rate(&self, hosts: f64) -> Option<f64> {
        let (sigma, kappa) = (self.sigma.value?, self.kappa.value?);
        let cost = 1.0 + sigma * (hosts - 1.0) + kappa * hosts * (hosts - 1.0);
        (cost > 0.0).then(|| self.lambda * hosts / cost)
    }
}

/// What stops a study from growing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Saturation {
    /// The first number of hosts with an efficiency below the threshold.
    pub from_hosts: u32,
    /// What most trials there name; `Unknown` where none can prove anything.
    pub limiter: Limiter,
    /// In words.
    pub evidence: String,
}
