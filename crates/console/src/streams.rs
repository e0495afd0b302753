//! Text to standard output, complaints to standard error.

use std::borrow::Cow;
use std::io::{self, Write, stderr, stdout};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use anyhow::Context;
use fathom_model::printable;
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

/// Writes lines with names of others to standard output, without characters that
/// a terminal obeys. Not for what programs read.
///
/// # Errors
/// As [`write_stdout`].
pub fn write_names(text: &str) -> anyhow::Result<()> {
    write_stdout(&printable::lines(text))
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

/// Columns for text on standard output: those of the terminal within reason, 80
/// elsewhere.
pub fn columns() -> usize {
    const USUAL: usize = 80;
    const LEAST: usize = 40;
    // Longer lines of prose are hard to read.
    const MOST: usize = 120;
    terminal_columns().unwrap_or(USUAL).clamp(LEAST, MOST)
}

/// Columns of the terminal that standard output is, or those that the user names in
/// COLUMNS.
pub fn terminal_columns() -> Option<usize> {
    let named = std::env::var("COLUMNS").ok();
    let named = named.and_then(|columns| columns.parse().ok());
    // A terminal that does not know its size says 0.
    let of_terminal = || {
        let size = rustix::termios::tcgetwinsize(stdout()).ok()?;
        (size.ws_col > 0).then_some(usize::from(size.ws_col))
    };
    named.filter(|columns| *columns > 0).or_else(of_terminal)
}

fn is_character_device() -> bool {
    let status = rustix::fs::fstat(stdout());
    status.is_ok_and(|status| FileType::from_raw_mode(status.st_mode).is_char_device())
}

/// Tells the user about something that went wrong beside the result.
pub fn complain(text: &str) {
    // Nowhere is left to complain when standard error is gone.
    let text = masked(text);
    let text = without_error_numbers(&text);
    let text = printable::lines(&text);
    let program = PROGRAM.get().unwrap_or(&"fathom");
    let _ = writeln!(stderr(), "{program}: {text}");
    let mut complaints = COMPLAINTS.lock().unwrap_or_else(PoisonError::into_inner);
    complaints.push(text.to_string());
}

/// Tells the user why a command could not go on: `error: what, where`, and below it
/// `help: what to type`, where the text has such a line.
pub fn fail(text: &str, color: bool) {
    let text = masked(text);
    let text = without_error_numbers(&text);
    let columns = terminal_of_stderr();
    write_styled_stderr(&failure(&printable::lines(&text), color, columns));
    let mut complaints = COMPLAINTS.lock().unwrap_or_else(PoisonError::into_inner);
    complaints.push(text.to_string());
}

/// A text without the numbers that the standard library adds to errors of the system:
/// the words before say the same.
fn without_error_numbers(text: &str) -> Cow<'_, str> {
    const ADDED: &str = " (os error ";
    if !text.contains(ADDED) {
        return Cow::Borrowed(text);
    }
    let mut parts = text.split(ADDED);
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        match part.split_once(')') {
            Some((number, rest)) if number.bytes().all(|c| c.is_ascii_digit()) => out += rest,
            _ => out += &format!("{ADDED}{part}"),
        }
    }
    Cow::Owned(out)
}

/// Columns of the terminal that standard error is; elsewhere lines are not broken, so
/// that they can be searched.
fn terminal_of_stderr() -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(stderr()).ok()?;
    (size.ws_col >= 40).then_some(usize::from(size.ws_col))
}

/// A line broken at spaces, with the further lines indented; a word that is longer than
/// a line stays whole.
fn broken(line: &str, columns: Option<usize>) -> String {
    const INDENT: &str = "       ";
    let Some(columns) = columns.filter(|columns| line.chars().count() > *columns) else {
        return line.to_owned();
    };
    let mut out = String::new();
    let mut used = 0;
    for word in line.split(' ') {
        let length = word.chars().count();
        if used > INDENT.len() && used + 1 + length > columns {
            out += &format!("\n{INDENT}");
            used = INDENT.len();
        } else if !out.is_empty() {
            out.push(' ');
            used += 1;
        }
        out += word;
        used += length;
    }
    out
}

fn failure(text: &str, color: bool, columns: Option<usize>) -> String {
    let painted = |word: &str, code: &str| match color {
        true => format!("\x1b[{code}m{word}\x1b[0m"),
        false => word.to_owned(),
    };
    let text = text.strip_prefix("error: ").unwrap_or(text);
    let mut out = String::new();
    for (at, line) in text.lines().enumerate() {
        let (word, code, rest) = match line.strip_prefix("help: ") {
            Some(help) => ("help:", "1;36", help),
            None if at == 0 => ("error:", "1;31", line),
            None => ("", "", line),
        };
        let whole = match word {
            "" => rest.to_owned(),
            word => format!("{word} {rest}"),
        };
        let whole = broken(&whole, columns);
        let rest = whole.strip_prefix(word).unwrap_or(&whole);
        let word = match word {
            "" => String::new(),
            word => painted(word, code),
        };
        out += &format!("{word}{rest}\n");
    }
    out
}

/// Whether a complaint was about this.
pub fn has_complained_about(what: &str) -> bool {
    let complaints = COMPLAINTS.lock().unwrap_or_else(PoisonError::into_inner);
    let what = printable::lines(what);
    complaints.iter().any(|text| text.contains(&*what))
}

static COMPLAINTS: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Writes lines to standard error, without characters of others that a terminal
/// obeys.
pub fn write_stderr(text: &str) {
    write_styled_stderr(&printable::lines(text));
}

/// Writes a text to standard error that has colours of our own; the names of
/// others in it have been cleaned.
pub fn write_styled_stderr(text: &str) {
    // Nowhere is left to complain when standard error is gone.
    let _ = stderr().write_all(masked(text).as_bytes());
}

/// Puts a text in the place of the line on the terminal that standard error is;
/// an empty one removes it.
pub fn rewrite_line(text: &str) {
    write_styled_stderr(&format!("\r\x1b[K{}", printable::one_line(text)));
}

#[cfg(test)]
mod tests {
    use super::{failure, without_error_numbers};

    #[test]
    fn errors_have_one_form() {
        let text = "no run matches 'x'\nhelp: fathom runs list";
        assert_eq!(failure(text, false, None), format!("error: {text}\n"));
        assert_eq!(failure("error: once", false, None), "error: once\n");
        assert!(failure(text, true, None).contains("\x1b[1;36mhelp:\x1b[0m fathom"));
    }

    #[test]
    fn numbers_of_errors_are_left_out_and_nothing_else_is() {
        let cases = [
            ("x: Is a directory (os error 21)", "x: Is a directory"),
            ("a (os error 2), b (os error 13): c", "a, b: c"),
            ("a file (os error of mine)", "a file (os error of mine)"),
            ("open (os error 5", "open (os error 5"),
        ];
        for (text, expected) in cases {
            assert_eq!(without_error_numbers(text), expected);
        }
    }

    #[test]
    fn errors_are_broken_at_spaces_on_a_terminal() {
        let text = "a file of which the name is long\nhelp: a/path/that/stays/whole/however/long";
        let expected = "error: a file of which\n       the name is long\n\
                        help: a/path/that/stays/whole/however/long\n";
        assert_eq!(failure(text, false, Some(24)), expected);
    }
}
