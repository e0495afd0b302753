//! Rules about how operations are done, and when a workload ends.

use fathom_model::workload::{CacheMode, EngineKind};

use super::{Context, at};
use crate::diagnostic::{Problem, error, warning};
use crate::spelling::Spelling;

/// A request is given at least so long.
const LEAST_TIMEOUT_NS: u64 = 1_000_000;

impl Context<'_> {
    pub(super) fn bound(&self) -> Option<Problem> {
        let bounds = self.workload.bounds;
        let each = self.workload.each_worker.is_bounded() || self.workload.replay().is_some();
        if each || bounds.time_ns.is_some() || bounds.bytes.is_some() || bounds.ops.is_some() {
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

    /// A load or a request that has no time at all.
    pub(super) fn no_time(&self) -> Option<Problem> {
        let keys = self.keys;
        let nothing =
            self.workload.bounds.time_ns == Some(0) && !self.workload.each_worker.is_bounded();
        if nothing && keys.runtime.is_some() {
            let message = format!("{} of 0 measures nothing", self.key("runtime"));
            let help = format!("write {}", self.spelling.pair("runtime", "30s"));
            return Some(error("limit", at(&keys.runtime), message).help(help));
        }
        let timeout = keys.request_timeout.as_ref()?;
        if timeout.value.0 < LEAST_TIMEOUT_NS {
            let message = format!("{} is at least 1 ms", self.key("request_timeout"));
            let help = format!("write {}", self.spelling.pair("request_timeout", "30s"));
            return Some(error("limit", timeout.span, message).help(help));
        }
        None
    }

    pub(super) fn depth_of_synchronous_engine(&self) -> Option<Problem> {
        let engine = self.workload.engine;
        let depth = self.workload.queue_depth;
        if depth == 1 || !engine.one_at_a_time() {
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

    pub(super) fn rate_and_think_time(&self) -> Option<Problem> {
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

    pub(super) fn mmap(&self) -> Option<Problem> {
        if self.workload.engine != EngineKind::Mmap || self.workload.cache != CacheMode::Direct {
            return None;
        }
        let message = "the engine mmap always goes through the page cache";
        let place = at(&self.keys.direct).or(at(&self.keys.buffered));
        let help = format!("write {}", self.spelling.pair("direct", "false"));
        Some(error("mmap_direct", place.or(self.entry), message).help(help))
    }

    pub(super) fn trim(&self) -> Option<Problem> {
        if self.workload.mix.trim_percent == 0 || self.workload.engine != EngineKind::Mmap {
            return None;
        }
        let message = "the engine mmap cannot trim";
        let place = at(&self.keys.mix).or(at(&self.keys.rw));
        let help = format!("write {}", self.spelling.pair("engine", "uring"));
        Some(error("trim_unsupported", place.or(self.entry), message).help(help))
    }

    pub(super) fn verify(&self) -> Option<Problem> {
        let Some(verify) = self.workload.verify else {
            return self.verify_details();
        };
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
        self.verify_details()
    }

    pub(super) fn flush_without_writes(&self) -> Option<Problem> {
        let sync = self.workload.sync;
        let flushes = sync.every_writes > 0 || sync.final_flush || sync.ranges.is_some();
        if self.workload.mix.write_percent > 0 || !flushes {
            return None;
        }
        let place = at(&self.keys.fdatasync)
            .or(at(&self.keys.fsync))
            .or(at(&self.keys.end_fsync))
            .or(at(&self.keys.sync_file_range));
        let message = "the workload writes nothing, so there is nothing to flush";
        // A plan may give one value to workloads that read and to others that write.
        if self.spelling != Spelling::Flags {
            return Some(warning("flush_without_writes", place, message));
        }
        let given = [
            ("fdatasync", self.keys.fdatasync.is_some()),
            ("fsync", self.keys.fsync.is_some()),
            ("end_fsync", self.keys.end_fsync.is_some()),
            ("sync_file_range", self.keys.sync_file_range.is_some()),
        ];
        let given = given.into_iter().filter(|(_, is_given)| *is_given);
        let flags: Vec<String> = given.map(|(name, _)| self.key(name)).collect();
        let help = format!(
            "leave {} out, or write: {}",
            flags.join(" and "),
            self.spelling.pair("rw", "randwrite")
        );
        Some(error("flush_without_writes", place, message).help(help))
    }

    pub(super) fn ranges_and_flushes(&self) -> Option<Problem> {
        let sync = self.workload.sync;
        if sync.every_writes == 0 || sync.ranges.is_none() {
            return None;
        }
        let (flush, place) = match at(&self.keys.fsync) {
            Some(place) => ("fsync", Some(place)),
            None => ("fdatasync", at(&self.keys.fdatasync)),
        };
        let message = format!(
            "{} and {} cannot be timed together: both count as sync, and only one makes data durable",
            self.key("sync_file_range"),
            self.key(flush)
        );
        let problem = error("conflict", self.place(&self.keys.sync_file_range), message);
        let problem = problem.relate(place, "the other one");
        Some(problem.help("remove one of the two"))
    }

    pub(super) fn ranges_of_direct_writes(&self) -> Option<Problem> {
        if self.workload.sync.ranges.is_none() || !self.is_direct() {
            return None;
        }
        let message = format!(
            "direct writes leave nothing in the page cache that {} could write back",
            self.key("sync_file_range")
        );
        let place = self.place(&self.keys.sync_file_range);
        let help = format!("write {}", self.spelling.pair("buffered", "true"));
        Some(warning("range_sync_of_direct_writes", place, message).help(help))
    }

    pub(super) fn poll(&self) -> Option<Problem> {
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
