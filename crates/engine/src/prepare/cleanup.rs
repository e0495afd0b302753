//! Removing what a run created, and nothing else.

use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{AtFlags, FileType, OFlags, unlinkat};
use rustix::io::Errno;

use super::hooks::PrepareHooks;
use crate::Error;
use crate::target_file::{FileFacts, FileIdentity, open_directory};

/// How the name of a tree of files ends.
const TREE_SUFFIX: &str = ".tree";

/// A file that this run created, or a tree of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OwnFile {
    pub(crate) name: String,
    pub(crate) identity: FileIdentity,
}

/// The files that a run created in a directory, which is held open: a path
/// that leads elsewhere meanwhile changes nothing.
#[derive(Debug)]
pub(crate) struct OwnFiles {
    pub(crate) dir: Arc<OwnedFd>,
    pub(crate) dir_path: PathBuf,
    /// Their owner, which has to do where there are no birth times.
    pub(crate) owner: u32,
    pub(crate) files: Vec<OwnFile>,
}

/// What was found where a file was to be removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileAtPath {
    /// The file; it is gone now.
    Removed,
    /// Nothing: somebody else removed or moved it.
    Missing,
    /// Another file, which was left alone.
    Replaced,
}

/// What removing the files of a run came to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Removal {
    /// Files that were removed.
    pub removed: usize,
    /// Files that were not there any more: somebody else removed or moved them.
    pub missing: Vec<PathBuf>,
    /// Names that another file has taken, which was left alone.
    pub replaced: Vec<PathBuf>,
}

impl Removal {
    pub(crate) fn add(&mut self, path: &Path, found: FileAtPath) {
        match found {
            FileAtPath::Removed => self.removed += 1,
            FileAtPath::Missing => self.missing.push(path.to_owned()),
            FileAtPath::Replaced => self.replaced.push(path.to_owned()),
        }
    }

    /// One sentence each about files that were not where they had been made.
    pub fn remarks(&self) -> Vec<String> {
        let of = |paths: &[PathBuf], what: &str| {
            let first = paths.first()?;
            let more = match paths.len() - 1 {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            Some(format!("{}{more}: {what}", first.display()))
        };
        let missing = of(
            &self.missing,
            "not there any more: somebody else removed or moved what this run had made",
        );
        let replaced = of(
            &self.replaced,
            "another file has this name now and was left alone; somebody else removed or moved \
             what this run had made",
        );
        [missing, replaced].into_iter().flatten().collect()
    }
}

impl OwnFiles {
    /// Removes one file if it still is the one that was created.
    pub(crate) fn remove(
        &self,
        file: &OwnFile,
        hooks: &mut dyn PrepareHooks,
    ) -> Result<FileAtPath, Error> {
        let path = self.dir_path.join(&file.name);
        let found = remove_in(&self.dir, &file.name, &path, &file.identity, self.owner)?;
        if found == FileAtPath::Removed {
            hooks.removed(&path);
        }
        Ok(found)
    }
}

/// Removes a regular file if it still is the one with this identity. Neither a
/// symbolic link nor a file that took its place is touched.
///
/// # Errors
/// [`Error::Io`] when the directory cannot be opened or the file not removed.
pub fn remove_file_if(path: &Path, identity: &FileIdentity) -> Result<FileAtPath, Error> {
    let parent = path
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty());
    let parent = match parent.unwrap_or(Path::new(".")).canonicalize() {
        Ok(parent) => parent,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Ok(FileAtPath::Missing);
        }
        Err(error) => return Err(Error::io("examine", path)(error)),
    };
    let dir = open_directory(&parent, OFlags::PATH).map_err(Error::io("open", &parent))?;
    let Some(name) = path.file_name().and_then(|name| name.to_str()) else {
        return Ok(FileAtPath::Missing);
    };
    // A tree is never noted by its path alone.
    match FileFacts::at(&dir, name) {
        Ok(facts) if facts.kind == FileType::Directory => Ok(FileAtPath::Replaced),
        _ => {
            let owner = rustix::process::geteuid().as_raw();
            remove_in(&dir, name, path, identity, owner)
        }
    }
}

fn remove_in(
    dir: &OwnedFd,
    name: &str,
    path: &Path,
    identity: &FileIdentity,
    owner: u32,
) -> Result<FileAtPath, Error> {
    let facts = match FileFacts::at(dir, name) {
        Ok(facts) => facts,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Ok(FileAtPath::Missing);
        }
        Err(error) => return Err(Error::io("examine", path)(error)),
    };
    let born = identity.born_ns.is_some() && facts.identity.born_ns.is_some();
    if !facts.identity.is(identity) || !(born || facts.owner == owner) {
        return Ok(FileAtPath::Replaced);
    }
    if facts.kind == FileType::Directory && name.ends_with(TREE_SUFFIX) {
        crate::meta::remove(dir, name, path, identity)?;
        return Ok(FileAtPath::Removed);
    }
    if facts.kind != FileType::RegularFile {
        return Ok(FileAtPath::Replaced);
    }
    match unlinkat(dir, name, AtFlags::empty()) {
        Ok(()) => Ok(FileAtPath::Removed),
        Err(Errno::NOENT) => Ok(FileAtPath::Missing),
        Err(errno) => Err(Error::io("remove", path)(errno.into())),
    }
}
