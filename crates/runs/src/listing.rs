//! The runs of a store as a list.

use std::collections::BTreeMap;
use std::str::FromStr;

use anyhow::Context;
use fathom_model::verdict::Fit;
use fathom_model::{RunState, Validity, unit};
use fathom_report::table::{Align, Table, truncate, truncate_middle};
use fathom_store::RunListing;

use crate::digest::{Digest, Figure};

/// A run of the list, with what was found.
pub struct Listed {
    /// The run.
    pub run: RunListing,
    /// Its result, where it has one.
    pub digest: Option<Digest>,
}

/// How the list is laid out.
pub struct Layout {
    /// Columns of the terminal; `None` shows everything in full.
    pub width: Option<usize>,
    /// Whether verdicts are coloured.
    pub color: bool,
    /// Nanoseconds since 1970-01-01 UTC.
    pub now_unix_ns: u64,
}

/// Columns of the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Column {
    When,
    What,
    Target,
    Result,
    Verdict,
    Label,
    Run,
    Size,
}

/// In their order from left to right.
const COLUMNS: [Column; 8] = [
    Column::When,
    Column::What,
    Column::Target,
    Column::Result,
    Column::Verdict,
    Column::Label,
    Column::Run,
    Column::Size,
];

/// What a narrow terminal does without, the first first.
const DISPENSABLE: [Column; 2] = [Column::Label, Column::Target];

/// Widths to which names of workloads and of targets are shortened, before a column
/// is left out.
const NAME_WIDTHS: [[usize; 2]; 6] = [[40, 40], [26, 26], [22, 18], [17, 12], [14, 10], [10, 8]];

/// From when on runs are listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Since {
    /// This many nanoseconds ago.
    Ago(u64),
    /// At this moment, nanoseconds since 1970-01-01 UTC.
    At(u64),
}

impl Since {
    /// The moment, nanoseconds since 1970-01-01 UTC.
    #[must_use]
    pub fn unix_ns(self, now_unix_ns: u64) -> u64 {
        match self {
            Since::Ago(ns) => now_unix_ns.saturating_sub(ns),
            Since::At(unix_ns) => unix_ns,
        }
    }
}

/// A text that is neither a length of time nor a date.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("'{}' is neither a time such as 7d nor a date such as 2026-11-01", .0.escape_default())]
pub struct SinceError(String);

impl FromStr for Since {
    type Err = SinceError;

    fn from_str(text: &str) -> Result<Since, SinceError> {
        if let Ok(ns) = unit::parse_duration(text) {
            return Ok(Since::Ago(ns));
        }
        let date = text.parse::<jiff::civil::Date>().ok();
        // Dates of lists and reports are in UTC.
        let midnight = date.and_then(|date| date.to_zoned(jiff::tz::TimeZone::UTC).ok());
        let unix_ns = midnight.and_then(|at| u64::try_from(at.timestamp().as_nanosecond()).ok());
        unix_ns
            .map(Since::At)
            .ok_or_else(|| SinceError(text.to_owned()))
    }
}

/// A table for people.
#[must_use]
pub fn table(listed: &[Listed], layout: &Layout) -> String {
    let short = short_ids(listed);
    let mut columns: Vec<Column> = COLUMNS.to_vec();
    if listed.iter().all(|one| label(&one.run).is_empty()) {
        columns.retain(|column| *column != Column::Label);
    }
    let Some(width) = layout.width else {
        let full = listed
            .iter()
            .map(|one| one.run.id.as_str())
            .collect::<Vec<_>>();
        return rendered(listed, &full, &columns, [usize::MAX; 2], layout);
    };
    columns.retain(|column| *column != Column::Size);
    let mut left_out = Vec::new();
    let mut dispensable = DISPENSABLE.iter();
    loop {
        let fits = |line: &str| fathom_report::table::display_width(line) <= width;
        let mut text = String::new();
        for names in NAME_WIDTHS {
            text = rendered(listed, &short, &columns, names, layout);
            if text.lines().all(fits) {
                return colored(&text, layout) + &left_out_line(&left_out, width);
            }
        }
        let Some(column) = dispensable.next() else {
            return colored(&text, layout) + &left_out_line(&left_out, width);
        };
        if columns.contains(column) {
            columns.retain(|kept| kept != column);
            left_out.push(column.head().0);
        }
    }
}

/// Names the columns that were left out.
fn left_out_line(columns: &[&str], width: usize) -> String {
    if columns.is_empty() {
        return String::new();
    }
    let text = format!(
        "{} left out for lack of room; a wider terminal or --json shows it",
        columns.join(" and ")
    );
    let lines = fathom_report::table::wrap(&text, width);
    lines.iter().map(|line| format!("{line}\n")).collect()
}

fn rendered(
    listed: &[Listed],
    ids: &[&str],
    columns: &[Column],
    names: [usize; 2],
    layout: &Layout,
) -> String {
    let mut table = Table::new(columns.iter().map(|column| column.head()));
    for (one, id) in listed.iter().zip(ids) {
        table.row(
            columns
                .iter()
                .map(|column| column.cell(one, id, names, layout)),
        );
    }
    table.render()
}

impl Column {
    fn head(self) -> (&'static str, Align) {
        match self {
            Column::When => ("when", Align::Left),
            Column::What => ("what", Align::Left),
            Column::Target => ("target", Align::Left),
            Column::Result => ("result", Align::Right),
            Column::Verdict => ("verdict", Align::Left),
            Column::Label => ("label", Align::Left),
            Column::Run => ("run", Align::Left),
            Column::Size => ("stored", Align::Right),
        }
    }

    fn cell(self, one: &Listed, id: &str, names: [usize; 2], layout: &Layout) -> String {
        let run = &one.run;
        match self {
            Column::When => when(run.started_unix_ns, layout.now_unix_ns),
            Column::What => truncate_middle(&run.name, names[0]),
            Column::Target => short_target(&targets(&run.targets), names[1]),
            Column::Result => result(one),
            Column::Verdict => verdict(one),
            Column::Label => truncate(&label(run), names[0]),
            Column::Run => id.to_owned(),
            Column::Size => unit::bytes(run.stored_bytes).to_string(),
        }
    }
}

/// A target in so many columns: of a drive with parameters its model is kept, of a path
/// its end as well.
fn short_target(targets: &str, columns: usize) -> String {
    match targets.contains('?') {
        true => truncate(targets, columns),
        false => truncate_middle(targets, columns),
    }
}

/// How long ago; a date where that is two days or more.
fn when(started_unix_ns: u64, now_unix_ns: u64) -> String {
    let seconds = now_unix_ns.saturating_sub(started_unix_ns) / 1_000_000_000;
    match seconds {
        0..60 => "just now".to_owned(),
        60..3_600 => format!("{} min ago", seconds / 60),
        3_600..172_800 => format!("{} h ago", seconds / 3_600),
        _ => jiff::Timestamp::from_nanosecond(i128::from(started_unix_ns)).map_or_else(
            |_| "unknown".to_owned(),
            |moment| moment.strftime("%Y-%m-%d").to_string(),
        ),
    }
}

/// The figure, the outcome of a comparison, or how far the run came.
fn result(one: &Listed) -> String {
    let digest = one.digest.as_ref();
    let outcome = digest.and_then(|digest| digest.outcome.as_ref());
    if let Some(outcome) = outcome {
        return format!("B {outcome}");
    }
    let figure = digest.and_then(|digest| digest.figure.as_ref());
    figure.map_or_else(String::new, Figure::text)
}

/// The verdict, with whether the service level is held, or why there is none.
fn verdict(one: &Listed) -> String {
    let (RunState::Complete, Some(digest)) = (one.run.state, &one.digest) else {
        return state_name(one.run.state).to_owned();
    };
    let level = match digest.fit {
        Some(Fit::Met) => ", SLO met",
        Some(Fit::NotMet) => ", SLO missed",
        Some(Fit::NotProven) | None => "",
    };
    format!("{}{level}", digest.validity.map_or("", validity_name))
}

fn validity_name(validity: Validity) -> &'static str {
    match validity {
        Validity::Trusted => "trusted",
        Validity::Caveats => "caveats",
        Validity::NotDetermined => "undetermined",
        Validity::NotTrusted => "not trusted",
    }
}

/// What the user calls it, with its tags.
fn label(run: &RunListing) -> String {
    let tags = run.tags.iter().map(|tag| format!("#{tag}"));
    // What quick calls itself unless it is asked for more says nothing in a list.
    let label = run.label.iter().filter(|label| *label != "burst");
    let words = label.cloned().chain(tags);
    words.collect::<Vec<_>>().join(" ")
}

/// What stands behind the last dash of each id, where that names one run of the list.
fn short_ids(listed: &[Listed]) -> Vec<&str> {
    let end = |id: &'_ str| id.rsplit('-').next().map_or(0, |end| id.len() - end.len());
    let mut seen: BTreeMap<&str, u32> = BTreeMap::new();
    for one in listed {
        *seen.entry(&one.run.id[end(&one.run.id)..]).or_default() += 1;
    }
    let ids = listed.iter().map(|one| one.run.id.as_str());
    ids.map(|id| match seen.get(&id[end(id)..]) {
        Some(1) => &id[end(id)..],
        _ => id,
    })
    .collect()
}

/// Verdicts in their colours: these words stand in no other column.
fn colored(text: &str, layout: &Layout) -> String {
    if !layout.color {
        return text.to_owned();
    }
    const WORDS: [(&str, &str); 7] = [
        ("SLO missed", "31"),
        ("  not trusted", "31"),
        ("  trusted", "32"),
        ("  caveats", "33"),
        ("  undetermined", "33"),
        ("  failed", "31"),
        ("  interrupted", "33"),
    ];
    let mut out = String::new();
    for (number, line) in text.lines().enumerate() {
        let found = WORDS
            .iter()
            .find_map(|(word, code)| Some((line.rfind(word)?, word, code)));
        match found {
            _ if number == 0 => out += &format!("\x1b[1m{line}\x1b[0m"),
            Some((at, word, code)) => {
                let rest = &line[at + word.len()..];
                out += &format!("{}\x1b[{code}m{word}\x1b[0m{rest}", &line[..at]);
            }
            None => out += line,
        }
        out.push('\n');
    }
    out
}

/// A document for programs.
///
/// # Errors
/// It cannot be written.
pub fn json(listed: &[Listed]) -> anyhow::Result<String> {
    let list: Vec<_> = listed.iter().map(as_json).collect();
    let text = fathom_model::indented_json(&list).context("cannot write the list")?;
    Ok(text + "\n")
}

/// The first targets by name, and how many more there are.
fn targets(all: &[String]) -> String {
    const NAMED: usize = 4;
    // The sink that a control writes to is not what anybody asked about.
    let asked: Vec<String> = all
        .iter()
        .filter(|name| *name != "null:")
        .cloned()
        .collect();
    let all = if asked.is_empty() { all } else { &asked };
    match all.get(NAMED..) {
        Some([_, ..]) => format!("{} and {} more", all[..NAMED].join(", "), all.len() - NAMED),
        _ => all.join(", "),
    }
}

fn as_json(one: &Listed) -> serde_json::Value {
    let listing = &one.run;
    let digest = one.digest.as_ref();
    serde_json::json!({
        "id": listing.id,
        "name": listing.name,
        "label": listing.label,
        "tags": listing.tags,
        "note": listing.note,
        "started_unix_ns": listing.started_unix_ns,
        "ended_unix_ns": listing.ended_unix_ns,
        "state": listing.state,
        "reason": listing.reason,
        "complete_trials": listing.complete_trials,
        "begun_trials": listing.begun_trials,
        "planned_trials": listing.planned_trials,
        "targets": listing.targets,
        "host": listing.host,
        "stored_bytes": listing.stored_bytes,
        "validity": digest.and_then(|digest| digest.validity),
        "figure": digest.and_then(|digest| digest.figure.as_ref()),
        "outcome": digest.and_then(|digest| digest.outcome.as_ref()),
        "fitness": digest.and_then(|digest| digest.fit),
    })
}

fn state_name(state: RunState) -> &'static str {
    match state {
        RunState::Running => "running",
        RunState::Complete => "complete",
        RunState::Interrupted => "interrupted",
        RunState::Failed => "failed",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_begin_a_time_ago_or_on_a_day() {
        let day_ns = 86_400 * 1_000_000_000_u64;
        assert_eq!(
            "7d".parse::<Since>().unwrap().unix_ns(10 * day_ns),
            3 * day_ns
        );
        assert_eq!(
            "1970-01-03".parse::<Since>().unwrap().unix_ns(0),
            2 * day_ns
        );
        for wrong in ["", "yesterday", "2026-13-01", "7 parsecs"] {
            let error = wrong.parse::<Since>().unwrap_err().to_string();
            assert!(error.contains("2026-11-01"), "{error}");
        }
    }

    #[test]
    fn what_is_left_out_is_named() {
        assert_eq!(left_out_line(&[], 80), "");
        let line = left_out_line(&["label", "target"], 80);
        assert!(line.starts_with("label and target left out"), "{line}");
    }
}
