//! What the two ends say to one another.
//!
//! Every connection begins with a hello of 40 bytes: `fathnet`, the version,
//! what it is (control or data), a token, and for data its number. Control
//! connections then carry messages: a length (4 bytes, little endian) and JSON.
//! A version that differs is refused with words; a message that is too long or
//! makes no sense ends the conversation.

use std::io::{self, Read, Write};

use fathom_model::network::{EndReport, HostFacts, LinkCounters, LoadSpec, PairPlan, PairReport};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::protocol::json::message_of;
use crate::protocol::reason::Reason;

/// Version of hello and messages.
pub(super) const VERSION: u8 = 1;
/// Bytes of a hello.
pub(super) const HELLO_BYTES: usize = 40;
/// Longest message to a server.
pub(super) const REQUEST_LIMIT_BYTES: u32 = 256 << 10;
/// Longest message from a server: reports of many connections and seconds.
pub(super) const ANSWER_LIMIT_BYTES: u32 = 64 << 20;

const MAGIC: [u8; 7] = *b"fathnet";
/// Starts a datagram that opens a data connection.
const DATAGRAM_MAGIC: [u8; 8] = *b"fathnetU";

/// The name of a session or load, which nobody can guess.
pub(super) type Token = [u8; 16];

/// A token from the kernel's random numbers.
pub(super) fn fresh_token() -> io::Result<Token> {
    let mut token = [0; 16];
    std::fs::File::open("/dev/urandom")?.read_exact(&mut token)?;
    Ok(token)
}

/// What is wrong with a hello.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum HelloError {
    #[error("it does not speak fathom's protocol")]
    NotFathom,
    #[error(
        "it speaks version {0} of the protocol, this is version {VERSION}: use the same fathom at \
         both ends"
    )]
    OtherVersion(u8),
    #[error("it wants a connection of kind {0}")]
    OtherKind(u8),
}

/// What a connection is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Hello {
    /// Messages.
    Control,
    /// Data of the load with this token, and the number of the connection.
    Data(Token, u32),
}

impl Hello {
    pub(super) fn encode(self) -> [u8; HELLO_BYTES] {
        let mut bytes = [0; HELLO_BYTES];
        bytes[..7].copy_from_slice(&MAGIC);
        bytes[7] = VERSION;
        if let Hello::Data(token, number) = self {
            bytes[8] = 1;
            bytes[16..32].copy_from_slice(&token);
            bytes[32..36].copy_from_slice(&number.to_le_bytes());
        }
        bytes
    }

    /// Reads a hello; the error says what is wrong with it.
    pub(super) fn decode(bytes: &[u8; HELLO_BYTES]) -> Result<Hello, HelloError> {
        if bytes[..7] != MAGIC {
            return Err(HelloError::NotFathom);
        }
        if bytes[7] != VERSION {
            return Err(HelloError::OtherVersion(bytes[7]));
        }
        match bytes[8] {
            0 => Ok(Hello::Control),
            1 => {
                let mut token = [0; 16];
                token.copy_from_slice(&bytes[16..32]);
                let number = [bytes[32], bytes[33], bytes[34], bytes[35]];
                Ok(Hello::Data(token, u32::from_le_bytes(number)))
            }
            other => Err(HelloError::OtherKind(other)),
        }
    }
}

/// A datagram that opens data connection `number` of a load, and its echo.
pub(super) fn datagram_hello(token: Token, number: u32) -> [u8; 28] {
    let mut bytes = [0; 28];
    bytes[..8].copy_from_slice(&DATAGRAM_MAGIC);
    bytes[8..24].copy_from_slice(&token);
    bytes[24..].copy_from_slice(&number.to_le_bytes());
    bytes
}

/// The token and number in such a datagram.
pub(super) fn read_datagram_hello(bytes: &[u8]) -> Option<(Token, u32)> {
    if bytes.len() != 28 || bytes[..8] != DATAGRAM_MAGIC {
        return None;
    }
    let token = bytes[8..24].try_into().ok()?;
    let number = bytes[24..].try_into().ok()?;
    Some((token, u32::from_le_bytes(number)))
}

/// What a server is asked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) enum ServerRequest {
    /// Facts of the host and its link.
    Describe,
    /// What the clock says.
    Clock,
    /// The counters of the link.
    Counters,
    /// A load: the server waits for its data connections.
    Load(LoadSpec),
    /// All connections are there: begin.
    Go,
    /// Measure against another server and report.
    Measure {
        /// Address and port of the other server.
        peer: String,
        /// What to measure.
        plan: PairPlan,
        /// When loads begin, by the server's own clock, nanoseconds since
        /// 1970; in the past is at once.
        start_unix_ns: u64,
    },
}

/// What a server says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) enum ServerAnswer {
    /// The conversation begins; the token lets datagrams in.
    Welcome {
        /// Version of fathom.
        fathom: String,
        /// Of the session.
        token: Token,
    },
    /// It does not want to, with the reason.
    Refused(String),
    /// Facts.
    Facts(Box<HostFacts>),
    /// Nanoseconds since 1970.
    Clock(u64),
    /// Counters.
    Counters(LinkCounters),
    /// Data connections are awaited under this token.
    Ready(Token),
    /// All data connections are there.
    Connected,
    /// The load begins.
    Going,
    /// The load is over: what the server received, and what it sent.
    Done {
        /// Of data towards the server (or requests to it).
        forward: Option<Box<EndReport>>,
        /// Of data from it.
        reverse: Option<Box<EndReport>>,
    },
    /// What came of a measurement against another server.
    Measured(Result<Box<PairReport>, Reason>),
}

/// Writes a message.
pub(super) fn send(to: &mut impl Write, message: &impl Serialize) -> io::Result<()> {
    let mut bytes = vec![0; 4];
    serde_json::to_writer(&mut bytes, message)?;
    let length = u32::try_from(bytes.len() - 4).map_err(|_| too_long(usize::MAX))?;
    bytes[..4].copy_from_slice(&length.to_le_bytes());
    to.write_all(&bytes)
}

/// Reads a message of at most `limit` bytes.
pub(super) fn receive<T: DeserializeOwned>(from: &mut impl Read, limit: u32) -> io::Result<T> {
    let mut length = [0; 4];
    from.read_exact(&mut length)?;
    let length = u32::from_le_bytes(length);
    if length > limit {
        return Err(too_long(length as usize));
    }
    let mut bytes = Vec::with_capacity((length as usize).min(1 << 20));
    from.take(u64::from(length)).read_to_end(&mut bytes)?;
    if bytes.len() < length as usize {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    message_of(&bytes).map_err(|error| {
        io::Error::new(
            io::ErrorKind::InvalidData,
            format!("a message makes no sense: {error}"),
        )
    })
}

fn too_long(bytes: usize) -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidData,
        format!("a message of {bytes} bytes is too long"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hellos_are_read_back_and_strangers_are_told() {
        let data = Hello::Data([3; 16], 77);
        assert_eq!(Hello::decode(&data.encode()), Ok(data));
        assert_eq!(Hello::decode(&Hello::Control.encode()), Ok(Hello::Control));
        let mut newer = Hello::Control.encode();
        newer[7] = 9;
        assert!(
            Hello::decode(&newer)
                .unwrap_err()
                .to_string()
                .contains("version 9")
        );
        assert!(Hello::decode(&[b'G'; HELLO_BYTES]).is_err());
        assert_eq!(
            read_datagram_hello(&datagram_hello([4; 16], 5)),
            Some(([4; 16], 5))
        );
        assert_eq!(read_datagram_hello(b"fathnetU"), None);
    }

    #[test]
    fn messages_are_read_back_and_long_ones_are_not_read() {
        let mut bytes = Vec::new();
        let message = ServerRequest::Load(LoadSpec::stream(3));
        send(&mut bytes, &message).unwrap();
        let back: ServerRequest = receive(&mut bytes.as_slice(), REQUEST_LIMIT_BYTES).unwrap();
        assert_eq!(back, message);
        assert!(receive::<ServerRequest>(&mut bytes.as_slice(), 10).is_err());
        assert!(receive::<ServerRequest>(&mut &bytes[..bytes.len() - 1], 1 << 20).is_err());
        let huge = u32::MAX.to_le_bytes();
        assert!(receive::<ServerRequest>(&mut huge.as_slice(), REQUEST_LIMIT_BYTES).is_err());
    }
}
