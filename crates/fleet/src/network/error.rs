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
    /// A port that is not a number.
    #[error(
        "'{host}' is not a host: expected a port up to 65535 behind the colon\nhelp: type a name \
         or an address, as in node2 or node2:{}",
        super::DEFAULT_PORT
    )]
    Port {
        /// What was typed.
        host: String,
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
    /// It was there and says nothing any more.
    #[error("{address} is not responding (waited {} s)", waited.as_secs())]
    Mute {
        /// The address.
        address: String,
        /// For how long.
        waited: Duration,
    },
    /// Somebody else answers, or another version.
    #[error("{address} is not a server of this version of fathom: {reason}")]
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

impl NetError {
    /// There is no thread for what was to be done.
    pub(super) fn unstarted(source: io::Error) -> NetError {
        NetError::Here {
            what: "no thread could be started (see ulimit -u, and the pids limit of the container)"
                .to_owned(),
            source,
        }
    }
}

/// Why something is not done for which a thread was needed.
pub(super) fn no_thread(error: &io::Error) -> String {
    format!(
        "no thread could be started: {error}; raise the limit of processes (ulimit -u, the pids \
         limit of the container)"
    )
}
