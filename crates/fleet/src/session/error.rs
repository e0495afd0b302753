//! Why a session with a coordinator ended before its time.

use crate::admission::AdmissionError;
use crate::launchers::call_back::CallBackError;
use crate::protocol::frame::FrameError;
use crate::protocol::wire::GreetingError;
use crate::thread::ThreadError;
use crate::transport::ConnectionError;

/// What ended a session, or kept it from beginning.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// The other side is not a coordinator of this version.
    #[error(transparent)]
    Greeting(#[from] GreetingError),
    /// The connection.
    #[error(transparent)]
    Connection(#[from] ConnectionError),
    /// No thread for the run.
    #[error(transparent)]
    Thread(#[from] ThreadError),
    /// A message that no agent accepts.
    #[error(transparent)]
    Inadmissible(#[from] InadmissibleMessage),
    /// Commands belong to a run.
    #[error("a command before a run has begun")]
    NoRun,
    /// An agent carries out one run.
    #[error("a second run while one is under way")]
    SecondRun,
    /// Files of the run would be taken for leftovers.
    #[error("cleaning up while a run is under way")]
    CleanDuringRun,
    /// A coordinator waits for the end of each.
    #[error("more than {limit} commands wait")]
    TooManyCommands {
        /// How many may wait.
        limit: usize,
    },
    /// Its thread is gone.
    #[error("the agent ended unexpectedly")]
    AgentEnded,
    /// Nobody is at any of the addresses of an invitation.
    #[error("no coordinator answers at {addresses}")]
    NoCoordinator {
        /// Those that were tried.
        addresses: String,
    },
    /// The coordinator that was called does not want this agent, or is not one.
    #[error("{address}: {cause}")]
    CallBack {
        /// The last address that was tried.
        address: String,
        /// What went wrong there.
        cause: CallBackError,
    },
}

/// What is wrong with a message of a coordinator.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct InadmissibleMessage(AdmissionError);

impl From<AdmissionError> for SessionError {
    fn from(error: AdmissionError) -> SessionError {
        SessionError::Inadmissible(InadmissibleMessage(error))
    }
}

impl From<FrameError> for SessionError {
    fn from(error: FrameError) -> SessionError {
        SessionError::Connection(ConnectionError::Frame(error))
    }
}
