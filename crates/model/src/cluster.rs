//! What dumps of a storage cluster tell: which operations take the time, which
//! member is slow, what the cluster does beside.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::gluster::GlusterCalls;

/// Format of a judged cluster as JSON.
pub const CLUSTER_SCHEMA: &str = "fathom.cluster/1";

/// What dumps of a cluster tell.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ClusterLook {
    /// [`CLUSTER_SCHEMA`].
    pub schema: String,
    /// `gluster` or `ceph`.
    pub kind: String,
    /// The dumps that were read.
    pub sources: Vec<String>,
    /// What stands out, the gravest first.
    pub findings: Vec<ClusterFinding>,
    /// Operations by their share of time, the largest first.
    pub operations: Vec<ClusterOperation>,
    /// Bricks or OSDs.
    pub members: Vec<ClusterMember>,
    /// Writes by their size.
    pub writes: Vec<SizeCount>,
    /// Where the slowest operations spent their time.
    pub steps: Vec<OperationStep>,
    /// What is missing, and why.
    pub notes: Vec<String>,
}

/// What stands out.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ClusterFinding {
    /// Name of the rule.
    pub rule: String,
    /// `critical`, `warning`, `info`.
    pub severity: String,
    /// What was found, with figures.
    pub found: String,
    /// What to do.
    pub remedy: String,
    /// Where the rule comes from.
    pub source: String,
}

/// One kind of operation over all members.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ClusterOperation {
    /// Its name there.
    pub name: String,
    /// How often.
    pub calls: u64,
    /// Mean time, nanoseconds; 0 where it is not measured.
    pub mean_ns: f64,
    /// Share of the time of all, 0 to 1.
    pub time_share: f64,
}

/// A brick or OSD.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ClusterMember {
    /// Its name.
    pub name: String,
    /// Operations, where they are counted.
    pub calls: Option<u64>,
    /// Mean time of an operation or commit, nanoseconds.
    pub mean_ns: Option<f64>,
    /// How many times slower than the middle one at the same operations.
    pub times_middle: Option<f64>,
    /// Share of its space that is used, 0 to 1.
    pub used: Option<f64>,
    /// It stands out from the others.
    pub slow: bool,
}

/// Writes of one size.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SizeCount {
    /// From this many bytes up to twice as many.
    pub from_bytes: u64,
    /// Writes.
    pub count: u64,
}

/// A step of operations, over all that were dumped.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OperationStep {
    /// The event that it begins with.
    pub name: String,
    /// Operations that had it.
    pub count: u64,
    /// Time of all of them, nanoseconds.
    pub time_ns: f64,
    /// Share of the time of all operations.
    pub share: f64,
}

/// What one brick did: input of the judgement.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct BrickLoad {
    /// `host:/path`.
    pub name: String,
    /// Operations.
    pub calls: Vec<GlusterCalls>,
    /// Writes by their size.
    pub writes: Vec<SizeCount>,
}
