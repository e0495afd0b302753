//! `fathom scale`: the same work on growing numbers of hosts.

use std::path::Path;

use clap::Args;
use fathom_model::fleet::FleetHost;
use fathom_model::host_mode::growing_numbers;
use fathom_model::schedule::Purpose;
use fathom_model::{Schedule, Target};
use fathom_plan::{FilesFlags, IoFlags, Plan, ScheduleContext};

use crate::command::host_mode::HostModeArgs;
use crate::command::hosts::HostArgs;
use crate::command::run::read_plan;
use crate::exit::Exit;
use crate::output_flags::{Color, Output};
use crate::pipeline::{self, Request};
use crate::{present, surroundings};

/// Measure how the work of hosts adds up: speed-up, efficiency, what saturates.
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
#[command(after_help = "\
Examples:
  fathom scale /mnt/nas --hosts 'node[01-16]' --rw randread --bs 4k --iodepth 16
  fathom scale plan.yaml --hosts h1,h2,h3,h4 --blocks 5 --every
  fathom scale /mnt/nas --hosts 'node[01-08]' --phases create,stat,readdir,unlink
  fathom scale /mnt/nas --hosts 'node[01-08]' --host-data divided --rw write --bs 1M
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
        present::complain("name the hosts with --hosts or --hosts-file");
        return Ok(Exit::Usage);
    }
    let Some(mut plan) = plan_of(&scale)? else {
        return Ok(Exit::Usage);
    };
    plan.set_iterations(1);
    if let Some(seed) = scale.seed {
        plan.set_seed(seed);
    }
    if scale.destructive {
        plan.set_destructive(true);
    }
    // What this host knows of a path says nothing about others.
    let surroundings = ScheduleContext {
        facts: Default::default(),
        ..surroundings::of(&plan)
    };
    let schedule = match plan.schedule(&surroundings) {
        Ok(schedule) => schedule,
        Err(problems) => {
            let color = present::use_color(scale.output.format.color, &std::io::stderr());
            present::write_stderr(&problems.render(color));
            return Ok(Exit::Usage);
        }
    };
    let (every, numbers, blocks) = (scale.every, scale.numbers, scale.blocks);
    let spread = move |schedule: &Schedule, hosts: &[FleetHost]| {
        study(schedule, hosts, (every, &numbers), blocks)
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
    (every, asked): (bool, &[usize]),
    blocks: u32,
) -> anyhow::Result<Schedule> {
    let present = hosts.iter().filter(|host| host.lost.is_none()).count();
    let mut numbers = match (every, asked.is_empty()) {
        (true, _) => (1..=present).collect(),
        (false, true) => growing_numbers(present),
        (false, false) => asked.to_vec(),
    };
    numbers.sort_unstable();
    numbers.dedup();
    let possible = 1..=present;
    if let Some(wrong) = numbers.iter().find(|n| !possible.contains(n)) {
        anyhow::bail!("{wrong} hosts were asked for; {present} are there");
    }
    if numbers.len() < 2 {
        anyhow::bail!("a study needs two numbers of hosts at least; {present} are there");
    }
    let spread = fathom_fleet::scaled(schedule, hosts, &numbers, blocks)?;
    let numbers = numbers.into_iter().map(|n| n as u32).collect();
    Ok(Schedule {
        purpose: Purpose::Scale { numbers, blocks },
        ..spread
    })
}

/// The plan that is named, or one from flags. What is wrong goes to standard
/// error.
fn plan_of(scale: &Scale) -> anyhow::Result<Option<Plan>> {
    let color = scale.output.format.color;
    let path = Path::new(&scale.what);
    let is_plan = path
        .extension()
        .is_some_and(|end| end == "yaml" || end == "yml");
    if is_plan || scale.what == "-" {
        if scale.phases.is_some() {
            present::complain("--phases go with a target; a plan has its own");
            return Ok(None);
        }
        let Some(plan) = read_plan(path, color, false)? else {
            return Ok(None);
        };
        let applied = scale.flags.apply(&plan);
        let plan = applied.and_then(|plan| scale.host_mode.apply(plan));
        return Ok(told(plan, color));
    }
    let target: Target = match scale.what.parse() {
        Ok(target) => target,
        Err(error) => {
            present::complain(&error.to_string());
            return Ok(None);
        }
    };
    let plan = match &scale.phases {
        Some(phases) => FilesFlags::from(scale.flags.clone()).to_plan(target, phases),
        None => scale.flags.to_plan(target),
    };
    let plan = plan.and_then(|plan| scale.host_mode.apply(plan));
    let mut plan = told(plan, color);
    if let Some(plan) = &mut plan {
        plan.set_name("scale");
    }
    Ok(plan)
}

fn told(plan: Result<Plan, fathom_plan::Diagnostics>, color: Color) -> Option<Plan> {
    match plan {
        Ok(plan) => Some(plan),
        Err(problems) => {
            let color = present::use_color(color, &std::io::stderr());
            present::write_stderr(&problems.render(color));
            None
        }
    }
}
