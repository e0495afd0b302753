//! What can go wrong in the engine room, in words that a user can act on.

use std::io;
use std::path::{Path, PathBuf};

use fathom_model::unit::bytes_exact;
use rustix::process::{Resource, getrlimit};

use crate::file_attributes;
use crate::object::advice::told_of;

/// What helps against an error of the system that few have met.
pub(crate) fn remedy(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::FileTooLarge => too_large(getrlimit(Resource::Fsize).current),
        _ => String::new(),
    }
}

/// Who does not take a file of that size: the limit of the process, in bytes, or
/// the file system where there is none.
fn too_large(limit_bytes: Option<u64>) -> String {
    match limit_bytes {
        Some(limit) => format!(
            "; this process may write files of at most {} (ulimit -f): choose a smaller size, or \
             raise that limit",
            bytes_exact(limit)
        ),
        None => "; the file system takes no file of that size: choose a smaller size".to_owned(),
    }
}

/// Why an attribute of a path refuses what the system did not permit.
pub(crate) fn attribute_refusal(path: &Path, error: &io::Error) -> Option<String> {
    let denied = error.raw_os_error() == Some(libc::EPERM);
    denied.then(|| file_attributes::refusal(path)).flatten()
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
        move |source| match attribute_refusal(&path, &source) {
            Some(text) => Error::target(&path, format!("cannot {action} it: {text}")),
            None => Error::Io {
                action,
                path,
                source,
            },
        }
    }

    /// The engine `sim` was asked for on a target of another kind.
    pub(crate) fn no_drive() -> Error {
        Error::Workload(
            "the engine sim needs a simulated drive; name a target sim:MODEL".to_owned(),
        )
    }

    /// Whether a name that the user gave leads to nothing that can be used.
    pub fn is_wrong_name(&self) -> bool {
        match self {
            Error::Missing { .. } => true,
            Error::Drive(error) => error.is_wrong_name(),
            _ => false,
        }
    }

    /// What is wrong, and on a line of its own what to type instead.
    pub fn in_lines(&self) -> String {
        match self {
            Error::Missing { path, nearest } if path.starts_with("/dev") => format!(
                "{} does not exist ({} does)\nhelp: `lsblk` lists the devices of this host",
                path.display(),
                nearest.display()
            ),
            Error::Missing { path, nearest } => format!(
                "{} does not exist ({} does)\nhelp: correct the path, or create a folder there \
                 with mkdir -p",
                path.display(),
                nearest.display()
            ),
            Error::Drive(error) => error.in_lines(),
            error => error.to_string(),
        }
    }

    /// An [`Error::Target`] from its parts.
    pub fn target(path: &Path, reason: impl Into<String>) -> Error {
        Error::Target {
            path: path.to_owned(),
            reason: reason.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_that_is_too_large_is_blamed_on_the_limit_that_there_is() {
        let limited = too_large(Some(1 << 20));
        assert!(
            limited.contains("1 MiB") && limited.contains("ulimit -f"),
            "{limited}"
        );
        let unlimited = too_large(None);
        assert!(unlimited.contains("the file system") && !unlimited.contains("ulimit"));
        assert_eq!(remedy(&io::Error::from_raw_os_error(libc::EIO)), "");
    }
}
