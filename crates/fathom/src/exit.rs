//! Exit statuses, one meaning each.

use std::fmt;
use std::process::ExitCode;

use fathom_model::verdict::{Fit, Fitness};
use fathom_model::{RunState, Target, Validity};
use fathom_outputs::Refused;

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

/// A run that failed before anything was measured. It is not stored.
#[derive(Debug)]
pub(crate) struct NothingMeasured {
    /// Why, and what stays behind.
    pub(crate) reason: String,
    /// The target that was named is not there.
    pub(crate) no_such_target: bool,
    /// Other trials of the schedule could have run.
    pub(crate) is_partial: bool,
}

impl From<fathom_fleet::Refused> for NothingMeasured {
    fn from(refused: fathom_fleet::Refused) -> NothingMeasured {
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

/// Whether a target is a path at which nothing is.
pub(crate) fn is_missing(target: &Target) -> bool {
    let missing = |error: std::io::Error| error.kind() == std::io::ErrorKind::NotFound;
    target
        .path()
        .is_some_and(|path| fathom_deadline::paths::symlink_metadata(path).is_err_and(missing))
}

/// Whether an error says that a name leads to nothing that can be used: a file,
/// target or run that is not there, or a place that may not be written to.
fn is_wrong_name(error: &(dyn std::error::Error + 'static)) -> bool {
    use fathom_store::Error as Stored;
    if let Some(error) = error.downcast_ref::<std::io::Error>() {
        return error.kind() == std::io::ErrorKind::NotFound;
    }
    if let Some(error) = error.downcast_ref::<Refused>() {
        return !matches!(error, Refused::Io { .. });
    }
    if let Some(error) = error.downcast_ref::<fathom_engine::Error>() {
        return matches!(error, fathom_engine::Error::Missing { .. });
    }
    matches!(
        error.downcast_ref(),
        Some(
            Stored::Missing { .. }
                | Stored::NotAFile { .. }
                | Stored::NoSuchRun { .. }
                | Stored::Ambiguous { .. }
        )
    )
}

impl Exit {
    /// The status of a command that could not go on: [`Exit::Usage`] where a name
    /// that the user gave is the reason.
    pub(crate) fn of_error(error: &anyhow::Error) -> Exit {
        if error.is::<EndedByUser>() {
            return Exit::Interrupted;
        }
        if let Some(nothing) = error.downcast_ref::<NothingMeasured>() {
            return match nothing.no_such_target {
                true => Exit::Usage,
                false => Exit::Failure,
            };
        }
        match error.chain().any(is_wrong_name) {
            true => Exit::Usage,
            false => Exit::Failure,
        }
    }

    /// The status of a judged run.
    pub(crate) fn of_run(state: RunState, validity: Validity, strict: bool) -> Exit {
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
