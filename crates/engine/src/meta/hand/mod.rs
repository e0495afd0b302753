//! The operations themselves, each made ready, carried out and checked.
//!
//! Names, open directories and contents are made ready before the clock is
//! read; what was read is checked after it was read again. Between the two
//! lie system calls and nothing else.

mod calls;
mod checked;
mod handing;
mod moving;
mod stamp;
mod trouble;

pub(crate) use calls::Calls;
pub(crate) use trouble::Trouble;

use std::ffi::CString;
use std::mem::MaybeUninit;
use std::sync::Arc;

use fathom_model::workload::{CREATION_STAMP_BYTES, Handing, MetaPaths, Workload};
use fathom_model::{Job, OpKind};
use rustix::fs::{
    AtFlags, Mode, chmodat, linkat, mkdirat, readlinkat_raw, renameat, statat, symlinkat, unlinkat,
};
use rustix::io::Errno;

use self::calls::Call;
use self::handing::{Gatherer, Stream};
use super::content::{ContentOwner, Contents};
use super::directories::Directories;
use super::geometry::Geometry;
use super::names::{Name, Thing};
use super::task::Task;
use super::tree::Tree;

/// Room for the entries of a directory that one call reads.
const LISTING_BYTES: usize = 32 << 10;
/// Contents that are read to be verified are kept up to this size.
const VERIFIED_BYTES: u64 = 16 << 20;
/// The extended attribute; further ones have a number behind it.
const XATTR: &str = "user.fathom";

/// What operations need to know of the work besides the tree.
#[derive(Debug, Clone)]
pub(crate) struct Ways {
    whole_paths: bool,
    fsync: bool,
    verify: bool,
    /// Bytes that an append adds.
    append_bytes: u64,
    handing: Handing,
    xattrs: u32,
    /// Files begin with the time of their creation.
    stamped: bool,
    run_tag: u64,
    /// Absolute path of the top of the tree, with a slash at its end.
    top_path: Arc<[u8]>,
}

impl Ways {
    pub(crate) fn new(job: &Job, top_path: &[u8]) -> Ways {
        let workload = &job.workload;
        let meta = workload.files_work();
        Ways {
            whole_paths: meta.is_some_and(|meta| meta.paths == MetaPaths::Whole),
            fsync: meta.is_some_and(|meta| meta.fsync),
            append_bytes: meta.map_or(0, |meta| meta.append_bytes),
            handing: meta.map_or(Handing::Direct, |meta| meta.handing),
            xattrs: meta.map_or(1, |meta| meta.xattrs.max(1)),
            verify: workload.verify.is_some(),
            stamped: meta.is_some_and(|meta| meta.stamped),
            run_tag: job.run_tag,
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
    /// Contents were made in pieces of this length.
    unit_bytes: u64,
    name: Name,
    other: Name,
    /// The directory of the task at hand; `None` is the top.
    leaf: Option<u64>,
    size_bytes: u64,
    buffer: Vec<u8>,
    listing: Box<[MaybeUninit<u8>]>,
    xattr: Vec<u8>,
    xattr_names: Vec<CString>,
    gatherer: Gatherer,
    /// Runs from the first file that needs it.
    stream: Option<Stream>,
    calls: Calls,
    /// What the last operation found: bytes read, entries listed, the size of
    /// a file.
    found: u64,
    altered: bool,
    /// Name of the tree that somebody else makes, within the directory that is
    /// held open instead of its top.
    below: Option<Arc<str>>,
    /// When the file at hand was begun, since the gate was opened.
    created_ns: Option<u64>,
}

impl Hand {
    pub(crate) fn new(
        geometry: &Geometry,
        rank: u32,
        workload: &Workload,
        ways: Ways,
        on: Option<&Tree>,
    ) -> Hand {
        let tree = &geometry.tree;
        let tag = on.map_or(0, |tree| tree.tag);
        let record = tree.record_bytes.max(1);
        let unit_bytes = on.map_or(record, Tree::unit_bytes);
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
            directories: on.map(|on| Directories::new(Arc::clone(&on.top), geometry.workers)),
            contents: Contents::new(&workload.payload, tag, unit_bytes),
            unit_bytes,
            geometry: geometry.clone(),
            rank,
            name: Name::new(),
            other: Name::new(),
            leaf: None,
            size_bytes: 0,
            buffer: vec![0; usize::try_from(buffer_bytes).unwrap_or(usize::MAX)],
            listing: vec![MaybeUninit::uninit(); LISTING_BYTES].into(),
            xattr,
            xattr_names: xattr_names(ways.xattrs),
            gatherer: Gatherer::new(),
            stream: None,
            calls: Calls::default(),
            found: 0,
            altered: false,
            below: on.and_then(|tree| tree.below.clone()),
            created_ns: None,
            ways,
        }
    }

    /// What was asked of the system so far, and the records that were moved.
    pub(crate) fn calls(&self) -> &Calls {
        &self.calls
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
        if task.kind == OpKind::AwaitCreate {
            self.name_awaited(task);
            return Ok(());
        }
        let leaf = self.geometry.leaf_of(self.rank, task.number);
        self.leaf = (!self.ways.whole_paths && task.kind != OpKind::Lookup).then_some(leaf);
        if let (Some(leaf), Some(directories)) = (self.leaf, &mut self.directories) {
            directories.hold(&self.geometry, self.rank, leaf, &mut self.name)?;
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
            OpKind::SwiftPut | OpKind::SwiftGet => {
                self.size_bytes = self.geometry.size_of(self.rank, task.number);
                // Attributes of a file that is open need no name of its own.
                if task.kind == OpKind::SwiftPut {
                    self.push(Thing::Temporary, task.number, 0, true);
                }
            }
            OpKind::Create | OpKind::Overwrite | OpKind::TruncateOverwrite | OpKind::ReadFile => {
                self.size_bytes = self.geometry.size_of(self.rank, task.number);
                if self.ways.stamped {
                    self.size_bytes = self.size_bytes.max(CREATION_STAMP_BYTES);
                }
            }
            OpKind::Append => self.size_bytes = self.appended_bytes(),
            _ => {}
        }
        Ok(())
    }

    /// The path of a file that somebody else makes.
    fn name_awaited(&mut self, task: &Task) {
        self.leaf = None;
        if let Some(tree) = &self.below {
            self.name.push(tree.as_bytes());
            self.name.push(b"/");
        }
        let file = (Thing::File, task.number, task.round);
        self.geometry.push_path(&mut self.name, self.rank, file);
        self.size_bytes = self.geometry.size_of(self.rank, task.number);
    }

    /// Bytes that an append adds.
    fn appended_bytes(&self) -> u64 {
        match self.ways.append_bytes {
            0 => self.geometry.tree.record_bytes,
            bytes => bytes,
        }
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
            return Ok(match task.kind.moves_bytes() {
                true => self.size_bytes,
                false => 0,
            });
        };
        let directory = match self.leaf {
            Some(leaf) => directories.get(leaf),
            None => directories.top(),
        };
        if let Some(call) = only_call(task.kind) {
            self.calls.count(call);
        }
        let name = self.name.as_c();
        let done = |result: Result<(), Errno>| result.map(|()| 0).map_err(Trouble::from);
        match task.kind {
            OpKind::Stat | OpKind::Lookup | OpKind::Statdir => {
                self.found = statat(directory, name, AtFlags::empty())?.st_size as u64;
                Ok(0)
            }
            OpKind::Rename => done(renameat(directory, name, directory, self.other.as_c())),
            OpKind::Symlink => done(symlinkat(self.other.as_c(), directory, name)),
            OpKind::Link => {
                let top = directories.top();
                let other = self.other.as_c();
                done(linkat(top, other, directory, name, AtFlags::empty()))
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
            OpKind::Mkdir => done(mkdirat(directory, name, Mode::RWXU)),
            OpKind::Rmdir => done(unlinkat(directory, name, AtFlags::REMOVEDIR)),
            OpKind::Unlink => done(unlinkat(directory, name, AtFlags::empty())),
            OpKind::Setxattr | OpKind::Getxattr => self.attributes(task.kind),
            _ => self.on_contents(task),
        }
    }

    /// Sets or reads every attribute of the file that is named by its path.
    fn attributes(&mut self, kind: OpKind) -> Result<u64, Trouble> {
        let name = self.name.as_c();
        for attribute in &self.xattr_names {
            if kind == OpKind::Setxattr {
                self.calls.count(Call::Setxattr);
                let flags = rustix::fs::XattrFlags::empty();
                rustix::fs::setxattr(name, attribute.as_c_str(), &self.xattr, flags)?;
            } else {
                self.calls.count(Call::Getxattr);
                let attribute = attribute.as_c_str();
                let read = rustix::fs::getxattr(name, attribute, &mut self.listing[..])?;
                self.found = read.0.len() as u64;
            }
        }
        Ok(0)
    }

    fn owner(&self, number: u64) -> ContentOwner {
        ContentOwner {
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

/// The call of an operation that is a single one.
fn only_call(kind: OpKind) -> Option<Call> {
    Some(match kind {
        OpKind::Stat | OpKind::Lookup | OpKind::Statdir => Call::Stat,
        OpKind::Rename => Call::Rename,
        OpKind::Symlink => Call::Symlink,
        OpKind::Link => Call::Link,
        OpKind::Readlink => Call::Readlink,
        OpKind::Chmod => Call::Chmod,
        OpKind::Mkdir => Call::Mkdir,
        OpKind::Rmdir => Call::Rmdir,
        OpKind::Unlink => Call::Unlink,
        _ => return None,
    })
}

fn xattr_names(count: u32) -> Vec<CString> {
    let name = |number: u32| match number {
        0 => XATTR.to_owned(),
        number => format!("{XATTR}-{number}"),
    };
    (0..count.max(1))
        .map(|number| CString::new(name(number)).unwrap_or_default())
        .collect()
}
