//! Runs in one SQLite file: what was planned, what was measured, how far it
//! came. This is the only room of fathom that knows SQL.
//!
//! The catalogue (runs, trials, files) lies in rows that `sqlite3` can query;
//! the series lie in versioned, compressed, checksummed blobs. Every
//! [`Store::append`] is one transaction, so a process that is killed loses at
//! most the interval that it had not handed over yet; the next one that opens
//! the store finds the run as `interrupted`. How the store keeps off the disk
//! that is being measured is written down in
//! `docs/decisions/0001-store-durability.md`.
//!
//! Several processes may use one store at the same time, on one machine. The
//! file must not lie on a network file system that is written from several
//! machines at once (<https://sqlite.org/wal.html>, "all processes using a
//! database must be on the same host computer").
//!
//! Nothing here looks for secrets: [`fathom_model::RunMeta::command_line`] and
//! `plan_yaml` are stored as they are handed over. Whoever fills them leaves
//! keys, tokens and passwords out.
//!
//! ```
//! # use fathom_store::Store;
//! let store = Store::in_memory()?;
//! assert!(store.list(None)?.is_empty());
//! # Ok::<(), fathom_store::Error>(())
//! ```

mod catalogue;
mod closing;
mod coarse;
mod codec;
mod collected;
mod compact;
mod earlier_network;
mod error;
pub mod export;
mod files;
pub mod import;
mod load;
mod location;
mod notes;
mod open;
mod owner;
mod recover;
mod rows;
mod schema;
mod transaction;
mod trials;
mod write;

pub use catalogue::RunListing;
pub use codec::CodecError;
pub use collected::{Added, Collected};
pub use error::Error;
pub use files::Leftover;
pub use load::LoadedRun;
pub use location::default_path;
pub use notes::StoredDigest;
pub use open::Store;
pub use trials::{TrialBegin, TrialProgress};
pub use write::{RunKey, TrialKey};

#[cfg(test)]
mod fixtures;

#[cfg(test)]
mod store_tests;

#[cfg(test)]
mod damage_tests;
