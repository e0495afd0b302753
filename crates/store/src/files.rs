//! Files that runs created on targets, so that none stays behind unknown.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use rusqlite::{OptionalExtension, params};

use crate::rows::{signed, unsigned};
use crate::transaction::{Failure, unix_ns};
use crate::{Error, RunKey, Store};

/// A file that a run created and that is still noted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leftover {
    /// The file.
    pub path: PathBuf,
    /// The run that created it. It may have been removed since.
    pub run_id: String,
    /// The user asked to keep it for later runs.
    pub keep: bool,
    /// When it was noted, nanoseconds since 1970-01-01 UTC.
    pub noted_unix_ns: u64,
}

impl Store {
    /// Notes a file that the run is about to create. Note it before it is
    /// created and with an absolute path: then a crash can leave a note
    /// without a file, but never a file without a note. The note is on the
    /// disk when the call returns.
    pub fn note_file(&mut self, run: RunKey, path: &Path, keep: bool) -> Result<(), Error> {
        self.note_files(run, [path], keep)
    }

    /// Notes many files at the price of one.
    pub fn note_files<'p>(
        &mut self,
        run: RunKey,
        paths: impl IntoIterator<Item = &'p Path>,
        keep: bool,
    ) -> Result<(), Error> {
        self.durably(|store| {
            store
                .transaction(|transaction| {
                    let id: Option<String> = transaction
                        .query_row("SELECT id FROM run WHERE key = ?", [run.0], |row| {
                            row.get(0)
                        })
                        .optional()?;
                    let id = id.ok_or_else(|| {
                        Failure::Own(Error::NotOpen {
                            what: format!("run with key {}", run.0),
                        })
                    })?;
                    let mut note = transaction.prepare(
                        "INSERT INTO file (path, run_id, keep, noted_unix_ns) VALUES (?, ?, ?, ?)
                         ON CONFLICT (path) DO UPDATE SET run_id = excluded.run_id,
                            keep = excluded.keep, noted_unix_ns = excluded.noted_unix_ns",
                    )?;
                    for path in paths {
                        let bytes = path.as_os_str().as_bytes();
                        note.execute(params![bytes, id, keep, signed(unix_ns())])?;
                    }
                    Ok(())
                })
                .map_err(|failure| failure.into_error(&store.path))
        })
    }

    /// Forgets a file that was removed. Not an error when it is not noted.
    pub fn forget_file(&mut self, path: &Path) -> Result<(), Error> {
        self.forget_files([path])
    }

    /// Forgets many files at the price of one.
    pub fn forget_files<'p>(
        &mut self,
        paths: impl IntoIterator<Item = &'p Path>,
    ) -> Result<(), Error> {
        self.transaction(|transaction| {
            let mut forget = transaction.prepare("DELETE FROM file WHERE path = ?")?;
            for path in paths {
                forget.execute([path.as_os_str().as_bytes()])?;
            }
            Ok(())
        })
        .map_err(|failure| failure.into_error(&self.path))
    }

    /// The noted files of runs that are over, kept ones included, by path.
    /// Whether a file still exists is not looked at.
    pub fn leftovers(&self) -> Result<Vec<Leftover>, Error> {
        let alive = self.alive()?;
        let mut files: Vec<Leftover> = self
            .connection
            .prepare("SELECT path, run_id, keep, noted_unix_ns FROM file ORDER BY path")
            .and_then(|mut files| {
                files
                    .query_map([], |row| {
                        Ok(Leftover {
                            path: OsString::from_vec(row.get(0)?).into(),
                            run_id: row.get(1)?,
                            keep: row.get(2)?,
                            noted_unix_ns: unsigned(row.get(3)?),
                        })
                    })?
                    .collect()
            })
            .map_err(|error| self.error(error))?;
        files.retain(|file| !alive.iter().any(|run| run.id == file.run_id));
        Ok(files)
    }
}
