//! The directory of a tree: found to be fathom's, or made. Others may write to
//! the directory that it lies in, so what was opened is looked at again.

use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{AtFlags, Dir, Mode, OFlags, mkdirat, unlinkat};
use rustix::io::Errno;

use super::tree::LIST;
use crate::Error;
use crate::target_file::{FileFacts, FileIdentity, open_beneath};

/// A tree that was found to be fathom's.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OwnTree {
    pub(crate) identity: FileIdentity,
    /// A run was killed while it made it: nothing but its list can be there.
    pub(crate) unfinished: bool,
}

/// Opens the tree that was found, or makes one.
pub(super) fn open(
    dir: &OwnedFd,
    name: &str,
    path: &Path,
    found: Option<OwnTree>,
) -> Result<OwnedFd, Error> {
    let io = |action| move |errno: Errno| Error::io(action, path)(errno.into());
    if found.is_none() {
        let mode = Mode::RWXU | Mode::RGRP | Mode::XGRP;
        mkdirat(dir, name, mode).map_err(io("create"))?;
    }
    let flags = OFlags::RDONLY | OFlags::DIRECTORY;
    let top = open_beneath(dir, name, flags, Mode::empty()).map_err(io("open"))?;
    let facts = FileFacts::of(&top).map_err(Error::io("examine", path))?;
    let same = found.is_none_or(|found| facts.identity.is(&found.identity));
    let fresh = found.is_none_or(|found| found.unfinished);
    if !same || facts.mode & 0o022 != 0 || (fresh && !is_empty(&top).map_err(io("list"))?) {
        return Err(Error::Refused {
            path: path.to_owned(),
            reason: "another directory has taken its place while fathom prepared it; look who \
                     else writes to the directory that it lies in"
                .to_owned(),
        });
    }
    Ok(top)
}

/// Whether there is nothing in a directory but a list that was never written.
fn is_empty(top: &OwnedFd) -> Result<bool, Errno> {
    for entry in Dir::read_from(top)? {
        let entry = entry?;
        let name = entry.file_name().to_bytes();
        if !matches!(name, b"." | b"..") && name != LIST.as_bytes() {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Removes the list of a tree and the tree, which is empty otherwise.
pub(super) fn remove(dir: &OwnedFd, name: &str, top: &OwnedFd, path: &Path) -> Result<(), Error> {
    let io = |action| move |errno: Errno| Error::io(action, path)(errno.into());
    match unlinkat(top, LIST, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => {}
        Err(errno) => return Err(io("remove the list of")(errno)),
    }
    unlinkat(dir, name, AtFlags::REMOVEDIR).map_err(io("remove"))
}
