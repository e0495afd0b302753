//! `fathom clean`: what killed runs left behind.

mod bucket;
mod elsewhere;
mod limits;

use clap::Args;
use fathom_deadline::paths;
use fathom_runs::leftovers;
use fathom_store::Store;

use crate::command::hosts::HostArgs;
use crate::exit::Exit;
use crate::output_flags::StorePath;
use crate::present;

/// Find and remove what killed runs left behind.
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
    #[arg(long, short)]
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
        false => present::write_names(text),
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
            present::write_names(&format!("{}  (run {run})\n", leftover.path.display()))?;
        }
        let kept = if clean.kept { " --kept" } else { "" };
        present::write_names(&format!("`fathom clean{kept} --yes` removes them\n"))?;
        return Ok(Exit::Success);
    }
    let removed = leftovers::remove(&mut store, &path, leftovers, &mut |path| {
        present::write_names(&format!("removed {}\n", path.display()))
    })?;
    Ok(if removed {
        Exit::Success
    } else {
        Exit::Failure
    })
}
