//! Exit statuses, one meaning each.

use std::fmt;
use std::process::ExitCode;

use fathom_model::verdict::{Fit, Fitness};
use fathom_model::{RunState, Validity};

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Done; a result is trusted, or has caveats and nobody asked to be strict.
    Success,
    /// Could not be done.
    Failure,
    /// Called wrongly: flags, plan, names.
    Usage,
    /// The result has caveats, and `--strict` was given.
    Caveats,
    /// The result is not trusted.
    NotTrusted,
    /// Ended early; what was measured is kept.
    Interrupted,
    /// A target was set and is not proven to be held.
    TargetNotHeld,
    /// What a command that fathom ran for the user ended with.
    OfCommand(u8),
    /// Of a comparison: B is slower, and that was to fail.
    Slower,
    /// B is faster, and any difference was to fail.
    Faster,
    /// Neither a difference nor its absence is proved, and that was to fail.
    Inconclusive,
    /// An alarm fires.
    Alarm,
}

/// An error that is the user's own wish: Ctrl-C before anything was measured.
#[derive(Debug)]
pub(crate) struct EndedByUser(pub(crate) String);

impl fmt::Display for EndedByUser {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for EndedByUser {}

impl Exit {
    /// The status of a command that could not go on.
    pub(crate) fn of_error(error: &anyhow::Error) -> Exit {
        match error.is::<EndedByUser>() {
            true => Exit::Interrupted,
            false => Exit::Failure,
        }
    }

    /// The status of a judged run.
    pub(crate) fn of_run(state: RunState, validity: Validity, strict: bool) -> Exit {
        match (state, validity) {
            (RunState::Failed, _) => Exit::Failure,
            (RunState::Interrupted | RunState::Running, _) => Exit::Interrupted,
            (RunState::Complete, Validity::NotTrusted) => Exit::NotTrusted,
            (RunState::Complete, Validity::Caveats) if strict => Exit::Caveats,
            (RunState::Complete, Validity::Caveats | Validity::Trusted) => Exit::Success,
        }
    }

    /// The status where a target was set. What is worse stays.
    pub(crate) fn with_fitness(self, fitness: Option<&Fitness>) -> Exit {
        match (self, fitness) {
            (Exit::Success | Exit::Caveats, Some(fitness)) if fitness.outcome != Fit::Met => {
                Exit::TargetNotHeld
            }
            _ => self,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(match exit {
            Exit::Success => 0,
            Exit::Failure => 1,
            Exit::Usage => 2,
            Exit::Caveats => 3,
            Exit::NotTrusted => 4,
            Exit::Interrupted => 5,
            Exit::TargetNotHeld => 6,
            Exit::OfCommand(status) => status,
            Exit::Slower => 7,
            Exit::Faster => 8,
            Exit::Inconclusive => 9,
            Exit::Alarm => 10,
        })
    }
}
