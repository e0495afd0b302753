//! Transactions, and when they reach the disk; see
//! `docs/decisions/0001-store-durability.md`.

use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use rusqlite::{Transaction, TransactionBehavior};

use crate::error::from_sqlite;
use crate::{Error, Store};

impl Store {
    /// Runs `work` in a transaction that takes the write lock at once, so that
    /// it waits at its start or never.
    pub(crate) fn transaction<T>(
        &mut self,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        self.is_in_place()?;
        let transaction = self
            .connection
            .transaction_with_behavior(TransactionBehavior::Immediate)?;
        let done = work(&transaction)?;
        transaction.commit()?;
        Ok(done)
    }

    /// Runs `work` so that its commits wait for the disk.
    pub(crate) fn durably<T>(
        &mut self,
        work: impl FnOnce(&mut Store) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let set = |store: &Store, level: &str| {
            store
                .connection
                .pragma_update(None, "synchronous", level)
                .map_err(|error| store.error(error))
        };
        set(self, "FULL")?;
        // No `?` here: a store left at this level would wait for the disk once a second
        // for the rest of its life.
        let done = work(self);
        set(self, "NORMAL")?;
        done
    }

    /// Moves the log into the file and both to the disk, as far as readers
    /// allow. What cannot be moved now stays in the log and is not lost.
    pub(crate) fn checkpoint(&self) {
        let _ = self
            .connection
            .query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()));
    }
}

/// An error inside a transaction: of the database, or of this crate.
#[derive(Debug)]
pub(crate) enum Failure {
    Sqlite(rusqlite::Error),
    Own(Error),
}

impl From<rusqlite::Error> for Failure {
    fn from(error: rusqlite::Error) -> Self {
        Failure::Sqlite(error)
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Failure::Own(error)
    }
}

impl Failure {
    pub(crate) fn into_error(self, path: &Path) -> Error {
        match self {
            Failure::Sqlite(error) => from_sqlite(path, error),
            Failure::Own(error) => error,
        }
    }
}

/// The wall clock, for the catalogue only.
#[expect(
    clippy::disallowed_methods,
    reason = "the date of an entry; the store does not know the host's readers"
)]
pub(crate) fn unix_ns() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_nanos() as u64)
}
