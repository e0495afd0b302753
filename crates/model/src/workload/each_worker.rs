//! What holds for each worker by itself.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// When a worker ends by itself: at whichever given bound comes first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WorkerBounds {
    /// Bytes moved by the worker, in the measure phase.
    pub bytes: Option<u64>,
    /// Operations of the worker, in the measure phase.
    pub ops: Option<u64>,
    /// How many times the worker moves as many bytes as its part of the
    /// target holds, in whole blocks; at least 1.
    pub passes: Option<u32>,
}

impl WorkerBounds {
    /// Whether there is any bound.
    pub fn is_bounded(&self) -> bool {
        self.bytes.is_some() || self.ops.is_some() || self.passes.is_some()
    }
}

/// Which part of shared files (or of a device) a worker uses.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WorkerRegion {
    /// Workers divide the work: in order, each has a contiguous part of its
    /// own; at random, all of them together visit each block once per pass.
    #[default]
    Split,
    /// Each worker uses all of it, as if it were alone.
    Whole,
    /// Worker n, from 0, uses the part that starts n times `step_bytes` after
    /// the start of the accessed range.
    Staggered {
        /// From the start of one worker's part to that of the next.
        step_bytes: u64,
        /// Length of each part; to the end of the accessed range when not
        /// given, and never beyond it.
        span_bytes: Option<u64>,
    },
}
