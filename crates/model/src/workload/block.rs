//! Sizes of blocks.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Sizes of blocks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum BlockSizes {
    /// Always the same.
    Fixed(u64),
    /// Uniform over the multiples of `step_bytes` from `min_bytes` to
    /// `max_bytes`, both included.
    Range {
        /// Smallest block.
        min_bytes: u64,
        /// Largest block.
        max_bytes: u64,
        /// Granularity; the alignment of the target.
        step_bytes: u64,
    },
    /// Drawn by weight.
    Weighted(Vec<WeightedSize>),
}

/// One size of a weighted draw.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WeightedSize {
    /// Size in bytes.
    pub bytes: u64,
    /// Relative weight, at least 1.
    pub weight: u32,
}

impl BlockSizes {
    /// The largest block.
    pub fn max_bytes(&self) -> u64 {
        match self {
            BlockSizes::Fixed(bytes) => *bytes,
            BlockSizes::Range { max_bytes, .. } => *max_bytes,
            BlockSizes::Weighted(sizes) => sizes.iter().map(|s| s.bytes).max().unwrap_or(0),
        }
    }

    /// The smallest block.
    pub fn min_bytes(&self) -> u64 {
        match self {
            BlockSizes::Fixed(bytes) => *bytes,
            BlockSizes::Range { min_bytes, .. } => *min_bytes,
            BlockSizes::Weighted(sizes) => sizes.iter().map(|s| s.bytes).min().unwrap_or(0),
        }
    }
}
