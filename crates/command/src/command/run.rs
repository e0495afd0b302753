//! `fathom run`: a plan file.

use std::path::PathBuf;

use clap::Args;
use fathom_plan::{HostModeArgs, IoFlags, Plan, PlanFlags};
pub(crate) use fathom_runs::plan_file::{schedule_here, schedule_on_hosts, usable_plan};

use crate::command::hosts::HostArgs;
use crate::exit::{CommandError, Exit};
use crate::output_flags::Output;
use crate::pipeline::{self, Request};
use crate::surroundings;

/// Run a plan: many workloads, repeated, in order.
///
/// Flags take the place of what the plan says, in each of its workloads.
#[derive(Debug, Args)]
#[command(mut_arg(fathom_plan::RUNTIME, |arg| arg.visible_alias("for").alias("seconds")))]
#[command(after_help = "\
Examples:
  fathom plan new general > general.yaml
  fathom plan check general.yaml     What would be done, how long, how much written
  fathom run general.yaml
  fathom run general.yaml --target /mnt/nas --runtime 10s
  fathom run general.yaml --json > result.json
  fathom run general.yaml --target /mnt/nas --hosts node[01-84]
                                     On 84 hosts at the same time, over ssh")]
pub(crate) struct Run {
    /// The plan file; `-` reads it from standard input.
    pub(crate) plan: PathBuf,
    /// Measure this target instead of the plan's.
    #[arg(long)]
    pub(crate) target: Option<String>,
    #[command(flatten)]
    pub(crate) flags: IoFlags,
    #[command(flatten)]
    pub(crate) plan_flags: PlanFlags,
    /// Treat warnings about the plan as errors.
    #[arg(long)]
    pub(crate) deny_warnings: bool,
    #[command(flatten)]
    pub(crate) hosts: HostArgs,
    #[command(flatten)]
    pub(crate) host_mode: HostModeArgs,
    #[command(flatten)]
    pub(crate) output: Output,
}

pub(crate) fn run(run: Run) -> anyhow::Result<Exit> {
    let plan = plan_of(&run)?;
    execute_plan_on(&run.hosts, plan, run.output)
}

/// The plan with the flags applied.
pub(crate) fn plan_of(run: &Run) -> anyhow::Result<Plan> {
    let color = run.output.format.color;
    let surroundings = match run.hosts.are_given() {
        true => |_: &Plan| surroundings::elsewhere(),
        false => surroundings::of,
    };
    let mut plan = usable_plan(&run.plan, surroundings, color, run.deny_warnings)?;
    if let Some(target) = &run.target {
        plan.set_targets(vec![target.parse().map_err(CommandError::usage)?]);
    }
    let applied = run
        .flags
        .apply(&plan)
        .and_then(|plan| run.plan_flags.apply(&plan))
        .and_then(|plan| run.host_mode.apply(plan));
    Ok(applied.map_err(|problems| CommandError::plan(problems, color))?)
}

/// Schedules a plan and sends it down the line, here or on many hosts.
pub(crate) fn execute_plan_on(
    hosts: &HostArgs,
    plan: Plan,
    output: Output,
) -> anyhow::Result<Exit> {
    execute_labelled_on(hosts, plan, None, output)
}

/// The same, with a word about the run.
pub(crate) fn execute_labelled_on(
    hosts: &HostArgs,
    plan: Plan,
    label: Option<String>,
    output: Output,
) -> anyhow::Result<Exit> {
    if !hosts.are_given() {
        return execute_plan(plan, label, output);
    }
    let schedule = schedule_on_hosts(&plan, output.format.color)?;
    let request = Request {
        plan,
        schedule,
        label,
        output,
    };
    pipeline::Run::new(&request).hosts(hosts).report()
}

/// Schedules a plan and sends it down the line.
pub(crate) fn execute_plan(
    plan: Plan,
    label: Option<String>,
    output: Output,
) -> anyhow::Result<Exit> {
    let schedule = schedule_here(&plan, output.format.color)?;
    let request = Request {
        plan,
        schedule,
        label,
        output,
    };
    pipeline::Run::new(&request).report()
}
