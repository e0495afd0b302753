//! The command that is run with a drive.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::{Child, Command};
use std::thread::sleep;

use anyhow::Context;
use fathom_console::Exit;

use crate::signals::{LOOK, Signals};

/// Runs the command and gives its status.
pub(crate) fn run(command: &[OsString], path: &Path, signals: &Signals) -> anyhow::Result<Exit> {
    let mut words = command.iter().map(|word| with_path(word, path));
    let program = words.next().unwrap_or_default();
    let mut child = Command::new(&program)
        .args(words)
        .spawn()
        .with_context(|| format!("cannot run {}", program.display()))?;
    let mut passed_on = 0;
    loop {
        if let Some(status) = child.try_wait().context("cannot wait for the command")? {
            return Ok(Exit::of_command(status));
        }
        // The first signal asks the command to end, the second gives up on it:
        // its I/O fails then, and it is left to end by itself.
        let count = signals.count();
        if count > 1 {
            return Ok(Exit::Interrupted);
        }
        if count > passed_on {
            passed_on = count;
            ask_to_end(&child);
        }
        sleep(LOOK);
    }
}

fn with_path(word: &OsStr, path: &Path) -> OsString {
    match (word.to_str(), path.to_str()) {
        (Some(word), Some(path)) => word.replace("{}", path).into(),
        _ => word.to_owned(),
    }
}

fn ask_to_end(child: &Child) {
    let pid = i32::try_from(child.id())
        .ok()
        .and_then(rustix::process::Pid::from_raw);
    if let Some(pid) = pid {
        // It may have ended by now, which is what is wanted.
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
    }
}
