//! Why a host cannot be used.

use std::io;

use crate::launchers::LaunchError;
use crate::protocol::frame::FrameError;
use crate::protocol::reason::Reason;
use crate::protocol::wire::GreetingError;
use crate::thread::ThreadError;
use crate::transport::ConnectionError;

/// Why a host cannot be used, or does not answer what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum HostError {
    /// There is no agent on it.
    #[error(transparent)]
    Launch(#[from] LaunchError),
    /// The connection to its agent.
    #[error(transparent)]
    Connection(#[from] ConnectionError),
    /// The connection, in the words of what carries it.
    #[error("{0}")]
    Carrier(String),
    /// Something else answers than an agent of this version.
    #[error(transparent)]
    Greeting(#[from] GreetingError),
    /// No thread here to listen to it.
    #[error(transparent)]
    Thread(#[from] ThreadError),
    /// Its agent, in its words.
    #[error(transparent)]
    Refused(#[from] Reason),
    /// An agent begins with what it is.
    #[error("it does not say who it is")]
    Anonymous,
    /// An answer to another question.
    #[error("it answers something else")]
    OtherAnswer,
    /// The connection ended before it was asked.
    #[error("the connection broke")]
    Gone,
    /// The connection ended before it had answered, and why.
    #[error("{0}")]
    Lost(String),
    /// No answer for a while.
    #[error("it says nothing")]
    Silent,
    /// There was no thread to ask it.
    #[error("it could not be asked")]
    NotAsked,
    /// It is not in the run.
    #[error("the host is missing")]
    Missing,
    /// It serves where nobody can reach it.
    #[error("none of its addresses is known")]
    NoAddress,
}

impl From<FrameError> for HostError {
    fn from(error: FrameError) -> HostError {
        HostError::Connection(ConnectionError::Frame(error))
    }
}

impl HostError {
    /// What could not be sent to it.
    pub(crate) fn unsent(error: io::Error) -> HostError {
        HostError::Connection(ConnectionError::Unsent(error))
    }
}

/// A host that cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("{host}: {error}")]
pub struct UnreachableHost {
    /// The host, as the user named it.
    pub host: String,
    /// What is wrong with it.
    pub error: HostError,
}
