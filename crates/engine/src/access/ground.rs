//! The ground that a worker's accesses lie on: files side by side, cut into
//! cells of one largest block each.

use fathom_model::Workload;
use fathom_model::unit::bytes_exact;
use fathom_model::workload::WorkerRegion;

use super::layout::Layout;
use crate::Error;

/// The accessed ranges of a worker's files, all of the same length.
///
/// A position is relative to the range's start and a multiple of the
/// alignment. A cell holds one block of the largest size, rounded up to the
/// alignment; cells are numbered through all files.
#[derive(Debug, Clone)]
pub(crate) struct Ground {
    /// First file of the worker.
    pub(crate) first_file: u32,
    /// Its number of files.
    pub(crate) files: u32,
    /// What is added to a position to give an offset in the file.
    pub(crate) base: u64,
    /// Positions plus lengths stay within this.
    pub(crate) span: u64,
    /// Positions are multiples of this.
    pub(crate) align: u64,
    /// Distance of cells.
    pub(crate) cell_bytes: u64,
    /// The largest block.
    pub(crate) max_block: u64,
    /// Cells in each file.
    pub(crate) cells_per_file: u64,
    /// Which of the workers that share the files this is, and how many share.
    pub(crate) share: (u64, u64),
}

impl Ground {
    pub(crate) fn new(
        workload: &Workload,
        layout: &Layout,
        worker: u32,
        max_block: u64,
    ) -> Result<Ground, Error> {
        let files = layout.files_of(worker);
        let used = layout.files.get(files.start as usize..files.end as usize);
        let first = used.and_then(<[_]>::first).ok_or_else(|| {
            Error::Workload(format!("the layout has no files for worker {worker}"))
        })?;
        let align = workload.align_bytes.max(1);
        let (shift, span) = part(workload, worker, first.span_bytes);
        let cell_bytes = max_block.div_ceil(align) * align;
        let cells_per_file = match span.checked_sub(max_block) {
            Some(slack) => slack / cell_bytes + 1,
            None => 0,
        };
        let divided = layout.shared && workload.data_set.region == WorkerRegion::Split;
        let sharing = if divided { workload.workers.max(1) } else { 1 };
        let ground = Ground {
            first_file: files.start,
            files: files.end - files.start,
            base: first.start_bytes + workload.misalign_bytes + shift,
            span,
            align,
            cell_bytes,
            max_block,
            cells_per_file,
            share: (
                u64::from(if divided { worker } else { 0 }),
                u64::from(sharing),
            ),
        };
        if ground.cells() < u64::from(sharing) {
            if shift > 0 {
                return Err(Error::Workload(format!(
                    "worker {worker} starts {} into the accessed range of {}, where there is no \
                     room for one block of {}; choose a larger size, a smaller step or fewer \
                     workers",
                    bytes_exact(shift),
                    bytes_exact(first.span_bytes),
                    bytes_exact(max_block),
                )));
            }
            return Err(Error::Workload(format!(
                "the accessed range of {} has no room for one block of {} for each worker; \
                 choose a larger size, a smaller block or fewer workers",
                bytes_exact(layout.active_bytes()),
                bytes_exact(max_block),
            )));
        }
        Ok(ground)
    }

    /// The ground of one zone of `zone_bytes` at the start of each file. Zones
    /// are not shared out: each worker goes through them by itself.
    pub(crate) fn narrowed(mut self, zone_bytes: u64) -> Ground {
        self.span = self.span.min(zone_bytes.max(self.max_block));
        self.cells_per_file = (self.span - self.max_block) / self.cell_bytes + 1;
        self.share = (0, 1);
        self
    }

    /// Cells of all the worker's files.
    pub(crate) fn cells(&self) -> u64 {
        u64::from(self.files).saturating_mul(self.cells_per_file)
    }

    /// First cell of the part that walks of worker `n` of those that share go
    /// through.
    pub(crate) fn boundary(&self, n: u64) -> u64 {
        debug_assert!(n <= self.share.1, "boundary {n} of {} parts", self.share.1);
        // Multiplied first, in 128 bits: parts differ by one cell at most, and the last
        // one ends with the last cell.
        (u128::from(self.cells()) * u128::from(n) / u128::from(self.share.1)) as u64
    }

    /// File (from the worker's first) and position of a cell.
    #[inline]
    pub(crate) fn cell_at(&self, cell: u64) -> (u32, u64) {
        if self.files == 1 {
            (0, cell * self.cell_bytes)
        } else {
            let file = cell / self.cells_per_file;
            (
                file as u32,
                (cell - file * self.cells_per_file) * self.cell_bytes,
            )
        }
    }
}

/// Where a worker's part of the accessed range starts, and how long it is.
fn part(workload: &Workload, worker: u32, range_bytes: u64) -> (u64, u64) {
    let whole = range_bytes.saturating_sub(workload.misalign_bytes);
    let WorkerRegion::Staggered {
        step_bytes,
        span_bytes,
    } = workload.data_set.region
    else {
        return (0, whole);
    };
    let align = workload.align_bytes.max(1);
    let step = step_bytes.div_ceil(align).saturating_mul(align);
    let shift = step.saturating_mul(u64::from(worker));
    let left = whole.saturating_sub(shift);
    (shift, span_bytes.map_or(left, |span| span.min(left)))
}
