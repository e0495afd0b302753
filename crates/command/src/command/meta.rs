//! `fathom meta`: operations on many files.

use clap::Args;
use fathom_model::Target;
use fathom_plan::{FilesFlags, HostModeArgs, PlanFlags};

use crate::command::hosts::HostArgs;
use crate::command::run::execute_plan_on;
use crate::exit::{CommandError, Exit};
use crate::output_flags::Output;

/// Measure many small files: create, stat, read, remove.
///
/// Phases run one after the other on the same files, with a barrier between
/// them: by default every worker creates its files, then asks for their facts,
/// reads and removes them. The files lie in a directory of their own within
/// the target and are removed at the end. What a phase needs and no phase
/// before it has made is made first, outside of what is measured.
///
/// Files that were just made are in this host's caches: a phase that only
/// looks measures those, unless --drop-cache (as root) empties them before
/// each phase. --shift 1 keeps each worker from visiting its own files.
#[derive(Debug, Args)]
#[command(mut_arg(fathom_plan::RUNTIME, |arg| arg.visible_alias("for").alias("seconds")))]
#[command(after_help = "\
Examples:
  fathom meta /data                             1,000 files of 4 KiB: create, stat, read, unlink
  fathom meta /data --files 100k --threads 4 --files-per-dir 100
  fathom meta /data --phases mkdir,rmdir        Directories
  fathom meta /data --phases create,stat,unlink --file-size 0 --shared-dirs
                                                One huge directory
  fathom meta /data --operation stat:60,create:20,unlink:20 --runtime 30s
                                                A mix
  fathom meta /data --phases stat --rate-iops 5000 --runtime 30s
                                                At a given rate, latency from when each was due
  fathom meta /mnt/vol --phases await-create --hosts node[01-03]
                                                How late hosts see what the first one creates")]
pub(crate) struct Meta {
    /// A directory, or `null:` (fathom itself).
    #[arg(default_value = ".")]
    pub(crate) target: String,
    /// What is done, one phase after the other: create, open, read, append,
    /// overwrite, stat, lookup, readdir, readdir-stat, rename, link, symlink,
    /// readlink, chmod, setxattr, getxattr, truncate, fsync, mkdir, statdir,
    /// rmdir, unlink, await-create.
    #[arg(long, default_value = "create,stat,read,unlink")]
    #[arg(conflicts_with = "key.operation", value_name = "LIST")]
    pub(crate) phases: String,
    #[command(flatten)]
    pub(crate) flags: FilesFlags,
    #[command(flatten)]
    pub(crate) plan: PlanFlags,
    #[command(flatten)]
    pub(crate) hosts: HostArgs,
    #[command(flatten)]
    pub(crate) host_mode: HostModeArgs,
    #[command(flatten)]
    pub(crate) output: Output,
}

pub(crate) fn run(meta: Meta) -> anyhow::Result<Exit> {
    // Beside the opening of the store; without a thread it comes later.
    let _ = std::thread::Builder::new().spawn(fathom_engine::calibrate_clock);
    let target: Target = meta.target.parse().map_err(CommandError::usage)?;
    let plan = meta
        .flags
        .to_plan(target, &meta.phases)
        .and_then(|plan| meta.plan.apply(&plan))
        .and_then(|plan| meta.host_mode.apply(plan));
    let plan = plan.map_err(|problems| CommandError::plan(problems, meta.output.format.color))?;
    execute_plan_on(&meta.hosts, plan, meta.output)
}
