//! What can go wrong between a run and its file.

use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;

use crate::codec::CodecError;

/// Why the store could not do what was asked.
///
/// After an error nothing of the call was stored, and everything stored before
/// it stays. A caller that measures can report the error once and go on
/// without the store.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Neither `FATHOM_STORE` nor `XDG_DATA_HOME` nor `HOME` is set.
    #[error("no place for the store: HOME is not set; set FATHOM_STORE to a file path")]
    NoHome,
    /// The file is not there (reading only; writing creates it).
    #[error("there is no store at {}: nothing was measured yet, or FATHOM_STORE points elsewhere", path.display())]
    Missing {
        /// Where it was looked for.
        path: PathBuf,
    },
    /// The path is a directory, device, socket, ….
    #[error("the store path {} is not a regular file; name a file, for example {}/fathom.db", path.display(), path.display())]
    NotAFile {
        /// The path.
        path: PathBuf,
    },
    /// The file belongs to some other program.
    #[error("{} is not a fathom store ({what}); it was left untouched; set FATHOM_STORE to another path", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// What was found in it.
        what: String,
    },
    /// The file was written by a newer fathom.
    #[error("the store {} has schema {found}, this fathom knows up to {known}; use a newer fathom, or set FATHOM_STORE to another path", path.display())]
    NewerSchema {
        /// The file.
        path: PathBuf,
        /// Its schema version.
        found: u32,
        /// The newest version that this build knows.
        known: u32,
    },
    /// The operating system refused access.
    #[error("no permission for the store {}: {detail}; check its owner and mode, or set FATHOM_STORE to another path", path.display())]
    Permission {
        /// The file.
        path: PathBuf,
        /// What was refused.
        detail: String,
    },
    /// The file or its file system cannot be written.
    #[error("the store {} is read-only: {detail}; set FATHOM_STORE to a writable path", path.display())]
    ReadOnly {
        /// The file.
        path: PathBuf,
        /// What was found.
        detail: String,
    },
    /// The disk or quota under the store is full.
    #[error("no space left for the store {}; free some, or set FATHOM_STORE to another disk; what was stored before stays readable", path.display())]
    Full {
        /// The file.
        path: PathBuf,
    },
    /// Another process held the write lock for too long.
    #[error("the store {} is locked by another process; try again when it has ended", path.display())]
    Busy {
        /// The file.
        path: PathBuf,
    },
    /// The file was removed, moved or replaced while it was open.
    #[error("the store {} was removed, moved or replaced while fathom was using it", path.display())]
    Displaced {
        /// Where it was.
        path: PathBuf,
    },
    /// The file is damaged beyond single blobs.
    #[error("the store {} is damaged: {detail}; move it away and start a new one, or restore a copy", path.display())]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// What the database says.
        detail: String,
    },
    /// A run with the same id exists.
    #[error("the store has a run {id} already; every run needs an id of its own")]
    DuplicateRun {
        /// The id.
        id: String,
    },
    /// No run matches.
    #[error("no run matches '{text}'{hint}\nhelp: fathom runs list")]
    NoSuchRun {
        /// What was looked for.
        text: String,
        /// The nearest name, as a question, or nothing.
        hint: String,
    },
    /// Several runs match.
    #[error("'{text}' matches {} runs: {}; write more of the id", candidates.len(), shown(candidates))]
    Ambiguous {
        /// What was looked for.
        text: String,
        /// Ids that match, newest first.
        candidates: Vec<String>,
    },
    /// The run is still being written.
    #[error("run {id} is still going on in process {pid}; end it first")]
    Alive {
        /// The id.
        id: String,
        /// The process that writes it.
        pid: u32,
    },
    /// A key of a run or trial that is not there or has ended.
    #[error("{what} is not open for writing: it has ended or was removed")]
    NotOpen {
        /// Which run or trial.
        what: String,
    },
    /// A stored blob cannot be read.
    #[error("run {run}, {part}: {source}")]
    Damaged {
        /// Id of the run.
        run: String,
        /// Which part of it, for example `trial 3`.
        part: String,
        /// What is wrong.
        source: CodecError,
    },
    /// Data that the format cannot hold.
    #[error("cannot store {what}: {detail}")]
    Unstorable {
        /// What was to be stored.
        what: &'static str,
        /// Why it cannot.
        detail: String,
    },
    /// Anything else that the operating system or the database reports.
    #[error("store {}: {detail}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What was reported.
        detail: String,
    },
}

/// The first few ids, for a message of bounded length.
fn shown(candidates: &[String]) -> String {
    const SHOWN: usize = 8;
    let mut text = candidates[..candidates.len().min(SHOWN)].join(", ");
    if candidates.len() > SHOWN {
        text.push_str(", …");
    }
    text
}

/// Says what a database error means for the file at `path`.
pub(crate) fn from_sqlite(path: &Path, error: rusqlite::Error) -> Error {
    let path = path.to_owned();
    let detail = error.to_string();
    let Some(code) = error.sqlite_error_code() else {
        return Error::Io { path, detail };
    };
    let extended = error.sqlite_error().map(|error| error.extended_code);
    if extended == Some(rusqlite::ffi::SQLITE_READONLY_DBMOVED) {
        return Error::Displaced { path };
    }
    match code {
        ErrorCode::DiskFull => Error::Full { path },
        ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => Error::Busy { path },
        ErrorCode::DatabaseCorrupt => Error::Corrupt { path, detail },
        ErrorCode::NotADatabase => Error::Foreign {
            path,
            what: "it is not a SQLite database".to_owned(),
        },
        ErrorCode::ReadOnly => Error::ReadOnly { path, detail },
        ErrorCode::PermissionDenied | ErrorCode::AuthorizationForStatementDenied => {
            Error::Permission { path, detail }
        }
        _ => Error::Io { path, detail },
    }
}

/// Says what an error of the operating system means for the file at `path`.
pub(crate) fn from_io(path: &Path, error: &std::io::Error) -> Error {
    let path = path.to_owned();
    let detail = error.to_string();
    match error.kind() {
        std::io::ErrorKind::PermissionDenied => Error::Permission { path, detail },
        std::io::ErrorKind::ReadOnlyFilesystem => Error::ReadOnly { path, detail },
        std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded => Error::Full { path },
        std::io::ErrorKind::IsADirectory => Error::NotAFile { path },
        std::io::ErrorKind::NotFound => Error::Missing { path },
        _ => Error::Io { path, detail },
    }
}
