//! Why a file of results is not understood.

/// Why a file is not understood.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ResultError {
    /// Nothing in it.
    #[error("the file is empty")]
    Empty,
    /// A document that breaks off before its first complete job.
    #[error("the JSON breaks off after {0} bytes, before its first complete job")]
    Truncated(usize),
    /// JSON that is not.
    #[error("the JSON cannot be read: {0}")]
    Json(String),
    /// Something else.
    #[error(
        "found {0}; understood are fio's JSON and json+ output, its terse output (version 3 or \
         later), its logs (bandwidth, IOPS, latency, histograms), warp's recordings, and \
         fathom's own --json"
    )]
    Unknown(String),
}
