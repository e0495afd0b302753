//! The engines, one file (or folder) each; which of them serves a workload here, and
//! its construction.

pub(crate) mod blocking;
mod libaio;
mod mmap;
mod null;
mod peer;
mod psync;
mod simulated;
mod space;
mod synchronous;
mod uring;

use std::io;
use std::sync::Arc;

use fathom_model::Workload;
use fathom_model::workload::EngineKind;

use crate::arena::BufferView;
use crate::engine::{Engine, MAX_DEPTH};
use crate::object::{BlockStore, Blocks};
use crate::open::{OpenMode, WorkerFiles};

use libaio::Libaio;
use mmap::Mmap;
pub(crate) use null::Null;
use peer::PeerEngine;
pub(crate) use psync::Psync;
pub(crate) use simulated::{SIM_ORIGIN_NS, SharedDrive, Simulated};
use space::{Change, Space};
pub(crate) use synchronous::Synchronous;
#[cfg(test)]
pub(crate) use uring::probe as uring_probe;
use uring::{NoUring, Uring};

/// The engine that is used where `wanted` was asked for. What had to be
/// replaced is said in `fallbacks`.
pub(crate) fn choose(wanted: EngineKind, direct: bool, fallbacks: &mut Vec<String>) -> EngineKind {
    choose_with(wanted, direct, uring::probe, fallbacks)
}

fn choose_with(
    wanted: EngineKind,
    direct: bool,
    probe: impl FnOnce() -> Result<(), NoUring>,
    fallbacks: &mut Vec<String>,
) -> EngineKind {
    match wanted {
        EngineKind::Uring => match probe() {
            Ok(()) => EngineKind::Uring,
            Err(reason) => {
                let instead = if direct {
                    EngineKind::Libaio
                } else {
                    EngineKind::Psync
                };
                fallbacks.push(format!("{reason}: engine {} is used", instead.name()));
                instead
            }
        },
        EngineKind::Libaio if !direct => {
            fallbacks.push(
                "libaio is asynchronous with direct I/O only: operations block when submitted"
                    .to_owned(),
            );
            EngineKind::Libaio
        }
        other => other,
    }
}

/// Operations that one worker can have in flight.
pub(crate) fn max_depth(engine: EngineKind) -> u32 {
    match engine.one_at_a_time() {
        true => 1,
        false => MAX_DEPTH,
    }
}

/// What an engine is built from.
pub(crate) struct Materials<'a> {
    pub(crate) kind: EngineKind,
    pub(crate) worker: u32,
    pub(crate) files: WorkerFiles,
    pub(crate) sizes: Vec<u64>,
    pub(crate) buffers: BufferView,
    pub(crate) slots: u32,
    pub(crate) workload: &'a Workload,
    pub(crate) mode: OpenMode,
    /// A store whose objects are blocks, and the worker's first file.
    pub(crate) blocks: Option<(Arc<BlockStore>, usize)>,
}

/// What is done with the engine once it is built. A trait because a closure
/// cannot be generic.
pub(crate) trait Visitor {
    /// What comes of it.
    type Output;
    /// Takes the engine.
    fn visit<E: Engine>(self, engine: E, notes: Vec<String>) -> Self::Output;
}

/// Builds the engine and hands it to `visitor`: the one place where the
/// kinds of engines are told apart.
///
/// # Errors
/// When the engine cannot be built.
pub(crate) fn enter<V: Visitor>(
    materials: Materials<'_>,
    mut notes: Vec<String>,
    visitor: V,
) -> io::Result<V::Output> {
    let Materials {
        kind,
        worker,
        files,
        sizes,
        buffers,
        slots,
        workload,
        mode,
        blocks,
    } = materials;
    let sync = workload.sync.call;
    Ok(match kind {
        EngineKind::S3 => {
            let Some((store, first_file)) = blocks else {
                return Err(io::Error::other("no store is named"));
            };
            let made = Blocks::new(&store, worker, first_file, buffers, slots);
            visitor.visit(made.map_err(io::Error::other)?, notes)
        }
        EngineKind::Null | EngineKind::Sim | EngineKind::Meta => {
            visitor.visit(Null::new(slots), notes)
        }
        EngineKind::Psync => {
            visitor.visit(Synchronous::new(Psync::new(files, sync), buffers), notes)
        }
        EngineKind::Falloc => {
            let space = Space::new(Change::Space, files, sync);
            visitor.visit(Synchronous::new(space, buffers), notes)
        }
        EngineKind::Ftruncate => {
            let space = Space::new(Change::Length, files, sync);
            visitor.visit(Synchronous::new(space, buffers), notes)
        }
        EngineKind::Uring => {
            let uring = Uring::new(files, buffers, slots, workload, mode, &mut notes)?;
            visitor.visit(uring, notes)
        }
        EngineKind::Libaio => {
            let goes_on = workload.sync.goes_on();
            let libaio = Libaio::new(files, buffers, slots, sync, goes_on)?;
            visitor.visit(libaio, notes)
        }
        EngineKind::Net => {
            let Some(peer) = workload.peer() else {
                return Err(io::Error::other("no connection is named"));
            };
            let reads = workload.mix.reads();
            visitor.visit(PeerEngine::new(peer, worker, reads, buffers)?, notes)
        }
        EngineKind::Mmap => {
            let mmap = Mmap::new(files, sizes.into_iter(), mode.write, sync)?;
            visitor.visit(Synchronous::new(mmap, buffers), notes)
        }
    })
}

/// What to do when an engine could not be built.
pub(crate) fn remedy(kind: EngineKind) -> &'static str {
    match kind {
        EngineKind::Libaio => {
            "use fewer workers, a lower queue depth, or raise sysctl fs.aio-max-nr"
        }
        EngineKind::Uring => "use fewer workers, a lower queue depth, or raise ulimit -l",
        EngineKind::S3 => "see that the store runs, and its address is right",
        EngineKind::Net => "use another port or socket, or end who holds this one",
        _ => "use another engine",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(wanted: EngineKind, direct: bool, works: bool) -> (EngineKind, Vec<String>) {
        let mut notes = Vec::new();
        let probe = || {
            if works { Ok(()) } else { Err(NoUring::Missing) }
        };
        (choose_with(wanted, direct, probe, &mut notes), notes)
    }

    #[test]
    fn a_missing_ring_is_replaced_and_said() {
        assert_eq!(
            chosen(EngineKind::Uring, true, true),
            (EngineKind::Uring, vec![])
        );
        let (kind, notes) = chosen(EngineKind::Uring, true, false);
        assert_eq!(kind, EngineKind::Libaio);
        assert_eq!(
            notes,
            ["this kernel has no io_uring: engine libaio is used"]
        );
        let (kind, notes) = chosen(EngineKind::Uring, false, false);
        assert_eq!(kind, EngineKind::Psync);
        assert_eq!(notes, ["this kernel has no io_uring: engine psync is used"]);
        assert_eq!(
            chosen(EngineKind::Psync, false, false),
            (EngineKind::Psync, vec![])
        );
    }
}
