//! `fathom use`: utilisation, saturation and errors of each resource.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use fathom_diagnose::use_table;
use fathom_documents::numbers;
use fathom_model::machine::{HostReading, MachineUse};
use fathom_observe::Sysroot;
use fathom_observe::machine::{MachineWatch, machine_picture, read_smart, read_states};
use fathom_report::machine;
use fathom_screen::{WatchedSpan, host_name, watch};

use crate::exit::{CommandError, Exit};
use crate::present;
use crate::shown::{AlsoPage, DocumentFormat, Shown};
use crate::typed_command::typed_command;

/// Utilisation, saturation and errors of every resource.
///
/// Cores, memory, each disk with its queue, links, interfaces and the network,
/// read twice or more over a while; and a picture of the topology, from
/// the socket to disks and interfaces, with the width of each link: one that was
/// trained down is named, and the narrowest is marked. Thresholds are those of
/// the alarms. What iostat calls %util is shown and nothing is judged by it.
///
/// With files, the same over what was recorded: by fathom (the parts of one host
/// are joined; a folder stands for all in it), or by iostat, sar or vmstat.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  fathom use                           Five seconds of this host
  fathom use --for 30s --how           Longer, with how each figure was read
  fathom use --html use.html           Also as a page, with the picture
  fathom use db1.frec                  Of a recording
  fathom use --json                    For programs (schema fathom.use/1)")]
pub(crate) struct UseTable {
    /// Recordings, instead of this host.
    #[arg(value_name = "FILE|FOLDER", conflicts_with = "span")]
    files: Vec<PathBuf>,
    /// How long to watch.
    #[arg(long = "for", aliases = ["seconds", "runtime"], default_value = "5s", value_parser = fathom_screen::duration, value_name = "TIME")]
    span: Duration,
    /// Say how each figure was read, and where its threshold is from.
    #[arg(long, visible_alias = "verbose")]
    how: bool,
    #[command(flatten)]
    shown: Shown<Format>,
    #[command(flatten)]
    page: AlsoPage,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For the terminal.
    #[default]
    Text,
    /// One document (schema fathom.use/1).
    Json,
    /// One page with the picture drawn.
    Html,
}

impl DocumentFormat for Format {
    const JSON: Format = Format::Json;
}

pub(crate) fn run(command: &UseTable) -> anyhow::Result<Exit> {
    command.shown.admit()?;
    command.page.admit()?;
    let (found, was_interrupted) = match command.files.is_empty() {
        true => of_host(command.span, command.shown.is_quiet()),
        false => (of_files(&command.files)?, false),
    };
    if found.resources.is_empty() {
        let problem = "nothing tells how far the resources of this host are used: are /proc and \
                       /sys mounted here?";
        present::complain(problem);
        return Ok(Exit::Failure);
    }
    let text = match command.shown.format() {
        Format::Json => machine::json(&found)?,
        Format::Html => machine::html(&found, &moment())?,
        Format::Text => machine::text(&found, command.shown.columns(), command.how),
    };
    command.shown.write(&text)?;
    command.page.write(|| machine::html(&found, &moment()))?;
    Ok(match was_interrupted {
        true => Exit::Interrupted,
        false => Exit::Success,
    })
}

fn moment() -> machine::PageMoment {
    machine::PageMoment {
        unix_ns: fathom_observe::unix_now_ns(),
        command: typed_command(),
    }
}

/// What this host does, and whether a signal ended the watch early.
fn of_host(span: Duration, quiet: bool) -> (MachineUse, bool) {
    let sys = Sysroot::host();
    let mut readings: Vec<HostReading> = read_states(&sys);
    let (smart, mut notes) = read_smart(&sys);
    readings.extend(smart);
    let mut watched = MachineWatch::start(&sys);
    let WatchedSpan {
        seconds,
        was_interrupted,
    } = watch(&mut watched, span, &mut readings, quiet);
    notes.extend(watched.notes());
    if was_interrupted {
        notes.push(format!("interrupted after {seconds:.1} s"));
    }
    let picture = machine_picture(&sys, &readings);
    let found = use_table(&host_name(&sys), seconds, &readings, picture);
    (MachineUse { notes, ..found }, was_interrupted)
}

fn of_files(files: &[PathBuf]) -> Result<MachineUse, CommandError> {
    let read = numbers(files, None)?;
    let host = read.host.filter(|host| !host.is_empty());
    let host = host.unwrap_or_else(|| "recording".to_owned());
    let found = use_table(&host, read.seconds, &read.readings, Vec::new());
    if found.resources.is_empty() {
        let what = read.sources.join(", ");
        let problem = format!("{what}: nothing in it tells how far a resource is used");
        return Err(CommandError::Usage(problem));
    }
    let mut notes = read.notes;
    notes.push("the topology is read on the host itself and is not part of a recording".to_owned());
    Ok(MachineUse { notes, ..found })
}
