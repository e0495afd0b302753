//! `fathom at_io_iops`: the command line of the benchmark of Virtuozzo
//! Storage, also when fathom is called by that name.
//!
//! Standard output holds the result line, as the tool prints it, and nothing
//! else; what fathom thinks of it goes to standard error. The exit status is
//! that of the tool, 0 when the load ran, because scripts look at it; with
//! `--strict` it is fathom's.

use std::cell::Cell;
use std::io::{ErrorKind, IsTerminal};
use std::path::{Path, PathBuf};

use clap::{ArgAction, Args};
use fathom_compat::at_io::{AtIoIops, AtIoIopsUnit, calls, rate as rate_of};
use fathom_deadline::paths;
use fathom_model::conduct::InOrder;
use fathom_model::run::RunState;
use fathom_report::text::TextOptions;
use fathom_runs::leftovers;
use fathom_store::Store;

use crate::command::run::schedule_here;
use crate::exit::{CommandError, Exit};
use crate::output_flags::{Color, Output, StorePath};
use crate::pipeline::{self, Request};
use crate::present;

/// Run a command line of at_io_iops.
///
/// The options are those of the I/O benchmarking guide of Virtuozzo Storage.
/// A link named at_io_iops to fathom does the same. Test files are made and
/// written in full on the first run, reused or adjusted after, and kept.
///
/// Standard output is the tool's one result line; fathom's verdict follows on
/// standard error. MB are 2^20 bytes, as the tool counts them.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  fathom at_io_iops --read --seq -s 16M --mbs -p 4 -t 30 -u 16G -S --cached -f /mnt/test
  fathom at_io_iops --fsync --rand -s 4K -q 32 --iops -p 16 -t 30 -u 16G -S -f /mnt/test
  fathom at_io_iops -a --read --rand -p 16 -f /mnt/test        What would be done
  ln -s $(which fathom) at_io_iops && ./at_io_iops --write --seq -u 4G -f /mnt/test

The result line:
  time: 60.069801 sec; rate: { 167.27206 } MB/s;

-f names a directory. When there is none of that name, it is the beginning of
the test files' names, so that `-f /mnt/test/temp` makes /mnt/test/temp.0, ….

-v prints the settings, the progress and every finding to standard error, -vv
also the system calls that the load is made of, -vvv also the first 1,000 operations
one by one. `fathom clean --kept` removes the files.")]
pub(crate) struct AtIoIopsCommand {
    #[command(flatten)]
    options: AtIoIops,
    /// Print the settings and do nothing.
    #[arg(short = 'a')]
    settings_only: bool,
    /// Say more on standard error: -v, -vv, -vvv.
    #[arg(short = 'v', action = ArgAction::Count)]
    verbosity: u8,
    /// Exit with fathom's status: 3 for caveats, 4 when the result is not
    /// trusted.
    #[arg(long)]
    strict: bool,
    #[command(flatten)]
    store: StorePath,
}

pub(crate) fn run(command: AtIoIopsCommand) -> anyhow::Result<Exit> {
    let options = &command.options;
    let (directory, prefix) = place(options)?;
    let settings = settings(options, &directory, &prefix);
    if command.settings_only {
        present::write_stdout(&settings)?;
        return Ok(Exit::Success);
    }
    let plan = options.to_plan(&directory);
    let plan = plan.map_err(|problems| CommandError::plan(problems, Color::Auto))?;
    if command.verbosity > 0 {
        present::write_stderr(&settings);
    }
    if options.read && options.writes_per_sync.is_some() {
        present::complain("-q has no effect with --read: nothing is written");
    }
    let mut schedule = schedule_here(&plan, Color::Auto)?;
    if command.verbosity > 2 {
        for trial in &mut schedule.trials {
            trial.workload.recording.op_log = calls::OPERATIONS_MAX;
        }
    }
    if command.verbosity > 1 {
        present::write_stderr(&calls::calls(options, &directory, &prefix));
    }
    if let Err(error) = remove_surplus(&command, &directory, &prefix) {
        present::complain(&format!("{error:#}"));
        return Ok(Exit::Failure);
    }
    let request = Request {
        plan,
        schedule,
        label: None,
        output: output(&command),
    };
    execute(&command, &request, &prefix)
}

/// The directory of the test files and the beginning of their names. A mount that
/// does not answer is none of the two.
fn place(options: &AtIoIops) -> std::io::Result<(PathBuf, String)> {
    let silent = Cell::new(None);
    let place = options.place(|path| match paths::metadata(path) {
        Ok(facts) => facts.is_dir(),
        Err(error) => {
            if error.kind() == ErrorKind::TimedOut {
                silent.set(Some(error));
            }
            false
        }
    });
    silent.take().map_or(Ok(place), Err)
}

fn execute(command: &AtIoIopsCommand, request: &Request, prefix: &str) -> anyhow::Result<Exit> {
    let mut in_order = InOrder::new(&request.schedule);
    let run = pipeline::Run::new(request).conductor(&mut in_order);
    let measured = run.file_prefix(prefix).measure()?;
    measured.expect_figures()?;
    if command.verbosity > 2
        && let Some(trial) = measured.record.trials.first()
    {
        present::write_stderr(&calls::operations(trial, prefix));
    }
    let judged = fathom_studies::judge(&measured.record);
    let html = present::write_html(&judged, None, &command.store);
    let unit = command.options.unit();
    let rate = measured
        .record
        .trials
        .first()
        .and_then(|trial| rate_of(trial, unit));
    if let Some(rate) = &rate {
        present::write_stdout(&format!("{}\n", rate.line(unit)))?;
    }
    if let Some(reason) = &judged.run.reason {
        present::complain(reason);
    }
    if unit == AtIoIopsUnit::MegabytesPerSecond && rate.is_some() {
        present::write_stderr("MB of the line above are 2^20 bytes (MiB)\n");
    }
    if unit == AtIoIopsUnit::SyncsPerSecond {
        let writes = measured.record.trials.first();
        let writes = writes.and_then(|t| rate_of(t, AtIoIopsUnit::OperationsPerSecond));
        if let Some(writes) = writes {
            present::write_stderr(&format!(
                "sync/s of the line above count flushes; in the same time {:.5} writes/s\n",
                writes.per_second()
            ));
        }
    }
    let text = TextOptions {
        width: 80,
        color: color(),
        decimal_units: false,
        verbose: command.verbosity > 0,
        report: html.as_ref().ok().map(|path| path.display().to_string()),
    };
    present::write_styled_stderr(&match command.verbosity {
        0 => fathom_report::text::render_verdict(&judged, &text),
        _ => fathom_report::text::render(&judged, &text),
    });
    measured.complain();
    let exit = pipeline::exit_of(&judged, command.strict);
    Ok(match exit {
        Exit::NotTrusted | Exit::Caveats if !command.strict => Exit::Success,
        Exit::Success if judged.run.state != RunState::Complete || rate.is_none() => Exit::Failure,
        exit => exit,
    })
}

fn settings(options: &AtIoIops, directory: &Path, prefix: &str) -> String {
    let command_line = std::env::args().skip(1).skip_while(|a| a == "at_io_iops");
    let command_line: Vec<String> = command_line.collect();
    let version = concat!("fathom ", env!("CARGO_PKG_VERSION"));
    let files = directory.join(prefix);
    let files = format!("{}.0…", files.display());
    options.settings(&command_line.join(" "), version, &files)
}

/// Removes files of a larger set that earlier runs made and kept.
fn remove_surplus(command: &AtIoIopsCommand, directory: &Path, prefix: &str) -> anyhow::Result<()> {
    let store = present::store_path(&command.store).ok();
    let store = store.filter(|path| paths::exists(path));
    let store = store.and_then(|path| Store::open(&path).ok());
    leftovers::remove_surplus(directory, prefix, command.options.file_count(), store)
}

fn output(command: &AtIoIopsCommand) -> Output {
    Output {
        quiet: command.verbosity == 0 && !std::io::stderr().is_terminal(),
        strict: command.strict,
        store: command.store.clone(),
        ..Output::default()
    }
}

fn color() -> bool {
    present::use_color(Color::Auto, &std::io::stderr())
}
