//! Where the blocks of a workload lie: which files or which part of a device,
//! and what is in them before the trial.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Allocation, NamedFiles, WorkerRegion};

/// Which files a directory target gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FileLayout {
    /// Files per worker, or files shared by all workers; at least 1.
    pub count: u32,
    /// All workers use the same files instead of files of their own.
    pub shared: bool,
}

/// What is done to the target before the trial.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Precondition {
    /// Nothing beyond making sure that every block that is read was written.
    #[default]
    None,
    /// What is not known to have been written before is written once, also
    /// for a workload that only writes.
    Written,
    /// The whole size is written once in sequence.
    Fill,
    /// The whole size is written in sequence, then once more at random with
    /// the block size of the workload.
    RandomFill,
}

/// The data set that blocks are read from and written to.
#[derive(Debug, Clone, PartialEq)]
pub struct DataSet {
    /// Files of a directory target.
    pub files: FileLayout,
    /// These files by name; `files` says how they are divided.
    pub named: Option<NamedFiles>,
    /// Bytes of the whole data set on the target, all files and workers
    /// together. `None` on a device or an existing file: all of it.
    pub size_bytes: Option<u64>,
    /// Only this much of the data set is accessed.
    pub working_set_bytes: Option<u64>,
    /// Start of the accessed range within the target.
    pub offset_bytes: u64,
    /// Which part of shared files a worker uses.
    pub region: WorkerRegion,
    /// How the space of test files is allocated.
    pub allocation: Allocation,
    /// What is done to the target first.
    pub precondition: Precondition,
    /// When there is no room for a write, its worker ends as it does at a
    /// bound; this is not an error.
    pub ends_when_full: bool,
}

impl DataSet {
    /// One file of this size, or as much of a device.
    pub fn of_bytes(size_bytes: u64) -> DataSet {
        DataSet {
            size_bytes: Some(size_bytes),
            ..DataSet::example()
        }
    }

    /// One file of 1 GiB, or as much of a device: the base of
    /// [`Workload::example`](super::Workload::example).
    pub fn example() -> DataSet {
        DataSet {
            files: FileLayout {
                count: 1,
                shared: false,
            },
            named: None,
            size_bytes: Some(1 << 30),
            working_set_bytes: None,
            offset_bytes: 0,
            region: WorkerRegion::default(),
            allocation: Allocation::default(),
            precondition: Precondition::None,
            ends_when_full: false,
        }
    }
}
