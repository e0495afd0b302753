//! Staying in one zone of the range for a while, then moving on.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Accesses stay within one zone of each worker's range until so many bytes
/// have been moved there, then go on to the next; behind the last zone they
/// begin again at the first. Offsets within the zone follow the pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ZoneWalk {
    /// Length of a zone; at least one block.
    pub zone_bytes: u64,
    /// Bytes that are moved in a zone before the next one; above 0. More than
    /// the zone holds goes through it again.
    pub stay_bytes: u64,
    /// What lies between the end of a zone and the start of the next.
    pub skip_bytes: u64,
}
