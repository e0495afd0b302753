//! Results to standard output and files, complaints to standard error.

use std::io::{IsTerminal, Write, stderr, stdout};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use anyhow::Context;
use fathom_deadline::paths;
use fathom_model::JudgedRun;
use fathom_model::secret::masked;
use fathom_outputs::{Mark, Output as Destination, Refused};
use fathom_report::text::TextOptions;

use crate::output_flags::{Color, Format, StorePath};

/// Prints a judged run in the format that was asked for.
pub(crate) fn print(
    judged: &JudgedRun,
    format: &Format,
    html: Option<&PathBuf>,
) -> anyhow::Result<()> {
    let text = if format.json {
        fathom_report::json::render(judged, true)?
    } else if format.csv {
        fathom_report::csv::render(judged)
    } else if format.markdown {
        fathom_report::markdown::render(judged)
    } else {
        fathom_report::text::render(judged, &text_options(format, html))
    };
    write_stdout(&text)
}

/// How text is laid out for this terminal.
fn text_options(format: &Format, html: Option<&PathBuf>) -> TextOptions {
    TextOptions {
        width: 80,
        color: use_color(format.color, &stdout()),
        decimal_units: format.decimal,
        verbose: format.verbose,
        report: html.map(|path| path.display().to_string()),
    }
}

/// Whether a stream gets colour.
pub(crate) fn use_color(color: Color, stream: &impl IsTerminal) -> bool {
    match color {
        Color::Always => true,
        Color::Never => false,
        Color::Auto => {
            let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
            !refused && stream.is_terminal()
        }
    }
}

/// Whether the reader of standard output went away.
static READER_GONE: AtomicBool = AtomicBool::new(false);

/// Whether the reader of standard output went away (`| head`), so that what goes
/// on for its sake alone can end.
pub(crate) fn reader_is_gone() -> bool {
    READER_GONE.load(Ordering::Relaxed)
}

/// Writes to standard output. A reader that went away is no error; what writes
/// again and again asks [`reader_is_gone`].
pub(crate) fn write_stdout(text: &str) -> anyhow::Result<()> {
    match stdout()
        .lock()
        .write_all(text.as_bytes())
        .and_then(|()| stdout().flush())
    {
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => {
            READER_GONE.store(true, Ordering::Relaxed);
            Ok(())
        }
        other => other.context("cannot write to standard output"),
    }
}

/// Tells the user about something that went wrong beside the result.
pub(crate) fn complain(text: &str) {
    // Nowhere is left to complain when standard error is gone.
    let text = masked(text);
    let _ = writeln!(stderr(), "fathom: {text}");
    let mut complaints = COMPLAINTS.lock().unwrap_or_else(PoisonError::into_inner);
    complaints.push(text.to_string());
}

/// Whether a complaint was about this.
pub(crate) fn has_complained_about(what: &str) -> bool {
    let complaints = COMPLAINTS.lock().unwrap_or_else(PoisonError::into_inner);
    complaints.iter().any(|text| text.contains(what))
}

static COMPLAINTS: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Writes to standard error as it is.
pub(crate) fn write_stderr(text: &str) {
    // Nowhere is left to complain when standard error is gone.
    let _ = stderr().write_all(masked(text).as_bytes());
}

/// Where the store is.
pub(crate) fn store_path(choice: &StorePath) -> anyhow::Result<PathBuf> {
    let path = match &choice.store {
        Some(path) => path.clone(),
        None => fathom_store::default_path()?,
    };
    let text = path.to_string_lossy();
    anyhow::ensure!(
        !text.contains("://"),
        "the store {} is not a file; name one, for example runs.db",
        masked(&text)
    );
    // Nothing can be said about a store that does not answer.
    paths::answers(&path).with_context(|| format!("cannot use the store {}", path.display()))?;
    Ok(path)
}

/// Whether files that fathom did not write may be replaced (`--force`).
static FORCE: AtomicBool = AtomicBool::new(false);

/// From now on files that fathom did not write may be replaced.
pub(crate) fn allow_overwriting() {
    FORCE.store(true, Ordering::Relaxed);
}

/// Looks whether a file of fathom's may be written at a path that the user
/// named. Call it before the measurement.
///
/// # Errors
/// Something stands there that is not fathom's, or nothing can be written.
pub(crate) fn admit(path: &Path, mark: Mark) -> Result<Destination, Refused> {
    // Where nothing answers, looking at it would wait for ever.
    paths::answers(path).map_err(|silent| Refused::Io {
        path: path.to_owned(),
        error: silent.into(),
    })?;
    Destination::admit(path, mark, FORCE.load(Ordering::Relaxed))
}

/// Writes a text to a path that the user named.
///
/// # Errors
/// As [`admit`], and when it cannot be written.
pub(crate) fn write_file(path: &Path, mark: Mark, text: &str) -> Result<(), Refused> {
    admit(path, mark)?.write(|out| out.write_all(text.as_bytes()))
}

/// Where the report of a run goes that has no place of its own: beside the
/// store.
pub(crate) fn report_path(store: &StorePath, id: &str) -> anyhow::Result<PathBuf> {
    let store = store_path(store)?;
    let folder = store.parent().unwrap_or(Path::new(".")).join("reports");
    fathom_outputs::make_folder(&folder)
        .with_context(|| format!("cannot create {}", folder.display()))?;
    Ok(folder.join(format!("{id}.html")))
}

/// Writes the HTML report to `chosen`, or beside the store.
pub(crate) fn write_html(
    judged: &JudgedRun,
    chosen: Option<&Path>,
    store: &StorePath,
) -> anyhow::Result<PathBuf> {
    let path = match chosen {
        Some(path) => path.to_owned(),
        None => report_path(store, &judged.run.id)?,
    };
    let html = fathom_report::html::render(judged)?;
    write_file(&path, Mark::Page, &html)?;
    Ok(path)
}
