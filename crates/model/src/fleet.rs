//! Runs whose load comes from several hosts: who they are, and how well their
//! clocks are known to one another.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::estimate::Estimate;
use crate::fingerprint::Fingerprint;
use crate::host_mode::HostMode;
use crate::network::HostFacts;

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
    /// What it says of itself and its link, where the network was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network: Option<Box<HostFacts>>,
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

/// What the hosts of a run did beside one another.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FleetReport {
    /// The hosts, by their place.
    pub hosts: Vec<FleetHost>,
    /// In what they differ, in words; empty when they are alike.
    pub differences: Vec<String>,
    /// One entry a workload, in the order in which they ran.
    pub workloads: Vec<FleetWorkload>,
    /// A host is slow when its figure is below this share of the median.
    pub slow_share: f64,
    /// Whose data each host used, and who worked when.
    #[serde(default)]
    pub mode: HostMode,
}

/// All hosts under one workload.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FleetWorkload {
    /// Its name, without that of a host.
    pub label: String,
    /// The hosts that took part.
    pub hosts: Vec<HostFigure>,
    /// The median of their figures.
    pub median: Option<f64>,
    /// Each time that it ran.
    pub turns: Vec<FleetTurn>,
}

/// One host under one workload.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HostFigure {
    /// Index into [`FleetReport::hosts`].
    pub host: u32,
    /// Index into [`crate::JudgedRun::rows`].
    pub row: usize,
    /// Operations per second of a random workload, bytes per second of one in
    /// sequence: reads, writes and trims together.
    pub figure: Estimate,
    /// Whose data it used, each time that it ran: indexes into
    /// [`FleetReport::hosts`]. Empty where it was always its own.
    #[serde(default)]
    pub data_of: Vec<u32>,
    /// It is below the share of the median at which a host is named.
    pub slow: Option<SlowHost>,
}

/// How a host stands out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SlowHost {
    /// Its figure over the median.
    pub share: f64,
    /// What its own observations say beside those of the others, in words.
    pub says: Vec<String>,
}

/// One time that a workload ran on all hosts.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FleetTurn {
    /// From the first host under way to the last one; `None` where time is
    /// virtual.
    pub start_skew_ns: Option<u64>,
    /// The skew is within this of the truth: what the clocks are known to.
    pub clock_uncertainty_ns: u64,
    /// Time in which all hosts were measured over the time in which any was.
    pub common_share: Option<f64>,
    /// All work up to the moment when the first host was done. Older tools
    /// give their results so.
    pub first_finisher: Option<Finish>,
    /// All work up to the moment when the last host was done.
    pub last_finisher: Option<Finish>,
}

/// The work of all hosts up to a moment.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Finish {
    /// The host that was done then.
    pub host: u32,
    /// From the first measured moment of any host.
    pub after_ns: u64,
    /// Reads, writes and trims.
    pub ops: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Operations over the time.
    pub ops_per_second: f64,
    /// Bytes over the time.
    pub bytes_per_second: f64,
}
