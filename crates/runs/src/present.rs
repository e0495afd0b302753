//! Judged runs to standard output and files.

use std::io::{IsTerminal, stdout};
use std::path::{Path, PathBuf};

use anyhow::Context;
pub use fathom_console::{
    admit, allow_overwriting, complain, fail, has_complained_about, is_reader_gone, may_overwrite,
    reader_is_gone, rewrite_line, write_file, write_names, write_stderr, write_stdout,
    write_styled_stderr,
};
use fathom_deadline::paths;
use fathom_model::JudgedRun;
use fathom_model::secret::masked;
use fathom_outputs::{Mark, Output};
use fathom_report::text::TextOptions;

use crate::output_flags::{Color, Format, StorePath};

/// Prints a judged run in the requested format. `report` says where its page is; if it is
/// `None`, the text names the command that writes the page.
pub fn print(judged: &JudgedRun, format: &Format, report: Option<String>) -> anyhow::Result<()> {
    let text = match format.document.chosen() {
        Some(document) => (document.render)(judged)?,
        None => fathom_report::text::render(judged, &text_options(format, report)),
    };
    write_document(format, &text)
}

/// Writes a text in this format to its file, or to standard output.
///
/// # Errors
/// It cannot be written.
pub fn write_document(format: &Format, text: &str) -> anyhow::Result<()> {
    match &format.output {
        Some(path) => Ok(write_file(path, mark_of(format), text)?),
        None => write_stdout(text),
    }
}

/// What a file of this format begins with: an existing one without it is another's.
pub fn mark_of(format: &Format) -> Mark {
    match format.document.is("html") {
        true => Mark::Page,
        false => Mark::Document,
    }
}

/// Columns of text in a file.
const FILE_COLUMNS: usize = 80;

/// How text is laid out for this terminal.
fn text_options(format: &Format, report: Option<String>) -> TextOptions {
    TextOptions {
        width: match &format.output {
            Some(_) => FILE_COLUMNS,
            None => fathom_console::columns(),
        },
        color: format.output.is_none() && use_color(format.color, &stdout()),
        decimal_units: format.decimal,
        verbose: format.verbose,
        report,
    }
}

/// Whether a stream gets colour.
pub fn use_color(color: Color, stream: &impl IsTerminal) -> bool {
    match color {
        Color::Always => true,
        Color::Never => false,
        Color::Auto => {
            let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
            !refused && stream.is_terminal()
        }
    }
}

/// Where the store is.
pub fn store_path(choice: &StorePath) -> anyhow::Result<PathBuf> {
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

/// Where the report of a run goes that has no place of its own: beside the
/// store.
pub fn report_path(store: &StorePath, id: &str) -> anyhow::Result<PathBuf> {
    let report = report_beside(&store_path(store)?, id);
    if let Some(folder) = report.parent() {
        fathom_outputs::make_folder(folder)
            .with_context(|| format!("cannot create {}", folder.display()))?;
    }
    Ok(report)
}

fn report_beside(store: &Path, id: &str) -> PathBuf {
    let folder = store.parent().unwrap_or(Path::new(".")).join("reports");
    folder.join(format!("{id}.html"))
}

/// What the summary of a run is called beside its report.
#[must_use]
pub fn summary_name(id: &str) -> String {
    format!("{id}-summary")
}

/// Removes the report of a run and its summary from beside the store, where fathom wrote
/// them. Returns whether there was one.
pub fn remove_report(store: &Path, id: &str) -> anyhow::Result<bool> {
    let report = remove_page(store, id)?;
    let summary = remove_page(store, &summary_name(id))?;
    Ok(report || summary)
}

fn remove_page(store: &Path, name: &str) -> anyhow::Result<bool> {
    let report = report_beside(store, name);
    let failed = || format!("cannot remove {}", report.display());
    let there = paths::find(&report).with_context(failed)?.is_some();
    if !there || Output::admit(&report, Mark::Page, false).is_err() {
        return Ok(false);
    }
    paths::change(&report, |report| std::fs::remove_file(report)).with_context(failed)?;
    Ok(true)
}

/// Writes the HTML report to `chosen`, or beside the store.
pub fn write_html(
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
