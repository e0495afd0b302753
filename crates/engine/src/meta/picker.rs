//! Which operation comes next, and what it leaves behind.

use fathom_model::OpKind;
use fathom_model::rng::{Rng, derive_seed};
use fathom_model::workload::{MetaOrder, MetaWork};

use super::geometry::Geometry;
use super::rank::Rank;
use super::task::Task;
use crate::access::Permutation;

/// Draws the operations of one worker.
#[derive(Debug)]
pub(crate) struct Picker {
    way: PickOrder,
    rng: Rng,
    files: u64,
    /// Directories that the rank lists.
    listed: u64,
    order: MetaOrder,
    key: u64,
}

#[derive(Debug)]
enum PickOrder {
    Phase {
        kind: OpKind,
        repeat: bool,
        /// The numbers that a pass visits, and how far it came.
        from: u64,
        count: u64,
        at: u64,
        begun: bool,
        shuffle: Option<Permutation>,
        pass: u64,
    },
    Mix {
        kinds: Vec<OpKind>,
        /// Sums of weights up to each kind.
        sums: Vec<u64>,
    },
}

/// Ranges that a kind of operation makes or uses up.
fn grows(kind: OpKind) -> bool {
    matches!(
        kind,
        OpKind::Create | OpKind::SwiftPut | OpKind::Link | OpKind::Symlink | OpKind::Mkdir
    )
}

fn shrinks(kind: OpKind) -> bool {
    matches!(kind, OpKind::Unlink | OpKind::Rmdir)
}

impl Picker {
    pub(crate) fn new(work: &MetaWork, geometry: &Geometry, rank: u32, seed: u64) -> Picker {
        let way = match work.phase() {
            Some(kind) => PickOrder::Phase {
                kind,
                repeat: work.repeat && !grows(kind) && !shrinks(kind),
                from: 0,
                count: 0,
                at: 0,
                begun: false,
                shuffle: None,
                pass: 0,
            },
            None => {
                let mut sum = 0;
                let sums = work.ops.iter().map(|share| {
                    sum += u64::from(share.weight.max(1));
                    sum
                });
                // At least 1 each: sums that did not rise would hide a kind from the
                // search by halves.
                PickOrder::Mix {
                    sums: sums.collect(),
                    kinds: work.ops.iter().map(|share| share.kind).collect(),
                }
            }
        };
        let key = derive_seed(seed, 0x3E7A ^ u64::from(rank) << 32);
        Picker {
            way,
            rng: Rng::new(key),
            files: geometry.tree.files,
            listed: geometry.listed(rank),
            order: work.order,
            key,
        }
    }

    /// The next operation; `None` when all is done, or nothing that could be
    /// worked on is left.
    #[inline]
    pub(crate) fn next(&mut self, rank: &Rank) -> Option<Task> {
        match &self.way {
            PickOrder::Phase { .. } => self.next_of_phase(rank),
            PickOrder::Mix { .. } => self.next_of_mix(rank),
        }
    }

    #[inline]
    fn next_of_phase(&mut self, rank: &Rank) -> Option<Task> {
        let PickOrder::Phase {
            kind,
            repeat,
            from,
            count,
            at,
            begun,
            shuffle,
            pass,
        } = &mut self.way
        else {
            return None;
        };
        if !*begun || (*at >= *count && *repeat) {
            *begun = true;
            (*from, *count) = range(*kind, rank, (self.files, self.listed));
            *at = 0;
            *pass += 1;
            *shuffle = (self.order == MetaOrder::Random
                && !grows(*kind)
                && !shrinks(*kind)
                && *kind != OpKind::Rename
                && *count > 1)
                .then(|| Permutation::new(*count, derive_seed(self.key, *pass)));
        }
        if *at >= *count {
            return None;
        }
        let at_now = match shuffle {
            Some(shuffle) => shuffle.at(*at),
            None => *at,
        };
        let number = *from + at_now;
        *at += 1;
        Some(task(*kind, number, at_now, rank))
    }

    fn next_of_mix(&mut self, rank: &Rank) -> Option<Task> {
        let PickOrder::Mix { kinds, sums } = &self.way else {
            return None;
        };
        let total = sums.last().copied().unwrap_or(0).max(1);
        let drawn = self.rng.below(total);
        let first = sums.partition_point(|sum| *sum <= drawn);
        // What cannot be done now is left to the kind that follows.
        for step in 0..kinds.len() {
            let kind = kinds[(first + step) % kinds.len()];
            if let Some(task) = drawn_task(kind, rank, (self.files, self.listed), &mut self.rng) {
                return Some(task);
            }
        }
        None
    }
}

/// The numbers that a phase visits.
fn range(kind: OpKind, rank: &Rank, (files, listed): (u64, u64)) -> (u64, u64) {
    match kind {
        OpKind::Create | OpKind::SwiftPut => (rank.files.tail, files),
        OpKind::Link => (rank.links.tail, rank.files.count()),
        OpKind::Symlink => (rank.symlinks.tail, files),
        OpKind::Mkdir => (rank.directories.tail, files),
        // Somebody else makes them.
        OpKind::AwaitCreate => (0, files),
        OpKind::Readlink => (rank.symlinks.head, rank.symlinks.count()),
        OpKind::Statdir | OpKind::Rmdir => (rank.directories.head, rank.directories.count()),
        OpKind::Readdir | OpKind::ReaddirStat => (0, listed),
        OpKind::Rename => {
            let first = rank.next_renamed().unwrap_or(rank.files.tail);
            (first, rank.files.tail - first)
        }
        OpKind::Getxattr | OpKind::SwiftGet => {
            let end = rank.marked.clamp(rank.files.head, rank.files.tail);
            (rank.files.head, end - rank.files.head)
        }
        _ => (rank.files.head, rank.files.count()),
    }
}

#[inline]
fn task(kind: OpKind, number: u64, at: u64, rank: &Rank) -> Task {
    let round = match kind {
        OpKind::Readlink
        | OpKind::Symlink
        | OpKind::Link
        | OpKind::Mkdir
        | OpKind::Statdir
        | OpKind::Rmdir
        | OpKind::Readdir
        | OpKind::ReaddirStat => 0,
        _ => rank.round_of(number),
    };
    let mut task = Task::new(kind, number, round);
    if kind == OpKind::Link {
        task.of = rank.files.head + at % rank.files.count().max(1);
        task.of_round = rank.round_of(task.of);
    }
    task
}

/// A task of a kind in a mix, on anything that is there; `None` when there is
/// nothing.
fn drawn_task(kind: OpKind, rank: &Rank, bounds: (u64, u64), rng: &mut Rng) -> Option<Task> {
    let (from, count) = range(kind, rank, bounds);
    let one_by_one = |number: u64| Some(task(kind, number, 0, rank));
    match kind {
        OpKind::Create | OpKind::SwiftPut | OpKind::Mkdir | OpKind::Symlink => one_by_one(from),
        OpKind::Link => {
            let of = (count > 0).then(|| rng.below(count))?;
            Some(task(kind, from, of, rank))
        }
        OpKind::Rename => one_by_one(rank.next_renamed()?),
        OpKind::Unlink => (count > 1).then(|| task(kind, from, 0, rank)),
        OpKind::Rmdir => (count > 0).then(|| task(kind, from, 0, rank)),
        OpKind::Setxattr if rank.next_marked().is_some() => one_by_one(rank.next_marked()?),
        _ => (count > 0).then(|| task(kind, from + rng.below(count), 0, rank)),
    }
}

/// Notes what a task has changed, whether it succeeded or not: what failed is
/// not tried again.
#[inline]
pub(crate) fn note(task: &Task, succeeded: bool, rank: &mut Rank) {
    if !succeeded {
        rank.unsure = true;
    }
    let past = task.number + 1;
    match task.kind {
        OpKind::Create => rank.files.tail = past,
        OpKind::SwiftPut => {
            rank.files.tail = past;
            if rank.marked >= task.number {
                rank.marked = past;
            }
        }
        OpKind::Unlink => rank.files.head = past,
        OpKind::Link => rank.links.tail = past,
        OpKind::Symlink => rank.symlinks.tail = past,
        OpKind::Mkdir => rank.directories.tail = past,
        OpKind::Rmdir => rank.directories.head = past,
        OpKind::Rename => {
            rank.renamed(task.number);
        }
        OpKind::Setxattr if task.number >= rank.marked => rank.marked = past,
        OpKind::Append | OpKind::Truncate => rank.altered = true,
        _ => {}
    }
}

/// What must be there before the work begins.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Needs {
    /// `Some(true)`: files; `Some(false)`: none.
    pub(crate) files: Option<bool>,
    pub(crate) links: Option<bool>,
    pub(crate) symlinks: Option<bool>,
    pub(crate) directories: Option<bool>,
    /// Files have the extended attribute.
    pub(crate) marks: bool,
}

impl Needs {
    pub(crate) fn of(work: &MetaWork) -> Needs {
        let phase = work.phase();
        let mut needs = Needs::default();
        for share in &work.ops {
            let alone = phase.is_some();
            match share.kind {
                OpKind::Create | OpKind::SwiftPut if alone => needs.files = Some(false),
                OpKind::Link => {
                    needs.files = Some(true);
                    needs.links = alone.then_some(false);
                }
                OpKind::Symlink if alone => needs.symlinks = Some(false),
                OpKind::Symlink => {}
                OpKind::Readlink => needs.symlinks = Some(true),
                OpKind::Mkdir if alone => needs.directories = Some(false),
                OpKind::Mkdir => {}
                OpKind::AwaitCreate => {}
                OpKind::Statdir | OpKind::Rmdir => needs.directories = Some(true),
                // An empty directory is listed as well as it can be.
                OpKind::Getxattr | OpKind::SwiftGet => {
                    needs.files = Some(true);
                    needs.marks = true;
                }
                _ => needs.files = Some(true),
            }
        }
        needs
    }
}

#[cfg(test)]
#[path = "picker_tests.rs"]
mod tests;
