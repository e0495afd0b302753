//! `fathom alarms`: named rules with thresholds, over this host or recordings.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};
use fathom_diagnose::alarm::{evaluate, prometheus_rules};
use fathom_documents::numbers;
use fathom_model::alarm::{AlarmState, Alarms as Found};
use fathom_observe::Sysroot;
use fathom_observe::machine::{MachineWatch, read_smart, read_states};
use fathom_report::alarms as report;
use fathom_rules::alarm;
use fathom_screen::{host_name, watch};

use super::explain::TEXT_COLUMNS;
use crate::exit::{CommandError, Exit};
use crate::present;
use crate::shown::{DocumentFormat, Shown};

/// Check a host or recording against alert rules.
///
/// Space, arrays, files of a cluster, CPU of metadata services and gateways,
/// latency, queues, wear, swapping, iowait, interrupts, links. Each rule fires, is
/// ok or cannot be measured, and says why. A rule that asks for five minutes fires
/// only when five minutes were seen: use --for 5m, or a recording.
///
/// The exit status is 10 when an alarm fires, and 0 when none does. docs/reference/alarms.md
/// has all rules with their sources.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
#[command(after_help = "\
Examples:
  fathom alarms                          Five seconds of this host
  fathom alarms --for 5m --quiet         For cron: prints only what fires
  fathom alarms /var/lib/fathom          Over all that was recorded of a host
  fathom alarms day.json iostat.txt      Over recordings of other tools
  fathom alarms profile.txt osd-perf.json
                                         Over dumps of Gluster and Ceph
  fathom alarms disk-sdc.txt             A service's description (vinfra node
                                         disk show): its journal
  fathom alarms explain operation-time
  fathom alarms --format prometheus > fathom.rules.yml")]
pub(crate) struct Alarms {
    #[command(subcommand)]
    ask: Option<Ask>,
    /// What to judge instead of this host: recordings of fathom (the parts of one
    /// host are joined; a folder stands for all in it) and of iostat, sar and
    /// vmstat, dumps of Ceph and Gluster, `smartctl -j -a` of a disk, runs of
    /// fathom against an object store, descriptions of services.
    #[arg(value_name = "FILE|FOLDER")]
    files: Vec<PathBuf>,
    /// Major version of Gluster; needed for its profiles as XML.
    #[arg(long, value_name = "MAJOR")]
    gluster_version: Option<u32>,
    /// How long to watch this host.
    #[arg(long = "for", aliases = ["seconds", "runtime"], default_value = "5s", value_parser = fathom_screen::duration, value_name = "TIME")]
    span: Duration,
    /// From which severity on an alarm makes the exit status 10.
    #[arg(long, value_enum, default_value_t, value_name = "LEAST")]
    severity: Severity,
    /// Also those that are ok or cannot be measured.
    #[arg(long, short)]
    verbose: bool,
    #[command(flatten)]
    shown: Shown<Format>,
}

#[derive(Debug, Subcommand)]
enum Ask {
    /// List all rules.
    List,
    /// Say what a rule finds, how, and what to do.
    Explain {
        /// Name of the rule.
        name: String,
    },
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
enum Severity {
    /// Any that fires.
    Info,
    /// Warnings and critical ones.
    #[default]
    Warning,
    /// Critical ones only.
    Critical,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For the terminal.
    #[default]
    Text,
    /// One document (schema fathom.alarms/1).
    Json,
    /// The rules for Prometheus; nothing is read.
    Prometheus,
}

impl DocumentFormat for Format {
    const JSON: Format = Format::Json;
}

pub(crate) fn run(command: &Alarms) -> anyhow::Result<Exit> {
    match &command.ask {
        Some(Ask::List) => {
            present::write_stdout(&report::list())?;
            return Ok(Exit::Success);
        }
        Some(Ask::Explain { name }) => return explain(name),
        None => {}
    }
    command.shown.admit()?;
    if command.shown.format() == Format::Prometheus {
        command.shown.write(&prometheus_rules())?;
        return Ok(Exit::Success);
    }
    let (found, was_interrupted) = match command.files.is_empty() {
        true => of_host(command.span, command.shown.is_quiet()),
        false => (of_files(command)?, false),
    };
    let firing = fires(&found, command.severity);
    if firing || !command.shown.is_quiet() {
        let text = match command.shown.is_json() {
            true => report::json(&found)?,
            false => report::text(&found, command.shown.columns(), command.verbose),
        };
        command.shown.write(&text)?;
    }
    if firing {
        return Ok(Exit::Alarm);
    }
    if nothing_known(&found) {
        present::complain(
            "no alarm could be decided, which is not good news: nothing of what they need is known \
             (on this host: are /proc and /sys mounted?)",
        );
        return Ok(Exit::Failure);
    }
    Ok(match was_interrupted {
        true => Exit::Interrupted,
        false => Exit::Success,
    })
}

/// Whether not one alarm is decided.
fn nothing_known(found: &Found) -> bool {
    let mut alarms = found.alarms.iter();
    alarms.all(|alarm| alarm.state == AlarmState::NotMeasurable)
}

fn fires(found: &Found, least: Severity) -> bool {
    let severity = |word: &str| match word {
        "critical" => Severity::Critical,
        "warning" => Severity::Warning,
        _ => Severity::Info,
    };
    let firing = found
        .alarms
        .iter()
        .filter(|alarm| alarm.state == AlarmState::Firing);
    firing
        .map(|alarm| severity(&alarm.severity))
        .any(|one| one >= least)
}

/// What this host shows, and whether a signal ended the watch early.
fn of_host(span: Duration, quiet: bool) -> (Found, bool) {
    let sys = Sysroot::host();
    let mut readings = read_states(&sys);
    let (smart, mut notes) = read_smart(&sys);
    readings.extend(smart);
    let mut watched = MachineWatch::start(&sys);
    let span = watch(&mut watched, span, &mut readings, quiet);
    if span.was_interrupted {
        notes.push(format!("interrupted after {:.1} s", span.seconds));
    }
    let silent = fathom_deadline::not_responding();
    notes.extend(silent.iter().map(ToString::to_string));
    let found = evaluate(&host_name(&sys), vec!["this host".to_owned()], &readings);
    (Found { notes, ..found }, span.was_interrupted)
}

fn of_files(command: &Alarms) -> Result<Found, CommandError> {
    let read = numbers(&command.files, command.gluster_version)?;
    let host = read.host.filter(|host| !host.is_empty());
    let host = host.unwrap_or_else(|| "recording".to_owned());
    let found = evaluate(&host, read.sources, &read.readings);
    Ok(Found {
        notes: read.notes,
        ..found
    })
}

fn explain(name: &str) -> anyhow::Result<Exit> {
    let Some(rule) = alarm::TABLE.find(name) else {
        let known = alarm::TABLE.rules.iter().map(|rule| rule.id);
        let problem = format!(
            "no alarm is called '{name}'{}\nhelp: `fathom alarms list` lists all",
            fathom_model::nearest::did_you_mean(name, known)
        );
        return Err(CommandError::Usage(problem).into());
    };
    let columns = fathom_console::columns().min(TEXT_COLUMNS);
    present::write_stdout(&fathom_report::rules::describe(rule, columns))?;
    Ok(Exit::Success)
}
