//! The order in which offsets are visited, and how random ones are spread.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ByKind;

/// The order in which offsets are visited.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Pattern {
    /// Ascending, wrapping around at the end.
    Sequential,
    /// Descending, wrapping around at the start.
    Backwards,
    /// Ascending in steps of `stride_bytes` from one start to the next.
    Strided {
        /// Distance from one block's start to the next, at least one block.
        stride_bytes: u64,
    },
    /// Each block starts `skip_bytes` after the end of the one before, and the
    /// walk starts anew where it began when it meets an end. A negative skip
    /// goes back: by twice the block it visits every block in descending order.
    Skipping {
        /// From the end of one block to the start of the next; not 0.
        skip_bytes: i64,
    },
    /// At random.
    Random(Distribution),
}

impl Pattern {
    /// Whether offsets are random.
    pub fn is_random(&self) -> bool {
        matches!(self, Pattern::Random(_))
    }
}

/// How random offsets are spread.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Distribution {
    /// Uniform, each block exactly once per pass, in a fresh order each pass.
    EachOnce,
    /// Uniform with repeats.
    Uniform,
    /// Zipf with exponent `theta` > 0: rank r is visited in proportion to
    /// r^-theta. Ranks are scattered over the target by a hash.
    Zipf {
        /// Exponent, above 0; 1.2 is common.
        theta: f64,
    },
    /// Pareto with `h` between 0 and 1 (share of accesses outside the hot
    /// part: 0.2 means 80 % of accesses go to 20 % of blocks). Scattered.
    Pareto {
        /// Skew, 0 < h < 1.
        h: f64,
    },
    /// Normal around a place of the target.
    Normal {
        /// Standard deviation in percent of the target's size, above 0.
        deviation_percent: f64,
        /// The place in percent of the target's size, 0 to 100.
        #[serde(default = "middle", skip_serializing_if = "is_middle")]
        center_percent: f64,
    },
    /// A share of accesses goes to a share of the target at its start.
    HotSpot {
        /// Accesses to the hot part, percent.
        access_percent: f64,
        /// Size of the hot part, percent of the target.
        size_percent: f64,
    },
    /// Zones side by side from the start of the target, each with its share of
    /// accesses. Nothing behind the last one is accessed.
    Zoned(Vec<Zone>),
    /// These blocks in this order, over and over.
    Sequence {
        /// Numbers of blocks from the start of the accessed range; at least one.
        blocks: Vec<u64>,
        /// Each time, all of them lie as many blocks further on as there are.
        advances: bool,
    },
    /// One filling after which an SSD is as long random writing leaves it.
    SteadyFill(SteadyFill),
}

/// Writes the physical capacity of an SSD once, so that its flash blocks are
/// then as full of valid data, by age, as in the steady state of random writes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SteadyFill {
    /// Physical over logical capacity less one, in percent, above 0 and below
    /// 100; its maker says it.
    pub over_provisioning_percent: f64,
    /// Parts of the physical capacity, each with its share of valid data; 1 to
    /// 1,000,000.
    pub regions: u32,
    /// Rewrites come one region later, so that the cache of a drive cannot join
    /// the two writes of a block.
    pub later: bool,
}

/// One zone of a zoned distribution.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Zone {
    /// Accesses to the zone, percent; those of all zones add up to 100.
    pub access_percent: f64,
    /// How far it reaches.
    pub size: ZoneSize,
}

/// How far a zone reaches.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ZoneSize {
    /// Percent of the accessed range, above 0 to 100.
    Percent(f64),
    /// Bytes, above 0.
    Bytes(u64),
}

fn middle() -> f64 {
    50.0
}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde calls it with a reference.
fn is_middle(percent: &f64) -> bool {
    *percent == middle()
}

/// What becomes of random offsets between two draws.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Sequencer {
    /// A random offset is drawn every this many operations; at least 1.
    pub draw_every_ops: u32,
    /// Where the operations between two draws go.
    pub between: Between,
    /// Share of operations at random offsets, by kind, in percent; the rest go
    /// on where the operation of that kind before ended. 100 where not given.
    pub random_percent: ByKind<u8>,
    /// Each kind of operation goes through offsets of its own, in order as at
    /// random; otherwise all kinds share one sequence.
    pub each_kind: bool,
}

impl Default for Sequencer {
    fn default() -> Self {
        Sequencer {
            draw_every_ops: 1,
            between: Between::Onward,
            random_percent: ByKind::default(),
            each_kind: false,
        }
    }
}

/// Where operations between two random draws go.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Between {
    /// Each starts where the one before ended.
    #[default]
    Onward,
    /// To the same offset again.
    Again,
}
