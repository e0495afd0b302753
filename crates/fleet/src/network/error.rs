//! Why a network could not be measured.

use std::io;
use std::time::Duration;

/// A failure between two hosts.
#[derive(Debug, thiserror::Error)]
pub enum NetError {
    /// A name that is no address.
    #[error("'{host}' cannot be found: {reason}")]
    Name {
        /// The name.
        host: String,
        /// What the resolver said.
        reason: String,
    },
    /// Nobody answers.
    #[error(
        "{address} does not answer: {source}; is `fathom net serve` running there, and does the \
         firewall let its port through?"
    )]
    Unreachable {
        /// The address.
        address: String,
        /// What happened.
        source: io::Error,
    },
    /// The server does not want to.
    #[error("{address} refuses: {reason}")]
    Refused {
        /// The server.
        address: String,
        /// Its reason.
        reason: String,
    },
    /// It takes the connection and says nothing.
    #[error("{address} takes the connection and is not responding (waited {} s)", waited.as_secs())]
    Silent {
        /// The address.
        address: String,
        /// For how long.
        waited: Duration,
    },
    /// Somebody else answers, or another version.
    #[error("{address} is no server of this version of fathom: {reason}")]
    Foreign {
        /// The address.
        address: String,
        /// What came.
        reason: String,
    },
    /// The connection broke.
    #[error("the connection to {address} broke: {source}")]
    Broken {
        /// The address.
        address: String,
        /// What happened.
        source: io::Error,
    },
    /// Something on this host.
    #[error("{what}: {source}")]
    Here {
        /// What was tried.
        what: String,
        /// What happened.
        source: io::Error,
    },
    /// Somebody asked for the end.
    #[error("interrupted")]
    Interrupted,
}
