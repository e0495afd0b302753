//! `fathom clean`: what killed runs left behind.

mod bucket;
mod elsewhere;
mod limits;

use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use clap::Args;
use fathom_deadline::paths;
use fathom_engine::prepare::{
    Found, PrepareHooks, PrepareProgress, remove_file_if, remove_files_of_run,
};
use fathom_store::{Leftover, Store};

use crate::command::hosts::HostArgs;
use crate::exit::Exit;
use crate::made_files::MadeFiles;
use crate::output_flags::StorePath;
use crate::present;

/// List what killed runs left behind, and remove it.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  fathom clean            lists leftovers\n  fathom clean --yes      removes them\n  fathom clean --hosts node[01-84] --yes\n                          the same where agents were killed\n  fathom clean s3://bench/try --endpoint http://127.0.0.1:7070 --yes"
)]
pub(crate) struct Clean {
    /// A bucket, with a prefix or without, instead of what this host keeps
    /// note of: s3://BUCKET/PREFIX.
    #[arg(value_name = "BUCKET")]
    pub(crate) bucket: Option<String>,
    /// Remove instead of only listing.
    #[arg(long)]
    pub(crate) yes: bool,
    /// Also what runs were told to keep with --keep-files.
    #[arg(long)]
    pub(crate) kept: bool,
    #[command(flatten)]
    pub(crate) hosts: HostArgs,
    #[command(flatten)]
    pub(crate) reached: fathom_plan::StoreFlags,
    #[command(flatten)]
    pub(crate) store: StorePath,
}

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
    if paths::find(&path)?.is_none() {
        nothing("nothing to clean: nothing has been measured yet\n")?;
        return Ok(Exit::Success);
    }
    let mut store = Store::open(&path)?;
    let mut leftovers = store.leftovers()?;
    let kept = leftovers.iter().filter(|leftover| leftover.keep);
    let kept = kept.filter(|leftover| paths::symlink_metadata(&leftover.path).is_ok());
    let kept = kept.count();
    leftovers.retain(|leftover| clean.kept || !leftover.keep);
    if leftovers.is_empty() {
        nothing(match kept {
            0 => "nothing to clean\n",
            _ => {
                "nothing to clean; what runs were to keep is still there: `fathom clean --kept` \
                 lists it\n"
            }
        })?;
        return Ok(Exit::Success);
    }
    if !clean.yes {
        for leftover in &leftovers {
            let run = &leftover.run_id;
            present::write_stdout(&format!("{}  (run {run})\n", leftover.path.display()))?;
        }
        let kept = if clean.kept { " --kept" } else { "" };
        present::write_stdout(&format!("`fathom clean{kept} --yes` removes them\n"))?;
        return Ok(Exit::Success);
    }
    let all = leftovers.len();
    let mut leftovers = within_reach(leftovers);
    let mut failed = leftovers.len() < all;
    let made = MadeFiles::beside(&path);
    // Where something was left, and why was said.
    let mut explained = BTreeSet::new();
    for (directory, prefix, run_id) in places(&leftovers) {
        let mut gone = Removed::default();
        let tag = fathom_model::run::tag_of(&run_id);
        let removed = remove_files_of_run(&directory, &prefix, tag, &mut gone);
        for path in &gone.paths {
            present::write_stdout(&format!("removed {}\n", path.display()))?;
        }
        if let Err(error) = removed {
            present::complain(&error.to_string());
            failed = true;
            explained.insert((directory, prefix, run_id));
        }
    }
    failed |= !remove_named(&mut store, &made, &leftovers)?;
    leftovers.retain(|leftover| place(leftover).is_none_or(|place| !explained.contains(&place)));
    failed |= !forget_missing(&mut store, &leftovers)?;
    Ok(if failed { Exit::Failure } else { Exit::Success })
}

/// Those whose directories accept changes now. Complains about each other one.
fn within_reach(mut leftovers: Vec<Leftover>) -> Vec<Leftover> {
    let parents = leftovers
        .iter()
        .filter_map(|leftover| leftover.path.parent());
    let directories: BTreeSet<PathBuf> = parents.map(Path::to_owned).collect();
    for directory in directories {
        if let Err(silent) = paths::accept_changes(&directory) {
            let directory_name = directory.display();
            present::complain(&format!(
                "{directory_name}: {silent}; run `fathom clean` again later"
            ));
            leftovers.retain(|leftover| leftover.path.parent() != Some(&directory));
        }
    }
    leftovers
}

/// Forgets files that are gone: a note outlives its file when the process was
/// killed between the two. False when one is still there.
fn forget_missing(store: &mut Store, leftovers: &[Leftover]) -> anyhow::Result<bool> {
    let mut all_gone = true;
    for leftover in leftovers {
        let path = leftover.path.display();
        match paths::symlink_metadata(&leftover.path) {
            Err(error) if error.kind() == ErrorKind::TimedOut => {
                present::complain(&format!("{path}: {error}; run `fathom clean` again later"));
                all_gone = false;
            }
            Err(_) => store.forget_file(&leftover.path)?,
            Ok(_) => {
                present::complain(&format!(
                    "{path} is not the file that the run made any more; left alone"
                ));
                all_gone = false;
            }
        }
    }
    Ok(all_gone)
}

/// Removes files that a user named and a run made, if they still are the ones
/// that were made. False when one could not be removed.
fn remove_named(
    store: &mut Store,
    made: &MadeFiles,
    leftovers: &[Leftover],
) -> anyhow::Result<bool> {
    let mut all = true;
    for leftover in leftovers {
        let Some(identity) = made.noted(&leftover.path) else {
            continue;
        };
        match remove_file_if(&leftover.path, &identity) {
            Ok(Found::Removed) => {
                store.forget_file(&leftover.path)?;
                present::write_stdout(&format!("removed {}\n", leftover.path.display()))?;
            }
            Ok(Found::Missing | Found::Replaced) => {}
            Err(error) => {
                present::complain(&error.to_string());
                all = false;
            }
        }
    }
    Ok(all)
}

/// The directories that have leftovers, how their names begin, and of which
/// run they are.
fn places(leftovers: &[Leftover]) -> BTreeSet<(PathBuf, String, String)> {
    leftovers.iter().filter_map(place).collect()
}

fn place(leftover: &Leftover) -> Option<(PathBuf, String, String)> {
    let directory = leftover.path.parent()?.to_owned();
    // A name is `PREFIX.NUMBER` or `PREFIX.manifest`.
    let prefix = leftover.path.file_stem()?.to_str()?.to_owned();
    Some((directory, prefix, leftover.run_id.clone()))
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
