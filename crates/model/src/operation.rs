//! One operation on its own, as an entry of the optional log.

use serde::{Deserialize, Serialize};

use crate::op::OpKind;

/// One operation that succeeded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Operation {
    /// What it was. Never [`OpKind::Commit`].
    pub kind: OpKind,
    /// Which of the trial's workers did it, from 0.
    pub worker: u32,
    /// Which of the trial's files it was on, from 0.
    pub file: u32,
    /// Bytes; 0 for a flush.
    pub bytes: u32,
    /// Where in the file.
    pub offset_bytes: u64,
    /// When it ended, from the start of the load.
    pub ended_ns: u64,
    /// Latency from submission.
    pub service_ns: u64,
    /// The part of it until the submitting call had returned; 0 where that
    /// was not recorded.
    pub submission_ns: u64,
}

impl Operation {
    /// When it was submitted, from the start of the load.
    pub fn started_ns(&self) -> u64 {
        self.ended_ns.saturating_sub(self.service_ns)
    }
}
