//! The operations themselves, each made ready, carried out and checked.
//!
//! Names, open directories and contents are made ready before the clock is
//! read; what was read is checked after it was read again. Between the two
//! lie system calls and nothing else.

mod checked;
mod trouble;

pub(crate) use trouble::Trouble;

use std::mem::MaybeUninit;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::Arc;

use fathom_model::OpKind;
use fathom_model::workload::{MetaPaths, Workload};
use rustix::fs::{
    AtFlags, Mode, OFlags, RawDir, chmodat, fsync, ftruncate, linkat, mkdirat, openat,
    readlinkat_raw, renameat, statat, symlinkat, unlinkat,
};
use rustix::io::{Errno, pwrite, read, write};

use super::content::{Contents, Owner};
use super::directories::Directories;
use super::geometry::Geometry;
use super::names::{Name, Thing};
use super::task::Task;

/// Room for the entries of a directory that one call reads.
const LISTING_BYTES: usize = 32 << 10;
/// Contents that are read to be verified are kept up to this size.
const VERIFIED_BYTES: u64 = 16 << 20;
/// The extended attribute.
const XATTR: &std::ffi::CStr = c"user.fathom";

/// What operations need to know of the work besides the tree.
#[derive(Debug, Clone)]
pub(crate) struct Ways {
    whole_paths: bool,
    fsync: bool,
    verify: bool,
    /// Absolute path of the top of the tree, with a slash at its end.
    top_path: Arc<[u8]>,
}

impl Ways {
    pub(crate) fn new(workload: &Workload, top_path: &[u8]) -> Ways {
        let meta = workload.meta.as_deref();
        Ways {
            whole_paths: meta.is_some_and(|meta| meta.paths == MetaPaths::Whole),
            fsync: meta.is_some_and(|meta| meta.fsync),
            verify: workload.verify.is_some(),
            top_path: [top_path, b"/"].concat().into(),
        }
    }
}

/// Carries out the operations of one worker on what belongs to one rank.
pub(crate) struct Hand {
    geometry: Geometry,
    rank: u32,
    ways: Ways,
    /// `None`: nothing is done (the null target).
    directories: Option<Directories>,
    contents: Contents,
    name: Name,
    other: Name,
    /// The directory of the task at hand; `None` is the top.
    leaf: Option<u64>,
    size_bytes: u64,
    buffer: Vec<u8>,
    listing: Box<[MaybeUninit<u8>]>,
    xattr: Vec<u8>,
    /// What the last operation found: bytes read, entries listed, the size of
    /// a file.
    found: u64,
    altered: bool,
}

impl Hand {
    pub(crate) fn new(
        geometry: &Geometry,
        rank: u32,
        workload: &Workload,
        ways: Ways,
        top: Option<(&Arc<OwnedFd>, u64)>,
    ) -> Hand {
        let tree = &geometry.tree;
        let tag = top.map_or(0, |(_, tag)| tag);
        let record = tree.record_bytes.max(1);
        let whole = largest(geometry).div_ceil(record) * record;
        let buffer_bytes = match ways.verify {
            true => whole.clamp(record, VERIFIED_BYTES.max(record)),
            false => record,
        };
        let mut xattr = vec![b'x'; tree.xattr_bytes.max(1) as usize];
        let own = format!("{rank}");
        let own = &own.as_bytes()[..own.len().min(xattr.len())];
        xattr[..own.len()].copy_from_slice(own);
        Hand {
            directories: top.map(|(top, _)| Directories::new(Arc::clone(top), geometry.workers)),
            contents: Contents::new(&workload.payload, tag, record),
            geometry: geometry.clone(),
            rank,
            ways,
            name: Name::new(),
            other: Name::new(),
            leaf: None,
            size_bytes: 0,
            buffer: vec![0; usize::try_from(buffer_bytes).unwrap_or(usize::MAX)],
            listing: vec![MaybeUninit::uninit(); LISTING_BYTES].into(),
            xattr,
            found: 0,
            altered: false,
        }
    }

    /// Makes the names, the directory and the first contents of a task ready.
    #[inline]
    pub(crate) fn make_ready(&mut self, task: &Task, altered: bool) -> Result<(), Trouble> {
        self.altered = altered;
        self.name.clear();
        let Some(thing) = task.thing() else {
            let leaf = self.geometry.listed_leaf(self.rank, task.number);
            self.geometry.push_leaf(&mut self.name, self.rank, leaf);
            self.leaf = None;
            return Ok(());
        };
        let leaf = self.geometry.leaf_of(self.rank, task.number);
        self.leaf = (!self.ways.whole_paths && task.kind != OpKind::Lookup).then_some(leaf);
        if let (Some(leaf), Some(directories)) = (self.leaf, &mut self.directories) {
            directories.hold(&self.geometry, (self.rank, leaf), &mut self.name)?;
            self.name.clear();
        }
        self.push(thing, task.number, task.round, false);
        match task.kind {
            OpKind::Rename => self.push(Thing::File, task.number, task.round + 1, true),
            OpKind::Link => self.push_source(task),
            OpKind::Symlink => {
                self.other.clear();
                self.other
                    .push_thing(Thing::File, self.rank, task.number, 0);
            }
            OpKind::Setxattr | OpKind::Getxattr => {
                // There is no call that takes a directory and a name.
                self.name.clear();
                self.name.push(&self.ways.top_path);
                let file = (thing, task.number, task.round);
                self.geometry.push_path(&mut self.name, self.rank, file);
            }
            OpKind::Create | OpKind::Overwrite | OpKind::ReadFile => {
                self.size_bytes = self.geometry.size_of(self.rank, task.number);
            }
            _ => {}
        }
        Ok(())
    }

    /// Writes a name as the way asks for.
    fn push(&mut self, thing: Thing, number: u64, round: u32, other: bool) {
        let name = match other {
            true => &mut self.other,
            false => &mut self.name,
        };
        name.clear();
        match self.leaf {
            Some(_) => name.push_thing(thing, self.rank, number, round),
            None => {
                let thing = (thing, number, round);
                self.geometry.push_path(name, self.rank, thing);
            }
        }
    }

    /// The whole path of the file that gets a second name, which may lie in
    /// another directory.
    fn push_source(&mut self, task: &Task) {
        self.other.clear();
        let file = (Thing::File, task.of, task.of_round);
        self.geometry.push_path(&mut self.other, self.rank, file);
    }

    /// Carries out the task that was made ready. The bytes that it moved.
    #[inline]
    pub(crate) fn carry_out(&mut self, task: &Task) -> Result<u64, Trouble> {
        let Some(directories) = &self.directories else {
            return Ok(match task.kind {
                OpKind::Create | OpKind::Overwrite | OpKind::ReadFile => self.size_bytes,
                OpKind::Append => self.geometry.tree.record_bytes,
                _ => 0,
            });
        };
        let directory = match self.leaf {
            Some(leaf) => directories.get(leaf),
            None => directories.top(),
        };
        let name = self.name.as_c();
        let done = |result: Result<(), Errno>| result.map(|()| 0).map_err(Trouble::from);
        match task.kind {
            OpKind::Stat | OpKind::Lookup | OpKind::Statdir => {
                self.found = statat(directory, name, AtFlags::empty())?.st_size as u64;
                Ok(0)
            }
            OpKind::Open => {
                open(directory, name, OFlags::RDONLY)?;
                Ok(0)
            }
            OpKind::Rename => done(renameat(directory, name, directory, self.other.as_c())),
            OpKind::Symlink => done(symlinkat(self.other.as_c(), directory, name)),
            OpKind::Link => {
                let top = directories.top();
                done(linkat(
                    top,
                    self.other.as_c(),
                    directory,
                    name,
                    AtFlags::empty(),
                ))
            }
            OpKind::Readlink => {
                let (target, _) = readlinkat_raw(directory, name, &mut self.listing[..256])?;
                self.found = target.len() as u64;
                Ok(0)
            }
            OpKind::Chmod => {
                let mode = Mode::RUSR | Mode::WUSR | Mode::RGRP | Mode::ROTH | Mode::WOTH;
                done(chmodat(directory, name, mode, AtFlags::empty()))
            }
            OpKind::Setxattr => {
                let flags = rustix::fs::XattrFlags::empty();
                done(rustix::fs::setxattr(name, XATTR, &self.xattr, flags))
            }
            OpKind::Getxattr => {
                self.found = rustix::fs::getxattr(name, XATTR, &mut self.listing[..])?
                    .0
                    .len() as u64;
                Ok(0)
            }
            OpKind::Mkdir => done(mkdirat(directory, name, Mode::RWXU)),
            OpKind::Rmdir => done(unlinkat(directory, name, AtFlags::REMOVEDIR)),
            OpKind::Unlink => done(unlinkat(directory, name, AtFlags::empty())),
            _ => self.on_contents(task),
        }
    }

    /// Operations that open something and move bytes or entries.
    fn on_contents(&mut self, task: &Task) -> Result<u64, Trouble> {
        let Some(directories) = &self.directories else {
            return Ok(0);
        };
        let directory = match self.leaf {
            Some(leaf) => directories.get(leaf),
            None => directories.top(),
        };
        let name = self.name.as_c();
        match task.kind {
            OpKind::Create => {
                let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL;
                let file = open(directory, name, flags)?;
                self.write_all(&file, task.number)
            }
            OpKind::Overwrite => {
                let file = open(directory, name, OFlags::WRONLY)?;
                self.write_all(&file, task.number)
            }
            OpKind::Append => {
                let file = open(directory, name, OFlags::WRONLY | OFlags::APPEND)?;
                self.append(&file, task.number)
            }
            OpKind::ReadFile => {
                let file = open(directory, name, OFlags::RDONLY)?;
                self.read_all(&file)
            }
            OpKind::Truncate => {
                let file = open(directory, name, OFlags::WRONLY)?;
                ftruncate(&file, 0)?;
                Ok(0)
            }
            OpKind::Fsync => {
                let file = open(directory, name, OFlags::RDONLY)?;
                fsync(&file)?;
                Ok(0)
            }
            kind => {
                let flags = OFlags::RDONLY | OFlags::DIRECTORY;
                let directory = open(directory, name, flags)?;
                self.list(&directory, kind == OpKind::ReaddirStat)
            }
        }
    }

    fn write_all(&mut self, file: &OwnedFd, number: u64) -> Result<u64, Trouble> {
        let owner = self.owner(number);
        let record = self.geometry.tree.record_bytes;
        let mut at = 0;
        while at < self.size_bytes {
            let length = record.min(self.size_bytes - at) as usize;
            let bytes = self.contents.record(owner, at, length);
            let moved = match at {
                0 => write(file, bytes)?,
                _ => pwrite(file, bytes, at)?,
            };
            if moved < length {
                return Err(Trouble::Short(at + moved as u64));
            }
            at += moved as u64;
        }
        if self.ways.fsync {
            fsync(file)?;
        }
        Ok(at)
    }

    fn append(&mut self, file: &OwnedFd, number: u64) -> Result<u64, Trouble> {
        let owner = self.owner(number);
        let length = self.geometry.tree.record_bytes as usize;
        let moved = write(file, self.contents.record(owner, 0, length))?;
        if moved < length {
            return Err(Trouble::Short(moved as u64));
        }
        if self.ways.fsync {
            fsync(file)?;
        }
        Ok(moved as u64)
    }

    /// Reads a file to the end that it had when it was made, or to its real end
    /// where that is not known.
    fn read_all(&mut self, file: &OwnedFd) -> Result<u64, Trouble> {
        let record = self.geometry.tree.record_bytes as usize;
        let keeps = self.ways.verify;
        let mut at = 0;
        loop {
            let left = self.size_bytes - at.min(self.size_bytes);
            if left == 0 && !self.altered {
                break;
            }
            let start = if keeps { at as usize } else { 0 };
            let start = if start + record > self.buffer.len() {
                0
            } else {
                start
            };
            let wanted = match self.altered {
                true => record,
                false => record.min(left as usize),
            };
            let end = (start + wanted).min(self.buffer.len());
            let moved = read(file, &mut self.buffer[start..end])?;
            at += moved as u64;
            if moved == 0 {
                break;
            }
        }
        self.found = at;
        match at < self.size_bytes && !self.altered {
            true => Err(Trouble::Short(at)),
            false => Ok(at),
        }
    }

    fn list(&mut self, directory: &OwnedFd, stat_each: bool) -> Result<u64, Trouble> {
        let mut entries = 0;
        let mut listing = RawDir::new(directory, &mut self.listing);
        while let Some(entry) = listing.next() {
            let entry = entry?;
            let name = entry.file_name();
            if matches!(name.to_bytes(), b"." | b"..") {
                continue;
            }
            entries += 1;
            if stat_each {
                // Somebody may have removed it meanwhile.
                match statat(directory, name, AtFlags::SYMLINK_NOFOLLOW) {
                    Ok(_) | Err(Errno::NOENT) => {}
                    Err(errno) => return Err(errno.into()),
                }
            }
        }
        self.found = entries;
        Ok(0)
    }

    fn owner(&self, number: u64) -> Owner {
        Owner {
            rank: self.rank,
            number,
        }
    }

    /// The path of the task at hand, for people.
    pub(crate) fn path(&self, task: &Task) -> String {
        let mut name = Name::new();
        name.push(&self.ways.top_path);
        match task.thing() {
            Some(thing) => {
                let thing = (thing, task.number, task.round);
                self.geometry.push_path(&mut name, self.rank, thing);
            }
            None => {
                let leaf = self.geometry.listed_leaf(self.rank, task.number);
                self.geometry.push_leaf(&mut name, self.rank, leaf);
            }
        }
        String::from_utf8_lossy(name.as_bytes()).into_owned()
    }
}

/// The largest file that there can be.
fn largest(geometry: &Geometry) -> u64 {
    use fathom_model::workload::FileSizes;
    match geometry.tree.sizes {
        FileSizes::Fixed(bytes) => bytes,
        FileSizes::Exponential { max_bytes, .. } => max_bytes,
    }
}

#[inline]
fn open(directory: BorrowedFd<'_>, name: &std::ffi::CStr, flags: OFlags) -> Result<OwnedFd, Errno> {
    let mode = Mode::RUSR | Mode::WUSR | Mode::RGRP | Mode::ROTH;
    openat(
        directory,
        name,
        flags | OFlags::NOFOLLOW | OFlags::CLOEXEC,
        mode,
    )
}
