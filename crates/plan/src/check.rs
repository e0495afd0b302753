//! Rules across keys: combinations that cannot run, or would measure
//! something else than they say.

use fathom_model::unit::bytes_exact;
use fathom_model::workload::{CacheMode, EngineKind, Pattern, Workload};

use crate::diagnostic::{Problem, Problems, error, warning};
use crate::keys::WorkloadKeys;
use crate::limits::{MAX_BLOCK_BYTES, MAX_BUFFER_BYTES};
use crate::node::{Located, Span};
use crate::resolve::TargetShape;
use crate::spelling::Spelling;

/// Checks one resolved workload. `entry` is where the workload stands.
pub(crate) fn check(
    keys: &WorkloadKeys,
    workload: &Workload,
    shape: TargetShape,
    entry: Option<Span>,
    spelling: Spelling,
    problems: &mut Problems,
) {
    let context = Context {
        keys,
        workload,
        shape,
        entry,
        spelling,
    };
    let rules = [
        Context::bound,
        Context::block,
        Context::direct_alignment,
        Context::misalignment,
        Context::depth_of_synchronous_engine,
        Context::buffers,
        Context::size,
        Context::file_size,
        Context::working_set,
        Context::stride,
        Context::rate_and_think_time,
        Context::mmap,
        Context::trim,
        Context::verify,
        Context::flush_without_writes,
        Context::poll,
    ];
    for rule in rules {
        if let Some(problem) = rule(&context) {
            problems.push(problem);
        }
    }
}

struct Context<'a> {
    keys: &'a WorkloadKeys,
    workload: &'a Workload,
    shape: TargetShape,
    entry: Option<Span>,
    spelling: Spelling,
}

fn at<T>(key: &Option<Located<T>>) -> Option<Span> {
    key.as_ref().and_then(|key| key.span)
}

impl Context<'_> {
    fn key(&self, name: &str) -> String {
        self.spelling.key(name)
    }

    /// The key's place, or the workload's where the default is at fault.
    fn place<T>(&self, key: &Option<Located<T>>) -> Option<Span> {
        at(key).or(self.entry)
    }

    fn bound(&self) -> Option<Problem> {
        let bounds = self.workload.bounds;
        if bounds.time_ns.is_some() || bounds.bytes.is_some() || bounds.ops.is_some() {
            return None;
        }
        let message = "this workload has no end";
        Some(
            error("no_bound", self.place(&self.keys.runtime), message).help(format!(
                "add {}, or {} or {}",
                self.spelling.pair("runtime", "30s"),
                self.spelling.pair("io_size", "10g"),
                self.spelling.pair("number_ios", "100k"),
            )),
        )
    }

    fn block(&self) -> Option<Problem> {
        let (min, max) = (
            self.workload.block.min_bytes(),
            self.workload.block.max_bytes(),
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

    fn is_direct(&self) -> bool {
        let real = !matches!(self.workload.engine, EngineKind::Null | EngineKind::Sim);
        real && self.workload.cache == CacheMode::Direct
    }

    /// The first block size that is no multiple of `unit`.
    fn unaligned_block(&self, unit: u64) -> Option<u64> {
        use fathom_model::workload::BlockSizes;
        let odd = |bytes: &u64| !bytes.is_multiple_of(unit);
        match &self.workload.block {
            BlockSizes::Fixed(bytes) => Some(*bytes).filter(odd),
            BlockSizes::Range {
                min_bytes,
                max_bytes,
                ..
            } => [*min_bytes, *max_bytes].into_iter().find(odd),
            BlockSizes::Weighted(sizes) => sizes.iter().map(|s| s.bytes).find(odd),
        }
    }

    fn direct_alignment(&self) -> Option<Problem> {
        if !self.is_direct() {
            return None;
        }
        if let Some(bytes) = self.unaligned_block(512) {
            let message =
                format!("direct I/O needs blocks of whole sectors; {bytes} is no multiple of 512");
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

    fn misalignment(&self) -> Option<Problem> {
        let shift = self.workload.misalign_bytes;
        if shift == 0 || !self.is_direct() || shift.is_multiple_of(512) {
            return None;
        }
        let message = format!("direct I/O cannot be shifted by {shift} bytes, only by sectors");
        let help = format!("write {}", self.spelling.pair("misalign", "512"));
        Some(error("direct_unaligned", at(&self.keys.misalign), message).help(help))
    }

    fn depth_of_synchronous_engine(&self) -> Option<Problem> {
        let engine = self.workload.engine;
        let depth = self.workload.queue_depth;
        if depth == 1 || !matches!(engine, EngineKind::Psync | EngineKind::Mmap) {
            return None;
        }
        let message = format!(
            "the engine {} does one operation at a time per worker; {} {depth} would have no \
             effect",
            engine.name(),
            self.key("iodepth")
        );
        let help = format!(
            "write {}, or reach the same depth with {}",
            self.spelling.pair("engine", "uring"),
            self.spelling.pair("numjobs", &depth.to_string())
        );
        let problem = error(
            "depth_without_effect",
            self.place(&self.keys.iodepth),
            message,
        );
        Some(
            problem
                .relate(at(&self.keys.engine), "chosen here")
                .help(help),
        )
    }

    fn buffers(&self) -> Option<Problem> {
        let operations = u128::from(self.workload.total_depth());
        let bytes = operations * u128::from(self.workload.block.max_bytes());
        if bytes <= u128::from(MAX_BUFFER_BYTES) {
            return None;
        }
        let message = format!(
            "{operations} operations in flight of up to {} need more than {} of memory",
            bytes_exact(self.workload.block.max_bytes()),
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

    fn size(&self) -> Option<Problem> {
        let size = self.workload.size_bytes?;
        let block = self.workload.block.max_bytes();
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
        let count = u64::from(self.workload.files.count);
        match (self.shape, self.workload.files.shared) {
            (TargetShape::Sized | TargetShape::Sim, _) => 1,
            (_, true) => count,
            (_, false) => count.saturating_mul(u64::from(self.workload.workers)),
        }
    }

    /// Every file needs room for one block behind the offset.
    fn file_size(&self) -> Option<Problem> {
        let size = self.workload.size_bytes?;
        let block = self.workload.block.max_bytes();
        let files = self.files().max(1);
        let offset = self.workload.offset_bytes;
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

    fn working_set(&self) -> Option<Problem> {
        let set = self.workload.working_set_bytes?;
        let place = at(&self.keys.working_set);
        let block = self.workload.block.max_bytes();
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
        let size = self.workload.size_bytes.filter(|size| set > *size)?;
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

    fn stride(&self) -> Option<Problem> {
        let Pattern::Strided { stride_bytes } = self.workload.pattern else {
            return None;
        };
        let block = self.workload.block.max_bytes();
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

    fn rate_and_think_time(&self) -> Option<Problem> {
        if self.workload.rate.is_none() || self.workload.think_ns == 0 {
            return None;
        }
        let message = format!(
            "{} has no meaning with a rate: the rate already says when operations are due",
            self.key("think_time")
        );
        let rate = at(&self.keys.rate).or(at(&self.keys.rate_iops));
        let problem = error("rate_with_think_time", at(&self.keys.think_time), message);
        Some(
            problem
                .relate(rate, "the rate")
                .help("remove one of the two"),
        )
    }

    fn mmap(&self) -> Option<Problem> {
        if self.workload.engine != EngineKind::Mmap || self.workload.cache != CacheMode::Direct {
            return None;
        }
        let message = "the engine mmap always goes through the page cache";
        let place = at(&self.keys.direct).or(at(&self.keys.buffered));
        let help = format!("write {}", self.spelling.pair("direct", "false"));
        Some(error("mmap_direct", place.or(self.entry), message).help(help))
    }

    fn trim(&self) -> Option<Problem> {
        if self.workload.mix.trim_percent == 0 || self.workload.engine != EngineKind::Mmap {
            return None;
        }
        let message = "the engine mmap cannot trim";
        let place = at(&self.keys.mix).or(at(&self.keys.rw));
        let help = format!("write {}", self.spelling.pair("engine", "uring"));
        Some(error("trim_unsupported", place.or(self.entry), message).help(help))
    }

    fn verify(&self) -> Option<Problem> {
        let verify = self.workload.verify?;
        let place = at(&self.keys.verify);
        let mix = self.workload.mix;
        if mix.trim_percent > 0 {
            let message = "trimmed blocks have no defined content that could be checked";
            let problem = error("verify_with_trim", place, message);
            return Some(problem.help(format!("remove {} or the trims", self.key("verify"))));
        }
        if verify.on_read && !mix.reads() {
            let message = "nothing is read while measuring, so nothing can be checked";
            let help = format!("write {}", self.spelling.pair("verify", "after"));
            return Some(error("verify_nothing", place, message).help(help));
        }
        if verify.after && mix.write_percent == 0 {
            let message = "nothing is written, so there is nothing to check afterwards";
            let help = format!("write {}", self.spelling.pair("verify", "on_read"));
            return Some(error("verify_nothing", place, message).help(help));
        }
        None
    }

    fn flush_without_writes(&self) -> Option<Problem> {
        let sync = self.workload.sync;
        if self.workload.mix.write_percent > 0 || (sync.every_writes == 0 && !sync.final_flush) {
            return None;
        }
        let place = at(&self.keys.fdatasync)
            .or(at(&self.keys.fsync))
            .or(at(&self.keys.end_fsync));
        let message = "the workload writes nothing, so there is nothing to flush";
        Some(warning("flush_without_writes", place, message))
    }

    fn poll(&self) -> Option<Problem> {
        let fits = self.workload.engine == EngineKind::Uring && self.is_direct();
        if !self.workload.poll || fits {
            return None;
        }
        let message = format!(
            "{} works only with the engine uring and direct I/O",
            self.key("poll")
        );
        let problem = error("poll_unsupported", at(&self.keys.poll), message);
        Some(problem.relate(at(&self.keys.engine), "the engine"))
    }
}
