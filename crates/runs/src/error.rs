//! Why a run cannot begin, or has nothing to show.

use std::fmt;

/// A run that cannot be carried out as it was typed.
#[derive(Debug, thiserror::Error)]
pub enum RequestError {
    /// One host alone was to wait for files that another one creates.
    #[error(
        "await_create needs two hosts at least (--hosts): the first one creates the files, the \
         others wait for them"
    )]
    AwaitsOtherHosts,
    /// Two targets are one under different names.
    #[error("{first} and {second} are the same {what}: name each target once")]
    SameTarget {
        /// The one named first.
        first: String,
        /// The other one.
        second: String,
        /// File, directory or device.
        what: &'static str,
    },
    /// No launcher has this name.
    #[error("'{0}' is not a launcher: ssh, static, slurm or mpi")]
    UnknownLauncher(String),
    /// Each store of a configuration of GOSBench has keys of its own, and others are used.
    #[error(
        "the configuration has keys for {stores} stores and {endpoints} endpoints are named; say \
         whose keys sign at each, for example --endpoint http://a:9000=profile:one"
    )]
    KeysOfStores {
        /// Stores of the configuration.
        stores: usize,
        /// Endpoints that were named.
        endpoints: usize,
    },
}

/// An error that is the user's own wish: Ctrl-C before anything was measured.
#[derive(Debug)]
pub struct EndedByUser(pub String);

impl fmt::Display for EndedByUser {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for EndedByUser {}

/// A run that failed before anything was measured. It is not stored.
#[derive(Debug)]
pub struct NothingMeasured {
    /// Why, and what stays behind.
    pub reason: String,
    /// The target that was named is not there.
    pub no_such_target: bool,
    /// Other trials of the schedule could have run.
    pub is_partial: bool,
}

impl From<fathom_fleet::ScheduleRefusal> for NothingMeasured {
    fn from(refused: fathom_fleet::ScheduleRefusal) -> NothingMeasured {
        NothingMeasured {
            reason: refused.to_string(),
            no_such_target: refused.no_such_target,
            is_partial: refused.is_partial(),
        }
    }
}

impl fmt::Display for NothingMeasured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reason)
    }
}

impl std::error::Error for NothingMeasured {}
