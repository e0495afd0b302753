//! What a target was made ready for.

use std::sync::Arc;

use crate::meta::Tree;
use crate::object::{BlockStore, StoreWork};
use crate::replay::Recorded;

/// What the target is ready for, and what only that work needs.
#[derive(Debug, Clone, Default)]
pub(crate) enum Ready {
    /// Blocks that are drawn.
    #[default]
    Blocks,
    /// Operations on a tree of files.
    Files(Arc<Tree>),
    /// Requests to an object store.
    Objects(Arc<StoreWork>),
    /// Blocks of which each is an object.
    BlocksAsObjects(Arc<BlockStore>),
    /// Blocks from a recorded list.
    Recorded(Arc<Recorded>),
}

impl Ready {
    /// The tree of files.
    pub(crate) fn tree(&self) -> Option<&Arc<Tree>> {
        match self {
            Ready::Files(tree) => Some(tree),
            _ => None,
        }
    }

    /// The requests to a store.
    pub(crate) fn objects(&self) -> Option<&Arc<StoreWork>> {
        match self {
            Ready::Objects(work) => Some(work),
            _ => None,
        }
    }

    /// The store whose objects are blocks.
    pub(crate) fn blocks(&self) -> Option<&Arc<BlockStore>> {
        match self {
            Ready::BlocksAsObjects(store) => Some(store),
            _ => None,
        }
    }

    /// The recorded list.
    pub(crate) fn recorded(&self) -> Option<&Arc<Recorded>> {
        match self {
            Ready::Recorded(recorded) => Some(recorded),
            _ => None,
        }
    }
}
