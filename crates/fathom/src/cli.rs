//! Every command and option. The doc comments here are the only source of
//! `--help`, the man page and the completions.

use std::path::PathBuf;

use clap::builder::styling::{AnsiColor, Styles};
use clap::{Args, Parser, Subcommand, ValueEnum};
use fathom_plan::{IoFlags, PlanFlags};

use crate::command::host_mode::HostModeArgs;
use crate::command::hosts::HostArgs;
use crate::whole_seconds::whole_seconds;

const STYLES: Styles = Styles::styled()
    .header(AnsiColor::Green.on_default().bold())
    .usage(AnsiColor::Green.on_default().bold())
    .literal(AnsiColor::Cyan.on_default().bold())
    .placeholder(AnsiColor::Cyan.on_default());

const AFTER_HELP: &str = "\
Examples:
  fathom quick                       How fast is the disk under this directory?
  fathom io /data --rw randread --bs 4k --iodepth 32
                                     One workload, with the flags you know
  fathom meta /data                  Many small files: create, stat, read, unlink
  fathom ping /data                  Latency, request by request
  fathom disks --show                Which data disks there are, to be tested
  fathom net node2                   The network to a host that runs `net serve`
  fathom plan new database > db.yaml && fathom run db.yaml
                                     A plan with comments, then its run
  fathom curve load /data --slo 'p99<2ms'
                                     How much load keeps the tail short?
  fathom runs list                   What has been measured so far
  fathom ab /mnt/old /mnt/new --rw randread
                                     Which is faster? Measured in turns
  fathom explain V01                 What a finding means and what to do
  fathom judge fio.json              What can be believed of a result of fio
  fathom record --for 10m            What this host does, to be diagnosed
  fathom diagnose iostat.json        Is the storage the bottleneck: yes or no

Every result answers three questions: is it true (validity), what set it
(limiter), and, if you set a target, is it good enough (fitness).

Exit status: 0 trusted, 1 failure, 2 usage, 3 caveats (only with --strict),
4 not trusted, 5 interrupted, 6 a target (--slo) is not proven to be held;
comparisons: 7 slower, 8 faster, 9 not decided, as --fail-on asks.";

/// Measure storage honestly, and learn what limits it.
#[derive(Debug, Parser)]
#[command(name = "fathom", version, styles = STYLES, after_help = AFTER_HELP)]
#[command(arg_required_else_help = true, max_term_width = 100)]
pub(crate) struct Cli {
    /// Write over files that fathom did not write, and through symbolic links.
    #[arg(long, global = true, hide_short_help = true, help_heading = "Output")]
    pub(crate) force: bool,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What to do. The flags of a command are made when it is the one: there are so
/// many that making all of them would take longer than everything else before
/// the first operation.
#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum Command {
    #[command(aliases = ["bench", "benchmark"])]
    Quick(Box<Quick>),
    Io(Box<Io>),
    Meta(Box<crate::command::meta::Meta>),
    S3(Box<crate::command::s3::S3>),
    Ping(Box<crate::command::ping::Ping>),
    Disks(Box<crate::command::disks::Disks>),
    #[command(name = "at_io_iops")]
    AtIoIops(Box<crate::command::at_io_iops::AtIoIopsCommand>),
    #[command(name = "at_io_parallel")]
    AtIoParallel(Box<crate::command::at_io_parallel::AtIoParallelCommand>),
    Smallfile(crate::command::smallfile::SmallfileCommand),
    Gosbench(Box<crate::command::gosbench::GosbenchCommand>),
    Enumerate(Box<crate::command::enumerate::Enumerate>),
    Gluster(crate::command::gluster::Gluster),
    Net(Box<crate::command::net::Net>),
    Size(Box<crate::command::size::Size>),
    Run(Box<Run>),
    Scale(Box<crate::command::scale::Scale>),
    Fio(crate::command::fio::Fio),
    Agent(Box<crate::command::agent::Agent>),
    #[command(subcommand)]
    Fleet(crate::command::fleet::Fleet),
    Ab(Box<crate::command::ab::Ab>),
    Compare(Box<crate::command::compare::Compare>),
    Crosscheck(Box<crate::command::crosscheck::Crosscheck>),
    #[command(subcommand)]
    Curve(crate::command::curve::Curve),
    #[command(subcommand)]
    Snia(crate::command::snia::Snia),
    /// Write, check and show plans.
    #[command(subcommand)]
    Plan(Plan),
    /// List, show, export and remove stored runs.
    #[command(subcommand)]
    Runs(Runs),
    Report(Report),
    Judge(crate::command::judge::Judge),
    Record(Box<crate::command::record::Record>),
    Watch(crate::command::watch::Watch),
    Diagnose(crate::command::diagnose::Diagnose),
    Stack(crate::command::stack::Stack),
    #[command(name = "use")]
    UseTable(crate::command::use_table::UseTable),
    Alarms(crate::command::alarms::Alarms),
    Explain(Explain),
    Doctor(Doctor),
    #[command(subcommand)]
    Lab(crate::command::lab::Lab),
    Clean(Box<Clean>),
    /// Print a completion script for a shell.
    #[command(
        after_help = "Example:\n  fathom completions bash > ~/.local/share/bash-completion/completions/fathom"
    )]
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
    /// Print the manual page.
    #[command(after_help = "Example:\n  fathom man > fathom.1 && man ./fathom.1")]
    Man,
}

/// Measure the usual grid plus durable writes, in about two minutes.
///
/// Needs no root and no configuration. A test file is made in the target
/// directory, measured and removed: sequential 1 MiB and random 4 KiB blocks,
/// deep queues and single operations, reads and writes, and then the row that
/// databases live by: 4 KiB writes made durable one by one.
///
/// The result is a *burst* measurement: caches inside the drive may hold all
/// of it. Use --sustained to write past them.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  fathom quick                       The disk under the current directory
  fathom quick /mnt/nas --seconds 5  A mount, in less time
  fathom quick --size 8GiB           With a larger test file
  fathom quick /dev/sdb --read-only  A device with data: reads alone
  fathom quick --sustained           Writes past the drive's caches; takes long
  fathom quick s3://bench/try --endpoint http://127.0.0.1:9000
                                     A bucket: PUT, GET, HEAD and LIST
  fathom quick /mnt/nas --hosts node[01-04]
                                     On four hosts at the same time")]
pub(crate) struct Quick {
    /// A directory, file, device, or s3://BUCKET/PREFIX.
    #[arg(default_value = ".")]
    pub(crate) target: String,
    /// Seconds of measuring per cell.
    #[arg(long, default_value_t = 10, value_parser = whole_seconds(1, 86400))]
    pub(crate) seconds: u32,
    /// Size of the test file, for example 1GiB. Default: 1 GiB, or less when
    /// the disk is nearly full.
    #[arg(long, value_parser = parse_size)]
    pub(crate) size: Option<u64>,
    /// Write as much as it takes to get past caches, instead of for a time.
    #[arg(long)]
    pub(crate) sustained: bool,
    /// Allow a device, or a file that fathom did not make, to be overwritten.
    #[arg(long)]
    pub(crate) destructive: bool,
    /// Measure the read rows only: a device or file with data stays as it is.
    #[arg(long, conflicts_with_all = ["destructive", "sustained"])]
    pub(crate) read_only: bool,
    /// Keep the test file for later runs.
    #[arg(long)]
    pub(crate) keep_files: bool,
    #[command(flatten)]
    pub(crate) reached: fathom_plan::StoreFlags,
    #[command(flatten)]
    pub(crate) hosts: HostArgs,
    #[command(flatten)]
    pub(crate) output: Output,
}

/// Run one workload given as flags.
///
/// Flags carry fio's names where fio has one. The target is a directory (test
/// files are made in it and removed), a file, a block device, `null:` (fathom
/// itself) or `sim:MODEL` (a simulated drive under a virtual clock).
#[derive(Debug, Args)]
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

/// Write, check and show plans.
#[derive(Debug, Subcommand)]
pub(crate) enum Plan {
    /// Print a commented plan for a purpose.
    ///
    /// Without a name the purposes are listed.
    #[command(after_help = "Example:\n  fathom plan new database > db.yaml")]
    New {
        /// The purpose.
        purpose: Option<String>,
    },
    /// Check a plan and say what it would do, without touching the target.
    #[command(after_help = "Example:\n  fathom plan check db.yaml")]
    Check {
        /// The plan file; `-` reads it from standard input.
        plan: PathBuf,
    },
    /// Show the trials of a plan in the order in which they would run.
    #[command(after_help = "Example:\n  fathom plan show db.yaml --json")]
    Show {
        /// The plan file; `-` reads it from standard input.
        plan: PathBuf,
        /// Print the complete schedule as JSON.
        #[arg(long)]
        json: bool,
    },
    /// Write a plan as a job file of fio.
    ///
    /// What fio does otherwise stands as a comment above the job; what it
    /// cannot do at all is an error that names the key and the reason. Sizes,
    /// amounts and rates are translated: fio counts them for each job, fathom
    /// for all workers together.
    #[command(after_help = "\
Examples:
  fathom plan export --fio db.yaml > db.fio && fio db.fio
  fathom plan export --fio db.yaml --target /mnt/nas --out db.fio
  fathom crosscheck db.yaml          Run both in turns and compare")]
    Export {
        /// The plan file; `-` reads it from standard input.
        plan: PathBuf,
        /// As a job file of fio; there is no other format yet.
        #[arg(long, required = true)]
        fio: bool,
        /// Export for this target instead of the plan's.
        #[arg(long)]
        target: Option<String>,
        /// Where to write it instead of standard output.
        #[arg(long, short, value_name = "FILE")]
        out: Option<PathBuf>,
    },
    /// Print the JSON Schema of plan files, for editors.
    #[command(after_help = "Example:\n  fathom plan schema > fathom-plan.schema.json")]
    Schema,
}

/// List, show, export and remove stored runs.
#[derive(Debug, Subcommand)]
pub(crate) enum Runs {
    /// List stored runs, newest first.
    #[command(after_help = "Example:\n  fathom runs list --limit 5")]
    List {
        /// At most this many.
        #[arg(long, default_value_t = 20)]
        limit: u32,
        /// Print JSON.
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        store: StorePath,
    },
    /// Show the result of a run again.
    #[command(
        after_help = "Examples:\n  fathom runs show latest\n  fathom runs show 20261121-1530 --json"
    )]
    Show {
        /// Id, the start of one, `latest` or `latest~N`.
        #[arg(default_value = "latest")]
        run: String,
        #[command(flatten)]
        format: Format,
        #[command(flatten)]
        store: StorePath,
    },
    Export(crate::command::export::Export),
    /// Remove runs from the store.
    #[command(after_help = "Example:\n  fathom runs rm 20261121-153042-k3f9")]
    Rm {
        /// Ids, or starts of them.
        #[arg(required = true)]
        runs: Vec<String>,
        #[command(flatten)]
        store: StorePath,
    },
}

/// Write the HTML report of a stored run.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  fathom report latest\n  fathom report latest -o disk.html")]
pub(crate) struct Report {
    /// Id, the start of one, `latest` or `latest~N`.
    #[arg(default_value = "latest")]
    pub(crate) run: String,
    /// Where to write it; `-` is standard output. Default: beside the store.
    #[arg(short, long)]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) store: StorePath,
}

/// Explain a check: what it detects, how, its thresholds and what to do.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  fathom explain V01\n  fathom explain          lists all checks"
)]
pub(crate) struct Explain {
    /// Id or name of the check.
    pub(crate) check: Option<String>,
}

/// Say what this machine allows, and what to do about what it does not.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  fathom doctor\n  fathom doctor /mnt/data")]
pub(crate) struct Doctor {
    /// Directory in which to try things out.
    #[arg(default_value = ".")]
    pub(crate) directory: PathBuf,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

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

/// Where runs are stored.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct StorePath {
    /// The store to use instead of $FATHOM_STORE or the one in the user's
    /// data directory.
    #[arg(long, value_name = "FILE")]
    pub(crate) store: Option<PathBuf>,
}

/// How a result is printed.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct Format {
    /// Print JSON (schema fathom.run/1) and nothing else on standard output.
    #[arg(long, group = "format")]
    pub(crate) json: bool,
    /// Print CSV.
    #[arg(long, group = "format")]
    pub(crate) csv: bool,
    /// Print Markdown.
    #[arg(long, group = "format")]
    pub(crate) markdown: bool,
    /// Show throughput in decimal units (MB/s = 10^6 bytes/s).
    #[arg(long)]
    pub(crate) decimal: bool,
    /// Show every check, also those that passed.
    #[arg(long, short)]
    pub(crate) verbose: bool,
    /// When to use colour.
    #[arg(long, value_enum, default_value_t, value_name = "WHEN")]
    pub(crate) color: Color,
}

/// When to use colour.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal, unless NO_COLOR is set.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// Output of commands that measure.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct Output {
    #[command(flatten)]
    pub(crate) format: Format,
    /// Write the HTML report here instead of beside the store.
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// No progress and no notes.
    #[arg(long, short)]
    pub(crate) quiet: bool,
    /// Exit with status 3 when the result has caveats.
    #[arg(long)]
    pub(crate) strict: bool,
    #[command(flatten)]
    pub(crate) metrics: crate::metrics::MetricsArgs,
    #[command(flatten)]
    pub(crate) store: StorePath,
}

fn parse_size(text: &str) -> Result<u64, String> {
    fathom_model::unit::parse_bytes(text).map_err(|error| error.to_string())
}
