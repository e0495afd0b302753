//! `--operation cleanup`: removes the trees that earlier command lines kept.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use fathom_compat::smallfile::Smallfile;
use fathom_engine::prepare::remove_files_of_run;
use fathom_runs::leftovers::Removed;
use fathom_store::Store;

use super::FILE_PREFIX;
use crate::exit::Exit;
use crate::present;

/// Nobody waits longer for what goes on in the background.
const WAIT_MAX: Duration = Duration::from_secs(3600);

pub(super) fn run(asked: &Smallfile, top: &Path) -> anyhow::Result<Exit> {
    let top = std::path::absolute(top)?;
    // Runs note their files without links on the way.
    let top = fathom_deadline::paths::canonicalize(&top).unwrap_or(top);
    let path = present::store_path(&Default::default())?;
    let mut store = match fathom_deadline::paths::find(&path)?.is_some() {
        true => Some(Store::open(&path)?),
        false => None,
    };
    let begun = Instant::now();
    let mut removed = Removed::default();
    let mut failed = false;
    let leftovers = match &store {
        Some(store) => store.leftovers()?,
        None => Vec::new(),
    };
    let mut known = Vec::new();
    for leftover in leftovers {
        let Some(prefix) = prefix_of(&leftover.path) else {
            continue;
        };
        if leftover.path.parent() != Some(top.as_path()) {
            continue;
        }
        known.push(leftover.path.clone());
        let tag = fathom_model::run::tag_of(&leftover.run_id);
        if let Err(error) = remove_files_of_run(&top, prefix, tag, &mut removed) {
            present::complain(&error.to_string());
            failed = true;
        }
    }
    for path in left_in(&top, &known) {
        present::complain(&format!(
            "{} stays: no run that this store knows has made it; look at it and remove it \
             yourself",
            path.display()
        ));
        failed = true;
    }
    let elapsed = begun.elapsed().as_secs_f64();
    if let Some(store) = &mut store {
        for path in &removed.paths {
            store.forget_file(path)?;
        }
    }
    let mut out = String::new();
    for path in &removed.paths {
        out += &format!("removed {}\n", path.display());
    }
    if removed.paths.is_empty() {
        out += &format!("nothing to remove in {}\n", top.display());
    }
    out += &format!("elapsed time = {elapsed:9.3}\n");
    present::write_names(&out)?;
    let files = asked.files.saturating_mul(asked.threads);
    let delay = Duration::from_micros(asked.cleanup_delay_us.saturating_mul(files));
    std::thread::sleep(delay.min(WAIT_MAX));
    Ok(match failed {
        true => Exit::Failure,
        false => Exit::Success,
    })
}

/// What the names of the files of a run begin with whose tree this may be.
fn prefix_of(path: &Path) -> Option<&str> {
    let name = path.file_name().and_then(|name| name.to_str())?;
    let prefix = name.strip_suffix(".tree")?;
    let ours = prefix == FILE_PREFIX || prefix.starts_with(&format!("{FILE_PREFIX}-h"));
    ours.then_some(prefix)
}

/// Trees in a directory that are not among those that are known.
fn left_in(top: &Path, known: &[PathBuf]) -> Vec<PathBuf> {
    let entries = fathom_deadline::paths::entries(top).unwrap_or_default();
    let paths = entries.into_iter().map(|entry| entry.path());
    let left = paths.filter(|path| prefix_of(path).is_some() && !known.contains(path));
    left.collect()
}
