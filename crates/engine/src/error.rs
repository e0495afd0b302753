//! What can go wrong in the engine room, in words that a user can act on.

use std::io;
use std::path::{Path, PathBuf};

use crate::object::advice::told_of;

/// What helps against an error of the system that few have met.
pub(crate) fn remedy(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::FileTooLarge => {
            "; this process may not write files of that size: choose a smaller size, or raise the \
             limit with ulimit -f"
        }
        _ => "",
    }
}

/// An error of the engine room. The text names the object and the remedy.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A system call on a path failed.
    #[error("cannot {action} {}: {source}{}", path.display(), remedy(source))]
    Io {
        /// What was attempted: `open`, `write`, ….
        action: &'static str,
        /// On which path.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The target is not there.
    #[error("{} does not exist; {} does: create what is missing, or correct the path", path.display(), nearest.display())]
    Missing {
        /// The path that was asked for.
        path: PathBuf,
        /// Its nearest parent that exists.
        nearest: PathBuf,
    },
    /// The target cannot be used as it is; the text says why and what to do.
    #[error("{}: {reason}", path.display())]
    Target {
        /// The target.
        path: PathBuf,
        /// Why not, and what to do.
        reason: String,
    },
    /// Going on could destroy something that fathom did not make.
    #[error("refused to write to {}: {reason}", path.display())]
    Refused {
        /// The target.
        path: PathBuf,
        /// What was found on it and how to proceed.
        reason: String,
    },
    /// The room on the file system does not suffice.
    #[error(
        "{}: {needed_bytes} bytes are needed and {available_bytes} are available; \
         choose a smaller size or free space",
        path.display()
    )]
    NoSpace {
        /// The directory or file.
        path: PathBuf,
        /// What the trial needs.
        needed_bytes: u64,
        /// What this user may still write.
        available_bytes: u64,
    },
    /// The workload does not fit together or to the target.
    #[error("{0}")]
    Workload(String),
    /// The simulated drive cannot be built.
    #[error(transparent)]
    Drive(#[from] fathom_drives::Error),
    /// The object store cannot be reached.
    #[error("{}", told_of(.0))]
    ObjectStore(fathom_s3::Error),
    /// The user asked to stop.
    #[error("stopped on request")]
    Stopped,
}

impl From<fathom_s3::Error> for Error {
    fn from(error: fathom_s3::Error) -> Error {
        match error {
            fathom_s3::Error::Stopped => Error::Stopped,
            fathom_s3::Error::File {
                action,
                path,
                source,
            } => Error::Io {
                action,
                path,
                source,
            },
            other => Error::ObjectStore(other),
        }
    }
}

impl Error {
    /// An [`Error::Io`] from its parts, for `map_err`.
    pub fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Error {
        let path = path.to_owned();
        move |source| Error::Io {
            action,
            path,
            source,
        }
    }

    /// The engine `sim` was asked for on a target of another kind.
    pub(crate) fn no_drive() -> Error {
        Error::Workload(
            "the engine sim needs a simulated drive; name a target sim:MODEL".to_owned(),
        )
    }

    /// An [`Error::Target`] from its parts.
    pub fn target(path: &Path, reason: impl Into<String>) -> Error {
        Error::Target {
            path: path.to_owned(),
            reason: reason.into(),
        }
    }
}
