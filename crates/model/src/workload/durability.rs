//! When written data are made durable, and how their space is allocated.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::unset;

/// When written data are made durable.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SyncPolicy {
    /// Flush after this many writes of a worker; 0 is never.
    pub every_writes: u32,
    /// The call that flushes.
    pub call: SyncCall,
    /// Open with `O_SYNC` or `O_DSYNC`.
    pub open: SyncOpen,
    /// Flush at the end of the trial; its time counts in the write rate.
    pub final_flush: bool,
    /// Flush with the other call after this many writes of a worker, besides;
    /// 0 is never. Where both are due `fsync` does for both.
    #[serde(default, skip_serializing_if = "unset")]
    pub other_every_writes: u32,
    /// A flush does not wait for the writes in flight, so it covers only those
    /// that have ended, and there is no commit to time. The order of fio.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub undrained: bool,
}

/// The call that flushes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SyncCall {
    /// `fsync`: data and metadata.
    Fsync,
    /// `fdatasync`: data and what is needed to read them back.
    #[default]
    Fdatasync,
}

/// Synchronous flags at open.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SyncOpen {
    /// None.
    #[default]
    No,
    /// `O_DSYNC`.
    Dsync,
    /// `O_SYNC`.
    Sync,
}

/// How the space of test files is allocated before anything is written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Allocation {
    /// By the file system's own means where it has any; files that will be
    /// read are fully written besides.
    #[default]
    Auto,
    /// Nothing: writes make the file grow.
    None,
    /// `posix_fallocate`.
    Posix,
    /// Space behind the end of the file (`FALLOC_FL_KEEP_SIZE`).
    KeepSize,
    /// A hole of the full length (`ftruncate`).
    Truncate,
}
