//! `fathom clean`: what killed runs left behind.

mod bucket;
mod elsewhere;
mod limits;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use fathom_engine::prepare::{PrepareHooks, PrepareProgress, remove_files_of_run};
use fathom_store::{Leftover, Store};

use crate::cli::Clean;
use crate::exit::Exit;
use crate::made_files::MadeFiles;
use crate::pipeline;
use crate::present;

pub(crate) fn run(clean: &Clean) -> anyhow::Result<Exit> {
    if let Some(target) = &clean.bucket {
        return bucket::run(clean, target);
    }
    if clean.hosts.are_given() {
        return elsewhere::run(clean);
    }
    let of_limits = limits::here(clean)?;
    let of_agents = elsewhere::here(clean)?;
    let told = of_limits.is_some() || of_agents.is_some();
    let others = [of_limits, of_agents].into_iter().flatten();
    let mut all = others.chain([of_runs(clean, told)?]);
    let failed = all.find(|exit| *exit != Exit::Success);
    Ok(failed.unwrap_or(Exit::Success))
}

/// What runs of this host left. `told` is whether something else was found.
fn of_runs(clean: &Clean, told: bool) -> anyhow::Result<Exit> {
    let path = present::store_path(&clean.store)?;
    let nothing = |text: &str| match told {
        true => Ok(()),
        false => present::write_stdout(text),
    };
    if !path.exists() {
        nothing("nothing to clean: nothing has been measured yet\n")?;
        return Ok(Exit::Success);
    }
    let mut store = Store::open(&path)?;
    let mut leftovers = store.leftovers()?;
    leftovers.retain(|leftover| clean.kept || !leftover.keep);
    if leftovers.is_empty() {
        nothing("nothing to clean\n")?;
        return Ok(Exit::Success);
    }
    if !clean.yes {
        for leftover in &leftovers {
            let run = &leftover.run_id;
            present::write_stdout(&format!("{}  (run {run})\n", leftover.path.display()))?;
        }
        present::write_stdout("`fathom clean --yes` removes them\n")?;
        return Ok(Exit::Success);
    }
    let mut failed = false;
    let made = MadeFiles::beside(&path);
    for (directory, prefix, run_id) in places(&leftovers) {
        let mut gone = Removed::default();
        let tag = pipeline::run_tag(&run_id);
        let removed = remove_files_of_run(&directory, &prefix, tag, &mut gone);
        for path in &gone.paths {
            present::write_stdout(&format!("removed {}\n", path.display()))?;
        }
        if let Err(error) = removed {
            present::complain(&error.to_string());
            failed = true;
        }
    }
    failed |= !remove_named(&mut store, &made, &leftovers)?;
    // A note outlives its file when the process was killed between the two.
    for leftover in &leftovers {
        if leftover.path.symlink_metadata().is_err() {
            store.forget_file(&leftover.path)?;
        } else {
            let path = leftover.path.display();
            present::complain(&format!(
                "{path} is no test file of that run any more; left alone"
            ));
            failed = true;
        }
    }
    Ok(if failed { Exit::Failure } else { Exit::Success })
}

/// Removes files that a user named and a run made, if they still are the ones
/// that were made. False when one could not be removed.
fn remove_named(
    store: &mut Store,
    made: &MadeFiles,
    leftovers: &[Leftover],
) -> anyhow::Result<bool> {
    let mut all = true;
    for leftover in leftovers.iter().filter(|l| made.is_ours(&l.path)) {
        let path = leftover.path.display();
        match std::fs::remove_file(&leftover.path) {
            Ok(()) => {
                store.forget_file(&leftover.path)?;
                present::write_stdout(&format!("removed {path}\n"))?;
            }
            Err(error) => {
                present::complain(&format!("cannot remove {path}: {error}"));
                all = false;
            }
        }
    }
    Ok(all)
}

/// The directories that have leftovers, how their names begin, and of which
/// run they are.
fn places(leftovers: &[Leftover]) -> BTreeSet<(PathBuf, String, String)> {
    let place = |leftover: &Leftover| {
        let directory = leftover.path.parent()?.to_owned();
        // A name is `PREFIX.NUMBER` or `PREFIX.manifest`.
        let prefix = leftover.path.file_stem()?.to_str()?.to_owned();
        Some((directory, prefix, leftover.run_id.clone()))
    };
    leftovers.iter().filter_map(place).collect()
}

/// Takes note of what was removed.
#[derive(Default)]
struct Removed {
    paths: Vec<PathBuf>,
}

impl PrepareHooks for Removed {
    fn progress(&mut self, _: PrepareProgress<'_>) {}

    fn creating(&mut self, _: &Path) -> Result<(), String> {
        Err("cleaning up creates nothing".to_owned())
    }

    fn removed(&mut self, path: &Path) {
        self.paths.push(path.to_owned());
    }

    fn stop_requested(&self) -> bool {
        false
    }
}
