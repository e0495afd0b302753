//! `fathom io`: one workload from flags.

use clap::Args;
use fathom_model::Target;
use fathom_plan::{HostModeArgs, IoFlags, Plan, PlanFlags};

use crate::command::hosts::HostArgs;
use crate::command::run::execute_plan_on;
use crate::exit::{CommandError, Exit};
use crate::output_flags::Output;

/// Run one workload, with the flag names of fio.
///
/// Flags carry fio's names where fio has one. The target is a directory (test
/// files are made in it and removed), a file, a block device, `null:` (fathom
/// itself) or `sim:MODEL` (a simulated drive under a virtual clock).
#[derive(Debug, Args)]
#[command(mut_arg(fathom_plan::RUNTIME, |arg| arg.visible_alias("for").alias("seconds")))]
#[command(after_help = "\
Examples:
  fathom io . --rw randread --bs 4k --iodepth 32 --runtime 30s
  fathom io /data --rw randrw --rwmixread 70 --numjobs 4 --size 10G
  fathom io /data --rw write --bs 4k --fdatasync 1        commit latency
  fathom io /data --rw randread --rate-iops 700           open loop
  fathom io /dev/nvme1n1 --rw randread --bs 4k            a device, read only
  fathom io sim:hdd --rw randread                         a simulated disk")]
pub(crate) struct Io {
    /// A directory, file, device, `null:` or `sim:MODEL`.
    pub(crate) target: String,
    #[command(flatten)]
    pub(crate) flags: IoFlags,
    #[command(flatten)]
    pub(crate) plan: PlanFlags,
    #[command(flatten)]
    pub(crate) hosts: HostArgs,
    #[command(flatten)]
    pub(crate) host_mode: HostModeArgs,
    #[command(flatten)]
    pub(crate) output: Output,
}

pub(crate) fn run(io: Io) -> anyhow::Result<Exit> {
    let plan = plan_of(&io)?;
    execute_plan_on(&io.hosts, plan, io.output)
}

/// What the flags ask for.
pub(crate) fn plan_of(io: &Io) -> anyhow::Result<Plan> {
    let target: Target = io.target.parse().map_err(CommandError::usage)?;
    let plan = io
        .flags
        .to_plan(target)
        .and_then(|plan| io.plan.apply(&plan))
        .and_then(|plan| io.host_mode.apply(plan));
    let color = io.output.format.color;
    Ok(plan.map_err(|problems| CommandError::plan(problems, color))?)
}
