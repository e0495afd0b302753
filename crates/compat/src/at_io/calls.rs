//! What `-vv` and `-vvv` print: the system calls that the load is made of, and
//! the first operations one by one.

use std::fmt::Write as _;
use std::path::Path;

use super::AtIoIops;
use fathom_model::run::TrialRecord;
use fathom_model::workload::SyncCall;
use fathom_model::{OpKind, unit};

/// Operations that are printed, all threads together.
pub const OPERATIONS_MAX: u32 = 1000;

/// The system calls of the load.
pub fn calls(options: &AtIoIops, directory: &Path, prefix: &str) -> String {
    let files = directory.join(prefix);
    let access = if options.read { "O_RDONLY" } else { "O_RDWR" };
    let direct = if options.uncached { "|O_DIRECT" } else { "" };
    let call = if options.read { "pread64" } else { "pwrite64" };
    let order = if options.seq { "ascending" } else { "random" };
    let mut text = format!(
        "each of {} threads:\n  openat({}.N, {access}{direct}|O_CLOEXEC)\n  {call}(fd, buffer, {}, \
         offset) again and again, offsets {order}\n",
        options.threads,
        files.display(),
        options.block()
    );
    if let Some(writes) = options.sync_every() {
        let call = if options.fdatasync {
            "fdatasync"
        } else {
            "fsync"
        };
        let _ = writeln!(text, "  {call}(fd) after every {writes} writes");
    }
    if !options.read && !options.no_final_sync {
        text.push_str("  a sync of its files at the end, in the measured time\n");
    }
    text
}

/// The first operations of the load in the order of their ends.
pub fn operations(trial: &TrialRecord, prefix: &str) -> String {
    let sync = trial.spec.workload.sync.call;
    let mut text = String::new();
    let logged = trial.samples.iter().flat_map(|sample| &sample.operations);
    for operation in logged.take(OPERATIONS_MAX as usize) {
        let (thread, file) = (operation.worker, operation.file);
        let call = match operation.kind {
            OpKind::Read => "pread64",
            OpKind::Write => "pwrite64",
            OpKind::Sync => match sync {
                SyncCall::Fsync => "fsync",
                SyncCall::Fdatasync => "fdatasync",
            },
            _ => continue,
        };
        let where_to = match operation.bytes {
            0 => String::new(),
            bytes => format!(", {bytes} bytes at {}", operation.offset_bytes),
        };
        let time = unit::latency(operation.service_ns as f64);
        let _ = writeln!(
            text,
            "thread {thread}: {call}({prefix}.{file}{where_to}) {time}"
        );
    }
    text
}
