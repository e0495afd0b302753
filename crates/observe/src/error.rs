//! What can go wrong where an answer was asked for and not just a fact.

use std::io;
use std::path::PathBuf;

/// A failed reading, with the path it was about.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file or device could not be opened.
    #[error("cannot open {path}: {source}")]
    Open {
        /// What was to be opened.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// A question about a file could not be answered by the system.
    #[error("cannot {what} on {path}: {source}")]
    Ask {
        /// The call, in words.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// The answer of the system says nothing.
    #[error("{path}: {reason}")]
    Unknown {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
}
