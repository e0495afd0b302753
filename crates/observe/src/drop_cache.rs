//! Takes a data set out of the page cache, so that the next read is one.

use std::fs;
use std::io;

use std::path::PathBuf;
use std::time::Duration;

use fathom_deadline::ask_within;

use crate::data_file::{DataFile, by_paths, holds_data};
use crate::data_state::cached_share_of_files;

/// What was done.
#[derive(Debug, Clone, PartialEq)]
pub struct DropReport {
    /// Files that were flushed and given up by the cache.
    pub files: usize,
    /// Whether the whole machine's caches were dropped as well.
    pub whole_machine: bool,
    /// What did not work, in words; at most 16.
    pub failures: Vec<String>,
    /// Share of the data that is still in the cache; `None` when it cannot be
    /// told.
    pub left_share: Option<f64>,
    /// What was done, in words for the report.
    pub method: String,
}

/// Failures that are kept in words.
const FAILURE_LIMIT: usize = 16;

/// Dirty data of a whole host take their time.
const SYNC: Duration = Duration::from_secs(30);

/// Flushes each file or block device and asks the kernel to forget its pages.
/// Pages that are mapped, locked or in use by others may stay: see
/// [`DropReport::left_share`]. With `whole_machine` (needs root) all dirty data
/// of the host are flushed and its page cache, directory and inode caches are
/// dropped, which slows down everything else on it for a while.
pub fn drop_page_cache(paths: &[PathBuf], whole_machine: bool) -> DropReport {
    drop_page_cache_of_files(&by_paths(paths), whole_machine)
}

/// As [`drop_page_cache`], of files that are opened in a way of their own.
pub fn drop_page_cache_of_files(data: &[DataFile<'_>], whole_machine: bool) -> DropReport {
    let mut files = 0;
    let mut failures = Vec::new();
    let mut fail = |text: String| {
        if failures.len() < FAILURE_LIMIT {
            failures.push(text);
        }
    };
    for file in data {
        match drop_file(file) {
            Ok(()) => files += 1,
            Err(error) => fail(format!(
                "cannot drop {} from the page cache: {error}",
                file.path().display()
            )),
        }
    }
    let mut dropped_all = false;
    if whole_machine {
        // Any file system of the host may hold it up. What is still dirty then
        // stays in the cache.
        if let Err(silent) = ask_within(SYNC, "sync of all file systems", rustix::fs::sync) {
            fail(silent.to_string());
        }
        match fs::write("/proc/sys/vm/drop_caches", "3") {
            Ok(()) => dropped_all = true,
            Err(error) => fail(format!(
                "cannot write /proc/sys/vm/drop_caches: {error}; run as root outside a container"
            )),
        }
    }
    let (left_share, _) = cached_share_of_files(data, None);
    let mut method = format!(
        "fdatasync and posix_fadvise(DONTNEED) on {files} of {} files",
        data.len()
    );
    if dropped_all {
        method.push_str(", then sync and drop_caches=3 for the whole machine");
    }
    DropReport {
        files,
        whole_machine: dropped_all,
        failures,
        left_share,
        method,
    }
}

fn drop_file(data: &DataFile<'_>) -> io::Result<()> {
    let file = data.open()?;
    if !holds_data(&file)? {
        return Err(io::Error::other("neither a file nor a block device"));
    }
    rustix::fs::fdatasync(&file)?;
    rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::DontNeed)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cached_share;
    use std::io::Write;

    #[test]
    fn a_file_on_a_disk_leaves_the_cache() {
        let mut file = tempfile::NamedTempFile::new_in("/var/tmp").unwrap();
        file.write_all(&vec![1; 1 << 20]).unwrap();
        let paths = [file.path().to_owned()];
        let (before, method) = cached_share(&paths, None);
        let report = drop_page_cache(&paths, false);
        assert_eq!((report.files, report.failures.len()), (1, 0));
        assert!(!report.whole_machine);
        let (Some(before), Some(after)) = (before, report.left_share) else {
            println!("skipped: {method}");
            return;
        };
        assert!(before > 0.99, "{before}");
        let kind = crate::target_fingerprint(&crate::Sysroot::host(), &paths[0]).filesystem;
        if kind.is_some_and(|filesystem| filesystem.virtual_kind) {
            println!("skipped: /var/tmp is on a virtual file system");
            return;
        }
        assert!(after < 0.01, "{after}");
    }

    #[test]
    fn failures_name_the_file() {
        let report = drop_page_cache(&[PathBuf::from("/no/such/file")], false);
        assert_eq!(report.files, 0);
        assert!(
            report.failures[0].contains("/no/such/file"),
            "{:?}",
            report.failures
        );
        assert_eq!(report.left_share, None);
    }
}
