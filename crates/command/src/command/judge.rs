//! `fathom judge`: a second opinion on results that exist already.

use std::io::BufReader;
use std::path::{Path, PathBuf};

use clap::Args;
use fathom_compat::results::ResultDocument;
use fathom_compat::results::{ResultFile, SeriesLog, gather, read_results, read_text};
use fathom_model::{JudgedRun, RUN_SCHEMA, Validity};
use fathom_observe::did_you_mean_file;
use fathom_report::opinion;
use fathom_report::text::{self, TextOptions};
use fathom_store::export::SERIES_SCHEMA;

use crate::exit::{CommandError, Exit};
use crate::shown::{Shown, TextOrJson};
use crate::{pipeline, present};

/// Check how far results of fio or warp can be trusted.
///
/// Reads fio's JSON and json+ output, its terse output and its logs of
/// bandwidth, IOPS, latency and histograms; logs that are given with the
/// result of their run are matched to its jobs by name. Also reads
/// warp's recordings (*.csv.zst of --full with every request, *.json.zst without),
/// what `fathom ... --json`
/// printed, and the raw series of `fathom runs export`,
/// which are judged anew. Figures stay those of the tool; nothing is measured.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  fathom judge result.json
  fathom judge result.json randread_iops.*.log
                                     With logs: intervals, cliffs
  fio --output-format=json job.fio | fathom judge -
  fathom judge warp-get-*.csv.zst    Each request of warp --full
  fathom judge warp-get-*.json.zst   What warp keeps without --full
  fathom judge --json --strict *.json
                                     For a gate: status 0 trusted, 3 caveats,
                                     4 not trusted, 2 not understood")]
pub(crate) struct Judge {
    /// Files of results and logs; `-` reads standard input.
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) shown: Shown<TextOrJson>,
    /// Exit with status 3 when there are caveats.
    #[arg(long)]
    pub(crate) strict: bool,
    /// Show throughput in decimal units (MB/s = 10^6 bytes/s).
    #[arg(long)]
    pub(crate) decimal: bool,
    /// Show every check, also those that passed.
    #[arg(long, short)]
    pub(crate) verbose: bool,
}

/// Everything that was handed in.
#[derive(Default)]
struct Files {
    results: Vec<ResultDocument>,
    logs: Vec<SeriesLog>,
    own: Vec<JudgedRun>,
}

pub(crate) fn run(judge: &Judge) -> anyhow::Result<Exit> {
    judge.shown.admit()?;
    let mut files = Files::default();
    let mut problems = Vec::new();
    for path in &judge.files {
        if let Err(reason) = read(path, &mut files) {
            problems.push(format!("{}: {reason}", path.display()));
        }
    }
    if !problems.is_empty() {
        return Err(CommandError::Several(problems).into());
    }
    for remark in gather(&mut files.results, files.logs) {
        present::complain(&remark);
    }
    if judge.shown.is_json() && files.own.len() + usize::from(!files.results.is_empty()) > 1 {
        let problem =
            "--json prints one document; give runs of fathom one by one, and apart from others";
        return Err(CommandError::usage(problem).into());
    }
    let options = TextOptions {
        width: judge.shown.columns(),
        color: judge.shown.is_colored(),
        decimal_units: judge.decimal,
        verbose: judge.verbose,
        report: None,
    };
    let mut worst = Exit::Success;
    let mut printed = String::new();
    for run in &files.own {
        printed += &match judge.shown.is_json() {
            true => fathom_report::json::render(run, true)?,
            false => text::render(run, &options),
        };
        worst = worst.or_worse(pipeline::exit_of(run, judge.strict));
    }
    if !files.results.is_empty() {
        let judged = fathom_compat::judge::judge_results(&files.results);
        printed += &match judge.shown.is_json() {
            true => opinion::json(&judged, true)?,
            false => opinion::render(&judged, &options),
        };
        worst = worst.or_worse(match judged.validity {
            Validity::NotTrusted => Exit::NotTrusted,
            Validity::Caveats | Validity::NotDetermined if judge.strict => Exit::Caveats,
            _ => Exit::Success,
        });
    }
    judge.shown.write(&printed)?;
    Ok(worst)
}

fn read(path: &Path, files: &mut Files) -> Result<(), CommandError> {
    let name = match path == Path::new("-") {
        true => "standard input".to_owned(),
        false => path.display().to_string(),
    };
    let text = load(path)?;
    match read_results(&name, &text)? {
        ResultFile::Results(mut results) => files.results.append(&mut results),
        ResultFile::Log(log) => files.logs.push(log),
        ResultFile::Own(schema) if schema == RUN_SCHEMA => {
            let run = serde_json::from_str(&text)
                .map_err(CommandError::about("a run of fathom that cannot be read"))?;
            files.own.push(run);
        }
        ResultFile::Own(schema) if schema == SERIES_SCHEMA => {
            let record = fathom_store::import::json(&text)
                .map_err(CommandError::about("series of fathom that cannot be read"))?;
            files.own.push(fathom_studies::judge(&record));
        }
        ResultFile::Own(schema) => {
            return Err(CommandError::usage(format!(
                "a document {schema} of fathom holds no results of a run; `fathom runs show RUN \
                 --json` ({RUN_SCHEMA}) and `fathom runs export RUN` ({SERIES_SCHEMA}) write some"
            )));
        }
    }
    Ok(())
}

/// The text of a file, up to the size that its kind may have.
/// What else may be meant by the name of a file that is not there.
fn instead_of(path: &Path) -> String {
    let similar = did_you_mean_file(path);
    let is_word = path.extension().is_none() && path.components().count() == 1;
    match path.to_str().filter(|_| similar.is_empty() && is_word) {
        Some(run) => format!(
            "\nhelp: it takes files; a run that fathom measured is judged as it is shown: fathom \
             runs show {}",
            fathom_model::shell::word(run)
        ),
        None => similar,
    }
}

fn load(path: &Path) -> Result<String, CommandError> {
    let text = match path == Path::new("-") {
        true => read_text(path, std::io::stdin().lock()),
        false => {
            let file = fathom_deadline::paths::open_bounded(path)
                .map_err(|error| CommandError::Usage(format!("{error}{}", instead_of(path))))?;
            read_text(path, BufReader::new(file))
        }
    };
    Ok(text?)
}
