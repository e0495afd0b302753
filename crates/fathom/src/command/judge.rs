//! `fathom judge`: a second opinion on results that exist already.

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use clap::Args;
use fathom_compat::results::ResultDocument;
use fathom_compat::results::{
    LARGEST_DOCUMENT_BYTES, LARGEST_LOG_BYTES, MOST_VALUES_BYTES, ResultFile, SeriesLog, gather,
    is_packed, read_results, unpack,
};
use fathom_model::json_memory::json_memory_bytes;
use fathom_model::{JudgedRun, RUN_SCHEMA, Validity};
use fathom_report::opinion;
use fathom_report::text::{self, TextOptions};
use fathom_store::export::SERIES_SCHEMA;

use crate::exit::Exit;
use crate::output_flags::Color;
use crate::{pipeline, present};

/// Say what can be believed of results that fio or warp has measured.
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
    /// Print JSON (schema fathom.opinion/1) and nothing else on standard
    /// output.
    #[arg(long)]
    pub(crate) json: bool,
    /// Exit with status 3 when there are caveats.
    #[arg(long)]
    pub(crate) strict: bool,
    /// Show throughput in decimal units (MB/s = 10^6 bytes/s).
    #[arg(long)]
    pub(crate) decimal: bool,
    /// Show every check, also those that passed.
    #[arg(long, short)]
    pub(crate) verbose: bool,
    /// When to use colour.
    #[arg(long, value_enum, default_value_t, value_name = "WHEN")]
    pub(crate) color: Color,
}

/// Everything that was handed in.
#[derive(Default)]
struct Files {
    results: Vec<ResultDocument>,
    logs: Vec<SeriesLog>,
    own: Vec<JudgedRun>,
}

pub(crate) fn run(judge: &Judge) -> anyhow::Result<Exit> {
    let mut files = Files::default();
    let mut understood = true;
    for path in &judge.files {
        if let Err(reason) = read(path, &mut files) {
            present::complain(&format!("{}: {reason}", path.display()));
            understood = false;
        }
    }
    if !understood {
        return Ok(Exit::Usage);
    }
    for remark in gather(&mut files.results, files.logs) {
        present::complain(&remark);
    }
    if judge.json && files.own.len() + usize::from(!files.results.is_empty()) > 1 {
        present::complain(
            "--json prints one document; give runs of fathom one by one, and apart from others",
        );
        return Ok(Exit::Usage);
    }
    let options = TextOptions {
        width: 80,
        color: present::use_color(judge.color, &std::io::stdout()),
        decimal_units: judge.decimal,
        verbose: judge.verbose,
        report: None,
    };
    let mut worst = Exit::Success;
    for run in &files.own {
        let shown = match judge.json {
            true => fathom_report::json::render(run, true)?,
            false => text::render(run, &options),
        };
        present::write_stdout(&shown)?;
        worst = worse(worst, pipeline::exit_of(run, judge.strict));
    }
    if !files.results.is_empty() {
        let judged = fathom_compat::judge::judge_results(&files.results);
        let shown = match judge.json {
            true => opinion::json(&judged, true)?,
            false => opinion::render(&judged, &options),
        };
        present::write_stdout(&shown)?;
        worst = worse(
            worst,
            match judged.validity {
                Validity::NotTrusted => Exit::NotTrusted,
                Validity::Caveats | Validity::NotDetermined if judge.strict => Exit::Caveats,
                _ => Exit::Success,
            },
        );
    }
    Ok(worst)
}

/// The status that says more against the results.
fn worse(a: Exit, b: Exit) -> Exit {
    let rank = |exit: Exit| match exit {
        Exit::Success => 0,
        Exit::Caveats | Exit::TargetNotHeld => 1,
        Exit::Slower | Exit::Faster | Exit::Inconclusive | Exit::Alarm => 1,
        Exit::Interrupted => 2,
        Exit::NotTrusted => 3,
        Exit::Failure | Exit::Usage | Exit::OfCommand(_) => 4,
    };
    match rank(b) > rank(a) {
        true => b,
        false => a,
    }
}

fn read(path: &Path, files: &mut Files) -> Result<(), String> {
    let name = match path == Path::new("-") {
        true => "standard input".to_owned(),
        false => path.display().to_string(),
    };
    let text = load(path)?;
    match read_results(&name, &text).map_err(|error| error.to_string())? {
        ResultFile::Results(mut results) => files.results.append(&mut results),
        ResultFile::Log(log) => files.logs.push(log),
        ResultFile::Own(schema) if schema == RUN_SCHEMA => {
            let run = serde_json::from_str(&text)
                .map_err(|error| format!("a run of fathom that cannot be read: {error}"))?;
            files.own.push(run);
        }
        ResultFile::Own(schema) if schema == SERIES_SCHEMA => {
            let record = fathom_store::import::json(&text)
                .map_err(|error| format!("series of fathom that cannot be read: {error}"))?;
            files.own.push(fathom_studies::judge(&record));
        }
        ResultFile::Own(schema) => {
            return Err(format!(
                "a document {schema} of fathom holds no results of a run; `fathom runs show RUN \
                 --json` ({RUN_SCHEMA}) and `fathom runs export RUN` ({SERIES_SCHEMA}) write some"
            ));
        }
    }
    Ok(())
}

/// The text of a file, up to the size that its kind may have.
fn load(path: &Path) -> Result<String, String> {
    let is_log = path.file_name().is_some_and(|name| {
        let name = name.to_string_lossy();
        name.contains(".log") || name.contains(".csv")
    });
    let limit = match is_log {
        true => LARGEST_LOG_BYTES,
        false => LARGEST_DOCUMENT_BYTES,
    };
    let bytes = match path == Path::new("-") {
        true => unpacked(std::io::stdin().lock(), limit)?,
        false => {
            let file = fathom_deadline::paths::open(path).map_err(|error| error.to_string())?;
            unpacked(BufReader::new(file), limit)?
        }
    };
    check_memory(&bytes)?;
    Ok(match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
    })
}

/// What a file holds, unpacked where it is packed.
fn unpacked(mut file: impl BufRead, limit: u64) -> Result<Vec<u8>, String> {
    let start = file.fill_buf().map_err(|error| error.to_string())?;
    if is_packed(start) {
        return unpack(file, LARGEST_LOG_BYTES);
    }
    let mut bytes = Vec::new();
    let read = file.take(limit + 1).read_to_end(&mut bytes);
    read.map_err(|error| error.to_string())?;
    match bytes.len() as u64 > limit {
        true => Err(format!(
            "larger than {}; nothing was read: reading it would take more than 256 MiB of memory; \
             cut it into parts",
            fathom_model::unit::bytes_exact(limit)
        )),
        false => Ok(bytes),
    }
}

/// Refuses a document whose values would fill the memory.
fn check_memory(bytes: &[u8]) -> Result<(), String> {
    let is_json = matches!(bytes.trim_ascii_start().first(), Some(b'{' | b'['));
    let memory = match is_json {
        true => json_memory_bytes(bytes),
        false => 0,
    };
    match memory > MOST_VALUES_BYTES {
        true => Err(format!(
            "its values would take up to {} of memory, more than the {} that are allowed; give \
             fewer jobs, or leave out the bins of json+ (fio --output-format=json)",
            fathom_model::unit::bytes(memory),
            fathom_model::unit::bytes(MOST_VALUES_BYTES)
        )),
        false => Ok(()),
    }
}
