//! What the workers of a group share of a tree and its work.

use std::sync::Arc;

use fathom_model::run::{Finishers, WorkerPart};
use fathom_model::workload::{CREATION_STAMP_BYTES, MetaWork};
use fathom_model::{Job, OpKind, Workload};

use super::geometry::Geometry;
use super::hand::{Calls, Hand, Ways};
use super::tree::Tree;
use crate::Error;
use crate::worker::{FirstDone, Reached};

/// Levels of a tree at most, and files of a worker.
const MAX_DEPTH: u32 = 32;
const MAX_FILES: u64 = 1 << 40;
const MAX_LEAVES: u64 = 1 << 32;
const MAX_RECORD_BYTES: u64 = 1 << 30;
const MAX_XATTR_BYTES: u32 = 32 << 10;
const MAX_XATTRS: u32 = 256;

/// A tree (or none, on the null target) and the work on it.
#[derive(Debug)]
pub(crate) struct TreeWork {
    pub(crate) meta: MetaWork,
    pub(crate) tree: Option<Arc<Tree>>,
    pub(crate) geometry: Geometry,
    ways: Ways,
    pub(crate) first_done: Arc<FirstDone>,
}

/// How far a worker came.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct TreeProgress {
    pub(crate) reached: Reached,
    /// Records when the first worker had done its part.
    pub(crate) records_at_first: u64,
    /// What it asked of the system, and the records that it moved.
    pub(crate) calls: Calls,
}

impl TreeProgress {
    /// For the report of a load that began at `origin_ns`.
    pub(crate) fn part(&self, origin_ns: u64) -> WorkerPart {
        WorkerPart {
            ended_ns: self.reached.ended_ns.saturating_sub(origin_ns),
            ops: self.reached.ops,
            records: self.calls.records,
            ops_at_first: self.reached.ops_at_first,
            records_at_first: self.records_at_first,
        }
    }
}

impl TreeWork {
    /// The work of a job; `None` when it is not of this kind.
    pub(crate) fn of(job: &Job, tree: Option<&Arc<Tree>>) -> Option<TreeWork> {
        let workload = &job.workload;
        let meta = workload.files_work()?;
        let path = tree.map(|tree| tree.path.as_os_str().as_encoded_bytes());
        Some(TreeWork {
            geometry: match tree {
                Some(tree) => tree.geometry.clone(),
                None => Geometry::new(&meta.tree, workload.workers, job.seed),
            },
            meta: meta.clone(),
            tree: tree.map(Arc::clone),
            ways: Ways::new(job, path.unwrap_or_default()),
            first_done: Arc::default(),
        })
    }

    /// The rank on whose files a worker works.
    pub(crate) fn rank_of(&self, worker: u32) -> u32 {
        let workers = u64::from(self.geometry.workers.max(1));
        ((u64::from(worker) + u64::from(self.meta.shift)) % workers) as u32
    }

    /// The hand that works for a rank.
    pub(crate) fn hand(&self, rank: u32, workload: &Workload) -> Hand {
        let top = self.tree.as_deref();
        Hand::new(&self.geometry, rank, workload, self.ways.clone(), top)
    }
}

/// First and last finisher of a load that began at `origin_ns`; `None` when no
/// worker did its whole part.
pub(crate) fn finishers(
    work: &TreeWork,
    ends: &[TreeProgress],
    origin_ns: u64,
) -> Option<Finishers> {
    let reached: Vec<_> = ends.iter().map(|end| end.reached).collect();
    work.first_done.finishers(&reached, origin_ns)
}

/// Refuses work that is out of bounds.
pub(crate) fn check(workload: &Workload) -> Result<(), Error> {
    let Some(meta) = workload.files_work() else {
        return Ok(());
    };
    let tree = &meta.tree;
    let room = u64::from(tree.fan_out.max(1)).checked_pow(tree.depth);
    let refused = if meta.ops.is_empty() {
        Some("names no operation".to_owned())
    } else if let Some(share) = meta.ops.iter().find(|share| !share.kind.is_metadata()) {
        let kind = share.kind.name();
        Some(format!(
            "{kind} is not an operation on files of engine meta"
        ))
    } else if meta.ops.len() > 1 && meta.does(OpKind::AwaitCreate) {
        Some("waits for files by itself or not at all, not as a part of a mix".to_owned())
    } else if meta.stamped && tree.record_bytes < CREATION_STAMP_BYTES {
        Some(format!(
            "files that somebody waits for have {CREATION_STAMP_BYTES} bytes at least, and their \
             records as well"
        ))
    } else if !(1..=MAX_FILES).contains(&tree.files) {
        Some(format!("files per worker must be 1 to {MAX_FILES}"))
    } else if tree.depth > MAX_DEPTH {
        Some(format!("a tree has at most {MAX_DEPTH} levels"))
    } else if !(1..=MAX_LEAVES).contains(&tree.leaves) {
        Some(format!(
            "a tree has 1 to {MAX_LEAVES} directories with files"
        ))
    } else if room.is_some_and(|room| room < tree.leaves) {
        Some(format!(
            "{} directories do not fit into {} levels with {} in each",
            tree.leaves, tree.depth, tree.fan_out
        ))
    } else if !(1..=MAX_RECORD_BYTES).contains(&tree.record_bytes) {
        Some(format!("records must be 1 to {MAX_RECORD_BYTES} bytes"))
    } else if !(1..=MAX_XATTRS).contains(&meta.xattrs) {
        Some(format!("a file has 1 to {MAX_XATTRS} attributes"))
    } else if !(1..=MAX_XATTR_BYTES).contains(&tree.xattr_bytes) {
        Some(format!("attributes must be 1 to {MAX_XATTR_BYTES} bytes"))
    } else {
        None
    };
    refused.map_or(Ok(()), |text| {
        Err(Error::Workload(format!(
            "workload {}: {text}",
            workload.name
        )))
    })
}
