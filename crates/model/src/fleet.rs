//! Runs whose load comes from several hosts: who they are, and how well their
//! clocks are known to one another.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::fingerprint::Fingerprint;

/// One host of a run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FleetHost {
    /// As the user named it.
    pub name: String,
    /// Version of fathom that ran there.
    pub tool_version: String,
    /// The host before the run.
    pub fingerprint: Fingerprint,
    /// Its clock when the run began.
    pub clock: Option<HostClock>,
    /// Why it gave no result, where it was missing or was lost.
    #[serde(default)]
    pub lost: Option<String>,
}

/// What is known of a host's clock, measured over the link by the exchange
/// with the shortest way there and back.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HostClock {
    /// Its monotonic clock less that of the coordinator.
    pub offset_ns: i64,
    /// The offset is within this of the truth, however uneven the two ways
    /// are: half of the time there and back.
    pub uncertainty_ns: u64,
    /// Its wall clock less that of the coordinator.
    pub wall_offset_ns: i64,
}

/// How the load of a trial began on its host.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StartReport {
    /// How long after its time 0 the last worker was under way.
    pub lateness_ns: u64,
    /// The clock by which time 0 was computed; `None` where there was one
    /// clock only.
    #[serde(default)]
    pub clock: Option<HostClock>,
}
