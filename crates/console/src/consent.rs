//! Asks before something is done to a host that its users feel.

use std::io::{BufRead, IsTerminal, stderr, stdin};

use crate::streams::write_stderr;

/// Whether somebody can be asked: a question can be read and answered.
#[must_use]
pub fn can_ask() -> bool {
    stdin().is_terminal() && stderr().is_terminal()
}

/// Says what will be done and waits for the answer; only a clear yes is one.
#[must_use]
pub fn is_given(what: &str) -> bool {
    write_stderr(&format!("{what}Go on? [y/N] "));
    let mut answer = String::new();
    if stdin().lock().read_line(&mut answer).is_err() {
        return false;
    }
    matches!(answer.trim().to_lowercase().as_str(), "y" | "yes")
}
