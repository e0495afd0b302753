//! Shares of reads, writes and trims.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Shares of reads, writes and trims in percent. They add up to 100 and are
/// interleaved operation by operation, not in bursts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OpMix {
    /// Reads, 0 to 100.
    pub read_percent: u8,
    /// Writes, 0 to 100.
    pub write_percent: u8,
    /// Discards, 0 to 100.
    pub trim_percent: u8,
}

impl OpMix {
    /// Only reads.
    pub const READ: OpMix = OpMix {
        read_percent: 100,
        write_percent: 0,
        trim_percent: 0,
    };
    /// Only writes.
    pub const WRITE: OpMix = OpMix {
        read_percent: 0,
        write_percent: 100,
        trim_percent: 0,
    };

    /// Neither: the work is not one of blocks.
    pub const NONE: OpMix = OpMix {
        read_percent: 0,
        write_percent: 0,
        trim_percent: 0,
    };

    /// Whether any data are read.
    pub fn reads(&self) -> bool {
        self.read_percent > 0
    }

    /// Whether any data on the target are changed.
    pub fn modifies(&self) -> bool {
        self.write_percent > 0 || self.trim_percent > 0
    }
}
