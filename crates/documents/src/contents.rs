//! What recordings of fathom hold, in words: one of them, and many as a list.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use fathom_deadline::paths;
use fathom_model::unit;
use fathom_recorder::kind::Kind;
use fathom_recorder::{ReadError, RecordingReader};
use fathom_report::table::{Align, Table};

use crate::error::DocumentError;

/// Things that are named, of each kind.
const MOST_NAMES: usize = 12;

/// Who, when, how long, and what was seen.
///
/// # Errors
/// It is not a recording, or cannot be read to its end.
pub fn contents(path: &Path) -> Result<String, DocumentError> {
    let mut reader = RecordingReader::open(path).map_err(DocumentError::about(path.display()))?;
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
    if let Some(error) = reader.take_failure() {
        return Err(DocumentError::about(path.display())(ReadError::Io(error)));
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
    Ok(out)
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

/// A table of recordings.
#[must_use]
pub fn listing(recordings: &[PathBuf]) -> String {
    let columns = [
        ("recording", Align::Left),
        ("host", Align::Left),
        ("began (UTC)", Align::Left),
        ("length", Align::Right),
        ("size", Align::Right),
    ];
    let mut table = Table::new(columns);
    for path in recordings {
        table.row(row(path));
    }
    table.render()
}

/// The length is from the first frame to the last change of the file: reading
/// all of a long recording takes a while.
fn row(path: &Path) -> [String; 5] {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let metadata = paths::metadata(path).ok();
    let size = metadata.as_ref().map(std::fs::Metadata::len);
    let size = size.map_or("-".to_owned(), |size| unit::bytes(size).to_string());
    let mut reader = match RecordingReader::open(path) {
        Ok(reader) => reader,
        Err(error) => {
            return [
                name.into_owned(),
                error.to_string(),
                String::new(),
                String::new(),
                size,
            ];
        }
    };
    let host = reader.header().host.name.clone();
    let Some(first) = reader.next() else {
        let failure = reader.take_failure();
        return [
            name.into_owned(),
            failure.map_or(host, |error| error.to_string()),
            "-".to_owned(),
            "-".to_owned(),
            size,
        ];
    };
    let changed = metadata.and_then(|m| m.modified().ok());
    let changed_ms = changed.and_then(|t| Some(t.duration_since(UNIX_EPOCH).ok()?.as_millis()));
    let began_ms = u128::try_from(first.at.unix_ms).unwrap_or(0);
    let length_ms = changed_ms.map(|ms| ms.saturating_sub(began_ms));
    let length = length_ms.map_or("-".to_owned(), |ms| {
        unit::span(u64::try_from(ms).unwrap_or(0).saturating_mul(1_000_000))
    });
    [
        name.into_owned(),
        host,
        date(first.at.unix_ms),
        length,
        size,
    ]
}

/// `2026-11-21 15:30:00`.
fn date(unix_ms: i64) -> String {
    let at = jiff::Timestamp::from_millisecond(unix_ms).unwrap_or_default();
    at.strftime("%Y-%m-%d %H:%M:%S").to_string()
}
