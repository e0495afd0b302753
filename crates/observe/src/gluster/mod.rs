//! GlusterFS: what its bricks were asked for, from `gluster volume profile`.
//!
//! The text names the unit in each row: microseconds up to version 9,
//! nanoseconds from version 10 on. The XML has the same numbers without a unit,
//! so its reader must know the version. A few operations (RELEASE, FORGET, …) have
//! calls but no time, and are missing in the XML. Upcalls follow the operations,
//! in the XML under names of others; they have no time either.

mod difference;
mod reader;
mod readings;
mod text;
mod volume;
mod xml;

pub use difference::gluster_use;
pub use reader::{GlusterLook, gluster_look};
pub use readings::gluster_readings;
pub use text::parse_gluster_profile_text;
pub use volume::{GlusterVolume, parse_gluster_volume};
pub use xml::parse_gluster_profile_xml;

use std::collections::BTreeMap;

/// A profile at most.
const PROFILE_BYTES_MAX: usize = 64 << 20;
/// Bricks of a volume at most.
const BRICKS_MAX: usize = 10_000;

/// Why a text is no profile.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GlusterProfileError {
    /// It would fill the memory.
    #[error("this profile is too long")]
    TooLong,
    /// Nothing of one is in it.
    #[error("this is not a profile")]
    None,
    /// It says something else.
    #[error("this is not a profile: {0}")]
    Other(String),
    /// Its elements lie within one another without end.
    #[error("this is not a profile: it is nested too deep")]
    TooDeep,
    /// What Gluster says instead of one.
    #[error("{0}")]
    Refused(String),
}

impl GlusterProfileError {
    /// Whether nobody has started to count.
    fn is_not_started(&self) -> bool {
        self.to_string().contains("is not started")
    }
}

/// What each brick of a volume did.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct GlusterProfile {
    /// The bricks in the order in which they were printed.
    pub bricks: Vec<GlusterBrick>,
}

/// What one brick did.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct GlusterBrick {
    /// `host:/path`.
    pub name: String,
    /// Since the profile was started or cleared, where it was printed.
    pub cumulative: Option<GlusterStats>,
    /// Since the last time that somebody asked, where it was printed.
    pub interval: Option<GlusterStats>,
}

/// Counts of one brick.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct GlusterStats {
    /// By the name of the operation.
    pub operations: BTreeMap<String, GlusterOperation>,
    /// Reads and writes by the length of their blocks: from this many bytes up
    /// to twice as many.
    pub blocks: BTreeMap<u64, GlusterBlocks>,
    /// How long was counted, seconds.
    pub duration_s: u64,
    /// Bytes read by clients.
    pub read_bytes: u64,
    /// Bytes written by clients.
    pub written_bytes: u64,
}

/// One kind of operation.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct GlusterOperation {
    /// How often.
    pub calls: u64,
    /// Mean latency in the brick, nanoseconds; 0 where it is not measured.
    pub mean_ns: f64,
    /// Shortest.
    pub min_ns: f64,
    /// Longest.
    pub max_ns: f64,
}

/// Reads and writes of blocks of one length.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct GlusterBlocks {
    /// Reads.
    pub reads: u64,
    /// Writes.
    pub writes: u64,
}

/// In what unit XML has latencies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GlusterUnit {
    /// Up to version 9.
    Microseconds,
    /// From version 10 on.
    Nanoseconds,
}

impl GlusterUnit {
    /// The unit of a version, from its major number.
    pub fn of_version(major: u32) -> GlusterUnit {
        match major {
            0..10 => GlusterUnit::Microseconds,
            _ => GlusterUnit::Nanoseconds,
        }
    }

    fn in_ns(self) -> f64 {
        match self {
            GlusterUnit::Microseconds => 1000.0,
            GlusterUnit::Nanoseconds => 1.0,
        }
    }
}

/// A finite latency that is not negative, in nanoseconds.
fn latency_ns(text: &str, unit: GlusterUnit) -> Option<f64> {
    let value: f64 = text.parse().ok()?;
    let ns = value * unit.in_ns();
    ns.is_finite().then_some(ns.max(0.0))
}

#[cfg(test)]
#[path = "../gluster_tests.rs"]
mod tests;
