//! The door: which engine serves a workload here, and its construction.

use fathom_model::workload::EngineKind;

use crate::engine::MAX_DEPTH;

/// The engine that is used where `wanted` was asked for. What had to be
/// replaced is said in `fallbacks`.
pub(crate) fn choose(wanted: EngineKind, direct: bool, fallbacks: &mut Vec<String>) -> EngineKind {
    let _ = direct;
    match wanted {
        EngineKind::Null | EngineKind::Psync => wanted,
        other => {
            fallbacks.push(format!(
                "engine {} is not available here: psync is used",
                other.name()
            ));
            EngineKind::Psync
        }
    }
}

/// Operations that one worker can have in flight.
pub(crate) fn max_depth(engine: EngineKind) -> u32 {
    match engine {
        EngineKind::Psync | EngineKind::Mmap => 1,
        _ => MAX_DEPTH,
    }
}
