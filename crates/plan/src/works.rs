//! The works that a key means something for.

/// A set of works: what the operations of a workload act on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Works(u8);

impl Works {
    /// No work.
    pub(crate) const NONE: Works = Works(0);
    /// Blocks that are drawn.
    pub(crate) const BLOCKS: Works = Works(1);
    /// Operations on a tree of files.
    pub(crate) const FILES: Works = Works(2);
    /// Requests to an object store.
    pub(crate) const OBJECTS: Works = Works(4);
    /// Blocks from a recorded list.
    pub(crate) const RECORDED: Works = Works(8);
    /// Every work.
    pub(crate) const ALL: Works = Works(15);

    /// Both sets together.
    pub(crate) const fn and(self, other: Works) -> Works {
        Works(self.0 | other.0)
    }

    /// Whether all of `other` is in this set.
    pub(crate) const fn holds(self, other: Works) -> bool {
        self.0 & other.0 == other.0
    }
}
