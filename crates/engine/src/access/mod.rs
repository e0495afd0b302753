//! What a worker touches next: operation, file, offset, length.
//!
//! Everything is drawn from the seed by named algorithms, so that the same
//! job gives the same accesses on every host.

mod layout;

pub use layout::{Layout, LayoutFile, TargetKind};

use fathom_model::rng::{Rng, derive_seed};
use fathom_model::{OpKind, Workload};

use crate::Error;

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
    rng: Rng,
    files: std::ops::Range<u32>,
    base: u64,
    step: u64,
    cells: u64,
    bytes: u32,
    read_percent: u64,
    write_percent: u64,
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
        let first = layout
            .files
            .first()
            .ok_or_else(|| Error::Workload("the layout has no files".to_owned()))?;
        let bytes = u32::try_from(workload.block.max_bytes())
            .map_err(|_| Error::Workload("blocks end at 4 GiB".to_owned()))?;
        let align = workload.align_bytes.max(1);
        let step = u64::from(bytes).div_ceil(align).max(1) * align;
        let cells = first.span_bytes.saturating_sub(workload.misalign_bytes) / step;
        if cells == 0 {
            return Err(Error::Workload(
                "the accessed range is smaller than one block".to_owned(),
            ));
        }
        Ok(AccessStream {
            rng: Rng::new(derive_seed(seed, u64::from(worker_index))),
            files: layout.files_of(worker_index),
            base: first.start_bytes + workload.misalign_bytes,
            step,
            cells,
            bytes,
            read_percent: u64::from(workload.mix.read_percent),
            write_percent: u64::from(workload.mix.write_percent),
        })
    }

    /// The next access. Never allocates, never fails.
    #[inline]
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self) -> Access {
        let draw = self.rng.below(100);
        let kind = if draw < self.read_percent {
            OpKind::Read
        } else if draw < self.read_percent + self.write_percent {
            OpKind::Write
        } else {
            OpKind::Trim
        };
        let files = u64::from(self.files.end - self.files.start);
        Access {
            kind,
            file: self.files.start + self.rng.below(files) as u32,
            offset: self.base + self.rng.below(self.cells) * self.step,
            bytes: self.bytes,
        }
    }
}
