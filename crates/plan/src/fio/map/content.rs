//! What is written, how it is checked, and when it is durable.

use fathom_model::workload::{
    Allocation, CacheMode, Content, OnError, OpMix, Part, Precondition, SyncCall, SyncOpen,
    SyncPolicy, Verify, Workload,
};

use super::asked::Asked;
use crate::fio::value::pattern::{self, Pattern};
use crate::fio::value::words;

/// Fills in payload, verification, durability, cache and what follows errors.
pub(super) fn fill(asked: &mut Asked<'_>, workload: &mut Workload) {
    payload(asked, workload);
    verify(asked, workload);
    workload.sync = sync(asked);
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
        workload.precondition = Precondition::Fill;
    }
    workload.allocation = match asked.word("fallocate", "native") {
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

fn payload(asked: &mut Asked<'_>, workload: &mut Workload) {
    let share = |n: Option<i64>| n.map(|n| u8::try_from(n.clamp(0, 100)).unwrap_or(0));
    let payload = &mut workload.payload;
    payload.compress_percent = share(asked.integer("buffer_compress_percentage")).unwrap_or(0);
    payload.duplicate_percent = share(asked.integer("dedupe_percentage")).unwrap_or(0);
    if asked.flag("zero_buffers", false) {
        payload.content = Content::Zeros;
    }
    let read = asked.text("buffer_pattern").map(pattern::read);
    match read {
        Some(Ok(Pattern::Bytes(bytes))) => payload.content = Content::Bytes(bytes),
        Some(Ok(Pattern::Varies)) => payload.content = Content::Parts(vec![Part::Offset]),
        Some(Ok(Pattern::File(_))) => {
            asked.ignored(
                "buffer_pattern",
                "patterns are not read from files; random data is used",
            );
        }
        Some(Err(_)) | None => {}
    }
}

fn verify(asked: &mut Asked<'_>, workload: &mut Workload) {
    let method = asked.text("verify");
    if !method.is_some_and(|text| words::verify(text).unwrap_or(false)) {
        return;
    }
    let only = asked.flag("verify_only", false);
    let reads_only = !workload.mix.modifies() || only;
    let mut verify = Verify {
        on_read: reads_only,
        after: !reads_only && asked.flag("do_verify", true),
        earlier: reads_only,
        ..Verify::default()
    };
    if method == Some("pattern") {
        match asked.text("verify_pattern").map(pattern::read) {
            Some(Ok(Pattern::Bytes(bytes))) => {
                workload.payload.content = Content::Bytes(bytes);
                verify.by_content = true;
                asked.becomes("verify_pattern", crate::fio::account::Outcome::Run);
            }
            Some(Ok(Pattern::Varies)) => {
                workload.payload.content = Content::Parts(vec![Part::Offset]);
                verify.by_content = true;
                asked.becomes("verify_pattern", crate::fio::account::Outcome::Run);
            }
            _ => {}
        }
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
    }
}
