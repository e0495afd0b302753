//! A pair of hosts.

use serde::{Deserialize, Serialize};

use super::{
    ClockOffset, FlowReport, HostFacts, LinkCounters, LoadSpec, MtuFinding, MtuProbe, NetLimit,
    NetRemark, RoundTrip,
};

/// Whether a host can be reached.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reachability {
    /// The address that was reached.
    pub address: String,
    /// Time of each TCP handshake that was tried, nanoseconds.
    pub connect_ns: Vec<u64>,
}

/// A load and what came of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LoadResult {
    /// Its name within the report, for example `1 stream forward`.
    pub name: String,
    /// What was asked for.
    pub spec: LoadSpec,
    /// Data towards the other host, and requests.
    pub forward: Option<FlowReport>,
    /// Data from the other host.
    pub reverse: Option<FlowReport>,
    /// Round trips of small requests beside the load.
    pub loaded: Option<RoundTrip>,
    /// Why it could not be done, in words.
    pub error: Option<String>,
    /// When it began, nanoseconds since 1970; 0 where that is not known. Only
    /// while it is on its way to the store.
    #[serde(default, skip_serializing_if = "is_unknown")]
    pub started_unix_ns: u64,
}

fn is_unknown(unix_ns: &u64) -> bool {
    *unix_ns == 0
}

impl LoadResult {
    /// Payload that arrived, bits per second, both directions together;
    /// `None` when nothing was measured.
    pub fn bits_per_second(&self) -> Option<f64> {
        let flows = [&self.forward, &self.reverse].into_iter().flatten();
        flows.fold(None, |sum, flow| match flow.receiver.bits_per_second() {
            Some(bits) => Some(sum.unwrap_or(0.0) + bits),
            None => sum,
        })
    }
}

/// A load that is to be made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlannedLoad {
    /// Its name within the report.
    pub name: String,
    /// What it is.
    pub spec: LoadSpec,
    /// Small requests go round beside it.
    pub round_trips: bool,
}

/// What is to be measured between two hosts.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct PairPlan {
    /// Clock and packet sizes.
    pub path: bool,
    /// Time of round trips before any load; 0 makes none.
    pub idle_ns: u64,
    /// Loads, one after the other.
    pub loads: Vec<PlannedLoad>,
}

impl PairPlan {
    /// Time that it takes at least.
    pub fn total_ns(&self) -> u64 {
        let loads = self.loads.iter().map(|load| load.spec.total_ns());
        loads.fold(self.idle_ns, u64::saturating_add)
    }
}

/// Everything about a pair of hosts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PairReport {
    /// [`super::PAIR_SCHEMA`].
    pub schema: String,
    /// When it began, seconds since 1970.
    pub started_unix_s: u64,
    /// This host.
    pub ours: HostFacts,
    /// The other host.
    pub theirs: HostFacts,
    /// How it was reached.
    pub reached: Reachability,
    /// Its clock.
    pub clock: Option<ClockOffset>,
    /// Which packets pass towards the other host and from it.
    pub probes: Option<[MtuProbe; 2]>,
    /// What that means.
    pub mtu: Option<MtuFinding>,
    /// Round trips while nothing else went on.
    pub idle: Option<RoundTrip>,
    /// Every load in the order in which it ran.
    pub loads: Vec<LoadResult>,
    /// Growth of our link's counters.
    pub our_counters: LinkCounters,
    /// Growth of the other link's counters.
    pub their_counters: LinkCounters,
    /// What sets the rate, per direction where both were measured: data
    /// towards the other host, data from it.
    pub limits: Vec<(String, NetLimit)>,
    /// What else a user should know.
    pub remarks: Vec<NetRemark>,
}

impl PairReport {
    /// The rated speed of the pair: that of its slower link, as far as both
    /// have hardware that says so.
    pub fn rated_bits(&self) -> Option<u64> {
        let rated = |host: &HostFacts| {
            let link = host.link.as_ref()?;
            link.speed_bits.filter(|_| !link.is_virtual)
        };
        match (rated(&self.ours), rated(&self.theirs)) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (one, other) => one.or(other),
        }
    }

    /// Whether both ends are one machine: nothing between them crosses a network.
    pub fn is_one_machine(&self) -> bool {
        let (ours, theirs) = (&self.ours, &self.theirs);
        let same_boot = ours.boot_id.is_some() && ours.boot_id == theirs.boot_id;
        same_boot || (!ours.address.is_empty() && ours.address == theirs.address)
    }

    /// A load by its name.
    pub fn load(&self, name: &str) -> Option<&LoadResult> {
        self.loads.iter().find(|load| load.name == name)
    }
}
