//! `fathom runs export`: what was measured, for other programs.
//!
//! The formats of fio take any run: jobs and options are made up from the
//! workloads. fathom's verdict is in none of them.

use std::io::{BufWriter, Write, stdout};
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::{Args, ValueEnum};
use fathom_compat::fio::output::{self, DEFAULT_VERSION, FioView};
use fathom_model::RunRecord;
use fathom_runs::fio::files;
use fathom_store::export;

use crate::command::runs::load_whole;
use crate::exit::Exit;
use crate::output_flags::StorePath;
use crate::present;

const AFTER_HELP: &str = "\
Examples:
  fathom runs export latest --csv > samples.csv
  fathom runs export latest --format fio-json+ > fio.json
                                     For what reads results of fio
  fathom runs export latest --format fio-json --directory out
  fio-plot -i out -L -r randread -t iops -T disk
                                     A document for each trial, as bench-fio
                                     writes them
  fathom runs export latest --format fio-logs --directory out
  fio-plot -i out -g -r randread -t iops -d 32 -n 1 -T disk
                                     Bandwidth, IOPS and latency over time";

/// Export the samples and observations of a run, second by second, or its
/// results in the formats of fio and mdtest.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Export {
    /// Id, the start of one, `latest`, `latest~N`, a label or a tag.
    #[arg(default_value = "latest")]
    run: String,
    /// How it is written.
    #[arg(long, value_enum, default_value_t = Form::Json, value_name = "FORMAT")]
    format: Form,
    /// The same as --format csv.
    #[arg(long, conflicts_with = "format")]
    csv: bool,
    /// Write files here and print their names: the logs of fio-logs (else into
    /// the current directory), and of fio-json and fio-json+ a document for
    /// each trial instead of one for all.
    #[arg(long, value_name = "DIR")]
    directory: Option<PathBuf>,
    /// Version of fio whose fields the formats of fio have.
    #[arg(long, value_name = "VERSION", default_value = DEFAULT_VERSION)]
    fio_version: String,
    /// Version of the terse lines, 2 to 5.
    #[arg(long, value_name = "N", default_value_t = 3,
          value_parser = clap::value_parser!(u32).range(2..=5))]
    terse_version: u32,
    #[command(flatten)]
    store: StorePath,
}

/// How a run is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Form {
    /// All samples and observations as JSON.
    Json,
    /// All samples as CSV.
    Csv,
    /// The JSON document of fio.
    FioJson,
    /// The same with the histogram of every latency.
    #[value(name = "fio-json+")]
    FioJsonPlus,
    /// The text of fio.
    FioNormal,
    /// The terse lines of fio.
    FioTerse,
    /// The logs of fio: files by the names that fio-plot looks for.
    FioLogs,
    /// The result table of mdtest, of operations on files.
    Mdtest,
}

pub(crate) fn run(args: &Export) -> anyhow::Result<Exit> {
    let record = load_whole(&present::store_path(&args.store)?, &args.run)?;
    let form = if args.csv { Form::Csv } else { args.format };
    let view = FioView {
        version: args.fio_version.clone(),
        ..FioView::of_run(&record)
    };
    let plus = form == Form::FioJsonPlus;
    match (form, &args.directory) {
        (Form::Json, _) => stream(|out| export::json(&record, out))?,
        (Form::Csv, _) => stream(|out| export::csv(&record, out))?,
        (Form::FioJson | Form::FioJsonPlus, None) => {
            present::write_stdout(&output::json(&record, &view, plus))?;
        }
        (Form::FioJson | Form::FioJsonPlus, Some(directory)) => {
            name(&files::write_documents(&record, &view, plus, directory)?)?;
        }
        (Form::FioNormal, _) => present::write_stdout(&output::normal(&record, &view))?,
        (Form::Mdtest, _) => {
            let table = fathom_compat::mdtest::table(&record);
            let table = table.context("the run has no phase that mdtest knows")?;
            present::write_stdout(&table)?;
        }
        (Form::FioTerse, _) => {
            present::write_stdout(&output::terse(&record, &view, args.terse_version))?;
        }
        (Form::FioLogs, directory) => {
            let here = Path::new(".");
            let directory = directory.as_deref().unwrap_or(here);
            let view = view.with_logs();
            let logs = output::logs(&record, &view);
            // fio-plot stops at a file without lines.
            let logs = logs.iter().filter(|log| !log.is_empty());
            tell_notes(&record, &view);
            name(&files::write_logs(logs, directory)?)?;
        }
    }
    Ok(Exit::Success)
}

/// Names the files that were written.
fn name(paths: &[PathBuf]) -> anyhow::Result<()> {
    paths
        .iter()
        .try_for_each(|path| present::write_stdout(&format!("{}\n", path.display())))
}

/// Writes to standard output. A reader that went away is not an error.
fn stream(write: impl FnOnce(&mut dyn Write) -> std::io::Result<()>) -> anyhow::Result<()> {
    let mut out = BufWriter::new(stdout().lock());
    match write(&mut out).and_then(|()| out.flush()) {
        Err(error) if present::is_reader_gone(&error) => Ok(()),
        other => other.context("cannot write to standard output"),
    }
}

/// Tells on standard error what the logs of `view` cannot hold.
fn tell_notes(record: &RunRecord, view: &FioView) {
    for note in output::log_notes(record, view) {
        present::complain(&note);
    }
}
