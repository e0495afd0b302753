//! Directories that a worker holds open, so that a file is reached by its name
//! alone.

use std::ffi::OsStr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;

use rustix::io::Errno;

use super::geometry::Geometry;
use super::names::Name;
use crate::target_file::open_in_mount;

/// Directories that one worker holds open at most.
const MOST: usize = 64;
/// Descriptors that are left to everything else.
const SPARE: u64 = 512;

/// Opens directories of the last level and holds the latest.
#[derive(Debug)]
pub(crate) struct Directories {
    top: Arc<OwnedFd>,
    held: Vec<Option<(u64, OwnedFd)>>,
}

impl Directories {
    pub(crate) fn new(top: Arc<OwnedFd>, workers: u32) -> Directories {
        let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
        let each = limit.map_or(MOST as u64, |limit| {
            limit.saturating_sub(SPARE) / u64::from(workers.max(1))
        });
        let places = (each as usize).clamp(1, MOST);
        Directories {
            top,
            held: (0..places).map(|_| None).collect(),
        }
    }

    /// The top of the tree.
    pub(crate) fn top(&self) -> BorrowedFd<'_> {
        self.top.as_fd()
    }

    /// Makes sure that a directory is open.
    pub(crate) fn hold(
        &mut self,
        geometry: &Geometry,
        rank: u32,
        leaf: u64,
        name: &mut Name,
    ) -> Result<(), Errno> {
        let at = self.place(leaf);
        if self.held[at]
            .as_ref()
            .is_some_and(|(held, _)| *held == leaf)
        {
            return Ok(());
        }
        self.held[at] = None;
        name.clear();
        geometry.push_leaf(name, rank, leaf);
        // Something may have been mounted in the tree since it was made.
        let name = OsStr::from_bytes(name.as_c().to_bytes());
        let directory = open_in_mount(&*self.top, name)?;
        self.held[at] = Some((leaf, directory));
        Ok(())
    }

    /// A directory that is held; the top where it is not.
    #[inline]
    pub(crate) fn get(&self, leaf: u64) -> BorrowedFd<'_> {
        match &self.held[self.place(leaf)] {
            Some((held, directory)) if *held == leaf => directory.as_fd(),
            _ => self.top.as_fd(),
        }
    }

    #[inline]
    fn place(&self, leaf: u64) -> usize {
        (leaf % self.held.len() as u64) as usize
    }
}
