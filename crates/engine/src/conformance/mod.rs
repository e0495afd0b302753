//! The suite that every engine passes.
//!
//! [`every_family`] is what holds for blocks, files and objects alike: bounds,
//! schedules, pauses, ends, failures. [`engine_level`] talks to an engine directly: bytes, errnos, depth, short
//! transfers. [`group_level`] runs whole groups: bounds, samples, flushes, errors;
//! [`each_worker`] what holds for one worker, [`verified`] checks contents, [`hung`] operations that do not return,
//! [`own_process`] what needs a process of its own. A new engine adds its kind to [`ENGINES`] and is accepted when
//! all of this passes on it.

mod detailed;
mod each_worker;
mod engine_level;
mod every_family;
mod group_level;
mod hung;
mod own_process;
mod paced_and_placed;
mod verified;

use fathom_model::workload::EngineKind;

/// Engines that move real data.
const ENGINES: [EngineKind; 4] = [
    EngineKind::Psync,
    EngineKind::Uring,
    EngineKind::Libaio,
    EngineKind::Mmap,
];

/// Why an engine cannot be tested on this host.
fn missing(kind: EngineKind) -> Option<String> {
    match kind {
        EngineKind::Uring => crate::engines::uring_probe()
            .err()
            .map(|why| why.to_string()),
        _ => None,
    }
}

/// The engines that work on this host; says which do not.
fn engines() -> impl Iterator<Item = EngineKind> {
    ENGINES.into_iter().filter(|kind| match missing(*kind) {
        None => true,
        Some(reason) => {
            println!("skipped: {}: {reason}", kind.name());
            false
        }
    })
}
