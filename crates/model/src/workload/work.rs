//! What the operations of a workload act on: exactly one of blocks, a tree of
//! files, objects, a connection, or a recorded list.

use super::{MetaWork, ObjectStore, ObjectWork, Peer, Replay, Workload};
use crate::network::LoadSpec;

/// What the operations of a workload act on, and where they come from.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum Work {
    /// Blocks of the target, drawn by mix, pattern and block.
    #[default]
    Blocks,
    /// Operations on a tree of files: the work of engine `meta`.
    Files(Box<MetaWork>),
    /// Requests to an object store.
    Objects(Box<Objects>),
    /// Blocks that pass over the connection of engine `net`.
    Connections(Box<Peer>),
    /// Blocks in the order of a recorded list.
    Recorded(Box<Replay>),
    /// Data between two hosts, of which both ends are measured.
    Pair(Box<LoadSpec>),
}

/// Work on an object store.
#[derive(Debug, Clone, PartialEq)]
pub struct Objects {
    /// How the store is reached.
    pub store: ObjectStore,
    /// What is requested. `None`: each block that is drawn is an object.
    pub requests: Option<ObjectWork>,
}

impl Work {
    /// Operations on a tree of files.
    pub fn files(work: MetaWork) -> Work {
        Work::Files(Box::new(work))
    }

    /// Requests to a store.
    pub fn objects(store: ObjectStore, requests: ObjectWork) -> Work {
        Work::Objects(Box::new(Objects {
            store,
            requests: Some(requests),
        }))
    }

    /// Blocks of which each is an object of a store.
    pub fn blocks_as_objects(store: ObjectStore) -> Work {
        Work::Objects(Box::new(Objects {
            store,
            requests: None,
        }))
    }

    /// Blocks that pass over a connection.
    pub fn connections(peer: Peer) -> Work {
        Work::Connections(Box::new(peer))
    }

    /// Blocks in the order of a recorded list.
    pub fn recorded(list: Replay) -> Work {
        Work::Recorded(Box::new(list))
    }

    /// This work, with blocks that are drawn where they came from a list.
    pub fn drawn(&self) -> Work {
        match self {
            Work::Recorded(_) => Work::Blocks,
            other => other.clone(),
        }
    }
}

impl Workload {
    /// The work on a tree of files, where that is the work.
    pub fn files_work(&self) -> Option<&MetaWork> {
        match &self.work {
            Work::Files(work) => Some(work),
            _ => None,
        }
    }

    /// The work on a tree of files, to be changed.
    pub fn files_work_mut(&mut self) -> Option<&mut MetaWork> {
        match &mut self.work {
            Work::Files(work) => Some(work),
            _ => None,
        }
    }

    /// How the object store is reached, where the work is on one.
    pub fn store(&self) -> Option<&ObjectStore> {
        match &self.work {
            Work::Objects(objects) => Some(&objects.store),
            _ => None,
        }
    }

    /// How the object store is reached, to be changed.
    pub fn store_mut(&mut self) -> Option<&mut ObjectStore> {
        match &mut self.work {
            Work::Objects(objects) => Some(&mut objects.store),
            _ => None,
        }
    }

    /// Requests on objects; `None` also where each block is an object.
    pub fn requests(&self) -> Option<&ObjectWork> {
        match &self.work {
            Work::Objects(objects) => objects.requests.as_ref(),
            _ => None,
        }
    }

    /// Requests on objects, to be changed.
    pub fn requests_mut(&mut self) -> Option<&mut ObjectWork> {
        match &mut self.work {
            Work::Objects(objects) => objects.requests.as_mut(),
            _ => None,
        }
    }

    /// The other end of the connection that blocks pass over.
    pub fn peer(&self) -> Option<&Peer> {
        match &self.work {
            Work::Connections(peer) => Some(peer),
            _ => None,
        }
    }

    /// The load between two hosts.
    pub fn pair(&self) -> Option<&LoadSpec> {
        match &self.work {
            Work::Pair(spec) => Some(spec),
            _ => None,
        }
    }

    /// The recorded list that blocks are taken from.
    pub fn replay(&self) -> Option<&Replay> {
        match &self.work {
            Work::Recorded(replay) => Some(replay),
            _ => None,
        }
    }
}
