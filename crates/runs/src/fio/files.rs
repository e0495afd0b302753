//! Files in the formats of fio: looked at before anything is measured, and
//! written after.

use std::path::{Path, PathBuf};

use anyhow::Context;
use fathom_compat::fio::output::{self, FioView};
use fathom_compat::fio::request::FioRun;
use fathom_deadline::paths;
use fathom_model::RunRecord;
use fathom_outputs::{Mark, Refused};

use crate::present;

/// Where logs and the result go, unless their names say otherwise.
fn directory(run: &FioRun) -> &Path {
    run.log_directory
        .as_deref()
        .map_or(Path::new(""), Path::new)
}

/// Looks whether the result, the report and the logs may be written.
///
/// # Errors
/// The first that may not. A folder that is missing is made with the first
/// file in it, and is no reason to refuse.
pub fn admit(run: &FioRun, view: &FioView) -> Result<(), Refused> {
    let directory = directory(run);
    if let Some(name) = &run.output {
        present::admit(&directory.join(name), Mark::FioResult)?;
    }
    if let Some(html) = &run.html {
        present::admit(Path::new(html), Mark::Page)?;
    }
    for name in output::log_names(view) {
        let path = directory.join(name);
        if path
            .parent()
            .is_some_and(|parent| paths::is_dir(parent) || parent.as_os_str().is_empty())
        {
            present::admit(&path, Mark::FioLog)?;
        }
    }
    for name in output::iolog_names(view) {
        present::admit(Path::new(&name), Mark::FioIoLog)?;
    }
    Ok(())
}

/// Writes results behind what was said `before`, to standard output or where the
/// call says, and logs.
///
/// # Errors
/// Something cannot be written.
pub fn write(
    record: &RunRecord,
    view: &FioView,
    run: &FioRun,
    before: String,
) -> anyhow::Result<()> {
    let text = before + &output::results(record, view, run);
    let directory = directory(run);
    write_logs(&output::logs(record, view), directory)?;
    for log in output::iologs(record, view) {
        // A list of operations is not put where the logs go.
        let path = Path::new(log.name());
        present::admit(path, Mark::FioIoLog)?.write(|out| log.write(out))?;
        if log.missed() > 0 {
            present::complain(&format!(
                "{}: there was no room for the last {} operations",
                path.display(),
                log.missed()
            ));
        }
    }
    match &run.output {
        Some(path) => {
            present::write_file(&directory.join(path), Mark::FioResult, &text)?;
            Ok(())
        }
        None => present::write_stdout(&text),
    }
}

/// Writes a document for each job of `view` into `directory`. Returns their paths.
///
/// # Errors
/// One cannot be written.
pub fn write_documents(
    record: &RunRecord,
    view: &FioView,
    plus: bool,
    directory: &Path,
) -> anyhow::Result<Vec<PathBuf>> {
    let mut paths = Vec::new();
    for (job, name) in view.jobs.iter().zip(view.file_names()) {
        let path = directory.join(format!("{name}.json"));
        create_parent(&path)?;
        let alone = FioView {
            jobs: vec![job.clone()],
            ..view.clone()
        };
        let document = output::json(record, &alone, plus);
        present::write_file(&path, Mark::FioResult, &document)?;
        paths.push(path);
    }
    Ok(paths)
}

/// Writes logs below `directory`. Returns their paths.
///
/// # Errors
/// One cannot be written.
pub fn write_logs<'l>(
    logs: impl IntoIterator<Item = &'l output::FioLog<'l>>,
    directory: &Path,
) -> anyhow::Result<Vec<PathBuf>> {
    let mut paths = Vec::new();
    for log in logs {
        let path = directory.join(log.name());
        create_parent(&path)?;
        present::admit(&path, Mark::FioLog)?.write(|out| log.write(out))?;
        paths.push(path);
    }
    Ok(paths)
}

fn create_parent(path: &Path) -> anyhow::Result<()> {
    let parent = path.parent().unwrap_or(Path::new("."));
    paths::change(parent, fathom_outputs::make_folder)
        .with_context(|| format!("cannot create {}", parent.display()))
}
