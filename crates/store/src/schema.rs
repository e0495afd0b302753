//! The tables, and how an older file becomes a current one.
//!
//! Catalogue facts are columns, so that `sqlite3` can query them; what only
//! fathom reads is JSON or a blob. States are the words of `RunState`.

use std::path::Path;

use rusqlite::{Connection, TransactionBehavior};

use crate::Error;
use crate::error::from_sqlite;

/// Marks the file as a fathom store (`PRAGMA application_id`): "fthm".
pub(crate) const APPLICATION_ID: i32 = 0x6674_686d;

/// Each script takes a file from the schema version that is its index to the
/// next one. Scripts are never changed once released, only added.
const MIGRATIONS: &[&str] = &[
    include_str!("schema/0001.sql"),
    include_str!("schema/0002.sql"),
    include_str!("schema/0003.sql"),
];

/// The schema version that this build writes.
pub(crate) const SCHEMA: u32 = MIGRATIONS.len() as u32;

/// What a file says about itself.
struct Identity {
    application_id: i32,
    schema: i64,
    objects: u32,
}

/// Reads all of it in one statement: between two of them another process may
/// fill the file.
fn identity(connection: &Connection) -> rusqlite::Result<Identity> {
    connection.query_row(
        "SELECT application_id, user_version, (SELECT count(*) FROM sqlite_schema)
         FROM pragma_application_id, pragma_user_version",
        [],
        |row| {
            Ok(Identity {
                application_id: row.get(0)?,
                schema: row.get(1)?,
                objects: row.get(2)?,
            })
        },
    )
}

/// Refuses a file that is not ours, without changing it. Returns whether it
/// still has to be filled or migrated.
pub(crate) fn check(connection: &Connection, path: &Path) -> Result<bool, Error> {
    let found = identity(connection).map_err(|error| from_sqlite(path, error))?;
    let empty = found.application_id == 0 && found.schema == 0 && found.objects == 0;
    if !empty && found.application_id != APPLICATION_ID {
        return Err(Error::Foreign {
            path: path.to_owned(),
            what: "it is the database of another program".to_owned(),
        });
    }
    let schema = u32::try_from(found.schema).map_err(|_| Error::Corrupt {
        path: path.to_owned(),
        detail: format!("{} is not a version of its schema", found.schema),
    })?;
    if schema > SCHEMA {
        return Err(Error::NewerSchema {
            path: path.to_owned(),
            found: schema,
            known: SCHEMA,
        });
    }
    if schema == 0 && found.objects > 0 {
        return Err(Error::Corrupt {
            path: path.to_owned(),
            detail: "it has tables and no version of its schema".to_owned(),
        });
    }
    Ok(schema < SCHEMA)
}

/// Whether a statement failed because of the tables that are there, not because
/// of the disk or another process.
fn is_about_tables(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(rusqlite::ErrorCode::Unknown)
}

/// Brings the file to the current schema, in one transaction. Another process
/// may do the same at the same time; the second one finds the work done.
pub(crate) fn migrate(connection: &mut Connection, path: &Path) -> Result<(), Error> {
    let step = |connection: &mut Connection| -> rusqlite::Result<Option<Error>> {
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        if let Err(error) = check(&transaction, path) {
            return Ok(Some(error));
        }
        let from = usize::try_from(identity(&transaction)?.schema).unwrap_or(MIGRATIONS.len());
        for script in MIGRATIONS.iter().skip(from) {
            match transaction.execute_batch(script) {
                Err(error) if is_about_tables(&error) => {
                    return Ok(Some(Error::Corrupt {
                        path: path.to_owned(),
                        detail: format!(
                            "its tables are not those of version {from} of its schema ({error})"
                        ),
                    }));
                }
                done => done?,
            }
        }
        transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
        transaction.pragma_update(None, "user_version", SCHEMA)?;
        transaction.commit()?;
        Ok(None)
    };
    match step(connection).map_err(|error| from_sqlite(path, error))? {
        Some(error) => Err(error),
        None => Ok(()),
    }
}
