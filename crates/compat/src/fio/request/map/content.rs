//! What is written, how it is checked, and when it is durable.

use std::path::Path;

use fathom_model::workload::{
    Allocation, CacheMode, Content, EngineKind, OnError, OpMix, Precondition, ReadBack, SyncCall,
    SyncOpen, SyncPolicy, Verify, Workload,
};

use super::asked::Asked;
use crate::fio::request::surroundings::FioSurroundings;
use crate::fio::request::value::pattern::{self, Pattern};
use crate::fio::request::value::words;
use fathom_plan::value::RangeSyncValue;

/// Bytes of a file that are taken as a pattern.
const MOST_PATTERN_BYTES: usize = 128 << 10;

/// Fills in payload, verification, durability, cache and what follows errors.
pub(super) fn fill(
    asked: &mut Asked<'_>,
    workload: &mut Workload,
    surroundings: &dyn FioSurroundings,
) {
    payload(asked, workload, surroundings);
    verify(asked, workload, surroundings);
    workload.sync = sync(asked);
    ranges(asked, workload);
    let direct = match asked.later("direct", "buffered") {
        _ if asked.flag("atomic", false) => true,
        Some("direct") => asked.flag("direct", false),
        Some(_) => !asked.flag("buffered", true),
        None => false,
    };
    workload.cache = match direct {
        true => CacheMode::Direct,
        false => CacheMode::Buffered,
    };
    let pre_read = asked.flag("pre_read", false);
    workload.drop_cache = asked.flag("invalidate", true) && !pre_read;
    if pre_read {
        asked.mapped(
            "pre_read",
            "the page cache is left as making the files left it",
        );
    }
    if asked.flag("overwrite", false) && workload.mix.modifies() {
        workload.data_set.precondition = Precondition::Fill;
    }
    workload.data_set.allocation = match asked.word("fallocate", "native") {
        "none" | "0" => Allocation::None,
        "posix" | "1" => Allocation::Posix,
        "keep" => Allocation::KeepSize,
        "truncate" => Allocation::Truncate,
        _ => Allocation::Auto,
    };
    workload.huge_pages = asked.word("mem", "malloc").contains("huge");
    let goes_on = !matches!(asked.word("continue_on_error", "none"), "none" | "0");
    workload.on_error = match goes_on || asked.has("ignore_error") {
        true => OnError::Continue,
        false => OnError::Stop,
    };
}

fn payload(asked: &mut Asked<'_>, workload: &mut Workload, surroundings: &dyn FioSurroundings) {
    let share = |n: Option<i64>| n.map(|n| u8::try_from(n.clamp(0, 100)).unwrap_or(0));
    let payload = &mut workload.payload;
    payload.compress_percent = share(asked.integer("buffer_compress_percentage")).unwrap_or(0);
    payload.duplicate_percent = share(asked.integer("dedupe_percentage")).unwrap_or(0);
    if asked.flag("zero_buffers", false) {
        payload.content = Content::Zeros;
    }
    if let Some(content) = pattern(asked, "buffer_pattern", surroundings) {
        workload.payload.content = content;
    }
}

/// The content that a pattern stands for, also one in a file.
fn pattern(
    asked: &mut Asked<'_>,
    name: &'static str,
    surroundings: &dyn FioSurroundings,
) -> Option<Content> {
    let path = match pattern::read(asked.text(name)?).ok()? {
        Pattern::Content(content) => return Some(content),
        Pattern::File(path) => path,
    };
    match surroundings.bytes(Path::new(&path), MOST_PATTERN_BYTES) {
        Ok(bytes) if !bytes.is_empty() => Some(Content::Bytes(bytes)),
        Ok(_) => {
            asked.problem(name, format!("the file '{path}' is empty"));
            None
        }
        Err(why) => {
            asked.problem(name, format!("the file '{path}' cannot be read: {why}"));
            None
        }
    }
}

fn verify(asked: &mut Asked<'_>, workload: &mut Workload, surroundings: &dyn FioSurroundings) {
    let method = asked.text("verify");
    if !method.is_some_and(|text| words::verify(text).unwrap_or(false)) {
        return;
    }
    if workload.engine == EngineKind::Null {
        asked.ignored(
            "verify",
            "the null engine keeps nothing that could be checked",
        );
        return;
    }
    let only = asked.flag("verify_only", false);
    let reads_only = !workload.mix.modifies() || only;
    let checks = asked.flag("do_verify", true);
    let mut verify = Verify {
        on_read: reads_only && checks,
        earlier: reads_only,
        ..Verify::default()
    };
    if !reads_only && checks {
        read_again(asked, workload, &mut verify);
    }
    if method == Some("pattern")
        && let Some(content) = pattern(asked, "verify_pattern", surroundings)
    {
        workload.payload.content = content;
        verify.by_content = true;
        asked.becomes(
            "verify_pattern",
            crate::fio::request::account::OptionOutcome::Run,
        );
    }
    if only {
        workload.mix = OpMix::READ;
        asked.mapped(
            "verify_only",
            "what an earlier run wrote is read and checked",
        );
    }
    workload.verify = Some(verify);
    if !asked.flag("verify_fatal", false) {
        return;
    }
    workload.on_error = OnError::Stop;
}

/// What a job writes is read again: within its load, as fio does it, or after
/// the load where several jobs write the same blocks, or where time ends it.
fn read_again(asked: &mut Asked<'_>, workload: &Workload, verify: &mut Verify) {
    let by_anybody = !asked.flag("verify_write_sequence", true);
    if by_anybody || workload.trim_first {
        verify.after = true;
        verify.by_anybody = by_anybody;
        for name in ["verify_backlog", "verify_backlog_batch"] {
            asked.ignored(name, "what was written is checked after the load");
        }
        if by_anybody {
            let remark = "a block is right whichever of the jobs wrote it, if it is a whole one";
            asked.mapped("verify_write_sequence", remark);
        }
        return;
    }
    let count = |name| asked.count(name).filter(|n| *n > 0);
    let small = |n: u64| u32::try_from(n).unwrap_or(u32::MAX);
    let backlog = count("verify_backlog");
    let timed = asked.flag("time_based", false) || asked.has("runtime");
    // Without a backlog the whole is read at the end; time may come first.
    verify.after = timed;
    if timed && backlog.is_none() {
        return;
    }
    let every_writes = backlog.map_or(u32::MAX, small);
    verify.read_back = Some(ReadBack {
        every_writes,
        at_once: count("verify_backlog_batch")
            .map_or(every_writes, small)
            .min(every_writes),
    });
}

fn sync(asked: &Asked<'_>) -> SyncPolicy {
    let every = |name| {
        let n = asked.count(name).unwrap_or(0);
        u32::try_from(n).unwrap_or(u32::MAX)
    };
    let (fsync, fdatasync) = (every("fsync"), every("fdatasync"));
    let (every_writes, call, other_every_writes) = match (fsync, fdatasync) {
        (0, data) => (data, SyncCall::Fdatasync, 0),
        (all, data) => (all, SyncCall::Fsync, data),
    };
    let at_end = ["end_fsync", "fsync_on_close", "end_syncfs"];
    SyncPolicy {
        every_writes,
        call,
        open: match asked.word("sync", "none") {
            "sync" | "1" => SyncOpen::Sync,
            "dsync" => SyncOpen::Dsync,
            _ => SyncOpen::No,
        },
        final_flush: at_end.into_iter().any(|name| asked.flag(name, false)),
        other_every_writes,
        // Once the depth is known.
        undrained: false,
        ranges: None,
    }
}

/// Write-back of ranges, which fio leaves to a flush that is due as well.
fn ranges(asked: &mut Asked<'_>, workload: &mut Workload) {
    const NAME: &str = "sync_file_range";
    let value = asked
        .text(NAME)
        .and_then(|text| RangeSyncValue::read(text).ok());
    workload.sync.ranges = value.and_then(RangeSyncValue::ranges);
    if workload.sync.ranges.is_none() {
        return;
    }
    if workload.sync.every_writes > 0 {
        asked.problem(
            NAME,
            "sync_file_range cannot be timed beside fsync or fdatasync: all count as sync, and \
             it makes nothing durable; remove one of them",
        );
    }
    if workload.engine == EngineKind::Mmap {
        asked.mapped(
            NAME,
            "the range is written back; fio calls msync on the whole map instead",
        );
    }
}
