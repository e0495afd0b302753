//! How much of a file is in the page cache.
//!
//! `cachestat(2)` counts exactly and cheaply (Linux 6.5). Before, `mincore(2)`
//! on a map looks at every page; of a file that the caller neither owns nor may
//! write it claims that all is resident (since Linux 5.2), so it is not asked.

use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::Error;
use crate::kernel_calls::{cachestat, resident_pages};

/// Bytes that one map covers.
const WINDOW_BYTES: u64 = 64 << 20;
/// Windows of one file that are looked at; a longer file is sampled evenly.
const WINDOW_LIMIT: u64 = 1024;

/// Bytes of a range that are in the page cache, and how that was found.
pub(crate) struct Cached {
    pub(crate) bytes: u64,
    pub(crate) method: &'static str,
}

/// Bytes of `start..end` that are in the page cache.
pub(crate) fn cached_bytes(
    path: &Path,
    file: &File,
    start: u64,
    end: u64,
) -> Result<Cached, Error> {
    let page = rustix::param::page_size() as u64;
    match cachestat(file, start, end - start) {
        Ok(stat) => Ok(Cached {
            bytes: stat.cached.saturating_mul(page).min(end - start),
            method: "cachestat",
        }),
        Err(error) if is_missing(&error) => resident_bytes(path, file, start, end, page),
        Err(source) => Err(Error::Ask {
            what: "cachestat",
            path: path.to_owned(),
            source,
        }),
    }
}

/// Bytes of a whole file that wait to be written or are being written.
pub(crate) fn unwritten_back_bytes(file: &File) -> io::Result<u64> {
    let page = rustix::param::page_size() as u64;
    let stat = cachestat(file, 0, 0)?;
    Ok(stat
        .dirty
        .saturating_add(stat.writeback)
        .saturating_mul(page))
}

/// Old kernels lack the call, some seccomp filters refuse what they do not
/// know, newer kernels refuse it for files of others, some file systems
/// (hugetlbfs) do not support it; `mincore` has its own rules for all of that.
fn is_missing(error: &io::Error) -> bool {
    matches!(
        error.raw_os_error(),
        Some(libc::ENOSYS | libc::EPERM | libc::EACCES | libc::EOPNOTSUPP)
    )
}

fn resident_bytes(
    path: &Path,
    file: &File,
    start: u64,
    end: u64,
    page: u64,
) -> Result<Cached, Error> {
    if !may_ask_mincore(path, file) {
        let reason = "mincore tells nothing about a file that this user neither owns nor may write; run as its owner or as root";
        return Err(Error::Unknown {
            path: path.to_owned(),
            reason: reason.to_owned(),
        });
    }
    let first = start - start % page;
    let windows = (end - first).div_ceil(WINDOW_BYTES);
    let looked_at = windows.min(WINDOW_LIMIT);
    let (mut resident, mut seen) = (0_u64, 0_u64);
    for index in 0..looked_at {
        let window = (u128::from(index) * u128::from(windows) / u128::from(looked_at)) as u64;
        let offset = first + window * WINDOW_BYTES;
        let length = (end - offset).min(WINDOW_BYTES);
        let pages = resident_pages(file, offset, length as usize).map_err(|source| Error::Ask {
            what: "mincore",
            path: path.to_owned(),
            source,
        })?;
        resident += (pages * page).min(length);
        seen += length;
    }
    let share = resident as f64 / seen.max(1) as f64;
    Ok(Cached {
        bytes: (share * (end - start) as f64) as u64,
        method: if looked_at < windows {
            "mincore on 1024 evenly spaced windows"
        } else {
            "mincore"
        },
    })
}

fn may_ask_mincore(path: &Path, file: &File) -> bool {
    let user = rustix::process::geteuid();
    let owner = file
        .metadata()
        .is_ok_and(|metadata| metadata.uid() == user.as_raw());
    user.is_root() || owner || rustix::fs::access(path, rustix::fs::Access::WRITE_OK).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn both_methods_find_a_file_that_was_just_written() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(&vec![7; 300_000]).unwrap();
        let page = rustix::param::page_size() as u64;
        let read = File::open(file.path()).unwrap();
        let cached = cached_bytes(file.path(), &read, 0, 300_000).unwrap();
        assert_eq!(cached.bytes, 300_000, "{}", cached.method);
        let resident = resident_bytes(file.path(), &read, 5_000, 300_000, page).unwrap();
        assert!(resident.bytes >= 290_000, "{}", resident.bytes);
        assert_eq!(resident.method, "mincore");
    }

    #[test]
    fn what_a_flush_left_in_memory_is_counted() {
        let mut file = tempfile::NamedTempFile::new_in("/var/tmp").unwrap();
        file.write_all(&vec![7; 300_000]).unwrap();
        let paths = [file.path().to_owned()];
        let Some(before) = crate::unflushed_bytes(&paths) else {
            println!("skipped: this kernel lacks cachestat");
            return;
        };
        assert!(before <= 303_104, "{before}");
        file.as_file().sync_all().unwrap();
        assert_eq!(crate::unflushed_bytes(&paths), Some(0));
        assert_eq!(crate::unflushed_bytes(&["/no/such/file".into()]), None);
    }

    #[test]
    fn a_sparse_file_is_sampled_in_windows_and_not_resident() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let length = WINDOW_BYTES * (WINDOW_LIMIT + 3);
        file.as_file().set_len(length).unwrap();
        let page = rustix::param::page_size() as u64;
        let end = WINDOW_BYTES * 3;
        let resident = resident_bytes(file.path(), file.as_file(), 0, end, page).unwrap();
        assert_eq!(resident.bytes, 0);
        let cached = cached_bytes(file.path(), file.as_file(), 0, length).unwrap();
        assert_eq!(cached.bytes, 0);
    }
}
