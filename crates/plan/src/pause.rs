//! How long the pause between trials may be.

use crate::keys::PauseKeys;

const DEFAULT_FLOOR_NS: u64 = 1_000_000_000;
const DEFAULT_CEILING_NS: u64 = 3_000_000_000;

/// Shortest and longest pause in nanoseconds. A floor above the default
/// ceiling raises it.
pub(crate) fn pause_bounds(keys: Option<&PauseKeys>) -> (u64, u64) {
    let floor = keys.and_then(|keys| keys.floor.as_ref()).map(|t| t.value.0);
    let ceiling = keys
        .and_then(|keys| keys.ceiling.as_ref())
        .map(|t| t.value.0);
    match (floor, ceiling) {
        (Some(floor), Some(ceiling)) => (floor, ceiling),
        (Some(floor), None) => (floor, floor.max(DEFAULT_CEILING_NS)),
        (None, Some(ceiling)) => (DEFAULT_FLOOR_NS.min(ceiling), ceiling),
        (None, None) => (DEFAULT_FLOOR_NS, DEFAULT_CEILING_NS),
    }
}
