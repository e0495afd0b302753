//! How far an application has come.

use std::io::Read;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use fathom_observe::GroupLimit;

/// A command that takes longer tells nothing of the moment.
const PATIENCE: Duration = Duration::from_secs(5);
const LOOK_EVERY: Duration = Duration::from_millis(2);
/// More than any number.
const MOST_BYTES: u64 = 4096;

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
    pub(super) fn read(&mut self) -> Result<f64, String> {
        match self {
            Progress::Cpu(group) => group
                .cpu_seconds()
                .ok_or_else(|| format!("the group {} has no CPU time: it ended", group.name())),
            Progress::Command(command) => printed(command),
        }
    }
}

/// The last number that a command prints.
fn printed(command: &str) -> Result<f64, String> {
    let told = |what: String| format!("--progress '{command}': {what}");
    let mut child = fathom_deadline::command("sh")
        .map_err(|error| told(error.to_string()))?
        .args(["-c", command])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| told(error.to_string()))?;
    let ended = wait(&mut child);
    let mut text = String::new();
    if ended.is_some()
        && let Some(out) = child.stdout.take()
    {
        // It has ended: what it printed is in the pipe.
        let _ = out.take(MOST_BYTES).read_to_string(&mut text);
    }
    match ended {
        None => Err(told(format!(
            "it did not end within {} s",
            PATIENCE.as_secs()
        ))),
        Some(false) => Err(told("it failed".to_owned())),
        Some(true) => {
            let last = text.split_whitespace().next_back();
            let number = last.and_then(|word| word.parse::<f64>().ok());
            number.filter(|number| number.is_finite()).ok_or_else(|| {
                let line = text.lines().next().unwrap_or_default();
                let cut: String = line.chars().take(60).collect();
                told(format!("it prints '{cut}', which is no number"))
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
        assert_eq!(printed("echo transactions 42.5"), Ok(42.5));
        let why = printed("echo none").unwrap_err();
        assert!(why.contains("which is no number"), "{why}");
        assert!(printed("echo 5; exit 3").unwrap_err().contains("it failed"));
        assert!(printed("echo NaN").is_err());
    }
}
