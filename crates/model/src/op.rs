//! What one operation is, and how it can fail.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The kind of an operation, as counted and timed.
///
/// `Commit` is derived: from the submission of the first write of a batch to
/// the return of the flush that made it durable. It has a latency and a count
/// but no bytes of its own, and is never added to ops or bytes.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum OpKind {
    /// A read of one block.
    Read,
    /// A write of one block.
    Write,
    /// A discard of one block range.
    Trim,
    /// An `fsync` or `fdatasync`.
    Sync,
    /// First write of a batch to the end of its flush.
    Commit,
}

impl OpKind {
    /// Every kind, in the order in which they are stored and shown.
    pub const ALL: [OpKind; 5] = [
        OpKind::Read,
        OpKind::Write,
        OpKind::Trim,
        OpKind::Sync,
        OpKind::Commit,
    ];

    /// The lower-case name used in files, JSON and text.
    pub fn name(self) -> &'static str {
        match self {
            OpKind::Read => "read",
            OpKind::Write => "write",
            OpKind::Trim => "trim",
            OpKind::Sync => "sync",
            OpKind::Commit => "commit",
        }
    }

    /// Whether the kind moves data and so counts in ops and bytes totals.
    pub fn is_data(self) -> bool {
        matches!(self, OpKind::Read | OpKind::Write | OpKind::Trim)
    }

    /// Stable index of the kind in stored blobs, 0 to 4.
    pub fn index(self) -> usize {
        self as usize
    }

    /// The kind at a stored index.
    pub fn from_index(index: usize) -> Option<OpKind> {
        OpKind::ALL.get(index).copied()
    }
}

/// Why an operation failed. Each failure belongs to exactly one class.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum ErrorClass {
    /// `EIO`: the device or its driver gave up.
    Io,
    /// `ENOSPC`, `EDQUOT`, `EFBIG`: no room.
    NoSpace,
    /// `EACCES`, `EPERM`, `EROFS`: not allowed.
    Permission,
    /// `EINVAL`, `EOPNOTSUPP`: the request is not one that the target takes.
    Unsupported,
    /// The deadline passed with the operation still outstanding.
    Timeout,
    /// Fewer bytes than asked for, with no error from the kernel.
    Short,
    /// The data read are not what was written there.
    Verify,
    /// Anything else (its errno is in the error log).
    Other,
}

impl ErrorClass {
    /// Every class, in stored order.
    pub const ALL: [ErrorClass; 8] = [
        ErrorClass::Io,
        ErrorClass::NoSpace,
        ErrorClass::Permission,
        ErrorClass::Unsupported,
        ErrorClass::Timeout,
        ErrorClass::Short,
        ErrorClass::Verify,
        ErrorClass::Other,
    ];

    /// The lower-case name used in files, JSON and text.
    pub fn name(self) -> &'static str {
        match self {
            ErrorClass::Io => "io",
            ErrorClass::NoSpace => "no_space",
            ErrorClass::Permission => "permission",
            ErrorClass::Unsupported => "unsupported",
            ErrorClass::Timeout => "timeout",
            ErrorClass::Short => "short",
            ErrorClass::Verify => "verify",
            ErrorClass::Other => "other",
        }
    }
}

/// Failed operations by class. They are never part of ops, bytes or latency.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ErrorCounts {
    counts: [u64; ErrorClass::ALL.len()],
}

impl ErrorCounts {
    /// Counts one failure.
    #[inline]
    pub fn add(&mut self, class: ErrorClass) {
        self.add_many(class, 1);
    }

    /// Counts several failures of one class.
    pub fn add_many(&mut self, class: ErrorClass, count: u64) {
        self.counts[class as usize] += count;
    }

    /// Failures of one class.
    pub fn get(&self, class: ErrorClass) -> u64 {
        self.counts[class as usize]
    }

    /// Failures of all classes.
    pub fn total(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// Adds the counts of `other`.
    pub fn merge(&mut self, other: &ErrorCounts) {
        for (mine, theirs) in self.counts.iter_mut().zip(other.counts) {
            *mine += theirs;
        }
    }

    /// The classes that occurred, with their counts.
    pub fn iter(&self) -> impl Iterator<Item = (ErrorClass, u64)> + '_ {
        ErrorClass::ALL
            .into_iter()
            .map(|class| (class, self.get(class)))
            .filter(|(_, n)| *n > 0)
    }
}
