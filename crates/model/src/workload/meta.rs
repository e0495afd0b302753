//! Work on many files: which operations, on a tree of which shape.
//!
//! Nothing here lists files. Their names, places and sizes follow from the
//! worker's rank and a number, so that ten million of them need no memory.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::OpKind;

/// Operations on a tree of files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MetaWork {
    /// What is done. One entry: a phase, which visits everything that there is
    /// once. Several: a mix, drawn operation by operation.
    pub ops: Vec<MetaShare>,
    /// The files.
    pub tree: MetaTree,
    /// In which order a phase visits what is there.
    #[serde(default)]
    pub order: MetaOrder,
    /// How names are told to the system.
    #[serde(default)]
    pub paths: MetaPaths,
    /// Worker n works on what belongs to worker n + `shift`, so that nobody
    /// visits what it has just made itself.
    #[serde(default)]
    pub shift: u32,
    /// A phase that changes nothing for good begins anew when everything was
    /// visited, until the trial's bounds.
    #[serde(default)]
    pub repeat: bool,
    /// The trial ends when the first worker has done its part.
    #[serde(default)]
    pub stop_with_first: bool,
    /// Contents are flushed (`fsync`) before a file that was written is closed.
    #[serde(default)]
    pub fsync: bool,
    /// Bytes that an append adds; 0 is one record.
    #[serde(default)]
    pub append_bytes: u64,
    /// How records get from the program to the file.
    #[serde(default)]
    pub handing: Handing,
    /// Extended attributes of each file; at least 1.
    #[serde(default = "one")]
    pub xattrs: u32,
    /// Each file begins with the time of its creation, so that another host that
    /// waits for it knows how long it took.
    #[serde(default)]
    pub stamped: bool,
}

fn one() -> u32 {
    1
}

/// How records get from the program to the file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Handing {
    /// Each by a system call of its own.
    #[default]
    Direct,
    /// Gathered in memory and written 4,096 bytes at a time, as the C library
    /// and most runtimes do.
    Buffered,
    /// Gathered so, then through a pipe to another thread that writes what comes,
    /// at most 64 KiB at a time, as `| cat > file` does.
    Stream,
}

impl Handing {
    /// The word in plans.
    pub fn name(self) -> &'static str {
        match self {
            Handing::Direct => "direct",
            Handing::Buffered => "buffered",
            Handing::Stream => "stream",
        }
    }
}

/// One kind of operation and its weight in a mix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MetaShare {
    /// Which.
    pub kind: OpKind,
    /// Its weight; at least 1.
    pub weight: u32,
}

impl MetaShare {
    /// Kinds with their weights.
    pub fn all(of: impl IntoIterator<Item = (OpKind, u32)>) -> Vec<MetaShare> {
        let of = of.into_iter();
        of.map(|(kind, weight)| MetaShare { kind, weight })
            .collect()
    }
}

/// Bytes of the time of its creation that a file begins with.
pub const CREATION_STAMP_BYTES: u64 = 24;

/// A tree of files. Every directory of the last level holds files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MetaTree {
    /// Files of each worker; at least 1.
    pub files: u64,
    /// Levels of directories; 0 puts all files of a worker into one.
    pub depth: u32,
    /// Directories in each directory above the last level; at least 1.
    pub fan_out: u32,
    /// Directories of the last level that are in use, at least 1 and at most
    /// `fan_out` to the power of `depth`.
    pub leaves: u64,
    /// All workers use the same directories instead of a tree of their own.
    pub shared: bool,
    /// A file lies in a directory that follows from its name like a hash, not
    /// beside the file before it.
    pub hashed: bool,
    /// Bytes of each file.
    pub sizes: FileSizes,
    /// Bytes read or written by one system call; at least 1.
    pub record_bytes: u64,
    /// Bytes of the extended attribute; at least 1.
    pub xattr_bytes: u32,
}

/// Bytes of each file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FileSizes {
    /// All alike.
    Fixed(u64),
    /// Exponentially distributed: many small ones, few large ones.
    Exponential {
        /// Mean before the limit is applied.
        mean_bytes: u64,
        /// No file is larger.
        max_bytes: u64,
    },
}

/// In which order a phase visits what is there.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MetaOrder {
    /// As it was made.
    #[default]
    AsMade,
    /// At random, each once.
    Random,
}

/// How names are told to the system.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MetaPaths {
    /// Relative to the file's directory, which is held open.
    #[default]
    Near,
    /// The path from the top of the tree, so that every component is looked up.
    Whole,
}

impl MetaWork {
    /// These operations, each with its weight, on a tree; everything else as it
    /// is unless somebody asks for something else.
    pub fn new(ops: impl IntoIterator<Item = (OpKind, u32)>, tree: MetaTree) -> MetaWork {
        MetaWork {
            ops: MetaShare::all(ops),
            tree,
            order: MetaOrder::default(),
            paths: MetaPaths::default(),
            shift: 0,
            repeat: false,
            stop_with_first: false,
            fsync: false,
            append_bytes: 0,
            handing: Handing::default(),
            xattrs: 1,
            stamped: false,
        }
    }

    /// Whether operations of a kind are done.
    pub fn does(&self, kind: OpKind) -> bool {
        self.ops.iter().any(|share| share.kind == kind)
    }

    /// The kind of a phase; `None` for a mix.
    pub fn phase(&self) -> Option<OpKind> {
        match self.ops.as_slice() {
            [only] => Some(only.kind),
            _ => None,
        }
    }

    /// Whether every operation only looks, so that the client's caches could
    /// have answered it.
    pub fn only_looks(&self) -> bool {
        self.ops.iter().all(|share| share.kind.looks())
    }
}

impl MetaTree {
    /// `files` files of `bytes` each in one directory per worker.
    pub fn flat(files: u64, bytes: u64) -> MetaTree {
        MetaTree {
            files: files.max(1),
            depth: 0,
            fan_out: 1,
            leaves: 1,
            shared: false,
            hashed: false,
            sizes: FileSizes::Fixed(bytes),
            record_bytes: bytes.clamp(1, 1 << 20),
            xattr_bytes: 32,
        }
    }

    /// Files in each directory of the last level, rounded up; at least 1.
    pub fn files_per_leaf(&self) -> u64 {
        self.files.div_ceil(self.leaves.max(1)).max(1)
    }

    /// Levels of directories that hold `leaves` of them, `fan_out` in each.
    pub fn levels(leaves: u64, fan_out: u32) -> u32 {
        let fan_out = u64::from(fan_out.max(2));
        let (mut levels, mut room) = (0, 1u64);
        while room < leaves {
            levels += 1;
            room = room.saturating_mul(fan_out);
        }
        levels
    }
}

impl FileSizes {
    /// Mean bytes of a file.
    pub fn mean_bytes(self) -> f64 {
        match self {
            FileSizes::Fixed(bytes) => bytes as f64,
            FileSizes::Exponential {
                mean_bytes,
                max_bytes,
            } if mean_bytes > 0 => {
                let mean = mean_bytes as f64;
                mean * (1.0 - (-(max_bytes as f64) / mean).exp())
            }
            FileSizes::Exponential { .. } => 0.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_as_few_as_hold_the_directories() {
        assert_eq!(MetaTree::levels(1, 10), 0);
        assert_eq!(MetaTree::levels(10, 10), 1);
        assert_eq!(MetaTree::levels(11, 10), 2);
        assert_eq!(MetaTree::levels(u64::MAX, 1), 64);
    }

    #[test]
    fn the_mean_of_cut_sizes_is_below_that_of_all() {
        let sizes = FileSizes::Exponential {
            mean_bytes: 1000,
            max_bytes: 1000,
        };
        assert!((sizes.mean_bytes() - 632.12).abs() < 0.01);
    }
}
