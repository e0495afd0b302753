//! What was asked of the bricks of a Gluster volume during a load.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What was asked of the bricks of a volume.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GlusterUse {
    /// Name of the volume.
    pub volume: String,
    /// How it is put together, for example `Distributed-Replicate`.
    pub kind: String,
    /// Its bricks.
    pub bricks: Vec<GlusterBrickUse>,
    /// Options of the volume that are not as they come.
    #[serde(default)]
    pub options: Vec<(String, String)>,
    /// Why something is missing.
    pub notes: Vec<String>,
}

/// What was asked of one brick.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GlusterBrickUse {
    /// `host:/path`.
    pub name: String,
    /// `hot` or `cold` in a tiered volume.
    pub tier: Option<String>,
    /// Operations that were asked for, by name.
    pub calls: Vec<GlusterCalls>,
    /// Bytes that clients read.
    pub read_bytes: u64,
    /// Bytes that clients wrote.
    pub written_bytes: u64,
}

/// One kind of operation of a brick.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GlusterCalls {
    /// Its name there, for example `LOOKUP`.
    pub name: String,
    /// How often.
    pub calls: u64,
    /// Time in the brick, all together; 0 where it is not measured.
    pub time_ns: f64,
}

impl GlusterBrickUse {
    /// How often an operation was asked for.
    pub fn calls_of(&self, name: &str) -> u64 {
        let found = self.calls.iter().find(|one| one.name == name);
        found.map_or(0, |one| one.calls)
    }

    /// Share of the brick's time that an operation took, 0 to 1; `None` where
    /// no time was measured.
    pub fn share_of(&self, name: &str) -> Option<f64> {
        let all: f64 = self.calls.iter().map(|one| one.time_ns).sum();
        let own = self.calls.iter().find(|one| one.name == name)?;
        (all > 0.0).then(|| own.time_ns / all)
    }
}

impl GlusterUse {
    /// How often an operation was asked of all bricks.
    pub fn calls_of(&self, name: &str) -> u64 {
        self.bricks.iter().map(|brick| brick.calls_of(name)).sum()
    }
}
