//! Takes a data set out of the page cache, so that the next read is one.

use std::fs::{self, OpenOptions};
use std::io;
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use crate::data_state::cached_share;

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

/// Flushes each file or block device and asks the kernel to forget its pages.
/// Pages that are mapped, locked or in use by others may stay: see
/// [`DropReport::left_share`]. With `whole_machine` (needs root) all dirty data
/// of the host are flushed and its page cache, directory and inode caches are
/// dropped, which slows down everything else on it for a while.
pub fn drop_page_cache(paths: &[PathBuf], whole_machine: bool) -> DropReport {
    let mut files = 0;
    let mut failures = Vec::new();
    let mut fail = |text: String| {
        if failures.len() < FAILURE_LIMIT {
            failures.push(text);
        }
    };
    for path in paths {
        match drop_file(path) {
            Ok(()) => files += 1,
            Err(error) => fail(format!(
                "cannot drop {} from the page cache: {error}",
                path.display()
            )),
        }
    }
    let mut dropped_all = false;
    if whole_machine {
        rustix::fs::sync();
        match fs::write("/proc/sys/vm/drop_caches", "3") {
            Ok(()) => dropped_all = true,
            Err(error) => fail(format!(
                "cannot write /proc/sys/vm/drop_caches: {error}; run as root outside a container"
            )),
        }
    }
    let (left_share, _) = cached_share(paths, None);
    let mut method = format!(
        "fdatasync and posix_fadvise(DONTNEED) on {files} of {} files",
        paths.len()
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

fn drop_file(path: &Path) -> io::Result<()> {
    let kind = fs::metadata(path)?.file_type();
    if !kind.is_file() && !kind.is_block_device() {
        return Err(io::Error::other("neither a file nor a block device"));
    }
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_NONBLOCK)
        .open(path)?;
    rustix::fs::fdatasync(&file)?;
    rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::DontNeed)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
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
