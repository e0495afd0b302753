//! Opening the file, and what is set on the connection.

use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rusqlite::{Connection, OpenFlags};
use rustix::fs::{Access, AtFlags};

use crate::Error;
use crate::error::{from_io, from_sqlite};
use crate::owner::Owner;
use crate::schema;

/// How long a call waits for another process. Writers hold the lock for
/// milliseconds; the longest is the compaction of ten minutes of series.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// The pause between two attempts to open a store that SQLite does not wait
/// for.
const OPEN_PAUSE: Duration = Duration::from_millis(20);

/// Pages in the write-ahead log at which SQLite checkpoints on its own, in
/// the middle of whatever goes on: the bound of the log. Shorter trials reach
/// their end, where the checkpoint disturbs nobody, before it.
const LOG_PAGES: u32 = 16 * 1024;

/// Bytes to which the log is cut when it starts over.
const LOG_BYTES: u32 = 4096 * LOG_PAGES;

/// An open store.
///
/// It may move between threads but not be shared by them. Calls block on the
/// disk: whoever measures calls from a thread that does nothing else.
#[derive(Debug)]
pub struct Store {
    pub(crate) connection: Connection,
    pub(crate) path: PathBuf,
    pub(crate) here: Owner,
    /// Device and inode of the file; nothing for a store in memory.
    file: Option<(u64, u64)>,
}

impl Store {
    /// Opens the store for reading and writing. Creates it, with the
    /// directories above it, when it is not there; brings an older file to the
    /// current schema; marks runs whose process has gone as interrupted.
    ///
    /// # Errors
    /// A file that is no store, has a newer schema, is damaged, cannot be
    /// written or read, or is locked for more than five seconds. None of these
    /// changes the file.
    pub fn open(path: impl AsRef<Path>) -> Result<Store, Error> {
        let path = path.as_ref();
        patiently(|| Store::open_once(path))
    }

    fn open_once(path: &Path) -> Result<Store, Error> {
        prepare_place(path)?;
        let file = existing(path)?;
        let opened = Store::open_this(path, file);
        // Whatever else goes wrong with a file that is taken away meanwhile.
        opened.map_err(|error| match existing(path) {
            Ok(now) if now == file => error,
            _ => displaced(path),
        })
    }

    fn open_this(path: &Path, file: (u64, u64)) -> Result<Store, Error> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_CREATE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let mut connection = Connection::open_with_flags(plain(path), flags)
            .map_err(|error| open_error(path, error))?;
        configure(&connection).map_err(|error| open_error(path, error))?;
        refuse_read_only(&connection, path)?;
        let outdated = schema::check(&connection, path)?;
        // Only now: the database of another program keeps its modes.
        keep_private(path);
        set_durability(&connection).map_err(|error| open_error(path, error))?;
        if outdated {
            schema::migrate(&mut connection, path)?;
        }
        let mut store = Store::with(connection, path, Some(file));
        // SQLite may have been given another file than this one.
        store.is_in_place()?;
        store.recover()?;
        Ok(store)
    }

    /// Opens an existing store for reading. Works on a read-only file system
    /// too, as long as no process died there with an unfinished log.
    ///
    /// # Errors
    /// As [`Store::open`], and [`Error::Missing`] when there is no file.
    pub fn open_read_only(path: impl AsRef<Path>) -> Result<Store, Error> {
        let path = path.as_ref();
        patiently(|| Store::open_read_only_once(path))
    }

    fn open_read_only_once(path: &Path) -> Result<Store, Error> {
        check_file(path)?;
        let file = Some(existing(path)?);
        let connection = match open_for_reading(path, false) {
            Ok(connection) => connection,
            Err(error) if may_be_immutable(path) => {
                open_for_reading(path, true).map_err(|_| open_error(path, error))?
            }
            Err(error) => return Err(open_error(path, error)),
        };
        if schema::check(&connection, path)? {
            // An older fathom made it, or one that was killed before its
            // first write: bring it up to date first.
            drop(connection);
            return Store::open(path);
        }
        Ok(Store::with(connection, path, file))
    }

    /// A store without a file, for tests and for measuring when the real one
    /// cannot be had.
    pub fn in_memory() -> Result<Store, Error> {
        let path = Path::new(":memory:");
        let error = |error| from_sqlite(path, error);
        let mut connection = Connection::open_in_memory().map_err(error)?;
        configure(&connection).map_err(error)?;
        schema::migrate(&mut connection, path)?;
        Ok(Store::with(connection, path, None))
    }

    /// The file, or `:memory:`.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Checks every page of the file. Returns what is wrong, nothing when all
    /// is well. Reads the whole file.
    pub fn check(&self) -> Result<Vec<String>, Error> {
        let mut faults: Vec<String> = Vec::new();
        self.connection
            .pragma_query(None, "integrity_check", |row| {
                faults.push(row.get(0)?);
                Ok(())
            })
            .map_err(|error| self.error(error))?;
        faults.retain(|fault| fault != "ok");
        Ok(faults)
    }

    fn with(connection: Connection, path: &Path, file: Option<(u64, u64)>) -> Store {
        Store {
            connection,
            path: path.to_owned(),
            here: Owner::current(),
            file,
        }
    }

    /// Refuses to write to a file that is not at the path any more: what is
    /// written there would be lost when it is closed.
    ///
    /// # Errors
    /// [`Error::Displaced`].
    pub(crate) fn is_in_place(&self) -> Result<(), Error> {
        match self.file {
            Some(file) if existing(&self.path)? != file => Err(displaced(&self.path)),
            _ => Ok(()),
        }
    }

    pub(crate) fn error(&self, error: rusqlite::Error) -> Error {
        from_sqlite(&self.path, error)
    }
}

/// Opens again while the store is locked, for as long as a call waits for a
/// lock. SQLite does not wait everywhere: a process that changes the journal
/// of a new store, recovers its log or is the last to close it turns others
/// away at once (<https://www.sqlite.org/wal.html#sometimes_queries_return_sqlite_busy_in_wal_mode>).
fn patiently<T>(open: impl Fn() -> Result<T, Error>) -> Result<T, Error> {
    let start = Instant::now();
    loop {
        match open() {
            Err(Error::Busy { .. }) if start.elapsed() < BUSY_TIMEOUT => {
                std::thread::sleep(OPEN_PAUSE);
            }
            done => return done,
        }
    }
}

/// Device and inode of the file that has to be at a path.
///
/// # Errors
/// [`Error::Displaced`].
fn existing(path: &Path) -> Result<(u64, u64), Error> {
    let facts = fs::metadata(path).map_err(|_| displaced(path))?;
    Ok((facts.dev(), facts.ino()))
}

fn displaced(path: &Path) -> Error {
    Error::Displaced {
        path: path.to_owned(),
    }
}

/// Refuses what is no regular file.
fn check_file(path: &Path) -> Result<(), Error> {
    let metadata = fs::metadata(path).map_err(|error| from_io(path, &error))?;
    if metadata.is_file() {
        Ok(())
    } else {
        Err(Error::NotAFile {
            path: path.to_owned(),
        })
    }
}

fn prepare_place(path: &Path) -> Result<(), Error> {
    match check_file(path) {
        Err(Error::Missing { .. }) => {}
        other => return other,
    }
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => {
            fathom_outputs::make_folder(parent).map_err(|error| match error.kind() {
                ErrorKind::NotADirectory | ErrorKind::AlreadyExists => Error::Io {
                    path: path.to_owned(),
                    detail: format!("{} is not a directory", parent.display()),
                },
                _ => from_io(path, &error),
            })?;
        }
        _ => {}
    }
    match fathom_outputs::create_new(path) {
        // Another process may have made it just now.
        Err(error) if error.kind() == ErrorKind::AlreadyExists && path.is_file() => Ok(()),
        Err(error) if path.is_symlink() => Err(Error::Io {
            path: path.to_owned(),
            detail: format!("it is a symbolic link to nothing ({error}); name the file itself"),
        }),
        made => made.map(drop).map_err(|error| from_io(path, &error)),
    }
}

/// Takes away what others may do with the store and the files that SQLite
/// keeps beside it, where they are ours.
fn keep_private(path: &Path) {
    for end in ["", "-wal", "-shm", "-journal"] {
        let mut name = path.as_os_str().to_owned();
        name.push(end);
        // A file system without modes is no reason to do without a store.
        let _ = fathom_outputs::tighten(Path::new(&name));
    }
}

/// Settings of every connection.
fn configure(connection: &Connection) -> rusqlite::Result<()> {
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.pragma_update(None, "foreign_keys", true)?;
    // A file may come from somebody else: its schema is data, not code.
    connection.pragma_update(None, "trusted_schema", false)?;
    connection.pragma_update(None, "cell_size_check", true)?;
    connection.pragma_update(None, "temp_store", "MEMORY")
}

/// What decides when data reach the disk; see
/// `docs/decisions/0001-store-durability.md`.
fn set_durability(connection: &Connection) -> rusqlite::Result<()> {
    // Must come before the first table; later it has no effect.
    connection.pragma_update(None, "auto_vacuum", "INCREMENTAL")?;
    // Where the file system offers no shared memory, SQLite stays with a
    // rollback journal: slower, and just as safe.
    connection.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(()))?;
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    connection.query_row(
        &format!("PRAGMA wal_autocheckpoint = {LOG_PAGES}"),
        [],
        |_| Ok(()),
    )?;
    connection.query_row(
        &format!("PRAGMA journal_size_limit = {LOG_BYTES}"),
        [],
        |_| Ok(()),
    )
}

fn open_for_reading(path: &Path, immutable: bool) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = if immutable {
        Connection::open_with_flags(immutable_uri(path), flags | OpenFlags::SQLITE_OPEN_URI)?
    } else {
        Connection::open_with_flags(plain(path), flags)?
    };
    configure(&connection)?;
    // The file is touched only by the first query.
    connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))?;
    Ok(connection)
}

/// A path that SQLite takes for nothing else: `:memory:` and `file:…` mean
/// something to it at the beginning of a name.
fn plain(path: &Path) -> PathBuf {
    if path.is_absolute() {
        path.to_owned()
    } else {
        Path::new(".").join(path)
    }
}

/// A file without a log is complete in itself.
fn may_be_immutable(path: &Path) -> bool {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    !fs::metadata(PathBuf::from(log)).is_ok_and(|log| log.len() > 0)
}

/// `file:` with everything escaped that means something in a URI.
fn immutable_uri(path: &Path) -> String {
    use std::os::unix::ffi::OsStrExt;
    let mut uri = "file:".to_owned();
    for &byte in plain(path).as_os_str().as_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' => {
                uri.push(char::from(byte));
            }
            _ => uri.push_str(&format!("%{byte:02x}")),
        }
    }
    uri.push_str("?immutable=1");
    uri
}

/// SQLite says "unable to open database file" whatever the reason; the
/// operating system knows better.
fn open_error(path: &Path, error: rusqlite::Error) -> Error {
    if error.sqlite_error_code() == Some(rusqlite::ErrorCode::CannotOpen)
        && let Err(reason) = permitted(path, Access::READ_OK | Access::WRITE_OK)
    {
        return from_io(path, &reason);
    }
    from_sqlite(path, error)
}

/// SQLite quietly opens a write-protected file for reading.
fn refuse_read_only(connection: &Connection, path: &Path) -> Result<(), Error> {
    match connection.is_readonly(rusqlite::MAIN_DB) {
        Ok(false) => Ok(()),
        Err(error) => Err(from_sqlite(path, error)),
        Ok(true) => Err(match permitted(path, Access::WRITE_OK) {
            Err(reason) => from_io(path, &reason),
            Ok(()) => Error::ReadOnly {
                path: path.to_owned(),
                detail: "it cannot be opened for writing".to_owned(),
            },
        }),
    }
}

/// Asks without opening the file: closing it would give up every lock that
/// this process holds on it, those of its other connections too
/// (`fcntl(2)`, "Record locking").
fn permitted(path: &Path, access: Access) -> std::io::Result<()> {
    // With the rights that opening would have, not those of the real user.
    rustix::fs::accessat(rustix::fs::CWD, path, access, AtFlags::EACCESS)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lock that SQLite does not wait for: another process fills a new file
    /// that is to get a write-ahead log.
    #[test]
    fn what_sqlite_turns_away_at_once_is_tried_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("fathom.db");
        let other = Connection::open(&path).unwrap();
        let fill = "BEGIN IMMEDIATE; CREATE TABLE half (made)";
        other.execute_batch(fill).unwrap();
        let with_log = {
            let path = path.clone();
            move || -> Result<String, Error> {
                let busy = |error| from_sqlite(&path, error);
                let connection = Connection::open(&path).map_err(busy)?;
                configure(&connection).map_err(busy)?;
                connection
                    .query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0))
                    .map_err(busy)
            }
        };
        assert!(matches!(with_log(), Err(Error::Busy { .. })));
        let opening = std::thread::spawn(move || patiently(with_log));
        std::thread::sleep(4 * OPEN_PAUSE);
        other.execute_batch("ROLLBACK").unwrap();
        assert_eq!(opening.join().unwrap().unwrap(), "wal");
    }

    /// At whatever moment a store is taken away: nothing is written where it
    /// would be lost.
    #[test]
    fn a_store_that_is_taken_away_while_it_is_opened_takes_no_run() {
        let folder = tempfile::tempdir().unwrap();
        for round in 0..40 {
            let path = folder.path().join(format!("{round}.db"));
            let taking = {
                let path = path.clone();
                move || {
                    while !path.exists() {
                        std::hint::spin_loop();
                    }
                    std::thread::sleep(Duration::from_micros(50) * round);
                    fs::rename(&path, path.with_extension("taken")).unwrap();
                }
            };
            let taking = std::thread::spawn(taking);
            let opened = Store::open(&path);
            taking.join().unwrap();
            let begun =
                opened.and_then(|mut store| store.begin_run(&crate::fixtures::meta("taken", 1)));
            assert!(
                matches!(begun, Err(Error::Displaced { .. })),
                "round {round}: {begun:?}"
            );
        }
    }

    #[test]
    fn names_that_mean_something_to_sqlite_are_only_names() {
        assert_eq!(plain(Path::new(":memory:")), Path::new("./:memory:"));
        assert_eq!(plain(Path::new("/a/b")), Path::new("/a/b"));
        assert_eq!(
            immutable_uri(Path::new("file:a?b#c%")),
            "file:./file%3aa%3fb%23c%25?immutable=1"
        );
    }
}
