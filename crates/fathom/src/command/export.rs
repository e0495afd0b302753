//! `fathom runs export`: what was measured, for other programs.
//!
//! The formats of fio take any run: jobs and options are made up from the
//! workloads. fathom's verdict is in none of them.

use std::io::{BufWriter, ErrorKind, Write, stdout};
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::{Args, ValueEnum};
use fathom_model::RunRecord;
use fathom_report::fio::{self, FioView};
use fathom_store::export;

use crate::cli::StorePath;
use crate::command::runs::load;
use crate::exit::Exit;
use crate::present;

const AFTER_HELP: &str = "\
Examples:
  fathom runs export latest --csv > samples.csv
  fathom runs export latest --format fio-json+ > fio.json
                                     For what reads results of fio
  fathom runs export latest --format fio-logs --directory logs
  fio-plot -i logs -g -r randread -t iops -d 32 -n 1 -T disk
                                     Bandwidth, IOPS and latency over time";

/// Export the samples and observations of a run, second by second, or its
/// results in the formats of fio.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Export {
    /// Id, the start of one, `latest` or `latest~N`.
    #[arg(default_value = "latest")]
    run: String,
    /// How it is written.
    #[arg(long, value_enum, default_value_t = Form::Json, value_name = "FORMAT")]
    format: Form,
    /// The same as --format csv.
    #[arg(long, conflicts_with = "format")]
    csv: bool,
    /// Where the files of fio-logs go.
    #[arg(long, value_name = "DIR", default_value = ".")]
    directory: PathBuf,
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
    /// The terse lines of fio, version 3.
    FioTerse,
    /// The logs of fio: files by the names that fio-plot looks for.
    FioLogs,
}

pub(crate) fn run(args: &Export) -> anyhow::Result<Exit> {
    let record = load(&present::store_path(&args.store)?, &args.run)?;
    let form = if args.csv { Form::Csv } else { args.format };
    let view = || FioView::of_run(&record);
    match form {
        Form::Json => stream(|out| export::json(&record, out))?,
        Form::Csv => stream(|out| export::csv(&record, out))?,
        Form::FioJson => present::write_stdout(&fio::json(&record, &view(), false))?,
        Form::FioJsonPlus => present::write_stdout(&fio::json(&record, &view(), true))?,
        Form::FioNormal => present::write_stdout(&fio::normal(&record, &view()))?,
        Form::FioTerse => present::write_stdout(&fio::terse(&record, &view(), 3))?,
        Form::FioLogs => {
            for path in write_logs(&record, &view().with_logs(), &args.directory)? {
                present::write_stdout(&format!("{}\n", path.display()))?;
            }
        }
    }
    Ok(Exit::Success)
}

/// Writes to standard output. A reader that went away is no error.
fn stream(write: impl FnOnce(&mut dyn Write) -> std::io::Result<()>) -> anyhow::Result<()> {
    let mut out = BufWriter::new(stdout().lock());
    match write(&mut out).and_then(|()| out.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        other => other.context("cannot write to standard output"),
    }
}

/// Writes the logs that the jobs of `view` ask for below `directory`, and
/// tells on standard error what they cannot hold. Returns their paths.
pub(crate) fn write_logs(
    record: &RunRecord,
    view: &FioView,
    directory: &Path,
) -> anyhow::Result<Vec<PathBuf>> {
    for note in fio::log_notes(record, view) {
        present::complain(&note);
    }
    let mut paths = Vec::new();
    for log in fio::logs(record, view) {
        let path = directory.join(log.name());
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent)
                .with_context(|| format!("cannot create {}", parent.display()))?;
        }
        present::write_whole_with(&path, |out| log.write(out))
            .with_context(|| format!("cannot write {}", path.display()))?;
        paths.push(path);
    }
    Ok(paths)
}
