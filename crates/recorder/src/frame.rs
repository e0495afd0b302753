//! One reading of a host: all that was there to be read at one instant.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::kind::{ABSENT, Kind};

/// When a reading was taken.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Instant {
    /// By the host's own clock, in milliseconds since 1970.
    pub unix_ms: i64,
    /// By a clock that is never set, from any start.
    pub monotonic_ns: u64,
}

impl Instant {
    /// Now, by the clocks of this host.
    pub fn now() -> Instant {
        let unix_ms = jiff::Timestamp::now().as_millisecond();
        let monotonic_ns = fathom_observe::monotonic_ns();
        Instant {
            unix_ms,
            monotonic_ns,
        }
    }
}

/// All values of one instant.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Frame {
    /// When.
    pub at: Instant,
    /// What, by kind; things that are read at a slower pace are in some frames
    /// only.
    pub rows: Vec<Row>,
}

impl Frame {
    /// The rows of a kind.
    pub fn of(&self, kind: Kind) -> impl Iterator<Item = &Row> {
        self.rows.iter().filter(move |row| row.kind == kind)
    }
}

/// One thing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// What it is.
    pub kind: Kind,
    /// Which one; empty where a host has one only.
    pub name: Arc<str>,
    /// Values in the order of [`Kind::fields`]; [`ABSENT`] where there is none.
    pub values: Vec<u64>,
}

impl Row {
    /// A row without values.
    pub fn absent(kind: Kind, name: Arc<str>) -> Row {
        Row {
            kind,
            name,
            values: vec![ABSENT; kind.fields().len()],
        }
    }

    /// The value at a place of the kind's fields.
    pub fn value(&self, place: usize) -> Option<u64> {
        self.values.get(place).copied().filter(|v| *v != ABSENT)
    }
}

/// The host of a recording.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostFacts {
    /// Its name.
    #[serde(default)]
    pub name: String,
    /// Release of its kernel.
    #[serde(default)]
    pub kernel: String,
    /// Logical CPUs online.
    #[serde(default)]
    pub cpus: u32,
    /// Ticks per second of the CPU counters.
    #[serde(default)]
    pub tick_hz: u32,
    /// When it was started, in seconds since 1970; tells recordings of two
    /// starts apart.
    #[serde(default)]
    pub booted_unix_s: Option<u64>,
}
