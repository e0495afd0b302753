//! Facts of hosts, links and paths.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Counters of a link since it came up (`/sys/class/net/*/statistics`).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LinkCounters {
    /// Frames that arrived damaged.
    pub receive_errors: u64,
    /// Frames that arrived and were thrown away for want of room.
    pub receive_dropped: u64,
    /// Frames that could not be sent.
    pub transmit_errors: u64,
    /// Frames that were thrown away before they were sent.
    pub transmit_dropped: u64,
}

impl LinkCounters {
    /// Growth since `before`; a counter that went back did not grow.
    #[must_use]
    pub fn since(&self, before: &LinkCounters) -> LinkCounters {
        LinkCounters {
            receive_errors: self.receive_errors.saturating_sub(before.receive_errors),
            receive_dropped: self.receive_dropped.saturating_sub(before.receive_dropped),
            transmit_errors: self.transmit_errors.saturating_sub(before.transmit_errors),
            transmit_dropped: self
                .transmit_dropped
                .saturating_sub(before.transmit_dropped),
        }
    }

    /// All together.
    pub fn total(&self) -> u64 {
        let parts = [
            self.receive_errors,
            self.receive_dropped,
            self.transmit_errors,
            self.transmit_dropped,
        ];
        parts.into_iter().fold(0, u64::saturating_add)
    }
}

/// What a host says of one of its links (`/sys/class/net`).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LinkFacts {
    /// Name of the interface.
    pub interface: String,
    /// Rated speed, bits per second; `None` where the driver does not say.
    pub speed_bits: Option<u64>,
    /// `full` or `half`; `None` where the driver does not say.
    pub duplex: Option<String>,
    /// Largest packet, bytes.
    pub mtu_bytes: Option<u32>,
    /// The driver, by name.
    pub driver: Option<String>,
    /// Receive queues.
    pub receive_queues: u32,
    /// Transmit queues.
    pub transmit_queues: u32,
    /// Interfaces that are bonded in this one.
    pub bonded: Vec<String>,
    /// How they are bonded, in the kernel's word.
    pub bond_mode: Option<String>,
    /// It has no hardware of its own: a pair of namespaces, a bridge, the
    /// loopback. A speed that it claims is no rated one.
    pub is_virtual: bool,
    /// Its counters.
    pub counters: LinkCounters,
}

/// What a host says of itself and the link that carries the test.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HostFacts {
    /// Its name.
    pub hostname: String,
    /// Its kernel.
    pub kernel: String,
    /// CPUs.
    pub cpus: u32,
    /// Version of fathom.
    pub fathom: String,
    /// The address of the test at this host.
    pub address: String,
    /// The link with that address; `None` when it was not found.
    pub link: Option<LinkFacts>,
    /// The name that its kernel gave itself when it booted: two agents of one
    /// machine say the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub boot_id: Option<String>,
}

/// The other host's clock against this one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClockOffset {
    /// Theirs less ours, nanoseconds.
    pub offset_ns: i64,
    /// The truth lies within this of it, if the way there is as long as back.
    pub uncertainty_ns: u64,
    /// Exchanges that were made; the one with the shortest round trip counts.
    pub exchanges: u32,
}

/// What became of datagrams of one size that no router may split.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MtuProbe {
    /// Largest payload that arrived, bytes. The packet has 28 more (IPv4) or
    /// 48 more (IPv6).
    pub largest_payload_bytes: u32,
    /// Whether the jumbo payload of 8,972 bytes arrived.
    pub jumbo_passes: bool,
    /// A packet that was too large vanished without a word.
    pub silent: bool,
    /// The host that said that a packet is too large, and the size that it
    /// takes; our own address when our own link refuses it.
    pub refused_by: Option<(String, u32)>,
}

/// What the probes of both directions say about the path's packet size.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MtuFinding {
    /// Largest packet that passes both ways, bytes.
    pub path_mtu_bytes: u32,
    /// Whether a setting contradicts another or the path.
    pub mismatch: bool,
    /// What it means and what to change, in words.
    pub explanation: String,
}
