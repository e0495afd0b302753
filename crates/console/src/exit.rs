//! Exit statuses, one meaning each.

use std::error::Error;
use std::io;
use std::process::{ExitCode, ExitStatus};

use fathom_model::verdict::{Fit, Fitness};
use fathom_model::{RunState, Validity};
use fathom_outputs::Refused;

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
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

impl Exit {
    /// The status of a command that was run for the user.
    #[must_use]
    pub fn of_command(status: ExitStatus) -> Exit {
        match status.code() {
            Some(0) => Exit::Success,
            Some(code) => Exit::OfCommand(u8::try_from(code).unwrap_or(1)),
            None => Exit::Interrupted,
        }
    }

    /// The status of a judged run.
    #[must_use]
    pub fn of_run(state: RunState, validity: Validity, strict: bool) -> Exit {
        match (state, validity) {
            (RunState::Failed, _) => Exit::Failure,
            (RunState::Interrupted | RunState::Running, _) => Exit::Interrupted,
            (RunState::Complete, Validity::NotTrusted) => Exit::NotTrusted,
            (RunState::Complete, Validity::Caveats | Validity::NotDetermined) if strict => {
                Exit::Caveats
            }
            (RunState::Complete, _) => Exit::Success,
        }
    }

    /// The status where a target was set. What is worse stays.
    #[must_use]
    pub fn with_fitness(self, fitness: Option<&Fitness>) -> Exit {
        match (self, fitness) {
            (Exit::Success | Exit::Caveats, Some(fitness)) if fitness.outcome != Fit::Met => {
                Exit::TargetNotHeld
            }
            _ => self,
        }
    }
}

impl Exit {
    /// The one of two statuses that says more against the results.
    #[must_use]
    pub fn or_worse(self, other: Exit) -> Exit {
        match other.rank() > self.rank() {
            true => other,
            false => self,
        }
    }

    fn rank(self) -> u32 {
        match self {
            Exit::Success => 0,
            Exit::Caveats | Exit::TargetNotHeld => 1,
            Exit::Slower | Exit::Faster | Exit::Inconclusive | Exit::Alarm => 1,
            Exit::Interrupted => 2,
            Exit::NotTrusted => 3,
            Exit::Failure | Exit::Usage | Exit::OfCommand(_) => 4,
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

/// Whether an error says that a name leads to nothing that can be used: a file
/// that is not there, or a place that may not be written to.
#[must_use]
pub fn is_wrong_name(error: &(dyn Error + 'static)) -> bool {
    if let Some(error) = error.downcast_ref::<io::Error>() {
        return matches!(
            error.kind(),
            io::ErrorKind::NotFound | io::ErrorKind::IsADirectory | io::ErrorKind::NotADirectory
        );
    }
    let refused = error.downcast_ref::<Refused>();
    refused.is_some_and(|refused| !matches!(refused, Refused::Io { .. }))
}
