//! Files and folders that their owner alone can look into.

use std::ffi::OsString;
use std::fs::{DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, ErrorKind, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

const FILE_MODE: u32 = 0o600;
const FOLDER_MODE: u32 = 0o700;
/// What only its owner should be able to do, and others may.
const OF_OTHERS: u32 = 0o077;
/// Names that are tried for a draft.
const MOST_DRAFTS: u32 = 100;

/// Makes a file that was not there, for reading and writing.
///
/// # Errors
/// Something of that name exists (a symbolic link, too), or the file cannot be
/// made.
pub fn create_new(path: &Path) -> io::Result<File> {
    let mut options = private();
    let file = options.read(true).write(true).create_new(true).open(path)?;
    // The umask may have taken away what the owner needs.
    file.set_permissions(Permissions::from_mode(FILE_MODE))?;
    Ok(file)
}

/// Opens one of fathom's own lists to add to it. Makes it when it is missing,
/// and takes away what others may do with it when it is ours.
///
/// # Errors
/// It is a symbolic link or no regular file, or it cannot be opened.
pub fn append(path: &Path) -> io::Result<File> {
    let made = match private().append(true).create_new(true).open(path) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            // A pipe without a reader would make the call wait.
            let mut options = OpenOptions::new();
            let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
            options.append(true).custom_flags(flags.bits() as i32);
            options.open(path)?
        }
        other => other?,
    };
    let facts = made.metadata()?;
    if !facts.is_file() {
        return Err(io::Error::new(
            ErrorKind::InvalidInput,
            "it is not a regular file",
        ));
    }
    crate::signature::forget_digest(&made);
    if is_open_to_others(&facts) {
        made.set_permissions(Permissions::from_mode(FILE_MODE))?;
    }
    Ok(made)
}

/// Writes one of fathom's own files: all of it or nothing, and durably. What
/// was there is replaced; a symbolic link is replaced and not followed.
///
/// # Errors
/// The file cannot be written; what was there stays.
pub fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    let mut draft = Draft::beside(path)?;
    draft.file.write_all(content)?;
    draft.file.sync_all()?;
    draft.rename_to(path)
}

/// Makes a folder, and those above it, where they are missing. A folder that
/// exists keeps its mode.
///
/// # Errors
/// It cannot be made, or the path is something else.
pub fn make_folder(path: &Path) -> io::Result<()> {
    if path.as_os_str().is_empty() {
        return Ok(());
    }
    let make = || DirBuilder::new().mode(FOLDER_MODE).create(path);
    let made = match (make(), path.parent()) {
        (Err(error), Some(parent)) if error.kind() == ErrorKind::NotFound => {
            make_folder(parent)?;
            make()
        }
        (made, _) => made,
    };
    match made {
        Ok(()) => std::fs::set_permissions(path, Permissions::from_mode(FOLDER_MODE)),
        Err(error) if error.kind() == ErrorKind::AlreadyExists && path.is_dir() => Ok(()),
        Err(error) => Err(error),
    }
}

/// Takes away what others may do with a file of ours. Does nothing about what
/// is missing, not a regular file, or somebody else's. Returns whether it
/// changed anything.
///
/// The file is opened for its name alone: closing a file that was opened for
/// reading gives up every lock this process holds on it, and SQLite relies on
/// those of a database (`fcntl(2)`, "Record locking").
///
/// # Errors
/// The mode cannot be changed.
pub fn tighten(path: &Path) -> io::Result<bool> {
    let mut options = OpenOptions::new();
    let flags = OFlags::PATH | OFlags::NOFOLLOW;
    let opened = options
        .read(true)
        .custom_flags(flags.bits() as i32)
        .open(path);
    let file = match opened {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
        other => other?,
    };
    let facts = file.metadata()?;
    let wanted = facts.is_file() && is_open_to_others(&facts);
    if wanted {
        let mode = facts.mode() & 0o7777 & !OF_OTHERS;
        // The only way to the mode of what was opened for its name.
        let opened = format!("/proc/self/fd/{}", file.as_raw_fd());
        std::fs::set_permissions(opened, Permissions::from_mode(mode))?;
    }
    Ok(wanted)
}

fn is_open_to_others(facts: &std::fs::Metadata) -> bool {
    facts.mode() & OF_OTHERS != 0 && facts.uid() == rustix::process::geteuid().as_raw()
}

fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options
        .mode(FILE_MODE)
        .custom_flags(OFlags::NOFOLLOW.bits() as i32);
    options
}

/// A file that is written beside its place and moved there once it is whole.
/// Dropped before that, it is removed.
pub(crate) struct Draft {
    pub(crate) file: File,
    path: PathBuf,
    moved: bool,
}

impl Draft {
    pub(crate) fn beside(path: &Path) -> io::Result<Draft> {
        let id = std::process::id();
        for again in 0..MOST_DRAFTS {
            let mut name: OsString = path.as_os_str().to_owned();
            name.push(match again {
                0 => format!(".{id}.partial"),
                again => format!(".{id}-{again}.partial"),
            });
            let path = PathBuf::from(name);
            match create_new(&path) {
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                made => {
                    return Ok(Draft {
                        file: made?,
                        path,
                        moved: false,
                    });
                }
            }
        }
        Err(ErrorKind::AlreadyExists.into())
    }

    pub(crate) fn rename_to(mut self, path: &Path) -> io::Result<()> {
        std::fs::rename(&self.path, path)?;
        self.moved = true;
        Ok(())
    }

    /// Moves it where nothing is.
    pub(crate) fn rename_to_free(mut self, path: &Path) -> io::Result<()> {
        use rustix::fs::{CWD, RenameFlags, renameat_with};
        use rustix::io::Errno;
        match renameat_with(CWD, &self.path, CWD, path, RenameFlags::NOREPLACE) {
            Ok(()) => {}
            // Not every file system knows this kind of move.
            Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {
                if path.symlink_metadata().is_ok() {
                    return Err(ErrorKind::AlreadyExists.into());
                }
                std::fs::rename(&self.path, path)?;
            }
            Err(error) => return Err(error.into()),
        }
        self.moved = true;
        Ok(())
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        if !self.moved {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

#[cfg(test)]
#[path = "private_tests.rs"]
mod tests;
