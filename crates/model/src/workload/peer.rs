//! The other end of a connection that a workload reads from or writes to.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What carries the blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PeerProtocol {
    /// TCP.
    Tcp,
    /// UDP: each block is a datagram.
    Udp,
    /// A local socket; `host` is its path.
    Unix,
}

/// A connection whose two ends are workloads: one writes, the other reads.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Peer {
    /// What carries the blocks.
    pub protocol: PeerProtocol,
    /// This end waits for the other to connect.
    pub listen: bool,
    /// Name, address, group or path; may be empty where this end listens.
    pub host: String,
    /// Port of the first worker; each further worker has the next one.
    pub port: u16,
    /// Small segments are sent at once.
    pub nodelay: bool,
    /// Each block is sent back by the end that reads it.
    pub ping_pong: bool,
    /// Size asked for socket buffers, bytes; 0 lets the kernel choose.
    pub buffer_bytes: u32,
    /// Largest segment, bytes; 0 leaves it to the path.
    pub mss_bytes: u32,
    /// Address of the link that carries a group; empty lets the kernel choose.
    pub interface: String,
    /// Routers that a packet to a group may pass.
    pub ttl: u8,
}

impl Peer {
    /// The connection as the name of a target.
    pub fn name(&self) -> String {
        let protocol = match self.protocol {
            PeerProtocol::Tcp => "tcp",
            PeerProtocol::Udp => "udp",
            PeerProtocol::Unix => return format!("unix/{}", self.host),
        };
        let host = match (self.host.as_str(), self.listen) {
            ("", _) => "*",
            (host, _) => host,
        };
        format!("{protocol}/{host}/{}", self.port)
    }
}
