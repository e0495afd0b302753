//! The commands that set up the sides.

use std::io;
use std::process::{ExitStatus, Stdio};

use fathom_model::secret::masked_command;

/// Why a side is not set up.
#[derive(Debug, thiserror::Error)]
#[error("the command of --before-{side} {problem}: {command}")]
pub(super) struct SetUpError {
    /// In lower case.
    side: char,
    problem: SetUpProblem,
    /// Without its secrets.
    command: String,
}

/// What became of its command.
#[derive(Debug, thiserror::Error)]
enum SetUpProblem {
    #[error("ended with {0}")]
    Ended(ExitStatus),
    #[error("could not be run: {0}")]
    NotRun(io::Error),
}

/// Runs the command of a side in a shell. What it prints goes to standard error,
/// which is not the result.
pub(super) fn set_up(side: char, command: &str) -> Result<(), SetUpError> {
    let status = fathom_deadline::command("sh").and_then(|mut shell| {
        shell
            .args(["-c", command])
            .env("FATHOM_SIDE", side.to_string())
            .stdin(Stdio::null())
            .stdout(Stdio::from(io::stderr()))
            .status()
    });
    let problem = match status {
        Ok(status) if status.success() => return Ok(()),
        Ok(status) => SetUpProblem::Ended(status),
        Err(error) => SetUpProblem::NotRun(error),
    };
    Err(SetUpError {
        side: side.to_ascii_lowercase(),
        problem,
        command: masked_command(command),
    })
}
