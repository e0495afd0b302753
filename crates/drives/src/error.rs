//! Why a drive cannot be built, in words that a user can act on.

use std::io;
use std::path::PathBuf;

/// Why a drive cannot be built from its description.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file with the description cannot be read.
    #[error("cannot read the drive's description {}: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// No such model or parameter, or a value that it cannot take.
    #[error("{0}")]
    Description(String),
}
