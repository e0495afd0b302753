//! The store, the report and the target of a run are different files: `--force`
//! permits to replace a file, never one that the run itself uses.

use std::os::unix::fs::MetadataExt;
use std::path::Path;

use anyhow::ensure;
use fathom_deadline::paths;
use fathom_model::{Schedule, Target};

/// Refuses a report in the place of the store or of a target, and a target that is
/// the store.
///
/// # Errors
/// Which two are one file.
pub(crate) fn check(
    schedule: &Schedule,
    store: Option<&Path>,
    report: Option<&Path>,
) -> anyhow::Result<()> {
    let store_file = store.and_then(identity);
    let report_file = report.and_then(identity);
    ensure!(
        report_file.is_none() || report_file != store_file,
        "the report would replace the store {}; name another file",
        shown(report)
    );
    for trial in &schedule.trials {
        let Target::Path(target) = &trial.target else {
            continue;
        };
        let Some(file) = identity(target) else {
            continue;
        };
        ensure!(
            Some(file) != store_file,
            "{} is the store of this run; name another target, or another store with --store",
            target.display()
        );
        ensure!(
            Some(file) != report_file,
            "the report would replace the target {}; name another file",
            target.display()
        );
    }
    Ok(())
}

/// Device and inode of a regular file.
fn identity(path: &Path) -> Option<(u64, u64)> {
    let facts = paths::metadata(path).ok()?;
    facts.is_file().then(|| (facts.dev(), facts.ino()))
}

fn shown(path: Option<&Path>) -> String {
    path.map_or_else(String::new, |path| path.display().to_string())
}
