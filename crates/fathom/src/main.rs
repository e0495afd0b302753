//! The `fathom` command: flags in, calls of the rooms below, text out.

mod arguments;
mod cli;
mod command;
mod exit;
mod made_files;
mod metrics;
mod pace;
mod pipeline;
mod present;
mod progress;
mod recorder;
mod signals;
mod surroundings;

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::ExitCode;

use clap::{CommandFactory, Parser};

use crate::cli::{Cli, Command};
use crate::exit::Exit;

fn main() -> ExitCode {
    let exit = dispatch(command(std::env::args_os())).unwrap_or_else(|error| {
        present::complain(&format!("{error:#}"));
        Exit::of_error(&error)
    });
    exit.into()
}

/// What is asked for: by the name of the program where it is a link named
/// after another tool, else by its arguments.
fn command(arguments: impl Iterator<Item = OsString>) -> Command {
    let mut arguments = arguments.peekable();
    let program = arguments.peek().map(Path::new);
    if program.and_then(Path::file_name) == Some(OsStr::new("fio")) {
        return Command::Fio(command::fio::Fio {
            arguments: arguments.skip(1).collect(),
        });
    }
    let arguments = arguments::name_the_command(arguments);
    Cli::parse_from(arguments::join_switch_values(arguments, &Cli::command())).command
}

fn dispatch(command: Command) -> anyhow::Result<Exit> {
    match command {
        Command::Quick(quick) => command::quick::run(*quick),
        Command::Io(io) => command::io::run(*io),
        Command::Meta(meta) => command::meta::run(*meta),
        Command::S3(s3) => command::s3::run(*s3),
        Command::Gluster(command) => command::gluster::run(&command),
        Command::Enumerate(command) => command::enumerate::run(*command),
        Command::Smallfile(command) => command::smallfile::run(&command),
        Command::Gosbench(command) => command::gosbench::run(&command),
        Command::Disks(disks) => command::disks::run(*disks),
        Command::AtIoIops(command) => command::at_io_iops::run(*command),
        Command::AtIoParallel(command) => command::at_io_parallel::run(*command),
        Command::Ping(ping) => command::ping::run(*ping),
        Command::Net(net) => command::net::run(*net),
        Command::Size(size) => command::size::run(&size),
        Command::Run(run) => command::run::run(*run),
        Command::Scale(scale) => command::scale::run(*scale),
        Command::Agent(agent) => command::agent::run(*agent),
        Command::Fleet(fleet) => command::fleet::run(fleet),
        Command::Fio(fio) => command::fio::run(&fio),
        Command::Ab(ab) => command::ab::run(*ab),
        Command::Compare(compare) => command::compare::run(&compare),
        Command::Crosscheck(args) => command::crosscheck::run(&args),
        Command::Curve(curve) => command::curve::run(curve),
        Command::Snia(snia) => command::snia::run(snia),
        Command::Plan(plan) => command::plan::run(plan),
        Command::Runs(runs) => command::runs::run(runs),
        Command::Report(report) => command::report::run(&report),
        Command::Judge(judge) => command::judge::run(&judge),
        Command::Record(record) => command::record::run(&record),
        Command::Watch(watch) => command::watch::run(&watch),
        Command::Diagnose(diagnose) => command::diagnose::run(&diagnose),
        Command::Stack(stack) => command::stack::run(&stack),
        Command::UseTable(shown) => command::use_table::run(&shown),
        Command::Alarms(alarms) => command::alarms::run(&alarms),
        Command::Explain(explain) => command::explain::run(&explain),
        Command::Doctor(doctor) => command::doctor::run(&doctor),
        Command::Lab(lab) => command::lab::run(lab),
        Command::Clean(clean) => command::clean::run(&clean),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "fathom", &mut script);
            present::write_stdout(&String::from_utf8_lossy(&script))?;
            Ok(Exit::Success)
        }
        Command::Man => {
            let mut page = Vec::new();
            clap_mangen::Man::new(Cli::command()).render(&mut page)?;
            present::write_stdout(&String::from_utf8_lossy(&page))?;
            Ok(Exit::Success)
        }
    }
}
