//! Round trips of small requests, without load or beside one.

use serde::{Deserialize, Serialize};

use super::{FlowReport, LoadSpec, sparse};
use crate::Histogram;

/// Round trips of small requests.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct RoundTrip {
    /// Round trips as applications see them.
    #[serde(with = "sparse")]
    pub latency: Histogram,
    /// How late requests were sent against their time.
    #[serde(with = "sparse")]
    pub lateness: Histogram,
    /// What the kernel thinks is the shortest, microseconds.
    pub kernel_min_us: Option<u32>,
    /// The requests themselves. Only while they are on their way to the store:
    /// what is shown has their sums.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trips: Option<Box<Trips>>,
}

/// Small requests and both of their ends.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Trips {
    /// What was sent.
    pub spec: LoadSpec,
    /// When it began, nanoseconds since 1970.
    pub started_unix_ns: u64,
    /// What both ends saw.
    pub flow: FlowReport,
}

impl RoundTrip {
    /// The sums of small requests, as the end that asked saw them.
    pub fn of(flow: &FlowReport) -> RoundTrip {
        let mut sums = RoundTrip {
            latency: flow.sender.latency(),
            ..RoundTrip::default()
        };
        for connection in &flow.sender.connections {
            for second in connection.measured() {
                sums.lateness.merge(&second.lateness);
            }
        }
        let first = flow.sender.connections.first();
        sums.kernel_min_us = first
            .and_then(|connection| connection.last_tcp())
            .map(|state| state.min_rtt_us)
            .filter(|&us| us > 0 && us < u32::MAX);
        sums
    }
}
