//! What a worker touches next: operation, file, offset, length.
//!
//! Everything is drawn from the seed by named algorithms (splitmix64,
//! xoshiro256++, a keyed Feistel shuffle, rejection-inversion for
//! Zipf), and floating point is limited to what IEEE 754 fixes, so that the
//! same job gives the same accesses on every host. The algorithms are part of
//! the format.
//!
//! - Kinds are interleaved operation by operation; each hundred holds exactly
//!   the asked-for shares. All kinds share one sequence of offsets.
//! - In-order patterns: workers that share files walk through contiguous
//!   regions of their own.
//! - `EachOnce`: workers that share files visit each block once per pass
//!   together. With several block sizes each cell of the largest size is
//!   visited once per pass, by a block anywhere in it.
//! - Skewed patterns: what is hot is the same for all workers that share files.

pub(crate) mod elementary;
mod ground;
mod layout;
mod mix;
mod permutation;
mod scatter;
mod size;
mod walk;
mod zipf;
mod zones;

pub use layout::{Layout, LayoutFile, TargetKind};
pub(crate) use permutation::Permutation;

use fathom_model::rng::derive_seed;
use fathom_model::workload::Pattern;
use fathom_model::{OpKind, Workload};

use self::ground::Ground;
use self::mix::MixDraw;
use self::scatter::Scatter;
use self::size::SizeDraw;
use self::walk::{Gait, Walk};
use crate::Error;

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
    place: Place,
    first_file: u32,
    base: u64,
}

#[derive(Debug, Clone)]
enum Place {
    Walk(Walk),
    Scatter(Box<Scatter>),
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
        let max_bytes = u64::from(size.max_bytes());
        let ground = Ground::new(workload, layout, worker_index, max_bytes)?;
        let walk = |gait| Place::Walk(Walk::new(&ground, gait));
        let place = match &workload.pattern {
            Pattern::Sequential => walk(Gait::Forward),
            Pattern::Backwards => walk(Gait::Backward),
            Pattern::Strided { stride_bytes } => walk(Gait::Stride(*stride_bytes)),
            Pattern::Skipping { skip_bytes } => walk(Gait::Skip(*skip_bytes)),
            Pattern::Random(distribution) => Place::Scatter(Box::new(Scatter::new(
                &ground,
                distribution,
                max_bytes,
                !size.is_fixed(),
                derive_seed(own_seed, label::PLACE),
                if layout.shared {
                    derive_seed(seed, label::SHARED)
                } else {
                    derive_seed(own_seed, label::SHARED)
                },
            )?)),
        };
        Ok(AccessStream {
            mix: MixDraw::new(&workload.mix, derive_seed(own_seed, label::MIX))?,
            size,
            place,
            first_file: ground.first_file,
            base: ground.base,
        })
    }

    /// The next access. Never allocates, never fails, never ends.
    #[inline]
    #[allow(clippy::should_implement_trait)] // It never ends: an Option would be noise.
    pub fn next(&mut self) -> Access {
        let bytes = self.size.next();
        let (file, position) = match &mut self.place {
            Place::Walk(walk) => walk.next(u64::from(bytes)),
            Place::Scatter(scatter) => scatter.next(u64::from(bytes)),
        };
        Access {
            kind: self.mix.next(),
            file: self.first_file + file,
            offset: self.base + position,
            bytes,
        }
    }
}

#[cfg(test)]
#[path = "distribution_tests.rs"]
mod distribution_tests;
#[cfg(test)]
#[path = "access_tests.rs"]
mod tests;
