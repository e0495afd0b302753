//! One file a command, and the list of them. Each is thin: it turns flags into calls
//! of the rooms below and their answers into text.

pub(crate) mod ab;
pub(crate) mod agent;
pub(crate) mod alarms;
pub(crate) mod at_io_iops;
pub(crate) mod at_io_parallel;
pub(crate) mod clean;
pub(crate) mod compare;
pub(crate) mod compat;
pub(crate) mod complete;
pub(crate) mod config;
pub(crate) mod crosscheck;
pub(crate) mod curve;
pub(crate) mod diagnose;
pub(crate) mod disks;
pub(crate) mod doctor;
pub(crate) mod enumerate;
pub(crate) mod explain;
pub(crate) mod export;
pub(crate) mod fio;
pub(crate) mod fleet;
pub(crate) mod gate;
pub(crate) mod gluster;
pub(crate) mod gosbench;
pub(crate) mod io;
pub(crate) mod judge;
pub(crate) mod kubernetes;
pub(crate) mod man;
pub(crate) mod meta;
pub(crate) mod net;
pub(crate) mod ping;
pub(crate) mod plan;
pub(crate) mod quick;
pub(crate) mod record;
pub(crate) mod report;
pub(crate) mod run;
pub(crate) mod runs;
pub(crate) mod s3;
pub(crate) mod scale;
pub(crate) mod size;
pub(crate) mod smallfile;
pub(crate) mod snia;
pub(crate) mod stack;
pub(crate) mod use_table;
pub(crate) mod watch;

use clap::Subcommand;
pub(crate) use fathom_runs::{collect, hosts};

use crate::exit::Exit;

/// What to do. The flags of a command are made when it is the one: there are so
/// many that making all of them would take longer than everything else before
/// the first operation.
#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum Command {
    #[command(aliases = ["bench", "benchmark", "test"])]
    Quick(Box<quick::Quick>),
    Io(Box<io::Io>),
    Meta(Box<meta::Meta>),
    S3(Box<s3::S3>),
    Ping(Box<ping::Ping>),
    Disks(Box<disks::Disks>),
    #[command(name = "at_io_iops", hide = true)]
    AtIoIops(Box<at_io_iops::AtIoIopsCommand>),
    #[command(name = "at_io_parallel", hide = true)]
    AtIoParallel(Box<at_io_parallel::AtIoParallelCommand>),
    #[command(hide = true)]
    Smallfile(smallfile::SmallfileCommand),
    #[command(hide = true)]
    Gosbench(Box<gosbench::GosbenchCommand>),
    Enumerate(Box<enumerate::Enumerate>),
    Gluster(gluster::Gluster),
    Net(Box<net::Net>),
    Size(Box<size::Size>),
    Run(Box<run::Run>),
    Scale(Box<scale::Scale>),
    #[command(hide = true)]
    Fio(fio::Fio),
    Agent(Box<agent::Agent>),
    #[command(subcommand)]
    Fleet(fleet::Fleet),
    Kubernetes(Box<kubernetes::Kubernetes>),
    Ab(Box<ab::Ab>),
    Compare(Box<compare::Compare>),
    #[command(subcommand)]
    Compat(compat::Compat),
    #[command(hide = true)]
    Crosscheck(Box<crosscheck::Crosscheck>),
    #[command(subcommand)]
    Curve(curve::Curve),
    #[command(subcommand)]
    Snia(snia::Snia),
    /// Write, check and show plans.
    #[command(subcommand)]
    Plan(plan::Plan),
    Runs(Box<runs::Runs>),
    Report(report::Report),
    Judge(judge::Judge),
    Record(Box<record::Record>),
    #[command(aliases = ["top", "iotop"])]
    Watch(watch::Watch),
    Diagnose(diagnose::Diagnose),
    Stack(stack::Stack),
    #[command(name = "use")]
    UseTable(use_table::UseTable),
    Alarms(alarms::Alarms),
    Explain(explain::Explain),
    Doctor(doctor::Doctor),
    Clean(Box<clean::Clean>),
    #[command(subcommand)]
    Config(config::Config),
    /// Print a completion script for a shell.
    #[command(
        after_help = "Example:\n  fathom completions bash > ~/.local/share/bash-completion/completions/fathom"
    )]
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
    Man(man::Man),
    #[command(hide = true)]
    Complete(complete::Complete),
}

impl Command {
    /// Whether it has what does not respond in its own output.
    pub(crate) fn shows_silence(&self) -> bool {
        matches!(
            self,
            Command::UseTable(_)
                | Command::Alarms(_)
                | Command::Stack(_)
                | Command::Watch(_)
                | Command::Diagnose(_)
                | Command::Doctor(_)
        )
    }

    /// Does it. `all` describes every command, for the completions and the manual.
    pub(crate) fn run(self, all: fn() -> clap::Command) -> anyhow::Result<Exit> {
        match self {
            Command::Quick(quick) => quick::run(*quick),
            Command::Io(io) => io::run(*io),
            Command::Meta(meta) => meta::run(*meta),
            Command::S3(s3) => s3::run(*s3),
            Command::Gluster(command) => gluster::run(&command),
            Command::Enumerate(command) => enumerate::run(*command),
            Command::Smallfile(command) => smallfile::run(&command),
            Command::Gosbench(command) => gosbench::run(&command),
            Command::Disks(disks) => disks::run(*disks),
            Command::AtIoIops(command) => at_io_iops::run(*command),
            Command::AtIoParallel(command) => at_io_parallel::run(*command),
            Command::Ping(ping) => ping::run(*ping),
            Command::Net(net) => net::run(*net),
            Command::Size(size) => size::run(&size),
            Command::Run(run) => run::run(*run),
            Command::Scale(scale) => scale::run(*scale),
            Command::Agent(agent) => agent::run(*agent),
            Command::Fleet(fleet) => fleet::run(fleet),
            Command::Kubernetes(command) => kubernetes::run(&command, all),
            Command::Fio(fio) => fio::run(&fio),
            Command::Ab(ab) => ab::run(*ab),
            Command::Compat(compat) => Command::from(compat).run(all),
            Command::Compare(compare) => compare::run(&compare),
            Command::Crosscheck(args) => crosscheck::run(&args),
            Command::Curve(curve) => curve::run(curve),
            Command::Snia(snia) => snia::run(snia),
            Command::Plan(plan) => plan::run(plan),
            Command::Runs(runs) => runs::run(*runs),
            Command::Report(report) => report::run(&report),
            Command::Judge(judge) => judge::run(&judge),
            Command::Record(record) => record::run(&record),
            Command::Watch(watch) => watch::run(&watch),
            Command::Diagnose(diagnose) => diagnose::run(&diagnose),
            Command::Stack(stack) => stack::run(&stack),
            Command::UseTable(shown) => use_table::run(&shown),
            Command::Alarms(alarms) => alarms::run(&alarms),
            Command::Explain(explain) => explain::run(&explain),
            Command::Doctor(doctor) => doctor::run(&doctor),
            Command::Clean(clean) => clean::run(&clean),
            Command::Config(config) => config::run(config, all()),
            Command::Completions { shell } => complete::script(shell, all()),
            Command::Man(man) => man::run(&man, all()),
            Command::Complete(complete) => complete::run(&complete, all()),
        }
    }
}
