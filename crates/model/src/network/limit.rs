//! What set a network's figure.

use serde::{Deserialize, Serialize};

/// What limits a pair of hosts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NetLimitKind {
    /// The link at its rated speed.
    Link,
    /// Something that holds the rate below the rated speed: a shaper, a
    /// policer, a slower link on the way.
    RateLimit,
    /// One CPU at the receiver.
    ReceiverCpu,
    /// One CPU at the sender.
    SenderCpu,
    /// All CPUs of a host.
    HostCpu,
    /// Window against round trip: the receiver's window or a socket buffer.
    Window,
    /// Lost packets.
    Loss,
    /// The rate that was asked for.
    AskedRate,
    /// The data do not say.
    Unknown,
}

impl NetLimitKind {
    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            NetLimitKind::Link => "the link",
            NetLimitKind::RateLimit => "a rate limit on the way",
            NetLimitKind::ReceiverCpu => "one CPU of the receiver",
            NetLimitKind::SenderCpu => "one CPU of the sender",
            NetLimitKind::HostCpu => "the CPUs of a host",
            NetLimitKind::Window => "window against round trip",
            NetLimitKind::Loss => "loss",
            NetLimitKind::AskedRate => "the requested rate",
            NetLimitKind::Unknown => "not clear",
        }
    }
}

/// What limits a pair of hosts, with the evidence.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NetLimit {
    /// What it is.
    pub kind: NetLimitKind,
    /// The rate that it sets, bits per second on the wire (with headers),
    /// where it is a rate.
    pub wire_bits: Option<f64>,
    /// The numbers that say so, in words.
    pub evidence: String,
    /// What to do, in words.
    pub remedy: String,
}

/// Remarks that are made while measuring, since no stored figure says them: loads
/// kept to small segments, and packet sizes that could not be probed.
pub const MEASURED_REMARKS: [&str; 2] = [SMALL_SEGMENTS, NO_PROBES];

/// Loads kept to small segments, because larger packets vanish.
pub const SMALL_SEGMENTS: &str = "small-segments";

/// Packet sizes could not be probed.
pub const NO_PROBES: &str = "no-probes";

/// Something about a network that a user should know.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NetRemark {
    /// A stable name.
    pub id: String,
    /// What was seen, with its numbers, and what to do.
    pub text: String,
}
