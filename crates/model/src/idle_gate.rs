//! The wait before a trial until its devices are quiet.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What was waited for before a trial, and how that ended.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct IdleGate {
    /// How long it was waited.
    pub waited_ns: u64,
    /// At most so long.
    pub ceiling_ns: u64,
    /// Names of the devices that were watched; empty where none has counters, or
    /// where a time alone was to pass.
    pub watched: Vec<String>,
    /// The devices that were busy when they were looked at for the last time
    /// before they were all quiet, or before the wait was given up.
    pub busy: Vec<BusyDevice>,
    /// The wait ended at its ceiling while devices were busy.
    pub gave_up: bool,
}

/// A device that somebody uses.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BusyDevice {
    /// Kernel name, for example `nvme0n1`.
    pub name: String,
    /// Mean requests in flight while it was looked at.
    pub queue: f64,
}

impl IdleGate {
    /// The longest queue of a device that was busy.
    pub fn longest_queue(&self) -> f64 {
        self.busy
            .iter()
            .map(|device| device.queue)
            .fold(0.0, f64::max)
    }
}
