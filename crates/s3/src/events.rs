//! What connections report: requests that have ended, and connections that were
//! made.

use super::fault::Fault;

/// A request that has ended.
#[derive(Debug)]
pub struct Ended {
    /// The connection that is free again, by its place in the pool.
    pub connection: usize,
    /// Whether it succeeded.
    pub outcome: Result<(), Fault>,
    /// When it was started.
    pub start_ns: u64,
    /// When the answer began; 0 when none came.
    pub first_byte_ns: u64,
    /// When its last byte had come.
    pub end_ns: u64,
    /// Bytes of body received.
    pub received: u64,
    /// Where the body differs from what it should be.
    pub differs_at: Option<u64>,
    /// What the checksum of the answer is and what the store says of it, where
    /// it says something.
    pub checksums: Option<(String, String)>,
}

/// A connection that was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Connected {
    /// To which of the endpoints.
    pub endpoint: usize,
    /// How long it took, TLS not included.
    pub connect_ns: u64,
    /// How long TLS took to be set up; 0 without.
    pub handshake_ns: u64,
}
