//! The files that a call of fio names, looked at before anything is measured.

use std::path::Path;

use fathom_compat::fio::output::{self, FioView};
use fathom_compat::fio::request::FioRun;
use fathom_deadline::paths;
use fathom_outputs::{Mark, Refused};

use crate::present;

/// Where logs and the result go, unless their names say otherwise.
pub(super) fn directory(run: &FioRun) -> &Path {
    run.log_directory
        .as_deref()
        .map_or(Path::new(""), Path::new)
}

/// Looks whether the result, the report and the logs may be written.
///
/// # Errors
/// The first that may not. A folder that is missing is made with the first
/// file in it, and is no reason to refuse.
pub(super) fn admit(run: &FioRun, view: &FioView) -> Result<(), Refused> {
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
