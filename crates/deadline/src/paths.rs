//! Calls on files that may lie anywhere, each with a deadline. They fail with
//! [`std::io::ErrorKind::TimedOut`] where a mount or device does not answer; the
//! error names it.

use std::fs::{self, DirEntry, File, Metadata};
use std::io::{self, Read};
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{Mode, OFlags};

use crate::bounded_call::{NotResponding, PATIENCE, ask_within};
use crate::bounded_file::BoundedFile;
use crate::change_watch::ChangeWatch;
use crate::device::tell_of_waiting;
use crate::mount_table::MountTable;
use crate::pipe::{self, Patient};
use crate::probe::{MountSpace, ask_device};

/// Makes any call on a path, once the mounts on the way to it have answered.
///
/// # Errors
/// Those of the call, and [`io::ErrorKind::TimedOut`].
pub fn on<T: Send + 'static>(
    path: &Path,
    call: impl FnOnce(&Path) -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    on_within(PATIENCE, path, call)
}

/// How long reading a whole file may take: it may lie on a slow network mount.
const PATIENCE_FOR_READS: Duration = Duration::from_secs(20);

/// Makes a call that reads a whole file, with the time that this takes.
///
/// # Errors
/// As for [`on`].
pub fn read<T: Send + 'static>(
    path: &Path,
    call: impl FnOnce(&Path) -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    on_within(PATIENCE_FOR_READS, path, call)
}

fn on_within<T: Send + 'static>(
    patience: Duration,
    path: &Path,
    call: impl FnOnce(&Path) -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    let name = MountTable::recent().enter(path)?;
    let path = path.to_owned();
    ask_within(patience, &name, move || call(&path))?
}

/// Facts of a file, links followed.
///
/// # Errors
/// As for [`on`].
pub fn metadata(path: &Path) -> io::Result<Metadata> {
    on(path, |path| fs::metadata(path))
}

/// Facts of a file or link itself.
///
/// # Errors
/// As for [`on`].
pub fn symlink_metadata(path: &Path) -> io::Result<Metadata> {
    let absolute = std::path::absolute(path)?;
    // A mount point shows what is mounted there, which answers for itself: its
    // folder would be blamed, and remembered, for the silence of the mount.
    if MountTable::recent().is_mount_point(&absolute)? {
        return metadata(path);
    }
    match (absolute.parent(), absolute.file_name()) {
        (Some(folder), Some(name)) => {
            let name = name.to_owned();
            on(folder, move |folder| {
                fs::symlink_metadata(folder.join(name))
            })
        }
        _ => metadata(path),
    }
}

/// Whether there is anything; false also where nothing answers. Where a message
/// says so, [`find`] tells one from the other.
pub fn exists(path: &Path) -> bool {
    metadata(path).is_ok()
}

/// Facts of what is there, links followed; `None` where there is nothing, or
/// nothing that may be looked at.
///
/// # Errors
/// [`NotResponding`] where nothing answers, which is neither yes nor no.
pub fn find(path: &Path) -> Result<Option<Metadata>, NotResponding> {
    match metadata(path) {
        Ok(facts) => Ok(Some(facts)),
        Err(error) => silent(&error).map_or(Ok(None), Err),
    }
}

/// What did not answer, where that is why a call failed.
pub fn silent(error: &io::Error) -> Option<NotResponding> {
    error.get_ref()?.downcast_ref().cloned()
}

/// Whether it is a folder; false also where nothing answers.
pub fn is_dir(path: &Path) -> bool {
    metadata(path).is_ok_and(|facts| facts.is_dir())
}

/// Whether it is a regular file; false also where nothing answers.
pub fn is_file(path: &Path) -> bool {
    metadata(path).is_ok_and(|facts| facts.is_file())
}

/// Whether the mount of a path answers.
///
/// # Errors
/// [`NotResponding`] with the name of the one that does not.
pub fn answers(path: &Path) -> Result<(), NotResponding> {
    MountTable::recent().resolve(path).map(|_| ())
}

/// How long a change may take. A disk that writes back a full cache takes seconds
/// for one, and is not to be given up.
const PATIENCE_FOR_CHANGES: Duration = Duration::from_secs(10);

/// Whether changes of a directory go through. A file system that is frozen, or
/// whose journal waits for a hung device, answers questions and holds every change.
///
/// Makes a file without a name, which is gone once it is closed. Where there can
/// be none (no support, no permission, no room) that was an answer.
///
/// # Errors
/// [`NotResponding`] with the name of the mount that does not answer.
pub fn accept_changes(directory: &Path) -> Result<(), NotResponding> {
    let name = MountTable::recent().enter(directory)?;
    let directory = directory.to_owned();
    ask_within(PATIENCE_FOR_CHANGES, &name, move || {
        let flags = OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC;
        drop(rustix::fs::open(&directory, flags, Mode::RUSR | Mode::WUSR));
    })
}

/// Makes a call that changes something at a path, with the time that changes get.
///
/// # Errors
/// Those of the call, and [`io::ErrorKind::TimedOut`].
pub fn change<T: Send + 'static>(
    path: &Path,
    call: impl FnOnce(&Path) -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    let name = MountTable::recent().enter(path)?;
    let _watch = ChangeWatch::start(path, tell_of_waiting);
    let path = path.to_owned();
    ask_within(PATIENCE_FOR_CHANGES, &name, move || call(&path))?
}

/// The path with all links resolved; it must exist.
///
/// # Errors
/// As for [`on`].
pub fn canonicalize(path: &Path) -> io::Result<PathBuf> {
    on(path, |path| fs::canonicalize(path))
}

/// What is in a folder, without what could not be read of it.
///
/// # Errors
/// As for [`read`].
pub fn entries(folder: &Path) -> io::Result<Vec<DirEntry>> {
    read(folder, |folder| {
        Ok(fs::read_dir(folder)?.flatten().collect())
    })
}

/// Opens a file for reading.
///
/// # Errors
/// As for [`on`].
pub fn open(path: &Path) -> io::Result<File> {
    match metadata(path)?.file_type().is_fifo() {
        true => pipe::open_waiting(path),
        false => on(path, |path| File::open(path)),
    }
}

/// Opens a file whose pieces are read with a deadline, too.
///
/// # Errors
/// As for [`on`].
pub fn open_bounded(path: &Path) -> io::Result<BoundedFile> {
    BoundedFile::of(path, open(path)?)
}

/// Opens a file for reading where Ctrl-C no longer ends the process by itself: a
/// pipe into which nothing writes within 10 s is an error.
///
/// # Errors
/// As for [`on`].
pub fn open_soon(path: &Path) -> io::Result<File> {
    if !metadata(path)?.file_type().is_fifo() {
        return on(path, |path| File::open(path));
    }
    pipe::open_patient(path)
}

/// Reads a whole file of at most `bytes_max` bytes where Ctrl-C no longer ends the
/// process by itself: a pipe into which nothing is written for 10 s is an error.
///
/// # Errors
/// As for [`on`]; [`io::ErrorKind::FileTooLarge`] beyond `bytes_max`.
pub fn read_soon(path: &Path, bytes_max: u64) -> io::Result<Vec<u8>> {
    let file = open_soon(path)?;
    let mut bytes = Vec::new();
    if file.metadata()?.file_type().is_fifo() {
        let mut pipe = Patient(file);
        Read::take(&mut pipe, bytes_max + 1).read_to_end(&mut bytes)?;
    } else {
        BoundedFile::of(path, file)?
            .take(bytes_max + 1)
            .read_to_end(&mut bytes)?;
    }
    match bytes.len() as u64 > bytes_max {
        true => Err(io::Error::new(
            io::ErrorKind::FileTooLarge,
            format!("it is longer than {} KiB", bytes_max >> 10),
        )),
        false => Ok(bytes),
    }
}

/// As [`read_soon`], for text.
///
/// # Errors
/// As for [`read_soon`]; [`io::ErrorKind::InvalidData`] where it is not UTF-8.
pub fn read_text_soon(path: &Path, bytes_max: u64) -> io::Result<String> {
    String::from_utf8(read_soon(path, bytes_max)?)
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "it is not UTF-8 text"))
}

/// Size and free space of the file system of a path.
///
/// # Errors
/// As for [`on`].
pub fn space(path: &Path) -> io::Result<MountSpace> {
    on(path, |path| {
        let stat = rustix::fs::statfs(path)?;
        Ok(MountSpace {
            // The unit of the counts; older file systems leave it out.
            block_bytes: match u64::try_from(stat.f_frsize) {
                Ok(bytes @ 1..) => bytes,
                _ => u64::try_from(stat.f_bsize).unwrap_or_default(),
            },
            blocks: stat.f_blocks,
            available: stat.f_bavail,
            inodes: stat.f_files,
            inodes_free: stat.f_ffree,
        })
    })
}

/// Makes a call on a device, which is asked first whether it answers. It is
/// named by its path.
///
/// # Errors
/// Those of the call, and [`io::ErrorKind::TimedOut`].
pub fn on_device<T: Send + 'static>(
    path: &Path,
    call: impl FnOnce(&Path) -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    on_device_within(PATIENCE, path, call)
}

/// As [`on_device`], with the patience that a device of the caller deserves.
///
/// # Errors
/// As for [`on_device`].
pub fn on_device_within<T: Send + 'static>(
    patience: Duration,
    path: &Path,
    call: impl FnOnce(&Path) -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    ask_device(path, patience)?;
    let path = path.to_owned();
    ask_within(patience, &path.display().to_string(), move || call(&path))?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_answer_as_those_of_the_standard_library() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("file");
        fs::write(&file, "four").unwrap();
        let link = dir.path().join("link");
        std::os::unix::fs::symlink("file", &link).unwrap();
        assert_eq!(metadata(&link).unwrap().len(), 4);
        assert_eq!(
            canonicalize(&link).unwrap(),
            fs::canonicalize(&file).unwrap()
        );
        assert!(open(&file).is_ok());
        assert!(is_file(&link) && !is_dir(&link) && is_dir(dir.path()));
        assert!(symlink_metadata(&link).unwrap().is_symlink());
        assert!(exists(&link) && !exists(&dir.path().join("none")));
        assert_eq!(answers(&file), Ok(()));
        assert!(space(&file).unwrap().blocks > 0);
        let missing = dir.path().join("missing");
        assert!(find(&missing).unwrap().is_none());
        assert!(find(&link).unwrap().is_some_and(|facts| facts.is_file()));
        let error = metadata(&missing).unwrap_err();
        assert_eq!(silent(&error), None);
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
        assert!(on_device(&file, |path| File::open(path)).is_ok());
    }

    #[test]
    fn silence_is_told_apart_from_absence() {
        let nobody = NotResponding {
            what: "/mnt".to_owned(),
            waited: PATIENCE,
            unasked: None,
        };
        let error = io::Error::from(nobody.clone());
        assert_eq!(silent(&error), Some(nobody));
        assert_eq!(silent(&io::Error::from(io::ErrorKind::TimedOut)), None);
    }

    #[test]
    fn a_mount_point_is_looked_at_in_its_own_mount() {
        let proc = Path::new("/proc");
        assert_eq!(MountTable::read().is_mount_point(proc), Ok(true));
        let inside = Path::new("/proc/self");
        assert_eq!(MountTable::read().is_mount_point(inside), Ok(false));
        assert!(symlink_metadata(proc).unwrap().is_dir());
        assert!(symlink_metadata(inside).unwrap().is_symlink());
    }

    #[test]
    fn a_pipe_by_its_descriptor_is_opened_and_read_to_its_end() {
        use std::io::{Read, Write};
        use std::os::fd::AsRawFd;
        let (reader, mut writer) = io::pipe().unwrap();
        let path = PathBuf::from(format!("/dev/fd/{}", reader.as_raw_fd()));
        writer.write_all(b"text").unwrap();
        drop(writer);
        let mut opened = open(&path).unwrap();
        let mut text = String::new();
        opened.read_to_string(&mut text).unwrap();
        assert_eq!(text, "text");
        // Where the kernel finds nothing, nothing is found.
        let dir = tempfile::tempdir().unwrap();
        let around = dir.path().join("none/../..");
        assert!(metadata(&around).is_err());
    }
}
