//! What all workers of a trial know together about what was written: 32 bits
//! for each unit of the target.

use std::sync::atomic::{AtomicU32, Ordering};

use fathom_model::rng::derive_seed;
use fathom_model::unit::bytes_exact;
use fathom_model::workload::{BlockSizes, Verify};
use fathom_model::{Job, Workload};

use super::stamp::{SECTOR_BYTES, STAMP_BYTES, Stamp, sectors};
use super::state::{Ticket, UnitState};
use crate::Error;
use crate::access::Layout;
use crate::payload::Tile;

/// Memory that the states may take.
const MEMORY_LIMIT_BYTES: u64 = 8 << 30;

/// What all workers of a trial know together about what was written.
#[derive(Debug)]
pub struct Ledger {
    pub(super) verify: Verify,
    /// Data that the trial has not written are stamped with generation 0.
    prepared: bool,
    /// What every unit holds, where contents are compared instead of stamped.
    pub(super) tile: Option<Tile>,
    /// Trims happen, after which a read may give anything.
    pub(super) trims: bool,
    tag: u64,
    base: u64,
    unit_bytes: u64,
    units_per_file: u64,
    files: usize,
    states: Box<[AtomicU32]>,
}

impl Ledger {
    /// A ledger for `job` on `layout`. Nothing counts as written by the trial
    /// yet; what the trial may read before it writes must have been prepared
    /// with [`Ledger::stamp_prepared`].
    ///
    /// # Errors
    /// [`Error::Workload`] when nothing is to be verified, blocks are too small
    /// to be stamped or the ledger would need too much memory.
    pub fn new(job: &Job, layout: &Layout) -> Result<Ledger, Error> {
        let workload = &job.workload;
        let verify = workload
            .verify
            .ok_or_else(|| Error::Workload("the workload is not verified".to_owned()))?;
        let unit_bytes = unit_bytes(workload);
        let tile = match verify.by_content {
            true => Some(Tile::of(&workload.payload.content).ok_or_else(|| {
                Error::Workload(
                    "random contents cannot be compared: verify by stamps, or write a content \
                     that repeats"
                        .to_owned(),
                )
            })?),
            false => None,
        };
        if unit_bytes < 64 && tile.is_none() {
            return Err(Error::Workload(format!(
                "contents cannot be verified in units of {unit_bytes} bytes: block sizes and \
                 alignment need a common divisor of at least 64 bytes, better 512"
            )));
        }
        let span = layout.files.first().map_or(0, |file| file.span_bytes);
        let units_per_file = span.saturating_sub(workload.misalign_bytes) / unit_bytes;
        let units = units_per_file.saturating_mul(layout.files.len() as u64);
        if units.saturating_mul(4) > MEMORY_LIMIT_BYTES {
            return Err(Error::Workload(format!(
                "verifying {} in units of {} needs {} of memory, at most {} are used; \
                 choose a larger block and alignment, or a smaller working set",
                bytes_exact(layout.active_bytes()),
                bytes_exact(unit_bytes),
                bytes_exact(units * 4),
                bytes_exact(MEMORY_LIMIT_BYTES),
            )));
        }
        Ok(Ledger {
            verify,
            prepared: Ledger::needs_prepared(workload) || verify.earlier,
            tile,
            trims: workload.mix.trim_percent > 0,
            tag: trial_tag(job),
            base: layout.files.first().map_or(0, |file| file.start_bytes) + workload.misalign_bytes,
            unit_bytes,
            units_per_file,
            files: layout.files.len(),
            states: zeroed(units as usize),
        })
    }

    /// Whether a trial of `workload` reads data that it has not written, and
    /// checks them.
    pub(crate) fn needs_prepared(workload: &Workload) -> bool {
        workload.verify.is_some_and(|v| v.on_read && !v.earlier) && workload.mix.reads()
    }

    /// Whether reads of the load are checked: all of them, or those of what
    /// was written.
    #[inline]
    pub(super) fn checks_reads(&self) -> bool {
        self.verify.on_read || self.verify.read_back.is_some()
    }

    /// Bytes that share one state.
    pub fn unit_bytes(&self) -> u64 {
        self.unit_bytes
    }

    /// Start and end of the units in each file.
    pub(crate) fn range(&self) -> (u64, u64) {
        (self.base, self.offset_of(self.units_per_file))
    }

    /// Number of files.
    pub(super) fn files(&self) -> usize {
        self.files
    }

    /// Units in each file.
    pub(super) fn units_per_file(&self) -> u64 {
        self.units_per_file
    }

    /// Offset in the file of a unit.
    pub(super) fn offset_of(&self, unit: u64) -> u64 {
        self.base + unit * self.unit_bytes
    }

    /// The unit at an offset, which must be one of an access.
    #[inline]
    pub(super) fn unit_at(&self, offset: u64) -> u64 {
        // Between two units an access would be checked against the stamps of the first
        // and change the state of only one.
        debug_assert!(
            offset
                .saturating_sub(self.base)
                .is_multiple_of(self.unit_bytes),
            "offset {offset} lies within a unit of {} bytes from {} on",
            self.unit_bytes,
            self.base
        );
        offset.saturating_sub(self.base) / self.unit_bytes
    }

    /// Whether data of generation 0 are known to be stamped.
    #[inline]
    pub(super) fn knows(&self, state: UnitState) -> bool {
        !state.unknown && (self.prepared || state.generation > state.slack)
    }

    #[inline]
    fn cell(&self, file: u32, unit: u64) -> Option<&AtomicU32> {
        let index = u64::from(file) * self.units_per_file + unit;
        self.states.get(usize::try_from(index).ok()?)
    }

    /// The state of a unit. One outside of the layout is unknown.
    #[inline]
    pub(super) fn state(&self, file: u32, unit: u64) -> UnitState {
        let outside = UnitState {
            unknown: true,
            ..UnitState::default()
        };
        self.cell(file, unit).map_or(outside, |cell| {
            UnitState::unpack(cell.load(Ordering::Acquire))
        })
    }

    #[inline]
    pub(super) fn begin(&self, file: u32, unit: u64, trim: bool) -> Ticket {
        let Some(cell) = self.cell(file, unit) else {
            return Ticket::unpack(0);
        };
        let begin = |word| Some(UnitState::unpack(word).begin(trim).0.pack());
        // The closure always gives a word, so both arms hold the one before.
        let (Ok(before) | Err(before)) =
            cell.fetch_update(Ordering::AcqRel, Ordering::Acquire, begin);
        UnitState::unpack(before).begin(trim).1
    }

    #[inline]
    pub(super) fn change(&self, file: u32, unit: u64, change: impl Fn(UnitState) -> UnitState) {
        if let Some(cell) = self.cell(file, unit) {
            let _ = cell.fetch_update(Ordering::AcqRel, Ordering::Acquire, |word| {
                Some(change(UnitState::unpack(word)).pack())
            });
        }
    }

    /// The stamp that belongs at an offset.
    #[inline]
    pub(super) fn stamp(&self, file: u32, offset: u64, generation: u32) -> Stamp {
        Stamp {
            tag: self.tag,
            offset,
            file,
            generation,
        }
    }

    /// Stamps one unit of a block.
    #[inline]
    pub(super) fn stamp_unit(&self, file: u32, offset: u64, generation: u32, unit: &mut [u8]) {
        debug_assert_eq!(
            unit.len() as u64,
            self.unit_bytes,
            "stamps lie unit by unit"
        );
        if let Some(tile) = &self.tile {
            tile.fill(offset, 0, unit);
            return;
        }
        for range in sectors(unit.len()) {
            let at = offset + range.start as u64;
            self.stamp(file, at, generation).write(&mut unit[range]);
        }
    }

    /// Stamps data that the preparation writes at `offset` of `file` as
    /// generation 0. Parts outside of the accessed range stay as they are.
    /// `offset` and the length may be anything as long as no unit is split.
    pub(crate) fn stamp_prepared(&self, file: u32, offset: u64, block: &mut [u8]) {
        let end = offset + block.len() as u64;
        let first = offset.saturating_sub(self.base).div_ceil(self.unit_bytes);
        for unit in first..self.units_per_file {
            let at = self.offset_of(unit);
            if at + self.unit_bytes > end {
                break;
            }
            let from = (at - offset) as usize;
            self.stamp_unit(
                file,
                at,
                0,
                &mut block[from..from + self.unit_bytes as usize],
            );
        }
    }
}

/// The tag that all stamps of a trial carry.
pub(crate) fn trial_tag(job: &Job) -> u64 {
    derive_seed(job.run_tag, job.seed)
}

/// The largest unit that no access cuts through.
fn unit_bytes(workload: &Workload) -> u64 {
    let sizes = workload.blocks().flat_map(|sizes| match sizes {
        BlockSizes::Fixed(bytes) => vec![*bytes],
        BlockSizes::Range {
            min_bytes,
            step_bytes,
            ..
        } => vec![*min_bytes, *step_bytes],
        BlockSizes::Weighted(entries) => entries.iter().map(|e| e.bytes).collect(),
    });
    sizes.fold(workload.align_bytes.max(1), gcd)
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// Zeroed states in pages that take memory only once they are used.
fn zeroed(count: usize) -> Box<[AtomicU32]> {
    let plain: Box<[u32]> = vec![0; count].into_boxed_slice();
    // SAFETY: AtomicU32 has the size, alignment and validity of u32, and the
    // box is the only owner.
    unsafe { Box::from_raw(Box::into_raw(plain) as *mut [AtomicU32]) }
}

const _: () = assert!(STAMP_BYTES <= 64 && STAMP_BYTES < SECTOR_BYTES);
