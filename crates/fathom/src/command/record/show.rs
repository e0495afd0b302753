//! `fathom record show`: what is in a recording.

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::Args;
use fathom_model::unit;
use fathom_recorder::kind::Kind;
use fathom_recorder::{RecordingReader, recording};

use crate::exit::{CommandError, Exit};
use crate::present;

/// Things that are named, of each kind.
const MOST_NAMES: usize = 12;

/// Show what is in a recording: who, when, how long, and what was seen.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  fathom record show db1-20261121-153000.frec")]
pub(crate) struct Show {
    /// The recording.
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

/// `2026-11-21 15:30:00`.
pub(super) fn date(unix_ms: i64) -> String {
    let at = jiff::Timestamp::from_millisecond(unix_ms).unwrap_or_default();
    at.strftime("%Y-%m-%d %H:%M:%S").to_string()
}

pub(super) fn run(show: &Show) -> anyhow::Result<Exit> {
    let mut reader = RecordingReader::open(&show.file)
        .map_err(|error| CommandError::Usage(format!("{}: {error}", show.file.display())))?;
    let mut names: BTreeMap<Kind, BTreeMap<String, u64>> = BTreeMap::new();
    let (mut frames, mut first, mut last) = (0_u64, None, None);
    for frame in reader.by_ref() {
        frames += 1;
        first.get_or_insert(frame.at);
        last = Some(frame.at);
        for row in &frame.rows {
            let of_kind = names.entry(row.kind).or_default();
            *of_kind.entry(row.name.to_string()).or_default() += 1;
        }
    }
    let header = reader.header();
    let host = &header.host;
    let mut out = format!(
        "{}: {} CPUs, Linux {}\nwritten by {}, a reading each {}\n",
        host.name,
        host.cpus,
        host.kernel,
        header.program,
        unit::span(header.interval_ns)
    );
    if let (Some(first), Some(last)) = (first, last) {
        let span_ns = last.monotonic_ns.saturating_sub(first.monotonic_ns);
        let (from, to) = (date(first.unix_ms), date(last.unix_ms));
        let span = unit::span(span_ns);
        out.push_str(&format!(
            "{} from {from} to {to} UTC ({span})\n",
            unit::counted(frames, "reading")
        ));
    }
    out.push_str(match (reader.finished(), reader.damaged()) {
        (true, 0) => "stopped in order\n",
        (false, 0) => "not stopped: it is still being written, or the recorder was killed\n",
        _ => "damaged or cut off; what could be read is shown\n",
    });
    out.push('\n');
    for (kind, things) in &names {
        out.push_str(&format!("{:<11} {}\n", kind.name(), sample(things)));
    }
    present::write_stdout(&out)?;
    let whole = recording(&show.file)?;
    let found = fathom_diagnose::diagnose(&whole, |_| None);
    if let Some(table) = fathom_report::diagnosis::devices(&found) {
        present::write_stdout(&format!("\n{table}"))?;
    }
    Ok(Exit::Success)
}

/// The names that are seen most often.
fn sample(things: &BTreeMap<String, u64>) -> String {
    let mut order: Vec<(&String, &u64)> =
        things.iter().filter(|(name, _)| !name.is_empty()).collect();
    if order.is_empty() {
        return "recorded".to_owned();
    }
    order.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
    let shown: Vec<String> = order
        .iter()
        .take(MOST_NAMES)
        .map(|(name, _)| fathom_report::table::clean(name))
        .collect();
    let more = match order.len().saturating_sub(MOST_NAMES) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("{}{more}", shown.join(", "))
}
