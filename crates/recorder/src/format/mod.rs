//! The file format of a recording.
//!
//! A file is a row of blocks, appended one by one and never changed:
//!
//! ```text
//! block = "fRec" kind:u8 raw_length:u32 stored_length:u32 checksum:u64 payload
//! ```
//!
//! Numbers are little-endian. The payload is compressed with LZ4 when
//! `stored_length < raw_length`. The checksum is the xxh3 of the payload as
//! stored, seeded with kind and lengths. Kinds: 0 the header (JSON: format,
//! host, interval, and the names of all kinds of things and their fields), 1 a
//! key frame, 2 a frame that tells what changed since the one before, 3 the end
//! of a recording that was stopped in order.
//!
//! A frame is written as soon as it is taken, so that a kill loses none but the
//! one that was being taken. A key frame every minute needs nothing before it:
//! where a block is damaged, reading goes on there.

mod decode;
mod encode;
pub mod reader;
mod varint;
pub mod writer;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::frame::HostFacts;
use crate::kind::{Kind, Nature};

/// Name and version of the format, in the header.
pub const FORMAT: &str = "fathom.recording/1";

/// Every block begins so.
const MARK: [u8; 4] = *b"fRec";
/// Bytes of a block before its payload.
const BLOCK_HEAD: usize = 21;
/// Longer payloads are damage.
const MOST_RAW: usize = 8 << 20;

const HEADER: u8 = 0;
const KEY_FRAME: u8 = 1;
const NEXT_FRAME: u8 = 2;
const END: u8 = 3;

/// The first block.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// [`FORMAT`].
    pub format: String,
    /// What wrote it: `fathom 0.1.0`.
    pub program: String,
    /// Who was recorded.
    pub host: HostFacts,
    /// The distance between frames that was asked for, in nanoseconds.
    pub interval_ns: u64,
    /// Names of kinds and fields; frames refer to them by place.
    pub kinds: Vec<KindNames>,
    /// The recording that this file is a part of, where it is cut into parts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub series: Option<Series>,
}

/// The recording of which a file is a part.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Series {
    /// Tells it from every other one.
    pub(crate) id: String,
    /// The name of the file that was asked for: `db1.frec`.
    pub(crate) name: String,
}

/// The names of one kind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KindNames {
    /// Of the kind.
    pub name: String,
    /// Of its fields.
    pub fields: Vec<FieldName>,
}

/// A field.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FieldName {
    /// With its unit.
    pub name: String,
    /// Whether it only grows.
    #[serde(default)]
    pub counter: bool,
}

impl Header {
    /// The header of a recording that begins now.
    pub fn new(host: HostFacts, interval_ns: u64) -> Header {
        let kinds = Kind::ALL.iter().map(|kind| KindNames {
            name: kind.name().to_owned(),
            fields: kind
                .fields()
                .iter()
                .map(|field| FieldName {
                    name: field.name.to_owned(),
                    counter: field.nature == Nature::Counter,
                })
                .collect(),
        });
        Header {
            format: FORMAT.to_owned(),
            program: format!("fathom {}", env!("CARGO_PKG_VERSION")),
            host,
            interval_ns,
            kinds: kinds.collect(),
            series: None,
        }
    }
}

/// The checksum of a block.
fn checksum(kind: u8, raw_length: u32, stored: &[u8]) -> u64 {
    let lengths = (u64::from(raw_length) << 32) | stored.len() as u64;
    xxh3_64_with_seed(stored, lengths ^ (u64::from(kind) << 24))
}

/// A block of this payload, in `out`.
fn block(kind: u8, raw: &[u8], out: &mut Vec<u8>) {
    let packed = lz4_flex::block::compress(raw);
    let stored = match packed.len() < raw.len() {
        true => packed.as_slice(),
        false => raw,
    };
    debug_assert!(
        raw.len() <= MOST_RAW,
        "{} bytes would be read as damage",
        raw.len()
    );
    let raw_length = raw.len() as u32;
    out.extend_from_slice(&MARK);
    out.push(kind);
    out.extend_from_slice(&raw_length.to_le_bytes());
    out.extend_from_slice(&(stored.len() as u32).to_le_bytes());
    out.extend_from_slice(&checksum(kind, raw_length, stored).to_le_bytes());
    out.extend_from_slice(stored);
}

/// A block with a right checksum, which no fuzzer would find.
#[cfg(feature = "fuzzing")]
#[doc(hidden)]
pub fn fuzzed_block(kind: u8, raw: &[u8], out: &mut Vec<u8>) {
    block(kind, raw, out);
}

#[cfg(test)]
#[path = "../format_tests.rs"]
mod tests;
