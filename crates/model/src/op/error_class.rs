//! How an operation can fail, and failures counted by class.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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
    /// The store asked to slow down (503, 429).
    SlowDown,
    /// The connection could not be made, or ended before the answer.
    Reset,
    /// The request was refused (400 to 499).
    Refused,
    /// The store failed (500 to 599, except where it asks to slow down).
    Failed,
}

impl ErrorClass {
    /// Every class, in stored order.
    pub const ALL: [ErrorClass; 12] = [
        ErrorClass::Io,
        ErrorClass::NoSpace,
        ErrorClass::Permission,
        ErrorClass::Unsupported,
        ErrorClass::Timeout,
        ErrorClass::Short,
        ErrorClass::Verify,
        ErrorClass::Other,
        ErrorClass::SlowDown,
        ErrorClass::Reset,
        ErrorClass::Refused,
        ErrorClass::Failed,
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
            ErrorClass::SlowDown => "slow_down",
            ErrorClass::Reset => "reset",
            ErrorClass::Refused => "refused",
            ErrorClass::Failed => "failed",
        }
    }
}

// A count's place is its class as a number, in memory and in every store.
const _: () = {
    let mut at = 0;
    while at < ErrorClass::ALL.len() {
        assert!(ErrorClass::ALL[at] as usize == at);
        at += 1;
    }
};

/// Failed operations by class. They are never part of ops, bytes or latency.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ErrorCounts {
    #[serde(deserialize_with = "counts")]
    counts: [u64; ErrorClass::ALL.len()],
}

/// Counts as they were stored, perhaps when there were fewer classes.
fn counts<'de, D: serde::Deserializer<'de>>(
    from: D,
) -> Result<[u64; ErrorClass::ALL.len()], D::Error> {
    let stored = Vec::<u64>::deserialize(from)?;
    let mut counts = [0; ErrorClass::ALL.len()];
    if stored.len() > counts.len() {
        return Err(serde::de::Error::custom("an unknown class of errors"));
    }
    counts[..stored.len()].copy_from_slice(&stored);
    Ok(counts)
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
