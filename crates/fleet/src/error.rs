//! Why a run could not go on.

use crate::coordinator::sink::SinkError;

/// A failure of the fleet itself; failures of one trial are part of its
/// result instead.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A thread could not be started.
    #[error("cannot start the agent thread: {0}; check the limit on processes (ulimit -u)")]
    Spawn(#[source] std::io::Error),
    /// The agent died without a word.
    #[error("the agent stopped unexpectedly in trial {trial}; what it measured until then is kept")]
    AgentLost {
        /// Index of the trial.
        trial: u32,
    },
    /// It was to end and hangs in its target.
    #[error(
        "an operation on the target of trial {trial} does not return, and was left behind; what \
         was measured until then is kept"
    )]
    AgentHangs {
        /// Index of the trial.
        trial: u32,
    },
    /// Whoever keeps the results gave up.
    #[error(transparent)]
    Sink(SinkError),
}
