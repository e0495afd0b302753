//! When written data are made durable, and how their space is allocated.

use std::fmt;

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
    /// `sync_file_range` after every N writes. It makes nothing durable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ranges: Option<RangeSync>,
}

impl SyncPolicy {
    /// Whether what follows a batch of writes does not wait for those in flight.
    pub fn goes_on(&self) -> bool {
        let flushes = self.every_writes > 0 || self.other_every_writes > 0;
        self.ranges.is_some() || (self.undrained && flushes)
    }
}

/// `sync_file_range` after every N writes of a worker, on the range of the
/// file that writes have filled since the last such call. It waits for no write
/// in flight. The kernel writes data back early or waits for that, but commits no
/// metadata and flushes no cache of the device, so nothing becomes durable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RangeSync {
    /// Writes between two calls.
    pub every_writes: u32,
    /// Wait for the write-back that is under way (`SYNC_FILE_RANGE_WAIT_BEFORE`).
    pub wait_before: bool,
    /// Begin to write back what is dirty (`SYNC_FILE_RANGE_WRITE`).
    pub write: bool,
    /// Wait for that write-back (`SYNC_FILE_RANGE_WAIT_AFTER`).
    pub wait_after: bool,
}

impl RangeSync {
    /// What the call does, joined by commas: `wait_before,write`.
    pub fn modes(&self) -> String {
        let modes = [
            (self.wait_before, "wait_before"),
            (self.write, "write"),
            (self.wait_after, "wait_after"),
        ];
        let set = modes.iter().filter(|(set, _)| *set);
        set.map(|(_, mode)| *mode).collect::<Vec<_>>().join(",")
    }
}

/// As in fio and in plans: `wait_before,write:8`.
impl fmt::Display for RangeSync {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.modes(), self.every_writes)
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_sync_is_written_as_in_fio_and_waits_for_no_write() {
        let ranges = RangeSync {
            every_writes: 8,
            wait_before: false,
            write: true,
            wait_after: true,
        };
        assert_eq!(ranges.to_string(), "write,wait_after:8");
        let with = |every_writes, undrained, ranges| SyncPolicy {
            every_writes,
            undrained,
            ranges,
            ..SyncPolicy::default()
        };
        assert!(with(0, false, Some(ranges)).goes_on());
        assert!(with(4, true, None).goes_on());
        assert!(!with(4, false, None).goes_on() && !with(0, true, None).goes_on());
        let stored = serde_json::to_string(&with(0, false, None)).unwrap();
        assert!(!stored.contains("ranges"), "{stored}");
    }
}
