//! Operations from a recorded list.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::OpKind;

/// Operations from a recorded list: fio's I/O log, version 2 or 3.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Replay {
    /// The file with the list, on the host that runs the load.
    pub path: PathBuf,
    /// When operations start.
    pub timing: ReplayTiming,
    /// Offsets are divided by this; at least 1.
    pub shrink: u64,
    /// Offsets are rounded down to multiples of this; at least 1.
    pub align_bytes: u64,
    /// Recorded reads are left out.
    pub skip_reads: bool,
    /// Recorded writes are left out.
    pub skip_writes: bool,
    /// Recorded trims are left out.
    pub skip_trims: bool,
    /// Recorded flushes are left out.
    pub skip_syncs: bool,
}

impl Replay {
    /// A list that is replayed as it was recorded.
    pub fn of(path: PathBuf) -> Replay {
        Replay {
            path,
            timing: ReplayTiming::Recorded {
                speed_percent: 100.0,
            },
            shrink: 1,
            align_bytes: 1,
            skip_reads: false,
            skip_writes: false,
            skip_trims: false,
            skip_syncs: false,
        }
    }

    /// Whether recorded operations of a kind are left out.
    pub fn skips(&self, kind: OpKind) -> bool {
        match kind {
            OpKind::Read => self.skip_reads,
            OpKind::Write => self.skip_writes,
            OpKind::Trim => self.skip_trims,
            OpKind::Sync => self.skip_syncs,
            _ => true,
        }
    }
}

/// When recorded operations start.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReplayTiming {
    /// When they were due in the record: the trial is open loop, and response
    /// latency counts from there.
    Recorded {
        /// 200 is twice as fast as recorded; above 0.
        speed_percent: f64,
    },
    /// As fast as the queue depth allows, in the recorded order.
    AsFastAsPossible,
}
