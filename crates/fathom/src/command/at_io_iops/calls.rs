//! What `-vv` and `-vvv` print: the system calls that the load is made of, and
//! the first operations of each thread.

use std::fmt::Write as _;
use std::path::Path;

use fathom_engine::access::{AccessStream, Layout, TargetKind};
use fathom_model::{OpKind, ScheduledTrial};
use fathom_plan::AtIoIops;

/// Operations that are printed of a thread, and threads of which they are.
const OPERATIONS: usize = 32;
const THREADS: u32 = 32;

/// The system calls of the load.
pub(super) fn calls(options: &AtIoIops, directory: &Path, prefix: &str) -> String {
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

/// The first operations of each thread. They follow from the trial's seed.
pub(super) fn operations(trial: &ScheduledTrial, prefix: &str) -> String {
    let workload = &trial.workload;
    let directory = trial.target.path().unwrap_or(Path::new("."));
    let size_bytes = workload.size_bytes.unwrap_or(0);
    let path_of = |n| directory.join(format!("{prefix}.{n}"));
    let Ok(layout) = Layout::new(TargetKind::Directory, workload, size_bytes, path_of) else {
        return String::new();
    };
    let mut text = String::from("the first operations of each thread:\n");
    for thread in 0..workload.workers.min(THREADS) {
        let Ok(mut stream) = AccessStream::new(workload, &layout, thread, trial.seed) else {
            continue;
        };
        for _ in 0..OPERATIONS {
            let access = stream.next();
            let call = match access.kind {
                OpKind::Write => "pwrite64",
                _ => "pread64",
            };
            let _ = writeln!(
                text,
                "thread {thread}: {call}({prefix}.{}, {} bytes at {})",
                access.file, access.bytes, access.offset
            );
        }
        let _ = writeln!(text, "thread {thread}: and so on");
    }
    if workload.workers > THREADS {
        let more = workload.workers - THREADS;
        let _ = writeln!(text, "and {more} more threads");
    }
    text
}
