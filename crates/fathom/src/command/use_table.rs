//! `fathom use`: utilisation, saturation and errors of each resource.

use std::time::Duration;

use clap::{Args, ValueEnum};
use fathom_diagnose::use_table;
use fathom_model::machine::HostReading;
use fathom_observe::Sysroot;
use fathom_observe::machine::{MachineWatch, machine_picture, read_states};
use fathom_report::machine;

use super::watched::{host_name, watch};
use crate::exit::Exit;
use crate::present;

/// Columns of the text.
const WIDTH: usize = 80;

/// Show utilisation, saturation and errors of each resource of this host.
///
/// Cores, memory, each disk with its queue, links, interfaces and the network,
/// read twice or more over a while; and a picture of what hangs on what, from
/// the socket to disks and interfaces, with the width of each link: one that was
/// trained down is named, and the narrowest is marked. Thresholds are those of
/// the alarms. What iostat calls %util is shown and nothing is judged by it.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  fathom use                           Five seconds of this host
  fathom use --for 30s --how           Longer, with how each figure was read
  fathom use --format html > use.html  With the picture drawn
  fathom use --json                    For programs (schema fathom.use/1)")]
pub(crate) struct UseTable {
    /// How long to watch.
    #[arg(long = "for", default_value = "5s", value_parser = super::watched::duration, value_name = "TIME")]
    span: Duration,
    /// Say how each figure was read.
    #[arg(long)]
    how: bool,
    /// How it is printed.
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    format: Format,
    /// The same as --format json.
    #[arg(long, conflicts_with = "format")]
    json: bool,
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

pub(crate) fn run(command: &UseTable) -> anyhow::Result<Exit> {
    let sys = Sysroot::host();
    let mut readings: Vec<HostReading> = read_states(&sys);
    let mut watched = MachineWatch::start(&sys);
    let seconds = watch(&mut watched, command.span, &mut readings);
    let picture = machine_picture(&sys, &readings);
    let found = use_table(&host_name(&sys), seconds, &readings, picture);
    let shown = match (command.json, command.format) {
        (true, _) | (_, Format::Json) => machine::json(&found)?,
        (_, Format::Html) => machine::html(&found)?,
        (_, Format::Text) => machine::text(&found, WIDTH, command.how),
    };
    present::write_stdout(&shown)?;
    Ok(Exit::Success)
}
