//! What can go wrong in the laboratory, in words that a user can act on.

use std::io;
use std::path::{Path, PathBuf};

/// An error of the laboratory. The text names the object and the remedy.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A program, device or right that this needs is not there.
    #[error("{0}")]
    Absent(String),
    /// The description of a drive cannot be used.
    #[error("{0}")]
    Description(String),
    /// A key or certificate cannot be made.
    #[error("no certificate can be made: {0}")]
    Authority(String),
    /// A system call on a path failed.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// What was attempted: `open`, `mount on`, ….
        action: &'static str,
        /// On which path.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A program did not do what it was started for.
    #[error("{program}: {message}")]
    Program {
        /// Its name.
        program: String,
        /// What it said, or what was missed.
        message: String,
    },
}

impl Error {
    /// Maps an I/O error to one that names the action and the path.
    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Error {
        let path = path.to_owned();
        move |source| Error::Io {
            action,
            path,
            source,
        }
    }

    pub(crate) fn program(program: &str, message: impl Into<String>) -> Error {
        Error::Program {
            program: program.to_owned(),
            message: message.into(),
        }
    }

    /// Why something cannot be done on this machine, when that is all that is
    /// wrong: a test prints it and goes on.
    pub fn absent(&self) -> Option<&str> {
        match self {
            Error::Absent(reason) => Some(reason),
            _ => None,
        }
    }
}
