//! How far an application has come.

use std::io::{self, Read};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use fathom_observe::GroupLimit;

/// A command that takes longer tells nothing of the moment.
const PATIENCE: Duration = Duration::from_secs(5);
const LOOK_EVERY: Duration = Duration::from_millis(2);
/// More than any number.
const MOST_BYTES: u64 = 4096;

/// Why it is not known how far an application has come.
#[derive(Debug, thiserror::Error)]
pub enum ProgressError {
    /// Its group is gone.
    #[error("the group {0} has no CPU time: it ended")]
    Ended(String),
    /// The command of the user does not say it.
    #[error("--progress '{command}': {problem}")]
    Command {
        /// Without its secrets.
        command: String,
        /// What is wrong with it.
        problem: CommandProblem,
    },
}

/// What is wrong with a command that is to print a number.
#[derive(Debug, thiserror::Error)]
pub enum CommandProblem {
    /// It cannot be started.
    #[error("{0}")]
    NotStarted(#[from] io::Error),
    /// It takes too long.
    #[error("it did not end within {} s", PATIENCE.as_secs())]
    Late,
    /// It ended with a status.
    #[error("it failed")]
    Failed,
    /// It prints something else.
    #[error("it prints '{0}', which is not a number")]
    NoNumber(String),
}

/// Where progress is read.
#[derive(Debug)]
pub(super) enum Progress {
    /// CPU time of the group.
    Cpu(GroupLimit),
    /// A command of the user that prints a number.
    Command(String),
}

impl Progress {
    pub(super) fn new(command: Option<&str>, group: GroupLimit) -> Progress {
        match command {
            Some(command) => Progress::Command(command.to_owned()),
            None => Progress::Cpu(group),
        }
    }

    /// For people; the command itself may hold what is nobody's business.
    pub(super) fn words(by_command: bool) -> &'static str {
        match by_command {
            true => "what --progress prints",
            false => "CPU time of the group",
        }
    }

    /// A number that only grows.
    pub(super) fn read(&mut self) -> Result<f64, ProgressError> {
        match self {
            Progress::Cpu(group) => group
                .cpu_seconds()
                .ok_or_else(|| ProgressError::Ended(group.name().to_owned())),
            Progress::Command(command) => {
                printed(command).map_err(|problem| ProgressError::Command {
                    command: fathom_model::secret::masked_command(command),
                    problem,
                })
            }
        }
    }
}

/// The last number that a command prints.
fn printed(command: &str) -> Result<f64, CommandProblem> {
    let mut child = fathom_deadline::command("sh")?
        .args(["-c", command])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let ended = wait(&mut child);
    let mut text = String::new();
    if ended.is_some()
        && let Some(out) = child.stdout.take()
    {
        // It has ended: what it printed is in the pipe.
        let _ = out.take(MOST_BYTES).read_to_string(&mut text);
    }
    match ended {
        None => Err(CommandProblem::Late),
        Some(false) => Err(CommandProblem::Failed),
        Some(true) => {
            let last = text.split_whitespace().next_back();
            let number = last.and_then(|word| word.parse::<f64>().ok());
            number.filter(|number| number.is_finite()).ok_or_else(|| {
                let line = text.lines().next().unwrap_or_default();
                CommandProblem::NoNumber(line.chars().take(60).collect())
            })
        }
    }
}

/// Whether it ended well; nothing when it does not end.
fn wait(child: &mut Child) -> Option<bool> {
    let end = Instant::now() + PATIENCE;
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Some(status.success()),
            Ok(None) if Instant::now() < end => std::thread::sleep(LOOK_EVERY),
            Ok(None) | Err(_) => {
                let _ = child.kill();
                let _ = child.wait();
                return None;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_number_counts() {
        assert_eq!(printed("echo transactions 42.5").unwrap(), 42.5);
        let told = printed("echo none").unwrap_err().to_string();
        assert_eq!(told, "it prints 'none', which is not a number");
        let failed = printed("echo 5; exit 3");
        assert!(matches!(failed, Err(CommandProblem::Failed)));
        assert!(printed("echo NaN").is_err());
    }
}
