//! What is written, and how it is checked.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::unset;

/// What is written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Payload {
    /// The content.
    pub content: Content,
    /// Share of each 4 KiB that compresses away, 0 to 100 percent.
    pub compress_percent: u8,
    /// Share of blocks that duplicate an earlier one, 0 to 100 percent.
    pub duplicate_percent: u8,
}

impl Default for Payload {
    fn default() -> Self {
        Payload {
            content: Content::Random,
            compress_percent: 0,
            duplicate_percent: 0,
        }
    }
}

/// Content of a payload.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Content {
    /// Incompressible, unique blocks.
    Random,
    /// All zeros.
    Zeros,
    /// These bytes over and over; at least one.
    Bytes(Vec<u8>),
    /// These parts over and over; at least one, and of at least one byte.
    Parts(Vec<Part>),
}

/// A part of a repeated content.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// These bytes.
    Bytes(Vec<u8>),
    /// The offset of the block in its file, eight bytes, little end first.
    Offset,
}

/// Checking of what is read against what was written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Verify {
    /// Every read in the measure phase is checked (outside the timed window).
    pub on_read: bool,
    /// All that was written is read back and checked after the measure phase.
    pub after: bool,
    /// What is read was written by an earlier trial of the same shape, on this
    /// run or another: nothing is prepared, and every block must be a whole one
    /// that was written to this very place by whatever trial.
    #[serde(default, skip_serializing_if = "unset")]
    pub earlier: bool,
    /// The content of the payload is compared byte by byte, and nothing is
    /// stamped into it; for contents that repeat bytes.
    #[serde(default, skip_serializing_if = "unset")]
    pub by_content: bool,
    /// Within the load, what was written is read again and checked. These
    /// reads count as reads, and towards no bound.
    #[serde(default, skip_serializing_if = "unset")]
    pub read_back: Option<ReadBack>,
    /// Trials that run at the same time may write the same blocks: a block is
    /// right when it was written to this very place as a whole, whoever wrote
    /// it. Only with stamps.
    #[serde(default, skip_serializing_if = "unset")]
    pub by_anybody: bool,
}

/// When what was written is read again within the load.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReadBack {
    /// After this many writes of a worker, at least 1. What is left when a
    /// worker has come to its own bound is read back at its end.
    pub every_writes: u32,
    /// How many of them are then read, at least 1 and at most `every_writes`.
    pub at_once: u32,
}
