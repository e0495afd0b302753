//! Text to standard output, complaints to standard error.

use std::io::{self, Write, stderr, stdout};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use anyhow::Context;
use fathom_model::secret::masked;
use rustix::fs::FileType;
use rustix::io::Errno;

/// What complaints begin with, where it is not `fathom`.
static PROGRAM: OnceLock<&str> = OnceLock::new();

/// Lets complaints begin with the name of this program.
pub fn speak_as(program: &'static str) {
    // The first name stays: a program has one.
    let _ = PROGRAM.set(program);
}

/// Set when the reader of standard output has closed its end.
static READER_GONE: AtomicBool = AtomicBool::new(false);

/// Whether the reader of standard output has closed its end (`| head`). What
/// runs only to print for it can stop then.
pub fn reader_is_gone() -> bool {
    READER_GONE.load(Ordering::Relaxed)
}

/// Writes to standard output. If the reader has closed its end (`| head`, a closed
/// terminal), that counts as success; loops that keep printing check [`reader_is_gone`].
pub fn write_stdout(text: &str) -> anyhow::Result<()> {
    match stdout()
        .lock()
        .write_all(text.as_bytes())
        .and_then(|()| stdout().flush())
    {
        Err(error) if is_reader_gone(&error) => {
            READER_GONE.store(true, Ordering::Relaxed);
            Ok(())
        }
        other => other.context("cannot write to standard output"),
    }
}

/// Whether writing to standard output failed because nobody is there to read it:
/// the other end of a pipe, or the terminal, was closed.
#[must_use]
pub fn is_reader_gone(error: &io::Error) -> bool {
    match error.kind() {
        io::ErrorKind::BrokenPipe => true,
        // Writing to a closed terminal fails with EIO, and `isatty` then says no.
        // So does a file on a broken disk, where the text is really lost.
        _ => error.raw_os_error() == Some(Errno::IO.raw_os_error()) && is_character_device(),
    }
}

fn is_character_device() -> bool {
    let status = rustix::fs::fstat(stdout());
    status.is_ok_and(|status| FileType::from_raw_mode(status.st_mode).is_char_device())
}

/// Tells the user about something that went wrong beside the result.
pub fn complain(text: &str) {
    // Nowhere is left to complain when standard error is gone.
    let text = masked(text);
    let program = PROGRAM.get().unwrap_or(&"fathom");
    let _ = writeln!(stderr(), "{program}: {text}");
    let mut complaints = COMPLAINTS.lock().unwrap_or_else(PoisonError::into_inner);
    complaints.push(text.to_string());
}

/// Whether a complaint was about this.
pub fn has_complained_about(what: &str) -> bool {
    let complaints = COMPLAINTS.lock().unwrap_or_else(PoisonError::into_inner);
    complaints.iter().any(|text| text.contains(what))
}

static COMPLAINTS: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Writes to standard error as it is.
pub fn write_stderr(text: &str) {
    // Nowhere is left to complain when standard error is gone.
    let _ = stderr().write_all(masked(text).as_bytes());
}
