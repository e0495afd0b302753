//! `fathom scale`: the same work on growing numbers of hosts.

use std::path::Path;

use clap::Args;
use fathom_model::fleet::FleetHost;
use fathom_model::schedule::Purpose;
use fathom_model::{Schedule, Target};
use fathom_plan::{FilesFlags, HostModeArgs, IoFlags, Plan};
use fathom_studies::scale::ScaleNumbers;

use crate::command::hosts::HostArgs;
use crate::command::run::{schedule_on_hosts, usable_plan};
use crate::exit::{CommandError, Exit};
use crate::output_flags::{Color, Output};
use crate::pipeline::{self, Request};
use crate::surroundings;

/// Measure how throughput scales with hosts.
///
/// The same work runs on 1, 2, 4 … hosts, in blocks: each block has every
/// number of hosts once, in random order, so that drift does not pass for
/// scaling. Speed-ups are those within a block. The universal scalability law
/// is fitted with intervals: contention (hosts wait for one another) and
/// coherency (each pair of hosts costs something), and what the hosts say
/// limited them is told where the growth ends.
///
/// With a plan its workloads run; with a target the flags of `fathom io`, or
/// --phases of work on many files. By default each host has data of its own
/// (weak scaling); --host-data divided gives them one data set together
/// (strong scaling).
#[derive(Debug, Args)]
#[command(mut_arg(fathom_plan::RUNTIME, |arg| arg.visible_alias("for").alias("seconds")))]
#[command(after_help = "\
Examples:
  fathom scale /mnt/nas --hosts 'node[01-16]' --rw randread --bs 4k --iodepth 16
  fathom scale plan.yaml --hosts h1,h2,h3,h4 --blocks 5 --every
  fathom scale /mnt/nas --hosts 'node[01-08]' --phases create,stat,unlink
  fathom scale /mnt/nas --hosts 'node[01-08]' --host-data divided --rw write
  fathom report latest               The charts as HTML")]
pub(crate) struct Scale {
    /// A plan file (`.yaml`), or a target.
    pub(crate) what: String,
    /// Every number of hosts from 1 on, not only 1, 2, 4 and so on.
    #[arg(long)]
    every: bool,
    /// These numbers of hosts.
    #[arg(
        long,
        value_delimiter = ',',
        value_name = "LIST",
        conflicts_with = "every"
    )]
    numbers: Vec<usize>,
    /// Blocks. Two or more give intervals.
    #[arg(long, default_value_t = 3, value_name = "N")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=1000))]
    blocks: u32,
    /// Work on many files: create, stat, readdir, unlink and others, one phase
    /// after the other.
    #[arg(long, value_name = "LIST")]
    phases: Option<String>,
    #[command(flatten)]
    flags: IoFlags,
    /// All offsets and contents follow from this number.
    #[arg(long)]
    seed: Option<u64>,
    /// Allow devices, and files that fathom did not make, to be overwritten.
    #[arg(long)]
    destructive: bool,
    #[command(flatten)]
    hosts: HostArgs,
    #[command(flatten)]
    host_mode: HostModeArgs,
    #[command(flatten)]
    output: Output,
}

pub(crate) fn run(scale: Scale) -> anyhow::Result<Exit> {
    if !scale.hosts.are_given() {
        let problem = "name the hosts with --hosts or --hosts-file";
        return Err(CommandError::usage(problem).into());
    }
    let color = scale.output.format.color;
    let mut plan = plan_of(&scale, color)?;
    plan.set_iterations(1);
    if let Some(seed) = scale.seed {
        plan.set_seed(seed);
    }
    if scale.destructive {
        plan.set_destructive(true);
    }
    let schedule = schedule_on_hosts(&plan, color)?;
    let numbers = ScaleNumbers {
        every: scale.every,
        named: scale.numbers,
    };
    let spread = move |schedule: &Schedule, hosts: &[FleetHost]| {
        study(schedule, hosts, &numbers, scale.blocks)
    };
    let request = Request {
        plan,
        schedule,
        label: None,
        output: scale.output,
    };
    pipeline::Run::new(&request)
        .hosts(&scale.hosts)
        .spread(&spread)
        .report()
}

/// The schedule of the study on the hosts that are there.
fn study(
    schedule: &Schedule,
    hosts: &[FleetHost],
    numbers: &ScaleNumbers,
    blocks: u32,
) -> anyhow::Result<Schedule> {
    let present = hosts.iter().filter(|host| host.lost.is_none()).count();
    let numbers = numbers.of(present)?;
    let spread = fathom_fleet::scaled(schedule, hosts, &numbers, blocks)?;
    let numbers = numbers.into_iter().map(|n| n as u32).collect();
    Ok(Schedule {
        purpose: Purpose::Scale { numbers, blocks },
        ..spread
    })
}

/// The plan that is named, or one from flags.
fn plan_of(scale: &Scale, color: Color) -> anyhow::Result<Plan> {
    let refused = |problems| CommandError::plan(problems, color);
    let path = Path::new(&scale.what);
    let is_plan = path
        .extension()
        .is_some_and(|end| end == "yaml" || end == "yml");
    if is_plan || scale.what == "-" {
        if scale.phases.is_some() {
            let problem = "--phases go with a target; a plan has its own";
            return Err(CommandError::usage(problem).into());
        }
        let plan = usable_plan(path, |_| surroundings::elsewhere(), color, false)?;
        let applied = scale.flags.apply(&plan);
        let plan = applied.and_then(|plan| scale.host_mode.apply(plan));
        return Ok(plan.map_err(refused)?);
    }
    let target: Target = scale.what.parse().map_err(CommandError::usage)?;
    let plan = match &scale.phases {
        Some(phases) => FilesFlags::from(scale.flags.clone()).to_plan(target, phases),
        None => scale.flags.to_plan(target),
    };
    let plan = plan.and_then(|plan| scale.host_mode.apply(plan));
    let mut plan = plan.map_err(refused)?;
    plan.set_name("scale");
    Ok(plan)
}
