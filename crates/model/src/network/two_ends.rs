//! A trial with two ends: which hosts they are, and what is known of both once
//! it has ended. Its seconds are samples of single connections.

use serde::{Deserialize, Serialize};

use super::{
    ClockOffset, FlowReport, HostUse, LinkCounters, MatrixMode, MtuProbe, NetRemark, Reachability,
};

/// The hosts between which a trial moves data: indexes into
/// [`crate::run::RunMeta::hosts`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ends {
    /// The host that asks for the load and measures.
    pub from: u32,
    /// The host that it is measured against.
    pub to: u32,
    /// Which other pairs run at the same time, where all pairs of several hosts
    /// are measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<MatrixMode>,
    /// Row of the trial beside which small requests go round. Only of probes;
    /// `None` of the probe without load.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beside: Option<u32>,
}

/// What is known of a trial with two ends once it has ended.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct EndsReport {
    /// Data towards the other host, and requests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forward: Option<FlowFacts>,
    /// Data from the other host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reverse: Option<FlowFacts>,
    /// The way between the hosts. Only of the first trial of a pair.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<Box<PathFacts>>,
}

/// One direction at both ends.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct FlowFacts {
    /// The end that sent, or asked.
    pub sender: EndFacts,
    /// The end that received, or answered.
    pub receiver: EndFacts,
}

/// One end of one direction.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct EndFacts {
    /// Its connections, by their number.
    pub connections: Vec<ConnectionFacts>,
    /// What the host did meanwhile, where that was observed.
    pub host: Option<HostUse>,
    /// Congestion control of the first connection, by name.
    pub congestion: Option<String>,
}

/// One connection at one end.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConnectionFacts {
    /// Address of this end.
    pub local: String,
    /// Address of the other end.
    pub remote: String,
    /// Why it ended before its time, in words.
    pub error: Option<String>,
}

/// The way between two hosts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PathFacts {
    /// How the other host was reached.
    pub reached: Reachability,
    /// Its clock.
    pub clock: Option<ClockOffset>,
    /// Which packets pass towards it and from it.
    pub probes: Option<[MtuProbe; 2]>,
    /// Growth of the counters of our link over the loads.
    pub our_counters: LinkCounters,
    /// Growth of those of the other link.
    pub their_counters: LinkCounters,
    /// What was found out while measuring and no figure says.
    pub remarks: Vec<NetRemark>,
}

impl From<&FlowReport> for FlowFacts {
    fn from(flow: &FlowReport) -> FlowFacts {
        let end = |end: &super::EndReport| EndFacts {
            connections: end
                .connections
                .iter()
                .map(|connection| ConnectionFacts {
                    local: connection.local.clone(),
                    remote: connection.remote.clone(),
                    error: connection.error.clone(),
                })
                .collect(),
            host: end.host,
            congestion: end.congestion.clone(),
        };
        FlowFacts {
            sender: end(&flow.sender),
            receiver: end(&flow.receiver),
        }
    }
}
