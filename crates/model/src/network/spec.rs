//! What a network load is.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Largest block of a load, bytes.
const MOST_BLOCK_BYTES: u32 = 64 << 20;
/// Most connections of one direction.
const MOST_STREAMS: u32 = 256;
/// Longest load, an hour.
const MOST_NS: u64 = 3_600_000_000_000;
/// Largest payload of a UDP datagram over IPv4.
const MOST_DATAGRAM_BYTES: u32 = 65_507;
/// Smallest: the sequence number, the time, and the token.
const LEAST_DATAGRAM_BYTES: u32 = 32;

/// Time between round trips beside a load.
const ROUND_TRIP_EVERY_NS: u64 = 10_000_000;

/// What carries the data.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Protocol {
    /// TCP.
    #[default]
    Tcp,
    /// UDP datagrams with sequence numbers.
    Udp,
}

/// Which way data flow, seen from the end that asked for the load.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// From the end that asked to the other one.
    #[default]
    Forward,
    /// Towards the end that asked.
    Reverse,
    /// Both at the same time, over connections of their own.
    Both,
}

impl Direction {
    /// Whether data flow to the other end.
    pub fn forward(self) -> bool {
        self != Direction::Reverse
    }

    /// Whether data flow from the other end.
    pub fn reverse(self) -> bool {
        self != Direction::Forward
    }
}

/// What the connections do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LoadKind {
    /// One end sends all the time, the other receives.
    Stream,
    /// The end that asked sends a request and waits for its response, over and
    /// over; the latency is of the whole exchange.
    Requests {
        /// Size of a request, at least 16.
        request_bytes: u32,
        /// Size of a response, at least 1.
        response_bytes: u32,
        /// Time from one request to the next of a connection (open loop);
        /// 0 sends the next as soon as the response is there.
        every_ns: u64,
    },
}

/// How a stream is sent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SendMethod {
    /// `write`: the kernel copies each block.
    #[default]
    Write,
    /// `sendfile` from memory: the kernel sends the pages themselves.
    Sendfile,
}

/// One load between two ends.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LoadSpec {
    /// What carries the data.
    pub protocol: Protocol,
    /// What the connections do.
    pub kind: LoadKind,
    /// Which way data flow; requests always go forward.
    pub direction: Direction,
    /// Connections of each direction; at least 1.
    pub streams: u32,
    /// Bytes handed to the kernel at once; payload of a datagram for UDP.
    pub block_bytes: u32,
    /// Time before seconds count.
    pub warmup_ns: u64,
    /// Time of the seconds that count; above 0.
    pub measure_ns: u64,
    /// Rate of all streams of a direction together, bits of payload per
    /// second; `None` sends as fast as it goes.
    pub rate_bits: Option<u64>,
    /// Small segments are sent at once (`TCP_NODELAY`).
    pub nodelay: bool,
    /// Size asked for socket buffers, bytes; `None` lets the kernel tune them.
    pub buffer_bytes: Option<u32>,
    /// Largest segment, bytes; `None` leaves it to the path.
    pub mss_bytes: Option<u32>,
    /// Congestion control by name; `None` takes the system's.
    pub congestion: Option<String>,
    /// How streams are sent.
    #[serde(default)]
    pub method: SendMethod,
    /// The receiver lets the kernel throw data away instead of copying them
    /// (`MSG_TRUNC`).
    #[serde(default)]
    pub discard: bool,
}

/// A number of a load that cannot be asked of a host.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SpecError {
    /// One that has a range.
    #[error("{name} is {value}; it can be {least} to {most}")]
    OutOfRange {
        /// What it counts.
        name: &'static str,
        /// What it is.
        value: u64,
        /// The least that it can be.
        least: u64,
        /// The most.
        most: u64,
    },
    /// The name of an algorithm that the kernel could not have.
    #[error("the congestion control is not a name of at most 15 letters")]
    CongestionControl,
    /// Requests need answers in order.
    #[error("requests go over TCP only")]
    RequestsOverUdp,
    /// A request of another size.
    #[error("a request has 16 to {MOST_BLOCK_BYTES} bytes")]
    RequestBytes,
    /// A response of another size.
    #[error("a response has 1 to {MOST_BLOCK_BYTES} bytes")]
    ResponseBytes,
}

impl LoadSpec {
    /// One TCP stream forward for `seconds` after one second of warm-up.
    pub fn stream(seconds: u32) -> LoadSpec {
        LoadSpec {
            protocol: Protocol::Tcp,
            kind: LoadKind::Stream,
            direction: Direction::Forward,
            streams: 1,
            block_bytes: 128 << 10,
            warmup_ns: 1_000_000_000,
            measure_ns: u64::from(seconds.max(1)) * 1_000_000_000,
            rate_bits: None,
            nodelay: false,
            buffer_bytes: None,
            mss_bytes: None,
            congestion: None,
            // A tenth to a fifth less CPU time for a byte than `write`, and it is the
            // network that is measured (decision 0020).
            method: SendMethod::Sendfile,
            discard: false,
        }
    }

    /// Requests one after the other on one connection.
    pub fn requests(request_bytes: u32, response_bytes: u32, measure_ns: u64) -> LoadSpec {
        LoadSpec {
            kind: LoadKind::Requests {
                request_bytes,
                response_bytes,
                every_ns: 0,
            },
            nodelay: true,
            warmup_ns: 0,
            measure_ns,
            ..LoadSpec::stream(1)
        }
    }

    /// Small requests for `measure_ns`, one at a time; with `every_ns` above 0
    /// one is due each such time.
    pub fn round_trips(measure_ns: u64, every_ns: u64) -> LoadSpec {
        LoadSpec {
            kind: LoadKind::Requests {
                request_bytes: 64,
                response_bytes: 64,
                every_ns,
            },
            ..LoadSpec::requests(64, 64, measure_ns)
        }
    }

    /// Small requests that go round beside this load.
    #[must_use]
    pub fn beside(&self) -> LoadSpec {
        LoadSpec {
            warmup_ns: self.warmup_ns,
            ..LoadSpec::round_trips(self.measure_ns, ROUND_TRIP_EVERY_NS)
        }
    }

    /// All the time it takes.
    pub fn total_ns(&self) -> u64 {
        self.warmup_ns.saturating_add(self.measure_ns)
    }

    /// Checks every number against its range.
    ///
    /// # Errors
    /// What is out of range and what the range is.
    pub fn check(&self) -> Result<(), SpecError> {
        let within = |name: &'static str, value: u64, least: u64, most: u64| {
            if (least..=most).contains(&value) {
                return Ok(());
            }
            Err(SpecError::OutOfRange {
                name,
                value,
                least,
                most,
            })
        };
        within(
            "the number of streams",
            self.streams.into(),
            1,
            MOST_STREAMS.into(),
        )?;
        within(
            "the time in nanoseconds",
            self.measure_ns,
            1_000_000,
            MOST_NS,
        )?;
        within("the warm-up in nanoseconds", self.warmup_ns, 0, MOST_NS)?;
        let (least, most) = match self.protocol {
            Protocol::Tcp => (1, MOST_BLOCK_BYTES),
            Protocol::Udp => (LEAST_DATAGRAM_BYTES, MOST_DATAGRAM_BYTES),
        };
        within(
            "the block in bytes",
            self.block_bytes.into(),
            least.into(),
            most.into(),
        )?;
        if let Some(rate) = self.rate_bits {
            within("the rate in bits per second", rate, 1000, 1 << 50)?;
        }
        if let Some(mss) = self.mss_bytes {
            within("the segment in bytes", mss.into(), 88, 65_495)?;
        }
        if let Some(buffer) = self.buffer_bytes {
            within("the socket buffer in bytes", buffer.into(), 1024, 1 << 30)?;
        }
        let name_fits = |name: &String| {
            (1..=15).contains(&name.len())
                && name
                    .chars()
                    .all(|c| c.is_ascii_alphanumeric() || "_-".contains(c))
        };
        if self
            .congestion
            .as_ref()
            .is_some_and(|name| !name_fits(name))
        {
            return Err(SpecError::CongestionControl);
        }
        self.check_requests()
    }

    fn check_requests(&self) -> Result<(), SpecError> {
        let LoadKind::Requests {
            request_bytes,
            response_bytes,
            ..
        } = self.kind
        else {
            return Ok(());
        };
        if self.protocol == Protocol::Udp {
            return Err(SpecError::RequestsOverUdp);
        }
        let sizes = 1..=MOST_BLOCK_BYTES;
        if request_bytes < 16 || !sizes.contains(&request_bytes) {
            return Err(SpecError::RequestBytes);
        }
        if !sizes.contains(&response_bytes) {
            return Err(SpecError::ResponseBytes);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn odd_numbers_are_refused_with_their_range() {
        assert_eq!(LoadSpec::stream(5).check(), Ok(()));
        let many = LoadSpec {
            streams: 1000,
            ..LoadSpec::stream(5)
        };
        let told = many.check().unwrap_err().to_string();
        assert_eq!(told, "the number of streams is 1000; it can be 1 to 256");
        let datagram = LoadSpec {
            protocol: Protocol::Udp,
            block_bytes: 70_000,
            ..LoadSpec::stream(5)
        };
        assert!(datagram.check().is_err());
        let named = LoadSpec {
            congestion: Some("bbr; rm".to_owned()),
            ..LoadSpec::stream(5)
        };
        assert!(named.check().is_err());
        assert!(LoadSpec::requests(8, 1, 1 << 30).check().is_err());
        assert_eq!(LoadSpec::requests(64, 4096, 1 << 30).check(), Ok(()));
    }
}
