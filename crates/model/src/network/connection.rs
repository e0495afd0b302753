//! Whose second it is, in a trial with two ends, and what its end knew of the
//! connection.

use serde::{Deserialize, Serialize};

/// What the kernel knows of a TCP connection: a selection of `TCP_INFO`
/// (`linux/tcp.h`). Counters count from the start of the connection.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TcpState {
    /// Segments that were sent again.
    pub retransmits: u64,
    /// Data segments that were sent.
    pub segments_out: u64,
    /// Data segments that arrived.
    pub segments_in: u64,
    /// Smoothed round trip, microseconds.
    pub rtt_us: u32,
    /// Its mean deviation, microseconds.
    pub rtt_var_us: u32,
    /// Smallest round trip, microseconds.
    pub min_rtt_us: u32,
    /// Congestion window, segments.
    pub cwnd_segments: u32,
    /// Largest segment that is sent, bytes.
    pub mss_bytes: u32,
    /// Window that the receiver offers, bytes; 0 where the kernel does not say.
    pub send_window_bytes: u32,
    /// Path MTU as the kernel knows it, bytes.
    pub path_mtu_bytes: u32,
    /// Rate at which data were acknowledged last, bytes per second.
    pub delivery_rate: u64,
    /// Time with data to send, microseconds.
    pub busy_us: u64,
    /// Of that, time in which the receiver's window was full.
    pub window_limited_us: u64,
    /// Of that, time in which the send buffer was full.
    pub buffer_limited_us: u64,
    /// Times that segments overtook one another.
    pub reordered: u32,
}

/// What the receiver of datagrams saw, in one second.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UdpState {
    /// Datagrams that arrived.
    pub packets: u64,
    /// Datagrams that are missing between those that arrived.
    pub lost: u64,
    /// Datagrams that came after later ones.
    pub out_of_order: u64,
    /// Smoothed difference of transit times (RFC 3550), nanoseconds.
    pub jitter_ns: u64,
}

impl UdpState {
    /// This and a later second together.
    #[must_use]
    pub fn then(self, later: UdpState) -> UdpState {
        UdpState {
            packets: self.packets + later.packets,
            lost: self.lost + later.lost,
            out_of_order: self.out_of_order + later.out_of_order,
            jitter_ns: later.jitter_ns,
        }
    }
}

/// Which way the data of a connection flow, seen from the end that asked for
/// the load. Requests go forward.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Way {
    /// To the other end.
    Forward,
    /// From the other end.
    Reverse,
}

/// The end of a connection at which something was measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum End {
    /// It sent the data, or the requests.
    Sender,
    /// It received them, or answered.
    Receiver,
}

/// What a sample of one connection says beyond counts, bytes and histograms:
/// whose second it is, and the connection when the second ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConnectionState {
    /// Which way its data flow.
    pub way: Way,
    /// The end that was measured.
    pub end: End,
    /// Its number among the connections of that way, from 0.
    pub number: u32,
    /// CPU on which its thread was at the end of the second.
    pub cpu: u32,
    /// What the kernel knows of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tcp: Option<TcpState>,
    /// What the receiver of datagrams saw in the second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub udp: Option<UdpState>,
}

impl ConnectionState {
    /// Whether both are the same connection at the same end.
    pub fn is_of(&self, other: &ConnectionState) -> bool {
        (self.way, self.end, self.number) == (other.way, other.end, other.number)
    }

    /// This connection at the end of a later second, with the datagrams of both.
    #[must_use]
    pub fn then(self, later: ConnectionState) -> ConnectionState {
        let udp = match (self.udp, later.udp) {
            (Some(mine), Some(theirs)) => Some(mine.then(theirs)),
            (mine, theirs) => theirs.or(mine),
        };
        ConnectionState {
            tcp: later.tcp.or(self.tcp),
            udp,
            ..later
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Phase, Sample};

    fn state(number: u32, packets: u64) -> ConnectionState {
        ConnectionState {
            way: Way::Forward,
            end: End::Receiver,
            number,
            cpu: 1,
            tcp: None,
            udp: Some(UdpState {
                packets,
                lost: 1,
                out_of_order: 0,
                jitter_ns: packets,
            }),
        }
    }

    fn sample(number: u32, packets: u64) -> Sample {
        Sample {
            connection: Some(Box::new(state(number, packets))),
            ..Sample::new(Phase::Measure, 0, 0)
        }
    }

    #[test]
    fn seconds_of_one_connection_stay_its_own_and_a_sum_is_nobodys() {
        let mut joined = sample(3, 10);
        joined.merge(&sample(3, 5));
        let state = joined.connection.clone().unwrap();
        let udp = state.udp.unwrap();
        assert_eq!((state.number, udp.packets, udp.lost), (3, 15, 2));
        assert_eq!(udp.jitter_ns, 5);
        joined.merge(&sample(4, 5));
        assert_eq!(joined.connection, None);
    }
}
