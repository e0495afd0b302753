//! `fathom run`: a plan file.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Args;
use fathom_model::Schedule;
use fathom_plan::{IoFlags, Plan, PlanFlags, ScheduleContext};

use crate::command::host_mode::HostModeArgs;
use crate::command::hosts::HostArgs;
use crate::exit::{self, CommandError, Exit};
use crate::output_flags::{Color, Output};
use crate::pipeline::{self, Request};
use crate::{present, surroundings};

/// Run a plan: any number of workloads, repeated and in order.
///
/// Flags take the place of what the plan says, in each of its workloads.
#[derive(Debug, Args)]
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

/// More than any plan needs; keeps a wrong file from being read whole.
const PLAN_BYTES_MAX: u64 = 1 << 20;

pub(crate) fn run(run: Run) -> anyhow::Result<Exit> {
    let color = run.output.format.color;
    let mut plan = usable_plan(&run.plan, color, run.deny_warnings)?;
    if let Some(target) = &run.target {
        plan.set_targets(vec![target.parse().map_err(CommandError::usage)?]);
    }
    let applied = run
        .flags
        .apply(&plan)
        .and_then(|plan| run.plan_flags.apply(&plan))
        .and_then(|plan| run.host_mode.apply(plan));
    let plan = applied.map_err(|problems| CommandError::plan(problems, color))?;
    execute_plan_on(&run.hosts, plan, run.output)
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

/// A plan on this host, trial by trial.
///
/// # Errors
/// What of the plan cannot be done here.
pub(crate) fn schedule_here(plan: &Plan, color: Color) -> Result<Schedule, CommandError> {
    let schedule = plan.schedule(&surroundings::of(plan));
    schedule.map_err(|problems| CommandError::plan(problems, color))
}

/// A plan on other hosts, trial by trial.
///
/// # Errors
/// What of the plan cannot be done anywhere.
pub(crate) fn schedule_on_hosts(plan: &Plan, color: Color) -> Result<Schedule, CommandError> {
    // What this host knows of a path says nothing about others.
    let surroundings = ScheduleContext {
        facts: BTreeMap::new(),
        ..surroundings::of(plan)
    };
    let schedule = plan.schedule(&surroundings);
    schedule.map_err(|problems| CommandError::plan(problems, color))
}

/// [`schedule_here`] for callers that go on by themselves: what is wrong goes to
/// standard error.
pub(crate) fn schedule(plan: &Plan, color: bool) -> Option<Schedule> {
    told(schedule_here(plan, Color::when(color)))
}

/// [`schedule_on_hosts`] for callers that go on by themselves: what is wrong goes
/// to standard error.
pub(crate) fn schedule_elsewhere(plan: &Plan, color: bool) -> Option<Schedule> {
    told(schedule_on_hosts(plan, Color::when(color)))
}

fn told(schedule: Result<Schedule, CommandError>) -> Option<Schedule> {
    schedule.map_err(|error| exit::tell(&error.into())).ok()
}

/// Reads and checks a plan. Errors and warnings go to standard error; `None`
/// when there is no usable plan.
pub(crate) fn read_plan(
    path: &Path,
    color: Color,
    deny_warnings: bool,
) -> anyhow::Result<Option<Plan>> {
    match usable_plan(path, color, deny_warnings) {
        Err(error) if error.is::<CommandError>() => {
            exit::tell(&error);
            Ok(None)
        }
        plan => plan.map(Some),
    }
}

/// Reads and checks a plan. Warnings go to standard error, and are mistakes
/// where they are denied.
///
/// # Errors
/// The file cannot be read, or the mistakes of the plan.
pub(crate) fn usable_plan(path: &Path, color: Color, deny_warnings: bool) -> anyhow::Result<Plan> {
    let name = path.display().to_string();
    let text = read_limited(path)?;
    let plan = fathom_plan::parse(&name, &text);
    let plan = plan.map_err(|problems| CommandError::plan(problems, color))?;
    let warnings = plan.lint(&surroundings::of(&plan));
    if warnings.is_empty() {
        return Ok(plan);
    }
    if deny_warnings {
        return Err(CommandError::plan(warnings, color).into());
    }
    let color = present::use_color(color, &std::io::stderr());
    present::write_stderr(&warnings.render(color));
    Ok(plan)
}

fn read_limited(path: &Path) -> anyhow::Result<String> {
    let mut text = String::new();
    let what = || format!("cannot read the plan {}", path.display());
    if path == Path::new("-") {
        std::io::stdin()
            .take(PLAN_BYTES_MAX + 1)
            .read_to_string(&mut text)
            .with_context(what)?;
    } else {
        let file = fathom_deadline::paths::open(path).with_context(what)?;
        file.take(PLAN_BYTES_MAX + 1)
            .read_to_string(&mut text)
            .with_context(what)?;
    }
    anyhow::ensure!(
        text.len() as u64 <= PLAN_BYTES_MAX,
        "the plan {} is longer than 1 MiB; is it the right file?",
        path.display()
    );
    Ok(text)
}
