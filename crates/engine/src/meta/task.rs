//! One operation that is to be done.

use fathom_model::OpKind;

use super::names::Thing;

/// One operation, and on what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Task {
    pub(crate) kind: OpKind,
    /// Of the file, link or directory; of a listing, which one of the rank's.
    pub(crate) number: u64,
    /// How often the file has been renamed.
    pub(crate) round: u32,
    /// The file that a new second name is for.
    pub(crate) of: u64,
    /// How often that file has been renamed.
    pub(crate) of_round: u32,
}

impl Task {
    pub(crate) fn new(kind: OpKind, number: u64, round: u32) -> Task {
        Task {
            kind,
            number,
            round,
            of: 0,
            of_round: 0,
        }
    }

    /// What it works on; `None` for a listing.
    pub(crate) fn thing(&self) -> Option<Thing> {
        match self.kind {
            OpKind::Readdir | OpKind::ReaddirStat => None,
            OpKind::Mkdir | OpKind::Statdir | OpKind::Rmdir => Some(Thing::Directory),
            OpKind::Symlink | OpKind::Readlink => Some(Thing::Symlink),
            OpKind::Link => Some(Thing::Link),
            _ => Some(Thing::File),
        }
    }
}
