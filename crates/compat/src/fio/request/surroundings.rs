//! What reading and mapping job files has to ask of the machine. The plan
//! room itself looks at nothing.

use std::io;
use std::path::{Path, PathBuf};

use fathom_model::workload::Replay;

/// Why a file cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum FioReadError {
    /// What the system says.
    #[error("{0}")]
    Unreadable(#[from] io::Error),
    /// More than any job file has.
    #[error("it is longer than 1 MiB; is it the right file?")]
    TooLong,
    /// Nothing has that name.
    #[error("there is no such file")]
    Missing,
    /// A recorded list that cannot be replayed; why.
    #[error("{0}")]
    NotReplayed(String),
}

/// The machine as job files see it.
pub trait FioSurroundings {
    /// The text of a job file or include file; `-` is standard input.
    ///
    /// # Errors
    /// Why it cannot be read.
    fn read(&self, path: &str) -> Result<String, FioReadError>;

    /// The first bytes of a file, at most `most`.
    ///
    /// # Errors
    /// Why it cannot be read.
    fn bytes(&self, path: &Path, most: usize) -> Result<Vec<u8>, FioReadError>;

    /// Bytes that are free on the file system of a path that may not be there
    /// yet; `None` when it cannot be told.
    fn free_bytes(&self, path: &Path) -> Option<u64>;

    /// The text of an environment variable; `None` when it is not set.
    fn variable(&self, name: &str) -> Option<String>;

    /// CPUs that may be used.
    fn cpus(&self) -> u64;

    /// Memory in MiB.
    fn memory_mib(&self) -> u64;

    /// Size of a page in bytes.
    fn page_bytes(&self) -> u64;

    /// What a path is.
    fn look(&self, path: &Path) -> FioPath;

    /// All plain files below a directory, sorted; at most `limit`.
    fn files_below(&self, directory: &Path, limit: usize) -> Vec<PathBuf>;

    /// CPUs of a NUMA node.
    fn cpus_of_node(&self, node: u32) -> Vec<u32>;

    /// Which files a recorded list names, and how far it reaches into them when
    /// it is replayed in this way.
    ///
    /// # Errors
    /// Why the list cannot be used.
    fn listed(&self, replay: &Replay) -> Result<FioListed, FioReadError>;
}

/// What a recorded list asks of its files.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FioListed {
    /// Their names, in the order of their numbers.
    pub names: Vec<String>,
    /// Bytes that the largest of them has to have.
    pub reach_bytes: u64,
}

/// What a path is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FioPath {
    /// Nothing is there.
    Missing,
    /// A plain file of so many bytes.
    File(u64),
    /// A block device of so many bytes.
    Device(u64),
    /// A directory.
    Directory,
    /// A character device, pipe or socket.
    Other,
}

/// A machine of a fixed shape, for tests and pages.
#[derive(Debug, Clone, Default)]
pub struct FixedSurroundings {
    /// Files by name.
    pub files: std::collections::BTreeMap<String, String>,
    /// Environment variables.
    pub variables: std::collections::BTreeMap<String, String>,
    /// What paths are; others are missing.
    pub paths: std::collections::BTreeMap<PathBuf, FioPath>,
    /// Recorded lists by path.
    pub lists: std::collections::BTreeMap<PathBuf, FioListed>,
}

impl FioSurroundings for FixedSurroundings {
    fn read(&self, path: &str) -> Result<String, FioReadError> {
        let text = self.files.get(path);
        text.cloned().ok_or(FioReadError::Missing)
    }

    fn bytes(&self, path: &Path, most: usize) -> Result<Vec<u8>, FioReadError> {
        let text = self.read(&path.to_string_lossy())?;
        Ok(text.into_bytes().into_iter().take(most).collect())
    }

    fn free_bytes(&self, _path: &Path) -> Option<u64> {
        Some(1 << 30)
    }

    fn variable(&self, name: &str) -> Option<String> {
        self.variables.get(name).cloned()
    }

    fn cpus(&self) -> u64 {
        4
    }

    fn memory_mib(&self) -> u64 {
        8192
    }

    fn page_bytes(&self) -> u64 {
        4096
    }

    fn look(&self, path: &Path) -> FioPath {
        self.paths.get(path).copied().unwrap_or(FioPath::Missing)
    }

    fn files_below(&self, directory: &Path, limit: usize) -> Vec<PathBuf> {
        let below = self
            .paths
            .iter()
            .filter(|(path, what)| path.starts_with(directory) && matches!(what, FioPath::File(_)));
        below.map(|(path, _)| path.clone()).take(limit).collect()
    }

    fn cpus_of_node(&self, node: u32) -> Vec<u32> {
        if node == 0 {
            (0..4).collect()
        } else {
            Vec::new()
        }
    }

    fn listed(&self, replay: &Replay) -> Result<FioListed, FioReadError> {
        let list = self.lists.get(&replay.path).cloned();
        list.ok_or(FioReadError::Missing)
    }
}
