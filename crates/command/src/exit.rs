//! The exit status of what could not go on.

use std::fmt;

pub(crate) use fathom_console::Exit;
use fathom_documents::DocumentError;
use fathom_model::Target;
use fathom_plan::Diagnostics;
use fathom_runs::plan_file::PlanError;
use fathom_runs::shown::UnknownFormat;
pub(crate) use fathom_runs::{EndedByUser, NothingMeasured, RequestError};

use crate::output_flags::Color;
use crate::present;

/// Why a command cannot do what it was asked to.
#[derive(Debug)]
pub(crate) enum CommandError {
    /// What was typed, and what to type instead.
    Usage(String),
    /// Several mistakes, one message each.
    Several(Vec<String>),
    /// A plan with mistakes, each with its place.
    Plan(PlanError),
}

impl CommandError {
    /// The words of what was typed wrongly.
    pub(crate) fn usage(problem: impl fmt::Display) -> CommandError {
        CommandError::Usage(problem.to_string())
    }

    /// What is wrong with the thing that has this name.
    pub(crate) fn about<E: fmt::Display>(name: impl fmt::Display) -> impl Fn(E) -> CommandError {
        move |problem| CommandError::Usage(format!("{name}: {problem}"))
    }

    /// The mistakes of a plan, in the colour of the command.
    pub(crate) fn plan(problems: Diagnostics, color: Color) -> CommandError {
        CommandError::Plan(PlanError::new(problems, color))
    }
}

/// What a parser says is about what was typed.
impl From<String> for CommandError {
    fn from(problem: String) -> CommandError {
        CommandError::Usage(problem)
    }
}

impl From<PlanError> for CommandError {
    fn from(error: PlanError) -> CommandError {
        CommandError::Plan(error)
    }
}

/// Errors of the rooms below that are about what was typed or named.
macro_rules! usage {
    ($($error:ty),* $(,)?) => {
        $(impl From<$error> for CommandError {
            fn from(error: $error) -> CommandError {
                CommandError::usage(error)
            }
        })*
    };
}

usage!(
    fathom_compat::results::ResultError,
    fathom_compat::at_io::SettingError,
    fathom_compat::results::TextError,
    fathom_deadline::NotResponding,
    fathom_model::target::TargetError,
    fathom_runs::calibrate::CalibrationError,
    RequestError,
);

/// Each of several mistakes gets a line of its own.
impl From<DocumentError> for CommandError {
    fn from(error: DocumentError) -> CommandError {
        match error {
            DocumentError::Several(problems) => {
                CommandError::Several(problems.iter().map(ToString::to_string).collect())
            }
            error => CommandError::usage(error),
        }
    }
}

impl fmt::Display for CommandError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CommandError::Usage(problem) => f.write_str(problem),
            CommandError::Several(problems) => f.write_str(&problems.join("\n")),
            CommandError::Plan(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for CommandError {}

/// Tells the user why a command could not go on.
pub(crate) fn tell(error: &anyhow::Error) {
    if let Some(error) = error.downcast_ref() {
        return tell_of_plan(error);
    }
    match error.downcast_ref() {
        Some(CommandError::Plan(error)) => tell_of_plan(error),
        Some(CommandError::Several(problems)) => {
            for problem in problems {
                fail(problem);
            }
        }
        _ => fail(&format!("{error:#}")),
    }
}

/// One reason why a command could not go on, in the form of all errors.
pub(crate) fn fail(text: &str) {
    present::fail(text, present::use_color(Color::Auto, &std::io::stderr()));
}

fn tell_of_plan(PlanError { problems, color }: &PlanError) {
    let color = present::use_color(*color, &std::io::stderr());
    present::write_styled_stderr(&problems.render(color));
}

/// Whether a target is a path at which nothing is, or a simulated drive that there
/// is not.
pub(crate) fn is_missing(target: &Target) -> bool {
    if let Target::Sim(model) = target {
        return fathom_drives::open_drive(model, 0).is_err_and(|error| error.is_wrong_name());
    }
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
        return error.is_wrong_name();
    }
    if let Some(error) = error.downcast_ref::<fathom_drives::Error>() {
        return error.is_wrong_name();
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
    let usage = error.is::<CommandError>() || error.is::<RequestError>();
    if usage || error.is::<PlanError>() || error.is::<UnknownFormat>() {
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
