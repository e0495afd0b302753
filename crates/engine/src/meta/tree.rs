//! The tree on disk: a directory of its own, with a list in it that says what
//! is there.
//!
//! ```text
//! fathom tree 2
//! tag 00000000deadbeef
//! shape MetaTree { … } 4 workers
//! held 4096 32x1 Payload { … }
//! state closed
//! idle 1764090000000000000 1764093600000000000
//! rank …
//! ```
//!
//! While a trial works on the tree its state is `open`. If it is found so,
//! nobody knows what is there, and everything is made anew.

use std::fs::File;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use fathom_model::Workload;
use fathom_model::workload::{MetaTree, MetaWork};
use rustix::fs::{Mode, OFlags};

use super::absence::Absence;
use super::geometry::Geometry;
use super::held::FileContents;
use super::rank::Rank;
use super::top::{self, OwnTree};
use crate::Error;
use crate::target_file::open_beneath;

/// The list in each tree.
pub(super) const LIST: &str = ".fathom-tree";
const HEADER: &str = "fathom tree 2";
const SIZE_LIMIT: u64 = 64 << 20;

/// A tree that is ready for a trial, shared by its workers.
#[derive(Debug)]
pub(crate) struct Tree {
    pub(crate) path: PathBuf,
    pub(crate) top: Arc<OwnedFd>,
    pub(crate) tag: u64,
    pub(crate) geometry: Geometry,
    /// What the files hold, as far as the shape does not say.
    held: Mutex<FileContents>,
    /// What the work at hand wants them to hold.
    wants: FileContents,
    /// What they will hold after it, as far as they are not made anew.
    becomes: FileContents,
    /// Where somebody else makes the tree: its name in the directory whose
    /// descriptor is `top`.
    pub(crate) below: Option<Arc<str>>,
    /// When nobody worked on it.
    absence: Mutex<Absence>,
    /// `None` where somebody else makes the tree and this one only waits for it.
    list: Option<File>,
    ranks: Mutex<Vec<Option<Rank>>>,
}

/// Where a tree lies: its directory, which is open, and its name there.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TreePlace<'a> {
    pub(crate) dir: &'a OwnedFd,
    pub(crate) dir_path: &'a Path,
    pub(crate) name: &'a str,
}

impl Tree {
    /// Name of the tree of a file prefix.
    pub(crate) fn name(prefix: &str) -> String {
        format!("{prefix}.tree")
    }

    /// Opens the tree `name` that was found in a directory, or makes an empty
    /// one. The second value says whether what is there is known and of this
    /// shape; otherwise everything in it is to be removed.
    pub(crate) fn open(
        place: TreePlace<'_>,
        found: Option<OwnTree>,
        meta: &MetaWork,
        workload: &Workload,
        fresh_tag: u64,
    ) -> Result<(Tree, bool), Error> {
        let TreePlace {
            dir,
            dir_path,
            name,
        } = place;
        let (shape, workers) = (&meta.tree, workload.workers);
        let path = dir_path.join(name);
        let top = top::open(dir, name, &path, found)?;
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NONBLOCK;
        let mode = Mode::RUSR | Mode::WUSR;
        let list: File = open_beneath(&top, LIST, flags, mode)
            .map_err(|errno| Error::io("open the list of", &path)(errno.into()))?
            .into();
        let mut text = String::new();
        let read = (&list).take(SIZE_LIMIT).read_to_string(&mut text);
        let absence = Absence::of_list(&list, &text);
        let absence = absence.map_err(Error::io("examine the list of", &path))?;
        let known = read.ok().and_then(|_| RecordedTree::parse(&text));
        let wanted = shape_text(shape, workers);
        let wants = FileContents::of(meta, workload);
        let known = known.filter(|known| {
            known.closed
                && known.shape == wanted
                && known.ranks.len() == workers as usize
                && known.held.serves(&wants, meta, workload)
        });
        let held = known.as_ref().map_or(&wants, |known| &known.held);
        let becomes = held.after(&wants, meta);
        let held = held.before(&wants, meta);
        let tag = known.as_ref().map_or(fresh_tag, |known| known.tag);
        let fits = known.is_some();
        let ranks = match known {
            Some(known) => known.ranks.into_iter().map(Some).collect(),
            None => vec![Some(Rank::default()); workers as usize],
        };
        let tree = Tree {
            geometry: Geometry::new(shape, workers, tag),
            path,
            top: Arc::new(top),
            tag,
            held: Mutex::new(held),
            wants,
            becomes,
            below: None,
            absence: Mutex::new(absence),
            list: Some(list),
            ranks: Mutex::new(ranks),
        };
        Ok((tree, fits))
    }

    /// The tree `name` that somebody else makes in a directory, perhaps later:
    /// its files are found below the directory, and nothing is changed.
    pub(crate) fn awaited(
        dir: OwnedFd,
        dir_path: &Path,
        name: &str,
        meta: &MetaWork,
        workload: &Workload,
        tag: u64,
    ) -> Tree {
        let held = FileContents::of(meta, workload);
        Tree {
            path: dir_path.join(name),
            top: Arc::new(dir),
            tag,
            geometry: Geometry::new(&meta.tree, workload.workers, tag),
            held: Mutex::new(held.clone()),
            wants: held.clone(),
            becomes: held,
            below: Some(name.into()),
            absence: Mutex::default(),
            list: None,
            ranks: Mutex::new(vec![Some(Rank::default()); workload.workers as usize]),
        }
    }

    /// Everything in the tree is made anew.
    pub(crate) fn make_anew(&self) {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        *held = self.wants.clone();
    }

    /// Pieces in which contents were made.
    pub(crate) fn unit_bytes(&self) -> u64 {
        let held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        held.record_bytes.max(1)
    }

    fn becomes(&self) -> FileContents {
        let held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        match *held == self.wants {
            true => held.clone(),
            false => self.becomes.clone(),
        }
    }

    /// Notes that the tree is being worked on.
    pub(crate) fn note_open(&self) -> Result<(), Error> {
        self.write("open", "")?;
        let Some(list) = &self.list else {
            return Ok(());
        };
        let ended = self.absence().end(list);
        ended.map_err(Error::io("examine the list of", &self.path))?;
        self.write("open", "")
    }

    fn absence(&self) -> MutexGuard<'_, Absence> {
        self.absence.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes what is there, if every rank was given back; otherwise the tree
    /// stays open.
    pub(crate) fn note_closed(&self) -> Result<(), Error> {
        let mut lines = String::new();
        for rank in self.ranks().iter() {
            match rank {
                Some(rank) if !rank.unsure => {
                    lines += &rank.line();
                    lines.push('\n');
                }
                _ => return Ok(()),
            }
        }
        self.write("closed", &lines)
    }

    fn write(&self, state: &str, lines: &str) -> Result<(), Error> {
        let shape = shape_text(&self.geometry.tree, self.geometry.workers);
        let idle = self.absence().lines();
        let text = format!(
            "{HEADER}\ntag {:016x}\nshape {shape}\nheld {}\nstate {state}\n{idle}{lines}",
            self.tag,
            self.becomes().line()
        );
        let Some(list) = &self.list else {
            return Ok(());
        };
        let write = || {
            list.set_len(0)?;
            list.write_all_at(text.as_bytes(), 0)
        };
        write().map_err(Error::io("write the list of", &self.path))
    }

    /// Hands out what there is of a rank.
    pub(crate) fn take(&self, rank: u32) -> Rank {
        let mut ranks = self.ranks();
        let taken = ranks.get_mut(rank as usize).and_then(Option::take);
        taken.unwrap_or_default()
    }

    /// Takes it back.
    pub(crate) fn give_back(&self, rank: u32, state: Rank) {
        if let Some(place) = self.ranks().get_mut(rank as usize) {
            *place = Some(state);
        }
    }

    /// What there is of every rank that nobody is working on.
    pub(crate) fn ranks(&self) -> MutexGuard<'_, Vec<Option<Rank>>> {
        self.ranks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What tells which names there are and where. How they were filled is
/// [`Held`].
fn shape_text(shape: &MetaTree, workers: u32) -> String {
    let shape = MetaTree {
        record_bytes: 1,
        xattr_bytes: 1,
        ..shape.clone()
    };
    format!("{shape:?} {workers} workers")
}

struct RecordedTree {
    tag: u64,
    shape: String,
    held: FileContents,
    closed: bool,
    ranks: Vec<Rank>,
}

impl RecordedTree {
    fn parse(text: &str) -> Option<RecordedTree> {
        let mut lines = text.lines();
        (lines.next()? == HEADER).then_some(())?;
        let tag = lines.next()?.strip_prefix("tag ")?;
        let shape = lines.next()?.strip_prefix("shape ")?;
        let held = lines.next()?.strip_prefix("held ")?;
        let state = lines.next()?.strip_prefix("state ")?;
        Some(RecordedTree {
            tag: u64::from_str_radix(tag, 16).ok()?,
            shape: shape.to_owned(),
            held: FileContents::parse(held)?,
            closed: state == "closed",
            ranks: lines
                .filter(|line| !Absence::is_line(line))
                .map(Rank::parse)
                .collect::<Option<Vec<Rank>>>()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::held;
    use super::*;
    use crate::target_file::FileFacts;
    use proptest::prelude::*;

    fn open(dir: &Path, files: u64, workers: u32) -> (Tree, bool) {
        let fd: OwnedFd = File::open(dir).unwrap().into();
        let mut workload = Workload::example("t");
        workload.workers = workers;
        let meta = held::tests::work(files);
        let found = FileFacts::at(&fd, "t.tree").ok().map(|facts| OwnTree {
            identity: facts.identity,
            unfinished: false,
        });
        let place = TreePlace {
            dir: &fd,
            dir_path: dir,
            name: "t.tree",
        };
        Tree::open(place, found, &meta, &workload, 9).unwrap()
    }

    #[test]
    fn only_a_closed_tree_of_the_same_shape_is_known() {
        let dir = tempfile::tempdir().unwrap();
        let (tree, known) = open(dir.path(), 5, 2);
        assert!(!known);
        tree.note_open().unwrap();
        assert!(!open(dir.path(), 5, 2).1, "it was left open");
        let mut rank = tree.take(1);
        rank.files.tail = 3;
        tree.note_closed().unwrap();
        assert!(!open(dir.path(), 5, 2).1, "a rank is missing");
        tree.give_back(1, rank);
        tree.note_closed().unwrap();
        let (again, known) = open(dir.path(), 5, 2);
        assert!(known);
        assert_eq!(again.take(1).files.tail, 3);
        assert!(!open(dir.path(), 6, 2).1, "another shape");
        assert!(!open(dir.path(), 5, 3).1, "other workers");
        rank.unsure = true;
        tree.give_back(1, rank);
        tree.note_open().unwrap();
        tree.note_closed().unwrap();
        assert!(!open(dir.path(), 5, 2).1, "an operation had failed");
    }

    proptest! {
        #[test]
        fn no_text_breaks_the_reader(text in any::<String>()) {
            let _ = RecordedTree::parse(&text);
            let _ = RecordedTree::parse(&format!("{HEADER}\ntag 1\nshape x\nheld 1 1x1 p\nstate closed\n{text}"));
        }
    }
}
