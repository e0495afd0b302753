//! One host as it is: what was read of it by name, its resources with their
//! use, saturation and errors, and a picture of what hangs on what.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Format of a table of use as JSON.
pub const USE_SCHEMA: &str = "fathom.use/1";

/// One number that was read of a host.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HostReading {
    /// What it is, for example `disk_queue`. Shares are 0 to 1, times seconds,
    /// rates per second, sizes bytes; states are 0 or 1.
    pub quantity: String,
    /// Of what: a device, an interface, a mount point; empty for the host.
    pub instance: String,
    /// The number.
    pub value: f64,
    /// End of the interval, in seconds from the beginning.
    pub at_seconds: f64,
    /// Length of the interval; 0 for a state at a moment.
    pub seconds: f64,
    /// Operations that `value` is the mean of, where it is one; else 0.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub operations: f64,
}

fn is_zero(value: &f64) -> bool {
    *value == 0.0
}

/// The mean of readings of one quantity: of all operations where each reading is the mean
/// of some, else over time; of states the last. Nothing where nothing was read.
pub fn mean_of<'a>(readings: impl Iterator<Item = &'a HostReading> + Clone) -> Option<f64> {
    let weighted = |weight: fn(&HostReading) -> f64| {
        let all: f64 = readings.clone().map(weight).sum();
        let sum: f64 = readings.clone().map(|r| r.value * weight(r)).sum();
        (all > 0.0).then(|| sum / all)
    };
    let by_operations = readings.clone().all(|r| r.operations > 0.0);
    by_operations
        .then(|| weighted(|reading| reading.operations))
        .flatten()
        .or_else(|| weighted(|reading| reading.seconds))
        .or_else(|| readings.clone().last().map(|reading| reading.value))
}

/// The table of use, and the picture.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MachineUse {
    /// [`USE_SCHEMA`].
    pub schema: String,
    /// Name of the host.
    pub host: String,
    /// Seconds that were watched.
    pub seconds: f64,
    /// The resources.
    pub resources: Vec<ResourceUse>,
    /// What hangs on what, those above first.
    pub picture: Vec<MachineNode>,
    /// What could not be read, and why.
    pub notes: Vec<String>,
}

/// Use of one resource.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ResourceUse {
    /// `cpu`, `core`, `memory`, `disk`, `queue`, `link`, `interface`, `network`.
    pub kind: String,
    /// Name of the resource.
    pub name: String,
    /// How much of it is used.
    pub utilisation: Vec<UseFigure>,
    /// Work that waits for it.
    pub saturation: Vec<UseFigure>,
    /// Errors.
    pub errors: Vec<UseFigure>,
}

/// One figure of a resource.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct UseFigure {
    /// What it is, as in [`HostReading::quantity`].
    pub quantity: String,
    /// In words.
    pub title: String,
    /// Mean over the window; absent where it cannot be read.
    pub value: Option<f64>,
    /// Highest of the intervals.
    pub most: Option<f64>,
    /// `ratio`, `bytes/s`, `tasks`, `requests`, `s`, `errors`, `sectors`,
    /// `state`, `1/s`.
    pub unit: String,
    /// How it was read, or why it was not.
    pub how: String,
    /// From here on it is too much; absent where nothing is judged by it.
    pub threshold: Option<f64>,
    /// Where the threshold comes from.
    pub source: Option<String>,
    /// What it means to be beyond the threshold, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub meaning: Option<String>,
    /// For how long an alarm takes it to be beyond the threshold, in seconds.
    #[serde(default)]
    pub for_seconds: u64,
    /// Whether the mean is beyond the threshold.
    pub beyond: bool,
}

/// A part of the machine in the picture.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MachineNode {
    /// Its name, unique in the picture.
    pub name: String,
    /// `socket`, `port`, `adapter`, `disk`, `interface`.
    pub kind: String,
    /// What it is, in words.
    pub label: String,
    /// The part that it hangs on.
    pub above: Option<String>,
    /// The link to the part above.
    pub link: Option<MachineLink>,
}

/// A link between two parts.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MachineLink {
    /// `pcie`, `sata`, `ethernet`, `virtual`.
    pub kind: String,
    /// Speed and width now, in words.
    pub now: Option<String>,
    /// Bits per second that data can take now, coding taken off.
    pub bits_per_second: Option<f64>,
    /// Speed and width that both ends can do, in words.
    pub most: Option<String>,
    /// The same in bits per second.
    pub most_bits_per_second: Option<f64>,
    /// It runs below what both ends can do.
    pub below_rated: bool,
    /// It is the narrowest on the way between a disk and its socket.
    pub narrowest: bool,
    /// Share that was used, 0 to 1, where it was read.
    pub used: Option<f64>,
}
