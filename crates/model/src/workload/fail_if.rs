//! What ends a trial as failed.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What ends a trial as failed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FailIf {
    /// Fewer operations per second than this, over all workers, in a whole
    /// second of the measure phase.
    pub ops_per_second_below: Option<f64>,
    /// Fewer bytes per second than this, over all workers, in a whole second
    /// of the measure phase.
    pub bytes_per_second_below: Option<f64>,
    /// An operation that takes longer than this.
    pub latency_above_ns: Option<u64>,
}
