//! The store, the report and the target of a run are different files: `--force`
//! permits to replace a file, never one that the run itself uses. Targets are
//! different, too, whatever they are called.

use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;

use anyhow::ensure;
use fathom_deadline::paths;
use fathom_model::{Schedule, Target};

use crate::error::RequestError;

/// Refuses targets of which two are one file, directory or device under different
/// names: they would be measured as if they were two.
///
/// # Errors
/// Which two are one.
pub fn check_targets(targets: &[Target]) -> Result<(), RequestError> {
    let identities: Vec<_> = targets.iter().map(target_identity).collect();
    for (at, (target, found)) in targets.iter().zip(&identities).enumerate() {
        let Some((own, what)) = found else {
            continue;
        };
        let is_same = |other: &Option<([u64; 2], &str)>| other.is_some_and(|(id, _)| id == *own);
        if let Some(first) = identities[..at].iter().position(is_same) {
            return Err(RequestError::SameTarget {
                first: targets[first].to_string(),
                second: target.to_string(),
                what,
            });
        }
    }
    Ok(())
}

/// What tells a target from others whatever its name: the number of a device,
/// or device and inode.
fn target_identity(target: &Target) -> Option<([u64; 2], &'static str)> {
    let facts = paths::metadata(target.path()?).ok()?;
    if facts.file_type().is_block_device() {
        // No file has inode 0.
        return Some(([facts.rdev(), 0], "device"));
    }
    let what = if facts.is_dir() { "directory" } else { "file" };
    Some(([facts.dev(), facts.ino()], what))
}

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
