//! Where events of a run go, and how it ended.

use std::path::Path;

use fathom_engine::FileIdentity;
use fathom_model::RunState;
use fathom_model::run::TrialRecord;

use crate::protocol::message::Event;

/// Why results can no longer be kept, in the words of what keeps them.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct SinkError(pub String);

/// Where everything that happens goes: the store, the progress line.
pub trait Sink {
    /// Handles one event. An error ends the run; what was measured is kept.
    fn event(&mut self, event: Event) -> Result<(), SinkError>;

    /// Whether an earlier run made this very file, by a name that the user
    /// chose.
    fn made(&mut self, _path: &Path, _identity: &FileIdentity) -> bool {
        false
    }

    /// Gives back the series of a trial that has just ended, for a conductor that
    /// looks at them. False where they are not kept here: then they are kept in
    /// memory while the trial runs.
    fn recall(&mut self, _trial: &mut TrialRecord) -> bool {
        false
    }

    /// Whether [`Sink::recall`] gives series back.
    fn recalls(&self) -> bool {
        false
    }
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// How far it came.
    pub state: RunState,
    /// Why it ended early.
    pub reason: Option<String>,
    /// It could not begin because a target is not there.
    pub no_such_target: bool,
}
