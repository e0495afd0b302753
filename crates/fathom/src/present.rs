//! Results to standard output and files, complaints to standard error.

use std::fs::File;
use std::io::{BufWriter, IsTerminal, Write, stderr, stdout};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Context;
use fathom_model::JudgedRun;
use fathom_report::text::TextOptions;

use crate::cli::{Color, Format, StorePath};

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
    let _ = writeln!(stderr(), "fathom: {text}");
}

/// Writes to standard error as it is.
pub(crate) fn write_stderr(text: &str) {
    // Nowhere is left to complain when standard error is gone.
    let _ = stderr().write_all(text.as_bytes());
}

/// Where the store is.
pub(crate) fn store_path(choice: &StorePath) -> anyhow::Result<PathBuf> {
    match &choice.store {
        Some(path) => Ok(path.clone()),
        None => Ok(fathom_store::default_path()?),
    }
}

/// Writes the HTML report to `chosen`, or beside the store.
pub(crate) fn write_html(
    judged: &JudgedRun,
    chosen: Option<&Path>,
    store: &StorePath,
) -> anyhow::Result<PathBuf> {
    let path = match chosen {
        Some(path) => path.to_owned(),
        None => {
            let store = store_path(store)?;
            let folder = store.parent().unwrap_or(Path::new(".")).join("reports");
            std::fs::create_dir_all(&folder)
                .with_context(|| format!("cannot create {}", folder.display()))?;
            folder.join(format!("{}.html", judged.run.id))
        }
    };
    let html = fathom_report::html::render(judged)?;
    write_whole(&path, &html).with_context(|| format!("cannot write {}", path.display()))?;
    Ok(path)
}

/// Writes a file aside and renames it, so that a reader never sees half of it.
/// What exists and is no plain file (`/dev/null`, a pipe, a link) is written to
/// as it is and never replaced.
fn write_whole(path: &Path, text: &str) -> std::io::Result<()> {
    write_whole_with(path, |out| out.write_all(text.as_bytes()))
}

/// The same with contents that are written piece by piece.
pub(crate) fn write_whole_with(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> std::io::Result<()>,
) -> std::io::Result<()> {
    let special = path
        .symlink_metadata()
        .is_ok_and(|metadata| !metadata.is_file());
    let mut partial = path.as_os_str().to_owned();
    if !special {
        partial.push(".partial");
    }
    let mut out = BufWriter::new(File::create(&partial)?);
    write(&mut out)?;
    out.flush()?;
    if special {
        return Ok(());
    }
    std::fs::rename(&partial, path)
}
