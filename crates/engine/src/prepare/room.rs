//! Bringing a test file to its size.

use std::fs::File;
use std::path::Path;

use fathom_model::workload::Allocation;
use rustix::fs::{FallocateFlags, fallocate};
use rustix::io::Errno;

use super::{direct, space};
use crate::Error;
use crate::target_file::TargetFile;

/// Brings a file that had `before` bytes (nothing: it is new) to `size_bytes`
/// and reserves the room in the way that was asked for, so that a lack of it
/// shows now and not in the middle of the load.
pub(super) fn resize(
    target: &TargetFile,
    before: Option<u64>,
    size_bytes: u64,
    allocation: Allocation,
) -> Result<(), Error> {
    let Some(file) = direct::open_to_write(target, false)? else {
        return Ok(());
    };
    let path = target.path();
    if before.is_some_and(|size| size > size_bytes) {
        file.set_len(size_bytes)
            .map_err(Error::io("truncate", path))?;
    }
    if before.is_some_and(|size| size >= size_bytes) {
        return Ok(());
    }
    match allocation {
        Allocation::None => Ok(()),
        Allocation::Truncate => lengthen(&file, path, size_bytes),
        Allocation::KeepSize => reserve(&file, path, FallocateFlags::KEEP_SIZE, size_bytes, None),
        Allocation::Auto | Allocation::Posix => {
            let otherwise = Some(lengthen as Otherwise);
            reserve(&file, path, FallocateFlags::empty(), size_bytes, otherwise)
        }
    }
}

/// What is done where the file system cannot reserve.
type Otherwise = fn(&File, &Path, u64) -> Result<(), Error>;

fn reserve(
    file: &File,
    path: &Path,
    flags: FallocateFlags,
    size_bytes: u64,
    otherwise: Option<Otherwise>,
) -> Result<(), Error> {
    match (fallocate(file, flags, 0, size_bytes), otherwise) {
        (Ok(()), _) => Ok(()),
        (Err(Errno::NOSPC | Errno::DQUOT), _) => Err(space::write_error(
            path,
            0,
            std::io::Error::from_raw_os_error(libc::ENOSPC),
        )),
        (Err(_), Some(otherwise)) => otherwise(file, path, size_bytes),
        (Err(_), None) => Ok(()),
    }
}

fn lengthen(file: &File, path: &Path, size_bytes: u64) -> Result<(), Error> {
    file.set_len(size_bytes)
        .map_err(|error| space::write_error(path, size_bytes, error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_way_gives_the_file_its_length_or_leaves_it() {
        let dir = tempfile::tempdir().unwrap();
        for (allocation, length) in [
            (Allocation::Auto, 1 << 20),
            (Allocation::Posix, 1 << 20),
            (Allocation::Truncate, 1 << 20),
            (Allocation::KeepSize, 0),
            (Allocation::None, 0),
        ] {
            let path = dir.path().join(format!("{allocation:?}"));
            File::create(&path).unwrap();
            let target = TargetFile::look(&path.canonicalize().unwrap()).unwrap().0;
            resize(&target, None, 1 << 20, allocation).unwrap();
            assert_eq!(path.metadata().unwrap().len(), length, "{allocation:?}");
            resize(&target, Some(2 << 20), 4096, allocation).unwrap();
            assert_eq!(path.metadata().unwrap().len(), 4096, "{allocation:?}");
        }
    }
}
