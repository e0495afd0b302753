//! Bringing a tree to what a trial needs: directories, and the files (or
//! links, or attributes) that its operations work on, or none of them.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use fathom_model::workload::MetaShare;
use fathom_model::{Job, OpKind};
use rustix::fs::{Mode, mkdirat};
use rustix::io::Errno;

use super::geometry::Geometry;
use super::names::Name;
use super::picker::{Needs, Picker, note};
use super::rank::Rank;
use super::remove;
use super::tree::Tree;
use super::work::TreeWork;
use crate::Error;
use crate::prepare::crew::no_thread;
use crate::prepare::{PrepareHooks, PrepareProgress, check_room};

/// Bytes that a file takes on disk at least, roughly: its inode and its name.
const LEAST_FILE_BYTES: u64 = 512;

/// How often the hooks are asked whether to stop.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// What preparing a tree did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Prepared {
    /// Files, links and directories that were made or marked.
    pub(crate) made: u64,
    /// What an earlier trial left was used as it was.
    pub(crate) reused: bool,
    /// Files that are there at the start of the load.
    pub(crate) files: u64,
}

/// Makes a tree ready for the work of a job.
pub(crate) fn prepare(
    job: &Job,
    tree: &Arc<Tree>,
    known: bool,
    hooks: &mut dyn PrepareHooks,
) -> Result<Prepared, Error> {
    let Some(work) = TreeWork::of(job, Some(tree)) else {
        return Ok(Prepared::default());
    };
    let needs = Needs::of(&work.meta);
    let wanted = |state: &Rank| fits(needs, state);
    let fresh = !known || tree.ranks().iter().flatten().any(|rank| unfit(needs, rank));
    if fresh {
        tree.make_anew();
    }
    tree.note_open()?;
    if fresh {
        remove::empty(&tree.top, &tree.path)?;
        let workers = work.geometry.workers;
        (0..workers).for_each(|rank| tree.give_back(rank, Rank::default()));
        check_space(&work.geometry, &tree.path)?;
    }
    // Cheap where they are there already.
    if fresh || !known {
        make_directories(&work.geometry, tree, hooks)?;
    }
    let complete = tree.ranks().iter().flatten().all(wanted);
    let made = match complete {
        true => 0,
        false => fill(job, &work, needs, hooks)?,
    };
    let files = tree.ranks().iter().flatten().map(|r| r.files.count()).sum();
    Ok(Prepared {
        made,
        reused: !fresh && made == 0,
        files,
    })
}

/// Whether what is there is what is needed.
fn fits(needs: Needs, rank: &Rank) -> bool {
    let has = |wanted: Option<bool>, count: u64| wanted.is_none_or(|wanted| wanted == (count > 0));
    !rank.unsure
        && has(needs.files, rank.files.count())
        && has(needs.links, rank.links.count())
        && has(needs.symlinks, rank.symlinks.count())
        && has(needs.directories, rank.directories.count())
        && (!needs.marks || rank.marked >= rank.files.tail)
}

/// Whether something is there that must not be.
fn unfit(needs: Needs, rank: &Rank) -> bool {
    let never = |wanted: Option<bool>, count: u64| wanted == Some(false) && count > 0;
    rank.unsure
        || never(needs.files, rank.files.count())
        || never(needs.links, rank.links.count())
        || never(needs.symlinks, rank.symlinks.count())
        || never(needs.directories, rank.directories.count())
}

/// Room for all files, and inodes where the file system counts them.
fn check_space(geometry: &Geometry, path: &Path) -> Result<(), Error> {
    let tree = &geometry.tree;
    let files = tree.files.saturating_mul(u64::from(geometry.workers));
    let each = (tree.sizes.mean_bytes() as u64).max(LEAST_FILE_BYTES);
    check_room(path, files.saturating_mul(each))?;
    let facts = fathom_deadline::paths::on(path, |path| Ok(rustix::fs::statvfs(path)?))
        .map_err(Error::io("examine the file system of", path))?;
    if facts.f_files > 0 && facts.f_favail < files {
        return Err(Error::target(
            path,
            format!(
                "{files} files are requested and its file system has {} inodes left; use fewer \
                 files, or another file system",
                facts.f_favail
            ),
        ));
    }
    Ok(())
}

fn make_directories(
    geometry: &Geometry,
    tree: &Tree,
    hooks: &mut dyn PrepareHooks,
) -> Result<(), Error> {
    let ranks = match geometry.tree.shared {
        true => 1,
        false => geometry.workers,
    };
    let mut name = Name::new();
    for rank in 0..ranks {
        name.clear();
        geometry.push_top(&mut name, rank);
        make(tree, &mut name)?;
        for leaf in 0..geometry.tree.leaves {
            if leaf % 1024 == 0 && hooks.stop_requested() {
                return Err(Error::Stopped);
            }
            for level in geometry.first_new_level(leaf)..geometry.tree.depth {
                name.clear();
                geometry.push_leaf(&mut name, rank, leaf);
                cut_to_level(&mut name, level);
                make(tree, &mut name)?;
            }
        }
    }
    Ok(())
}

/// Cuts the path of a leaf to its directory of this level (0 is the first
/// below the top).
fn cut_to_level(name: &mut Name, level: u32) {
    let bytes = name.as_bytes();
    let slashes = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'/');
    let end = slashes.map(|(at, _)| at).nth(level as usize + 1);
    if let Some(end) = end {
        let kept = bytes[..end].to_vec();
        name.clear();
        name.push(&kept);
    }
}

fn make(tree: &Tree, name: &mut Name) -> Result<(), Error> {
    match mkdirat(
        &*tree.top,
        name.as_c(),
        Mode::RWXU | Mode::RGRP | Mode::XGRP,
    ) {
        Ok(()) | Err(Errno::EXIST) => Ok(()),
        Err(errno) => {
            let below = String::from_utf8_lossy(name.as_bytes()).into_owned();
            Err(Error::io("create", &tree.path.join(below))(errno.into()))
        }
    }
}

/// Makes what is missing, in as many threads as the load will have, up to the
/// number of CPUs.
fn fill(
    job: &Job,
    work: &TreeWork,
    needs: Needs,
    hooks: &mut dyn PrepareHooks,
) -> Result<u64, Error> {
    let workers = work.geometry.workers;
    let threads = workers.min(crate::affinity::allowed_cpus()).max(1);
    let (next, made, stop) = (AtomicU32::new(0), AtomicU64::new(0), AtomicBool::new(false));
    let (sender, receiver) = channel::<Error>();
    let total = steps(needs) * u64::from(workers) * work.geometry.tree.files;
    let first = std::thread::scope(|scope| {
        let mut started = 0;
        for _ in 0..threads {
            let sender = sender.clone();
            let (next, made, stop) = (&next, &made, &stop);
            let work = move || {
                loop {
                    let rank = next.fetch_add(1, Relaxed);
                    if rank >= workers || stop.load(Relaxed) {
                        return;
                    }
                    if let Err(error) = fill_rank(job, work, rank, needs, made, stop) {
                        stop.store(true, Relaxed);
                        let _ = sender.send(error);
                    }
                }
            };
            match std::thread::Builder::new().spawn_scoped(scope, work) {
                Ok(_) => started += 1,
                // The others do the work of those that cannot be had.
                Err(_) if started > 0 => break,
                Err(error) => return Some(no_thread(&error)),
            }
        }
        drop(sender);
        let mut first = None;
        loop {
            match receiver.recv_timeout(LOOK_EVERY) {
                Ok(error) => {
                    first.get_or_insert(error);
                }
                Err(RecvTimeoutError::Disconnected) => return first,
                Err(RecvTimeoutError::Timeout) => {
                    if hooks.stop_requested() {
                        stop.store(true, Relaxed);
                    }
                    progress(hooks, made.load(Relaxed), total, work);
                }
            }
        }
    });
    match first {
        Some(error) => Err(error),
        None if stop.load(Relaxed) => Err(Error::Stopped),
        None => Ok(made.load(Relaxed)),
    }
}

fn progress(hooks: &mut dyn PrepareHooks, made: u64, total: u64, work: &TreeWork) {
    let each = (work.geometry.tree.sizes.mean_bytes() as u64).max(1);
    hooks.progress(PrepareProgress {
        what: "making the files",
        done_bytes: made * each,
        total_bytes: total * each,
    });
}

/// Kinds of operations that fill a tree, in order.
fn filling(needs: Needs) -> impl Iterator<Item = OpKind> {
    [
        (OpKind::Create, needs.files),
        (OpKind::Setxattr, needs.marks.then_some(true)),
        (OpKind::Symlink, needs.symlinks),
        (OpKind::Mkdir, needs.directories),
    ]
    .into_iter()
    .filter_map(|(kind, wanted)| (wanted == Some(true)).then_some(kind))
}

fn steps(needs: Needs) -> u64 {
    filling(needs).count() as u64
}

fn fill_rank(
    job: &Job,
    work: &TreeWork,
    rank: u32,
    needs: Needs,
    made: &AtomicU64,
    stop: &AtomicBool,
) -> Result<(), Error> {
    let Some(tree) = &work.tree else {
        return Ok(());
    };
    let mut state = tree.take(rank);
    let mut hand = work.hand(rank, &job.workload);
    for kind in filling(needs) {
        let there = match kind {
            OpKind::Create => state.files.count() > 0,
            OpKind::Setxattr => state.marked >= state.files.tail,
            OpKind::Symlink => state.symlinks.count() > 0,
            _ => state.directories.count() > 0,
        };
        if there {
            continue;
        }
        let phase = fathom_model::workload::MetaWork {
            ops: vec![MetaShare { kind, weight: 1 }],
            repeat: false,
            ..work.meta.clone()
        };
        let mut picker = Picker::new(&phase, &work.geometry, rank, job.seed);
        while let Some(task) = picker.next(&state) {
            let ready = hand.make_ready(&task, state.altered);
            let done = ready.and_then(|()| hand.carry_out(&task));
            if let Err(trouble) = done {
                return Err(Error::target(
                    Path::new(&hand.path(&task)),
                    format!(
                        "the files of the tree could not be made: {}",
                        trouble.text()
                    ),
                ));
            }
            note(&task, true, &mut state);
            let before = made.fetch_add(1, Relaxed);
            if before.is_multiple_of(256) && stop.load(Relaxed) {
                return Ok(());
            }
        }
    }
    tree.give_back(rank, state);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::names::Name;
    use super::*;

    #[test]
    fn a_path_is_cut_to_its_level() {
        for (level, expected) in [(0, "w3/n1"), (1, "w3/n1/n2"), (2, "w3/n1/n2/n3")] {
            let mut name = Name::new();
            name.push(b"w3/n1/n2/n3");
            cut_to_level(&mut name, level);
            assert_eq!(name.as_bytes(), expected.as_bytes());
        }
    }
}
