//! `fathom disks`: the disks of a machine, each alone and then all at once.

mod chosen;

use chosen::{Chosen, Disk};
use clap::{Args, ValueEnum};
use fathom_model::schedule::Purpose;
use fathom_model::unit;
use fathom_report::table::{Align, Table};
use fathom_studies::disks::{
    DiskMachine, DiskOrder, DiskWorkload, DisksOptions, LoadedDisk, PlannedDisks, length_ns,
    plan_disks,
};

use crate::command::hosts::HostArgs;
use crate::exit::{CommandError, Exit};
use crate::output_flags::Output;
use crate::pipeline::{self, Request};
use crate::whole_seconds::whole_seconds;
use crate::{exit, present, run_identity, surroundings};

/// Test all data disks, one by one and together.
///
/// Says for each disk what it does alone and while all of them work, the sums,
/// what is left of the disks when all work at once, and which disk is clearly
/// slower than the others of its model.
///
/// Without DISK the data disks are found: whole drives that hold neither the
/// system nor swap and are neither read-only nor removable. Where a file
/// system of theirs is mounted, test files are made there and removed after.
/// A drive without one is only read from. Drives that are named with
/// --destructive may be overwritten; one with anything on it is refused even
/// then.
///
/// Sizes and depths follow the benchmarking guide for storage clusters: twice
/// the memory divided by the CPU threads for each worker; on an SSD as many
/// workers as threads and 32 operations in flight each, on a hard disk half as
/// many workers and 4 each; writes are flushed after every 32.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  fathom disks --show                What would be done, and to which disks
  fathom disks                       All data disks, each alone, then together
  fathom disks --workload randread   One workload; reading harms nothing
  fathom disks --together /mnt/d1 /mnt/d2 /mnt/d3
                                     These mounts, only all at once
  fathom disks --destructive --workload randwrite /dev/sdb /dev/sdc
                                     Two empty drives, which are overwritten
  fathom disks sim:hdd 'sim:hdd?rpm=5400'
                                     Simulated disks

A disk is called slow when its figure, with the whole 95 % interval, is below
80 % of the median of the other disks of its model: `fathom explain V72`.")]
pub(crate) struct Disks {
    /// Devices, mount points or other directories. Default: the data disks of
    /// this machine.
    disks: Vec<String>,
    /// Only each disk alone.
    #[arg(long, conflicts_with = "together")]
    each: bool,
    /// Only all disks at once.
    #[arg(long)]
    together: bool,
    /// What is done to them; may be given several times. Default: all on
    /// mounts and with --destructive, the reads otherwise.
    #[arg(long, value_enum)]
    workload: Vec<WorkloadChoice>,
    /// How long each workload is measured.
    #[arg(long = "for", aliases = ["seconds", "runtime"], value_name = "TIME")]
    #[arg(default_value = "60s", value_parser = whole_seconds(1, 86400))]
    seconds: u32,
    /// How often everything is measured.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=100))]
    iterations: u32,
    /// Size of the data set on each disk instead of that of the rule.
    #[arg(long, value_parser = unit::parse_bytes)]
    size: Option<u64>,
    /// Seed of all offsets and contents.
    #[arg(long)]
    seed: Option<u64>,
    /// Allow the named devices to be overwritten.
    #[arg(long, requires = "disks")]
    destructive: bool,
    /// Only show what would be done.
    #[arg(long)]
    show: bool,
    #[command(flatten)]
    hosts: HostArgs,
    #[command(flatten)]
    output: Output,
}

/// What is done to the disks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum WorkloadChoice {
    /// 4 KiB writes at random, flushed after every 32.
    Randwrite,
    /// 1 MiB writes in sequence, flushed after every 32.
    Seqwrite,
    /// 4 KiB reads at random.
    Randread,
    /// 1 MiB reads in sequence.
    Seqread,
    /// All of them.
    All,
}

pub(crate) fn run(disks: Disks) -> anyhow::Result<Exit> {
    if disks.hosts.are_given() && disks.disks.is_empty() {
        let problem = "name the disks with --hosts: fathom disks /mnt/disk1 /mnt/disk2 --hosts … \
                       (they are looked at on this host, which must be like the others)";
        return Err(CommandError::usage(problem).into());
    }
    let machine = DiskMachine {
        cpu_threads: surroundings::cpu_threads(),
        ram_bytes: surroundings::memory_bytes().unwrap_or(0),
    };
    let chosen = chosen::choose(&disks.disks, &machine, disks.size, disks.destructive)?;
    if chosen.disks.is_empty() {
        exit::fail(&nothing_found(&chosen));
        return Ok(Exit::Failure);
    }
    let wanted = DisksOptions {
        order: match (disks.each, disks.together) {
            (true, _) => DiskOrder::Each,
            (_, true) => DiskOrder::Together,
            _ => DiskOrder::Both,
        },
        workloads: workloads(&disks.workload, &chosen.disks),
        seconds: disks.seconds,
        iterations: disks.iterations,
        seed: disks.seed.unwrap_or_else(run_identity::fresh_seed),
        destructive: disks.destructive,
    };
    refuse_overwriting(&chosen.disks, &wanted)?;
    for note in &chosen.notes {
        present::complain(note);
    }
    let color = disks.output.format.color;
    let loaded: Vec<LoadedDisk> = chosen.disks.iter().map(Disk::loaded).collect();
    let arranged = plan_disks(&loaded, &wanted, surroundings::of);
    let arranged = arranged.map_err(|problems| CommandError::plan(problems, color))?;
    if disks.show {
        let length_ns = length_ns(&arranged.schedule);
        present::write_stdout(&show(&chosen, &wanted, length_ns))?;
        return Ok(Exit::Success);
    }
    carry_out(disks.hosts, arranged, disks.output)
}

/// Here, or on other hosts.
fn carry_out(hosts: HostArgs, arranged: PlannedDisks, output: Output) -> anyhow::Result<Exit> {
    let mut schedule = arranged.schedule;
    if hosts.are_given() {
        // The table of disks is that of one machine; here hosts stand beside
        // one another.
        schedule.purpose = Purpose::Measure;
    }
    let request = Request {
        plan: arranged.plan,
        schedule,
        label: None,
        output,
    };
    let mut run = pipeline::Run::new(&request);
    if hosts.are_given() {
        run = run.hosts(&hosts);
    }
    run.report()
}

/// What was asked for; without that, whatever harms nothing.
fn workloads(choices: &[WorkloadChoice], disks: &[Disk]) -> Vec<DiskWorkload> {
    let named = choices.iter().flat_map(|choice| match choice {
        WorkloadChoice::Randwrite => vec![DiskWorkload::RandWrite],
        WorkloadChoice::Seqwrite => vec![DiskWorkload::SeqWrite],
        WorkloadChoice::Randread => vec![DiskWorkload::RandRead],
        WorkloadChoice::Seqread => vec![DiskWorkload::SeqRead],
        WorkloadChoice::All => DiskWorkload::ALL.to_vec(),
    });
    let named: Vec<DiskWorkload> = named.collect();
    DiskWorkload::chosen(&named, disks.iter().all(|disk| disk.may_be_written))
}

/// Writes to what must not be written to are refused before anything is done.
fn refuse_overwriting(disks: &[Disk], wanted: &DisksOptions) -> Result<(), CommandError> {
    if !wanted.workloads.iter().any(|workload| workload.writes()) {
        return Ok(());
    }
    let refused: Vec<String> = disks
        .iter()
        .filter(|disk| !disk.may_be_written)
        .map(|disk| disk.target.to_string())
        .collect();
    if refused.is_empty() {
        return Ok(());
    }
    Err(CommandError::usage(format!(
        "the workload would overwrite {}; choose --workload randread or seqread, name a mounted \
         directory instead, or name the devices with --destructive if their content may be lost",
        refused.join(", ")
    )))
}

fn nothing_found(chosen: &Chosen) -> String {
    let mut text = String::from("no data disk was found on this machine\n");
    for (name, why) in &chosen.left_out {
        text.push_str(&format!("  {name}: {why}\n"));
    }
    text.push_str("help: name disks or folders: fathom disks /mnt/disk1 /mnt/disk2\n");
    text
}

fn show(chosen: &Chosen, wanted: &DisksOptions, length_ns: u64) -> String {
    let mut table = Table::new([
        ("disk", Align::Left),
        ("on", Align::Left),
        ("kind", Align::Left),
        ("size", Align::Right),
        ("workers", Align::Right),
        ("depth", Align::Right),
        ("data set", Align::Right),
    ]);
    for disk in &chosen.disks {
        let cut = if disk.load.cut { " (cut)" } else { "" };
        table.row([
            disk.target.to_string(),
            disk.drives.join(", "),
            disk.kind_name.to_owned(),
            disk.size_bytes
                .map_or(String::new(), |bytes| unit::bytes(bytes).to_string()),
            disk.load.workers.to_string(),
            disk.load.depth.to_string(),
            format!("{}{cut}", unit::bytes(disk.load.size_bytes)),
        ]);
    }
    let mut text = table.render();
    let names: Vec<&str> = wanted.workloads.iter().map(|w| w.name()).collect();
    let order = match wanted.order {
        DiskOrder::Each => "each disk alone",
        DiskOrder::Together => "all disks at once",
        DiskOrder::Both => "each disk alone, then all at once",
    };
    let times = match wanted.iterations {
        1 => String::new(),
        n => format!(", {n} times"),
    };
    text.push_str(&format!(
        "\n{}: {order}, {} s each{times}; about {} and the time to lay out test files\n",
        names.join(", "),
        wanted.seconds,
        unit::span(length_ns)
    ));
    if chosen.disks.iter().any(|disk| disk.load.cut) {
        text.push_str("cut: more was wanted than half of the free space, or than the disk has\n");
    }
    if !chosen.left_out.is_empty() {
        text.push_str("\nLeft out:\n");
    }
    for (name, why) in &chosen.left_out {
        text.push_str(&format!("  {name}: {why}\n"));
    }
    text
}
