//! What a worker touches next: operation, file, offset, length.
//!
//! Everything is drawn from the seed by named algorithms (splitmix64,
//! xoshiro256++, a keyed Feistel shuffle, rejection-inversion for
//! Zipf), and floating point is limited to what IEEE 754 fixes, so that the
//! same job gives the same accesses on every host. The algorithms are part of
//! the format.
//!
//! - Kinds are interleaved operation by operation; each hundred holds exactly
//!   the asked-for shares. All kinds share one sequence of offsets, unless each
//!   was asked to go through its own.
//! - In-order patterns: workers that share files walk through contiguous
//!   regions of their own, unless each was asked to use all of them.
//! - `EachOnce`: workers that share files visit each block once per pass
//!   together. With several block sizes each cell of the largest size is
//!   visited once per pass, by a block anywhere in it.
//! - Skewed patterns: what is hot is the same for all workers that share files.

mod due_first;
mod ground;
mod layout;
mod mix;
mod permutation;
mod read_back;
mod scatter;
mod size;
mod steady_fill;
mod strand;
mod varied;
mod walk;
mod zipf;
mod zone_walk;
mod zones;

pub use layout::{Layout, LayoutFile, TargetKind};
pub(crate) use permutation::Permutation;
pub(crate) use zipf::Zipf;

use fathom_model::rng::derive_seed;
use fathom_model::workload::{Distribution, Pattern};
use fathom_model::{OpKind, Workload};

use self::ground::Ground;
use self::mix::MixDraw;
use self::scatter::{Scatter, Seeds};
use self::size::SizeDraw;
use self::strand::OffsetOrder;
use self::varied::{Site, Varied};
use self::walk::Walk;
use crate::Error;
use crate::replay::ReplaySource;

/// Labels under which independent generators are derived from the seed.
mod label {
    pub(super) const MIX: u64 = 1;
    pub(super) const SIZE: u64 = 2;
    pub(super) const PLACE: u64 = 3;
    pub(super) const WORKER: u64 = 0x100;
    pub(super) const SHARED: u64 = 0x200;
}

/// One operation that is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Access {
    /// Read, write or trim.
    pub kind: OpKind,
    /// Index into [`Layout::files`].
    pub file: u32,
    /// Offset in the file, in bytes.
    pub offset: u64,
    /// Length, in bytes.
    pub bytes: u32,
}

/// The endless sequence of one worker's accesses.
#[derive(Debug, Clone)]
pub struct AccessStream {
    mix: MixDraw,
    size: SizeDraw,
    place: OffsetSource,
    first_file: u32,
    base: u64,
    pass_bytes: u64,
}

#[derive(Debug, Clone)]
enum OffsetSource {
    Walk(Walk),
    Scatter(Box<Scatter>),
    Varied(Box<Varied>),
    Replay(Box<ReplaySource>),
}

impl AccessStream {
    /// The accesses of worker `worker_index` (from 0).
    ///
    /// # Errors
    /// [`Error::Workload`] when the worker's part of the layout is smaller
    /// than one block, or the workload has a value out of its range.
    pub fn new(
        workload: &Workload,
        layout: &Layout,
        worker_index: u32,
        seed: u64,
    ) -> Result<AccessStream, Error> {
        let own_seed = derive_seed(derive_seed(seed, label::WORKER), u64::from(worker_index));
        let size = SizeDraw::new(&workload.block, derive_seed(own_seed, label::SIZE))?;
        let max_bytes = workload.max_block_bytes();
        let ground = Ground::new(workload, layout, worker_index, max_bytes)?;
        let seeds = Seeds::of(workload, layout, seed, own_seed);
        let place = if Varied::is_needed(workload) {
            let at = Site {
                workload,
                layout,
                worker_index,
            };
            OffsetSource::Varied(Box::new(Varied::new(&at, own_seed, seeds)?))
        } else {
            match OffsetOrder::new(&ground, &workload.pattern, !size.is_fixed(), seeds)? {
                OffsetOrder::Walk(walk) => OffsetSource::Walk(walk),
                OffsetOrder::Scatter(scatter) => OffsetSource::Scatter(scatter),
            }
        };
        Ok(AccessStream {
            mix: MixDraw::new(&workload.mix, derive_seed(own_seed, label::MIX))?,
            size,
            place,
            first_file: ground.first_file,
            base: ground.base,
            pass_bytes: pass_bytes(workload, &ground),
        })
    }

    /// The accesses of a recorded list in place of those that are drawn.
    pub(crate) fn replay(&mut self, source: ReplaySource) {
        self.place = OffsetSource::Replay(Box::new(source));
        self.pass_bytes = u64::MAX;
    }

    /// Whether a recorded list is at its end.
    #[inline]
    pub(crate) fn is_over(&self) -> bool {
        match &self.place {
            OffsetSource::Replay(source) => source.is_over(),
            OffsetSource::Varied(varied) => varied.is_over(),
            _ => false,
        }
    }

    /// When the next access of a recorded list is due, from the start.
    #[inline]
    pub(crate) fn due_ns(&self) -> Option<u64> {
        match &self.place {
            OffsetSource::Replay(source) => source.due_ns(),
            OffsetSource::Varied(varied) => varied.due_ns(),
            _ => None,
        }
    }

    /// Whether the last access reads back what was written before.
    pub(crate) fn reads_back(&self) -> bool {
        matches!(&self.place, OffsetSource::Varied(varied) if varied.reads_back())
    }

    /// Nothing more is written: from here on the stream reads back what is
    /// left, and is over then. `undone` is the last access where that is a
    /// write that will not be done.
    pub(crate) fn close(&mut self, undone: Option<&Access>) {
        if let OffsetSource::Varied(varied) = &mut self.place {
            let (first_file, base) = (self.first_file, self.base);
            let block = |a: &Access| (a.bytes, a.file - first_file, a.offset - base);
            varied.close(undone.map(block));
        }
    }

    /// Bytes of the whole blocks in the worker's part of the layout.
    pub fn pass_bytes(&self) -> u64 {
        self.pass_bytes
    }

    /// The next access. Never allocates, never fails, never ends.
    #[inline]
    #[allow(clippy::should_implement_trait)] // It never ends: an Option would be noise.
    pub fn next(&mut self) -> Access {
        let (kind, bytes, file, position) = match &mut self.place {
            OffsetSource::Walk(walk) => {
                let bytes = self.size.next();
                let (file, position) = walk.next(u64::from(bytes));
                (self.mix.next(), bytes, file, position)
            }
            OffsetSource::Scatter(scatter) => {
                let bytes = self.size.next();
                let (file, position) = scatter.next(u64::from(bytes));
                (self.mix.next(), bytes, file, position)
            }
            OffsetSource::Varied(varied) => varied.next(&mut self.mix),
            OffsetSource::Replay(source) => return source.next(),
        };
        // Beyond the last accessed byte of a file lies what another worker, or nobody,
        // has prepared: reads there are quick and mean nothing.
        debug_assert!(bytes > 0, "an access without bytes");
        Access {
            kind,
            file: self.first_file + file,
            offset: self.base + position,
            bytes,
        }
    }
}

/// A worker's whole blocks: those of the cells that are its own where workers
/// divide them.
fn pass_bytes(workload: &Workload, ground: &Ground) -> u64 {
    let (worker, sharing) = ground.share;
    let cells = match &workload.pattern {
        Pattern::Random(distribution) => {
            let all = match distribution {
                Distribution::SteadyFill(fill) => steady_fill::writes(fill, ground.cells()),
                _ => ground.cells(),
            };
            (all - worker).div_ceil(sharing)
        }
        _ => ground.boundary(worker + 1) - ground.boundary(worker),
    };
    let uniform = workload.min_block_bytes() == workload.max_block_bytes();
    let bytes = if uniform {
        ground.max_block
    } else {
        ground.cell_bytes
    };
    cells.saturating_mul(bytes)
}

#[cfg(test)]
#[path = "distribution_tests.rs"]
mod distribution_tests;
#[cfg(test)]
#[path = "access_tests.rs"]
mod tests;
#[cfg(test)]
#[path = "varied_tests.rs"]
mod varied_tests;
