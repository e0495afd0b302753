//! The exit status of what could not go on.

use std::fmt;

pub(crate) use fathom_console::Exit;
use fathom_model::Target;
use fathom_plan::Diagnostics;

use crate::output_flags::Color;
use crate::present;

/// Why a command cannot do what it was asked to.
#[derive(Debug)]
pub(crate) enum CommandError {
    /// What was typed, and what to type instead.
    Usage(String),
    /// A plan with mistakes, each with its place.
    Plan {
        problems: Box<Diagnostics>,
        color: Color,
    },
}

impl CommandError {
    /// The words of what was typed wrongly.
    pub(crate) fn usage(problem: impl fmt::Display) -> CommandError {
        CommandError::Usage(problem.to_string())
    }

    /// The mistakes of a plan, in the colour of the command.
    pub(crate) fn plan(problems: Diagnostics, color: Color) -> CommandError {
        CommandError::Plan {
            problems: Box::new(problems),
            color,
        }
    }
}

/// What a parser says is about what was typed.
impl From<String> for CommandError {
    fn from(problem: String) -> CommandError {
        CommandError::Usage(problem)
    }
}

impl fmt::Display for CommandError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CommandError::Usage(problem) => f.write_str(problem),
            CommandError::Plan { problems, .. } => f.write_str(&problems.render(false)),
        }
    }
}

impl std::error::Error for CommandError {}

/// Tells the user why a command could not go on.
pub(crate) fn tell(error: &anyhow::Error) {
    if let Some(CommandError::Plan { problems, color }) = error.downcast_ref() {
        let color = present::use_color(*color, &std::io::stderr());
        present::write_stderr(&problems.render(color));
    } else {
        present::complain(&format!("{error:#}"));
    }
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
    if fathom_console::is_wrong_name(error) {
        return true;
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

/// The status of a command that could not go on: [`Exit::Usage`] where a name
/// that the user gave is the reason.
pub(crate) fn of_error(error: &anyhow::Error) -> Exit {
    if error.is::<CommandError>() {
        return Exit::Usage;
    }
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
