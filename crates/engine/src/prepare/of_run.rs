//! Removing the test files of a whole run, whichever of its trials made them.

use std::fs::File;
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rustix::fs::{AtFlags, FileType, statat};

use super::cleanup::{OwnFile, OwnFiles};
use super::hooks::PrepareHooks;
use super::manifest::{Entry, FileState, Manifest};
use super::test_files::TestFiles;
use crate::Error;

/// Removes the test files that the run with `run_tag` made in a directory,
/// and the list of test files when it lists nothing any more. Files of other
/// runs and files that took the name of a test file stay.
///
/// # Errors
/// [`Error::Target`] when another fathom uses the files, [`Error::Io`] when a
/// file could not be removed.
pub fn remove_files_of_run(
    dir: &Path,
    file_prefix: &str,
    run_tag: u64,
    hooks: &mut dyn PrepareHooks,
) -> Result<(), Error> {
    let list = dir.join(Manifest::name(file_prefix));
    if list.symlink_metadata().is_err() {
        return Ok(());
    }
    let dir_fd: OwnedFd = File::open(dir).map_err(Error::io("open", dir))?.into();
    let manifest = Manifest::open(&dir_fd, dir, file_prefix)?;
    let device = dir.metadata().map_err(Error::io("examine", dir))?.dev();
    let of_run = manifest
        .entries
        .iter()
        .filter(|(_, entry)| entry.run_tag == run_tag);
    let files = of_run
        .map(|(name, entry)| OwnFile {
            name: name.clone(),
            device,
            inode: inode_of(&dir_fd, name, entry),
        })
        .collect();
    let own = OwnFiles {
        dir: dir_fd,
        dir_path: dir.to_owned(),
        files,
    };
    let mut files = TestFiles {
        own,
        manifest,
        in_use: false,
    };
    files.remove(hooks)
}

/// Removes the test files of a directory whose number is `count` or more,
/// whichever run made them: the rest of a larger set. Returns how many there
/// were. Files that took the name of a test file stay.
///
/// # Errors
/// [`Error::Target`] when another fathom uses the files, [`Error::Io`] when a
/// file could not be removed.
pub fn remove_surplus_files(
    dir: &Path,
    file_prefix: &str,
    count: u32,
    hooks: &mut dyn PrepareHooks,
) -> Result<usize, Error> {
    let list = dir.join(Manifest::name(file_prefix));
    if list.symlink_metadata().is_err() {
        return Ok(0);
    }
    let dir_fd: OwnedFd = File::open(dir).map_err(Error::io("open", dir))?.into();
    let manifest = Manifest::open(&dir_fd, dir, file_prefix)?;
    let device = dir.metadata().map_err(Error::io("examine", dir))?.dev();
    let surplus = |name: &str| {
        let number = name.strip_prefix(file_prefix)?.strip_prefix('.')?;
        number.parse::<u32>().ok().filter(|number| *number >= count)
    };
    let files: Vec<OwnFile> = manifest
        .entries
        .iter()
        .filter(|(name, _)| surplus(name).is_some())
        .map(|(name, entry)| OwnFile {
            name: name.clone(),
            device,
            inode: inode_of(&dir_fd, name, entry),
        })
        .collect();
    if files.is_empty() {
        return Ok(0);
    }
    let removed = files.len();
    let own = OwnFiles {
        dir: dir_fd,
        dir_path: dir.to_owned(),
        files,
    };
    let mut files = TestFiles {
        own,
        manifest,
        in_use: false,
    };
    files.remove(hooks)?;
    Ok(removed)
}

/// The inode that the list names. A file that was about to be created has none
/// there yet: an empty plain file is the one.
fn inode_of(dir: &OwnedFd, name: &str, entry: &Entry) -> u64 {
    if entry.state != FileState::Creating {
        return entry.inode;
    }
    match statat(dir, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(facts)
            if facts.st_size == 0
                && FileType::from_raw_mode(facts.st_mode) == FileType::RegularFile =>
        {
            facts.st_ino
        }
        _ => entry.inode,
    }
}
