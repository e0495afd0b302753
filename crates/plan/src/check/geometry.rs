//! Rules about blocks, offsets and the data set.

use fathom_model::unit::bytes_exact;
use fathom_model::workload::{BlockSizes, Pattern};

use super::{Context, at};
use crate::diagnostic::{Problem, error, warning};
use crate::limits::{MAX_BLOCK_BYTES, MAX_BUFFER_BYTES};
use crate::resolve::TargetShape;

impl Context<'_> {
    pub(super) fn block(&self) -> Option<Problem> {
        let (min, max) = (
            self.workload.min_block_bytes(),
            self.workload.max_block_bytes(),
        );
        if min > 0 && max <= MAX_BLOCK_BYTES {
            return None;
        }
        let message = format!(
            "{} must be from 1 byte to {}",
            self.key("bs"),
            bytes_exact(MAX_BLOCK_BYTES)
        );
        Some(error("limit", self.place(&self.keys.bs), message))
    }

    /// The first block size that is no multiple of `unit`.
    fn unaligned_block(&self, unit: u64) -> Option<u64> {
        let odd = |bytes: &u64| !bytes.is_multiple_of(unit);
        self.workload.blocks().find_map(|sizes| match sizes {
            BlockSizes::Fixed(bytes) => Some(*bytes).filter(odd),
            BlockSizes::Range {
                min_bytes,
                max_bytes,
                ..
            } => [*min_bytes, *max_bytes].into_iter().find(odd),
            BlockSizes::Weighted(sizes) => sizes.iter().map(|s| s.bytes).find(odd),
        })
    }

    pub(super) fn direct_alignment(&self) -> Option<Problem> {
        // A block that is refused has no alignment of its own.
        if !self.is_direct() || self.block().is_some() {
            return None;
        }
        if let Some(bytes) = self.unaligned_block(512) {
            let message = format!(
                "direct I/O needs blocks of whole sectors; {bytes} is not a multiple of 512"
            );
            let help = format!(
                "take a multiple of 4096, or go through the page cache with {}",
                self.spelling.pair("direct", "false")
            );
            return Some(error("direct_unaligned", self.place(&self.keys.bs), message).help(help));
        }
        let align = self.workload.align_bytes;
        if !align.is_multiple_of(512) {
            let message =
                format!("direct I/O needs offsets of whole sectors, not of {align} bytes");
            let help = "take a multiple of 512";
            return Some(
                error("direct_unaligned", self.place(&self.keys.align), message).help(help),
            );
        }
        let bytes = self.unaligned_block(4096)?;
        let message = format!(
            "blocks of {bytes} bytes are no multiple of 4096: drives with 4 KiB sectors refuse \
             them, others read before they write"
        );
        Some(warning(
            "sub_page_block",
            self.place(&self.keys.bs),
            message,
        ))
    }

    pub(super) fn misalignment(&self) -> Option<Problem> {
        let shift = self.workload.misalign_bytes;
        if shift == 0 || !self.is_direct() || shift.is_multiple_of(512) {
            return None;
        }
        let message = format!("direct I/O cannot be shifted by {shift} bytes, only by sectors");
        let help = format!("write {}", self.spelling.pair("misalign", "512"));
        Some(error("direct_unaligned", at(&self.keys.misalign), message).help(help))
    }

    pub(super) fn buffers(&self) -> Option<Problem> {
        let operations = u128::from(self.workload.total_depth());
        let bytes = operations * u128::from(self.workload.max_block_bytes());
        if bytes <= u128::from(MAX_BUFFER_BYTES) {
            return None;
        }
        let message = format!(
            "{operations} operations in flight of up to {} need more than {} of memory",
            bytes_exact(self.workload.max_block_bytes()),
            bytes_exact(MAX_BUFFER_BYTES)
        );
        let place = at(&self.keys.iodepth).or(at(&self.keys.numjobs));
        let help = format!(
            "lower {}, {} or {}",
            self.key("iodepth"),
            self.key("numjobs"),
            self.key("bs")
        );
        Some(error("limit", place.or(self.entry), message).help(help))
    }

    pub(super) fn size(&self) -> Option<Problem> {
        let size = self.workload.data_set.size_bytes?;
        let block = self.workload.max_block_bytes();
        if size >= block {
            return None;
        }
        let message = format!(
            "{} is {}, less than one block of {}",
            self.key("size"),
            bytes_exact(size),
            bytes_exact(block)
        );
        let problem = error("size_below_block", self.place(&self.keys.size), message);
        Some(problem.relate(at(&self.keys.bs), "the block"))
    }

    /// Files among which the data set is split evenly.
    fn files(&self) -> u64 {
        let count = u64::from(self.workload.data_set.files.count);
        match (self.shape, self.workload.data_set.files.shared) {
            (TargetShape::Sized | TargetShape::Sim, _) => 1,
            (_, true) => count,
            (_, false) => count.saturating_mul(u64::from(self.workload.workers)),
        }
    }

    /// Every file needs room for one block behind the offset.
    pub(super) fn file_size(&self) -> Option<Problem> {
        let size = self.workload.data_set.size_bytes?;
        let block = self.workload.max_block_bytes();
        let files = self.files().max(1);
        let offset = self.workload.data_set.offset_bytes;
        let needed = block
            .saturating_add(offset)
            .saturating_add(self.workload.misalign_bytes);
        if size < block || size / files >= needed {
            return None;
        }
        let behind = match offset {
            0 => String::new(),
            offset => format!(" behind the offset of {}", bytes_exact(offset)),
        };
        let message = format!(
            "{} of {} leaves {} for each of {files} files, too little for one block of {}{behind}",
            self.key("size"),
            bytes_exact(size),
            bytes_exact(size / files),
            bytes_exact(block)
        );
        let help = format!(
            "the size is shared by all workers and files; take at least {}",
            bytes_exact(files.saturating_mul(needed))
        );
        Some(error("size_below_block", self.place(&self.keys.size), message).help(help))
    }

    pub(super) fn working_set(&self) -> Option<Problem> {
        let set = self.workload.data_set.working_set_bytes?;
        let place = at(&self.keys.working_set);
        let block = self.workload.max_block_bytes();
        let files = self.files().max(1);
        if set / files < block {
            let message = format!(
                "{} of {} over {files} files is less than one block of {} in each",
                self.key("working_set"),
                bytes_exact(set),
                bytes_exact(block)
            );
            return Some(error("working_set", place, message));
        }
        let size = self
            .workload
            .data_set
            .size_bytes
            .filter(|size| set > *size)?;
        let message = format!(
            "{} is {}, more than {} of {}",
            self.key("working_set"),
            bytes_exact(set),
            self.key("size"),
            bytes_exact(size)
        );
        let problem = error("working_set", place, message);
        Some(problem.relate(at(&self.keys.size), "the data set"))
    }

    pub(super) fn stride(&self) -> Option<Problem> {
        if let Pattern::Skipping { skip_bytes } = self.workload.pattern {
            let odd = self.is_direct() && !skip_bytes.unsigned_abs().is_multiple_of(512);
            let message = format!("direct I/O needs skips of whole sectors, not {skip_bytes}");
            return odd.then(|| error("direct_unaligned", at(&self.keys.pattern), message));
        }
        let Pattern::Strided { stride_bytes } = self.workload.pattern else {
            return None;
        };
        let block = self.workload.max_block_bytes();
        let place = at(&self.keys.pattern);
        if stride_bytes < block {
            let message = format!(
                "a stride of {} is less than one block of {}",
                bytes_exact(stride_bytes),
                bytes_exact(block)
            );
            return Some(error("stride_below_block", place, message));
        }
        if self.is_direct() && !stride_bytes.is_multiple_of(512) {
            let message = format!("direct I/O needs a stride of whole sectors, not {stride_bytes}");
            return Some(error("direct_unaligned", place, message));
        }
        None
    }
}
