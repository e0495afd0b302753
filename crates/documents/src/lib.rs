//! Files that a user hands in to be looked at: recordings of hosts, dumps of
//! clusters, results of benchmarks, descriptions of services.
//!
//! Each is recognised by its content, whichever tool wrote it, and read through the
//! room that knows its format.

mod ceilings;
mod contents;
mod dumps;
mod error;
mod numbers;
mod recordings;
mod text;

pub use crate::ceilings::{Measured, ceilings_of, measured, nearest};
pub use crate::contents::{contents, listing};
pub use crate::dumps::{cluster_of, gluster_profile};
pub use crate::error::DocumentError;
pub use crate::numbers::{Numbers, numbers};
pub use crate::recordings::{load_and_test, one_recording, recordings};
pub use crate::text::{TextError, read};
