//! The ways by which operations reach a target.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How operations reach the target.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum EngineKind {
    /// io_uring.
    Uring,
    /// Linux native asynchronous I/O (`io_submit`).
    Libaio,
    /// `pread`/`pwrite`, one operation at a time per worker.
    Psync,
    /// Loads and stores on a memory map, `msync` as the flush.
    Mmap,
    /// Blocks over a connection to another workload.
    Net,
    /// Nothing is done. Measures the generator.
    Null,
    /// A simulated drive under a virtual clock.
    Sim,
    /// Operations on many files: names, directories, attributes, small contents.
    Meta,
    /// `fallocate` in place of each block: a write allocates, a read allocates
    /// without changing the length, a trim punches a hole.
    Falloc,
    /// `ftruncate` to the offset of each write.
    Ftruncate,
    /// Objects of a store over HTTP.
    S3,
}

impl EngineKind {
    /// Every engine.
    pub const ALL: [EngineKind; 11] = [
        EngineKind::Uring,
        EngineKind::Libaio,
        EngineKind::Psync,
        EngineKind::Mmap,
        EngineKind::Net,
        EngineKind::Null,
        EngineKind::Sim,
        EngineKind::Meta,
        EngineKind::Falloc,
        EngineKind::Ftruncate,
        EngineKind::S3,
    ];

    /// Whether the contents of blocks reach the target. Null and simulated
    /// targets keep none, and some engines change files without moving data.
    pub fn keeps_data(self) -> bool {
        !matches!(
            self,
            EngineKind::Null | EngineKind::Sim | EngineKind::Falloc | EngineKind::Ftruncate
        )
    }

    /// The name used in plans, flags and results.
    pub fn name(self) -> &'static str {
        match self {
            EngineKind::Uring => "uring",
            EngineKind::Libaio => "libaio",
            EngineKind::Psync => "psync",
            EngineKind::Mmap => "mmap",
            EngineKind::Net => "net",
            EngineKind::Null => "null",
            EngineKind::Sim => "sim",
            EngineKind::Meta => "meta",
            EngineKind::Falloc => "falloc",
            EngineKind::Ftruncate => "ftruncate",
            EngineKind::S3 => "s3",
        }
    }
}
