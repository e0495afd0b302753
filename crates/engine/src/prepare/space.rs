//! Whether there is room for the test files.

use std::path::Path;

use fathom_model::unit::bytes;

use crate::Error;

/// Room that is left free besides the test files: a hundredth of them, at
/// least this, because a file system that runs full behaves in its own way and
/// others may live on it.
const LEAST_MARGIN_BYTES: u64 = 16 << 20;

/// Bytes of test files for which there is room where so many are free: choose
/// sizes within it.
pub fn room_for_files(free_bytes: u64) -> u64 {
    let share = u128::from(free_bytes) * 100 / 101;
    let share = u64::try_from(share).unwrap_or(u64::MAX);
    share.min(free_bytes.saturating_sub(LEAST_MARGIN_BYTES))
}

/// What test files of so many bytes take with the room beside them.
fn with_margin(needed_bytes: u64) -> u64 {
    needed_bytes.saturating_add((needed_bytes / 100).max(LEAST_MARGIN_BYTES))
}

/// Checks that `needed_bytes` more fit on the file system of `path`.
///
/// # Errors
/// [`Error::NoSpace`] when they do not, [`Error::Target`] when the file system
/// is read-only.
pub(crate) fn check_room(path: &Path, needed_bytes: u64) -> Result<(), Error> {
    let facts = fathom_deadline::paths::on(path, |path| Ok(rustix::fs::statvfs(path)?))
        .map_err(Error::io("examine the file system of", path))?;
    if facts.f_flag.contains(rustix::fs::StatVfsMountFlags::RDONLY) {
        return Err(Error::target(
            path,
            "its file system is mounted read-only, so that no test files can be made; choose \
             another directory, or a file or device to read from",
        ));
    }
    let available_bytes = facts.f_bavail.saturating_mul(facts.f_frsize);
    let with_margin = with_margin(needed_bytes);
    if needed_bytes > 0 && with_margin > available_bytes {
        return Err(Error::NoSpace {
            path: path.to_owned(),
            needed_bytes: with_margin,
            available_bytes,
        });
    }
    Ok(())
}

/// The error for a write to a test file that failed.
pub(crate) fn write_error(path: &Path, offset: u64, error: std::io::Error) -> Error {
    let full = matches!(error.raw_os_error(), Some(libc::ENOSPC | libc::EDQUOT));
    if full {
        Error::target(
            path,
            format!(
                "the file system ran out of room while the file was filled, at {} ({error}); \
                 choose a smaller size or free space",
                bytes(offset)
            ),
        )
    } else {
        Error::io("write", path)(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_than_there_is_does_not_fit() {
        let dir = tempfile::tempdir().unwrap();
        check_room(dir.path(), 0).unwrap();
        check_room(dir.path(), 4096).unwrap();
        let error = check_room(dir.path(), 1 << 60).unwrap_err();
        assert!(matches!(error, Error::NoSpace { .. }), "{error}");
        assert!(error.to_string().contains("smaller size"));
    }

    #[test]
    fn what_there_is_room_for_fits() {
        for free in [
            0,
            1,
            16 << 20,
            (16 << 20) + 1,
            20 << 20,
            5 << 30,
            1 << 50,
            u64::MAX,
        ] {
            let room = room_for_files(free);
            assert!(room == 0 || with_margin(room) <= free, "{free}: {room}");
        }
        assert_eq!(room_for_files(20 << 20), 4 << 20);
        assert!(room_for_files(1 << 40) > (1 << 40) / 100 * 98);
    }

    #[test]
    fn a_full_file_system_is_told_from_other_errors() {
        let path = Path::new("/x/fathom.0");
        let full = write_error(
            path,
            5 << 20,
            std::io::Error::from_raw_os_error(libc::ENOSPC),
        );
        assert!(full.to_string().contains("ran out of room"), "{full}");
        assert!(full.to_string().contains("/x/fathom.0") && full.to_string().contains("5.00 MiB"));
        let broken = write_error(path, 0, std::io::Error::from_raw_os_error(libc::EIO));
        assert!(
            broken.to_string().starts_with("cannot write /x/fathom.0"),
            "{broken}"
        );
    }
}
