//! Removing what is in a tree: what fathom named, and nothing else.

use std::ffi::OsStr;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, statat, unlinkat};
use rustix::io::Errno;

use super::absence::Absence;
use super::geometry::is_level;
use super::names::Thing;
use super::top;
use super::tree::LIST;
use crate::Error;
use crate::target_file::{FileFacts, FileIdentity, open_beneath, open_in_mount};

/// Threads that remove at the same time: more do not make a file system faster.
const THREADS: usize = 8;

/// Levels of directories that are gone into.
const DEEPEST: u32 = 80;

/// Removes everything in a tree except its list. What fathom did not make
/// stays, and so do the directories that hold it: then it is an error.
pub(crate) fn empty(top: &OwnedFd, path: &Path) -> Result<(), Error> {
    let io = |errno: Errno| Error::io("list", path)(errno.into());
    let own = Own {
        device: device_of(top, path)?,
        absence: absence_of(top, path)?,
    };
    let mut branches = Vec::new();
    let mut stranger = None;
    for entry in Dir::read_from(top).map_err(io)? {
        let entry = entry.map_err(io)?;
        let name = entry.file_name().to_bytes().to_vec();
        if is_level(&name) {
            branches.push(name);
        } else if !matches!(name.as_slice(), b"." | b"..") && name != LIST.as_bytes() {
            stranger.get_or_insert(path.join(lossy(&name)));
        }
    }
    let threads = branches.len().clamp(1, THREADS);
    let left = Mutex::new(branches);
    let failed = Mutex::new(None);
    let stop = AtomicBool::new(false);
    let work = || {
        loop {
            let branch = lock(&left).pop();
            let Some(branch) = branch.filter(|_| !stop.load(Relaxed)) else {
                return;
            };
            let path = path.join(lossy(&branch));
            if let Err(error) = remove_branch(top, &branch, &path, &own, 0) {
                stop.store(true, Relaxed);
                lock(&failed).get_or_insert(error);
            }
        }
    };
    std::thread::scope(|scope| {
        // This thread does the work of those that cannot be had.
        for _ in 1..threads {
            if std::thread::Builder::new()
                .spawn_scoped(scope, work)
                .is_err()
            {
                break;
            }
        }
        work();
    });
    if let Some(error) = failed.into_inner().unwrap_or_default() {
        return Err(error);
    }
    match stranger {
        Some(stranger) => Err(foreign(&stranger)),
        None => Ok(()),
    }
}

/// Removes a whole tree, which is `name` in `dir`, if it is the one with this
/// identity.
pub(crate) fn remove(
    dir: &OwnedFd,
    name: &str,
    path: &Path,
    identity: &FileIdentity,
) -> Result<(), Error> {
    let top = open_in_mount(dir, name).map_err(|errno| not_done("open", path, errno))?;
    let facts = FileFacts::of(&top).map_err(Error::io("examine", path))?;
    if !facts.identity.is(identity) {
        return Err(foreign(path));
    }
    empty(&top, path)?;
    top::remove(dir, name, &top, path)
}

/// What tells the things of a tree from others with such names.
struct Own {
    device: u64,
    absence: Absence,
}

/// When nobody worked on a tree; nothing is known of one without a list.
fn absence_of(top: &OwnedFd, path: &Path) -> Result<Absence, Error> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK;
    match open_beneath(top, LIST, flags, Mode::empty()) {
        Ok(list) => {
            let read = Absence::read(&list.into());
            read.map_err(Error::io("read the list of", path))
        }
        Err(Errno::NOENT) => Ok(Absence::default()),
        Err(errno) => Err(Error::io("open the list of", path)(errno.into())),
    }
}

fn device_of(directory: &OwnedFd, path: &Path) -> Result<u64, Error> {
    let facts = FileFacts::of(directory).map_err(Error::io("examine", path))?;
    Ok(facts.identity.device)
}

fn remove_branch(
    parent: &OwnedFd,
    name: &[u8],
    path: &Path,
    own: &Own,
    depth: u32,
) -> Result<(), Error> {
    let io = |errno: Errno| not_done("remove", path, errno);
    if depth > DEEPEST {
        return Err(foreign(path));
    }
    let directory = match open_in_mount(parent, OsStr::from_bytes(name)) {
        Ok(directory) => directory,
        Err(Errno::NOENT) => return Ok(()),
        Err(errno) => return Err(io(errno)),
    };
    // A Btrfs subvolume has its own device number without being a mount point, and
    // fathom did not make it either.
    if device_of(&directory, path)? != own.device {
        return Err(foreign(path));
    }
    let mut entries = Dir::read_from(&directory).map_err(io)?;
    while let Some(entry) = entries.read() {
        let entry = entry.map_err(io)?;
        let child = entry.file_name();
        let bytes = child.to_bytes();
        if matches!(bytes, b"." | b"..") {
            continue;
        }
        let inside = || path.join(lossy(bytes));
        if is_level(bytes) {
            remove_branch(&directory, bytes, &inside(), own, depth + 1)?;
            continue;
        }
        let Some(thing) = Thing::of_name(bytes) else {
            return Err(foreign(&inside()));
        };
        let kind = match entry.file_type() {
            FileType::Unknown => match statat(&directory, child, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(facts) => FileType::from_raw_mode(facts.st_mode),
                Err(Errno::NOENT) => continue,
                Err(errno) => return Err(Error::io("examine", &inside())(errno.into())),
            },
            kind => kind,
        };
        let flags = match (thing, kind) {
            (Thing::Directory, FileType::Directory) => AtFlags::REMOVEDIR,
            (Thing::File | Thing::Link | Thing::Temporary, FileType::RegularFile)
            | (Thing::Symlink, FileType::Symlink) => AtFlags::empty(),
            _ => return Err(foreign(&inside())),
        };
        if kind != FileType::Directory {
            match FileFacts::at(&directory, OsStr::from_bytes(bytes)) {
                Ok(facts) if own.absence.covers(&facts) => return Err(changed(&inside())),
                Ok(_) => {}
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
                Err(error) => return Err(Error::io("examine", &inside())(error)),
            }
        }
        match unlinkat(&directory, child, flags) {
            Ok(()) | Err(Errno::NOENT) => {}
            Err(Errno::NOTEMPTY) => return Err(foreign(&inside())),
            Err(errno) => return Err(not_done("remove", &inside(), errno)),
        }
    }
    unlinkat(parent, name, AtFlags::REMOVEDIR).map_err(io)
}

/// Why something in a tree was not removed. A mount point cannot be: it is busy.
fn not_done(action: &'static str, path: &Path, errno: Errno) -> Error {
    match errno {
        Errno::XDEV | Errno::BUSY => Error::target(
            path,
            "something is mounted there, so it was left alone together with what it lies in; \
             unmount it",
        ),
        errno => Error::io(action, path)(errno.into()),
    }
}

fn foreign(path: &Path) -> Error {
    Error::target(
        path,
        "fathom did not make it, so it was left alone together with what it lies in; move it away",
    )
}

fn changed(path: &Path) -> Error {
    Error::target(
        path,
        "it was made or changed while no run of fathom worked on its tree, so it was left alone \
         together with what it lies in; move it away",
    )
}

fn lossy(name: &[u8]) -> PathBuf {
    PathBuf::from(String::from_utf8_lossy(name).into_owned())
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}
