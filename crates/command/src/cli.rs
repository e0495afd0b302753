//! Every command and option. The doc comments here are the only source of
//! `--help`, the man page and the completions.

use clap::builder::styling::{AnsiColor, Styles};
use clap::{Parser, Subcommand};

use crate::command;

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
    Quick(Box<command::quick::Quick>),
    Io(Box<command::io::Io>),
    Meta(Box<command::meta::Meta>),
    S3(Box<command::s3::S3>),
    Ping(Box<command::ping::Ping>),
    Disks(Box<command::disks::Disks>),
    #[command(name = "at_io_iops")]
    AtIoIops(Box<command::at_io_iops::AtIoIopsCommand>),
    #[command(name = "at_io_parallel")]
    AtIoParallel(Box<command::at_io_parallel::AtIoParallelCommand>),
    Smallfile(command::smallfile::SmallfileCommand),
    Gosbench(Box<command::gosbench::GosbenchCommand>),
    Enumerate(Box<command::enumerate::Enumerate>),
    Gluster(command::gluster::Gluster),
    Net(Box<command::net::Net>),
    Size(Box<command::size::Size>),
    Run(Box<command::run::Run>),
    Scale(Box<command::scale::Scale>),
    Fio(command::fio::Fio),
    Agent(Box<command::agent::Agent>),
    #[command(subcommand)]
    Fleet(command::fleet::Fleet),
    Ab(Box<command::ab::Ab>),
    Compare(Box<command::compare::Compare>),
    Crosscheck(Box<command::crosscheck::Crosscheck>),
    #[command(subcommand)]
    Curve(command::curve::Curve),
    #[command(subcommand)]
    Snia(command::snia::Snia),
    /// Write, check and show plans.
    #[command(subcommand)]
    Plan(command::plan::Plan),
    /// List, show, export and remove stored runs.
    #[command(subcommand)]
    Runs(command::runs::Runs),
    Report(command::report::Report),
    Judge(command::judge::Judge),
    Record(Box<command::record::Record>),
    Watch(command::watch::Watch),
    Diagnose(command::diagnose::Diagnose),
    Stack(command::stack::Stack),
    #[command(name = "use")]
    UseTable(command::use_table::UseTable),
    Alarms(command::alarms::Alarms),
    Explain(command::explain::Explain),
    Doctor(command::doctor::Doctor),
    Clean(Box<command::clean::Clean>),
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
