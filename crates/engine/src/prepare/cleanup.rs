//! Removing what a run created, and nothing else.

use std::os::fd::OwnedFd;
use std::path::PathBuf;

use rustix::fs::{AtFlags, FileType, statat, unlinkat};
use rustix::io::Errno;

use super::hooks::PrepareHooks;
use crate::Error;

/// How the name of a tree of files ends.
const TREE_SUFFIX: &str = ".tree";

/// A file that this run created, or a tree of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OwnFile {
    pub(crate) name: String,
    pub(crate) device: u64,
    pub(crate) inode: u64,
}

/// The files that a run created in a directory, which is held open: a path
/// that leads elsewhere meanwhile changes nothing.
#[derive(Debug)]
pub(crate) struct OwnFiles {
    pub(crate) dir: OwnedFd,
    pub(crate) dir_path: PathBuf,
    pub(crate) files: Vec<OwnFile>,
}

impl OwnFiles {
    /// Removes one file if it still is the one that was created. Whether it
    /// was removed or gone already.
    pub(crate) fn remove(
        &self,
        file: &OwnFile,
        hooks: &mut dyn PrepareHooks,
    ) -> Result<bool, Error> {
        let path = self.dir_path.join(&file.name);
        let facts = match statat(&self.dir, &file.name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(facts) => facts,
            Err(Errno::NOENT) => return Ok(true),
            Err(errno) => return Err(Error::io("examine", &path)(errno.into())),
        };
        let kind = FileType::from_raw_mode(facts.st_mode);
        let same = (facts.st_dev, facts.st_ino) == (file.device, file.inode);
        if kind == FileType::Directory && same && file.name.ends_with(TREE_SUFFIX) {
            crate::meta::remove(&self.dir, &file.name, &path)?;
            hooks.removed(&path);
            return Ok(true);
        }
        let regular = kind == FileType::RegularFile;
        if !regular || (facts.st_dev, facts.st_ino) != (file.device, file.inode) {
            return Ok(false);
        }
        match unlinkat(&self.dir, &file.name, AtFlags::empty()) {
            Ok(()) => hooks.removed(&path),
            Err(Errno::NOENT) => {}
            Err(errno) => return Err(Error::io("remove", &path)(errno.into())),
        }
        Ok(true)
    }
}
