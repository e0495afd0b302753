//! What there is of a run's objects: a range of numbers per rank, kept by this
//! process from one trial to the next.
//!
//! Objects are made at the tail and removed at the head. Trials of one run with
//! the same shape of objects use the same ones; another shape, or a trial that
//! runs at the same time, has a prefix of its own.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering::AcqRel, Ordering::Release};
use std::sync::{Arc, Mutex, PoisonError};

use super::known::ShelfObjects;
use super::names::ObjectNames;
use super::versions::Versions;

/// Failed numbers of a rank that are remembered.
const MOST_MISSING: usize = 1 << 16;
/// Copied numbers of a rank that are remembered: those of the last copies, of which
/// some are looked at after the load.
const MOST_COPIED: usize = 48;

/// What there is of one rank.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Range {
    pub(crate) head: u64,
    pub(crate) tail: u64,
    /// Numbers within that were never made.
    pub(super) missing: BTreeSet<u64>,
    /// Versions of them that are known.
    pub(super) versions: Versions,
    /// Requests that may each have made another version, or the marker of a
    /// removed object.
    pub(super) changes: u64,
    /// Those that were copied last.
    pub(super) copied: VecDeque<u64>,
}

impl Range {
    pub(crate) fn count(&self) -> u64 {
        self.tail - self.head
    }

    /// Objects that should be there.
    pub(super) fn present(&self) -> u64 {
        let missing = self.missing.range(self.head..self.tail.max(self.head));
        self.count() - missing.count() as u64
    }

    /// The number of one of them, counted from 0.
    pub(super) fn nth_present(&self, place: u64) -> Option<u64> {
        let mut number = self.head + place;
        for missing in self.missing.range(self.head..self.tail.max(self.head)) {
            if *missing > number {
                break;
            }
            number += 1;
        }
        (number < self.tail).then_some(number)
    }

    /// Keys that there can be at most. Each number was put under its own name and
    /// may have been copied; other hosts may have gone further with the same ones.
    fn most_keys(&self) -> u64 {
        self.tail.saturating_mul(8)
    }

    /// Versions that there can be at most, the markers of a removal among them.
    fn most_versions(&self) -> u64 {
        let changes = self.changes.saturating_mul(8);
        self.most_keys().saturating_mul(2).saturating_add(changes)
    }

    pub(crate) fn is_missing(&self, number: u64) -> bool {
        !self.missing.is_empty() && self.missing.contains(&number)
    }

    /// Notes that an object was not made after all.
    pub(crate) fn note_missing(&mut self, number: u64) {
        if self.missing.len() < MOST_MISSING {
            self.missing.insert(number);
        }
    }

    /// Notes that the store has confirmed a copy of an object.
    pub(super) fn note_copied(&mut self, number: u64) {
        if self.copied.len() >= MOST_COPIED {
            self.copied.pop_front();
        }
        self.copied.push_back(number);
    }

    /// An object was made again.
    pub(crate) fn note_made(&mut self, number: u64) {
        self.missing.remove(&number);
    }
}

/// The objects of one shape below one prefix.
#[derive(Debug)]
pub(crate) struct Shelf {
    /// Tells it from others of the run with the same shape.
    pub(crate) number: usize,
    busy: AtomicBool,
    ranks: Mutex<BTreeMap<u32, Range>>,
    /// How its objects are called, and whether there may be copies of them.
    names: Mutex<Option<(ObjectNames, bool)>>,
}

/// A shelf while a trial uses it.
#[derive(Debug)]
pub(crate) struct Taken(Arc<Shelf>);

static SHELVES: Mutex<BTreeMap<String, Vec<Arc<Shelf>>>> = Mutex::new(BTreeMap::new());

/// The first shelf below `root` that nobody uses now.
pub(crate) fn take(root: &str) -> Taken {
    let mut shelves = SHELVES.lock().unwrap_or_else(PoisonError::into_inner);
    let of_root = shelves.entry(root.to_owned()).or_default();
    for shelf in of_root.iter() {
        if !shelf.busy.swap(true, AcqRel) {
            return Taken(Arc::clone(shelf));
        }
    }
    let shelf = Arc::new(Shelf {
        number: of_root.len(),
        busy: AtomicBool::new(true),
        ranks: Mutex::new(BTreeMap::new()),
        names: Mutex::new(None),
    });
    of_root.push(Arc::clone(&shelf));
    Taken(shelf)
}

/// Keys that the trials below roots that begin with `start` can have made at most,
/// and versions.
pub(crate) fn most_below(start: &str) -> (u64, u64) {
    let shelves = SHELVES.lock().unwrap_or_else(PoisonError::into_inner);
    let of_start = shelves.iter().filter(|(root, _)| root.starts_with(start));
    let (mut keys, mut versions) = (0_u64, 0_u64);
    for shelf in of_start.flat_map(|(_, shelves)| shelves) {
        let ranks = shelf.ranks.lock().unwrap_or_else(PoisonError::into_inner);
        for range in ranks.values() {
            keys = keys.saturating_add(range.most_keys());
            versions = versions.saturating_add(range.most_versions());
        }
    }
    (keys, versions)
}

/// What the trials below roots that begin with `start` have made and not removed, by
/// name.
pub(super) fn known_below(start: &str) -> Vec<ShelfObjects> {
    let shelves = SHELVES.lock().unwrap_or_else(PoisonError::into_inner);
    let of_start = shelves.iter().filter(|(root, _)| root.starts_with(start));
    let all = of_start.flat_map(|(_, shelves)| shelves);
    all.filter_map(|shelf| shelf.known()).collect()
}

/// Forgets everything below roots that begin with `start`.
pub(crate) fn forget(start: &str) {
    let mut shelves = SHELVES.lock().unwrap_or_else(PoisonError::into_inner);
    shelves.retain(|root, _| !root.starts_with(start));
}

impl Shelf {
    /// What there is by name; `None` before anything is made.
    fn known(&self) -> Option<ShelfObjects> {
        let names = self.names.lock().unwrap_or_else(PoisonError::into_inner);
        let (names, copies) = names.clone()?;
        let ranks = self.ranks.lock().unwrap_or_else(PoisonError::into_inner);
        let ranks = ranks.iter().map(|(rank, range)| (*rank, range.clone()));
        Some(ShelfObjects {
            names,
            copies,
            ranks: ranks.collect(),
        })
    }
}

impl Taken {
    /// Notes how the objects are called, and whether this trial copies them.
    pub(super) fn note_names(&self, names: &ObjectNames, copies: bool) {
        let mut noted = self.0.names.lock().unwrap_or_else(PoisonError::into_inner);
        let before = noted.as_ref().is_some_and(|(_, copies)| *copies);
        *noted = Some((names.clone(), copies || before));
    }

    /// What there is by name.
    pub(super) fn known(&self) -> Option<ShelfObjects> {
        self.0.known()
    }

    pub(crate) fn number(&self) -> usize {
        self.0.number
    }

    /// What there is of a rank.
    pub(crate) fn range(&self, rank: u32) -> Range {
        let ranks = self.0.ranks.lock().unwrap_or_else(PoisonError::into_inner);
        ranks.get(&rank).cloned().unwrap_or_default()
    }

    pub(crate) fn put_back(&self, rank: u32, range: Range) {
        let mut ranks = self.0.ranks.lock().unwrap_or_else(PoisonError::into_inner);
        ranks.insert(rank, range);
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        self.0.busy.store(false, Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shelf_stays_and_is_used_by_one_at_a_time() {
        let first = take("shelf test/a");
        first.put_back(
            0,
            Range {
                tail: 7,
                ..Range::default()
            },
        );
        let second = take("shelf test/a");
        assert_eq!((first.number(), second.number()), (0, 1));
        assert_eq!(second.range(0).count(), 0);
        drop(first);
        let again = take("shelf test/a");
        assert_eq!((again.number(), again.range(0).count()), (0, 7));
        forget("shelf test/");
        assert_eq!(take("shelf test/a").range(0).count(), 0);
    }
}
