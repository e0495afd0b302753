//! Results by row: estimates with half the width of their intervals.

use fathom_model::judged::{OpSummary, ResultRow};
use fathom_model::{JudgedRun, Validity};

use super::page::Page;
use crate::figure::{Figure, Throughput, longer};
use crate::grid::mark;
use crate::summary;
use crate::table::{Align, Table, display_width, wrap};
use crate::{facts, levels, names, sets};

/// Percentiles of the table.
pub(super) const PERCENTILES: [f64; 3] = [50.0, 99.0, 99.9];

/// One line of results: an operation kind and one of its latencies.
struct Entry<'a> {
    name: String,
    figures: Option<[Figure; 2]>,
    latency: Vec<Figure>,
    op: &'a OpSummary,
}

pub(super) fn write(page: &mut Page, run: &JudgedRun, rows: &[&ResultRow], throughput: Throughput) {
    if rows.is_empty() {
        return;
    }
    let several_targets = facts::targets(run).len() > 1;
    let inline = build(run, rows, throughput, page.width, several_targets, true);
    let table = if inline.width() <= page.width {
        inline
    } else {
        build(run, rows, throughput, page.width, several_targets, false)
    };
    page.block(&table.render());
    page.blank();
    write_notes(page, run, rows, throughput);
}

fn build(
    run: &JudgedRun,
    rows: &[&ResultRow],
    throughput: Throughput,
    width: usize,
    several_targets: bool,
    inline: bool,
) -> Table {
    let name = |row: &ResultRow| {
        let target = if several_targets {
            format!(" on {}", row.target)
        } else {
            String::new()
        };
        let company = sets::company(run, row);
        let company = company.map_or(String::new(), |text| format!(", {text}"));
        format!("{}{target}{company}", row.label)
    };
    let all: Vec<(&ResultRow, Vec<Entry<'_>>)> = rows
        .iter()
        .map(|r| (*r, entries(run, r, throughput)))
        .collect();
    // With one line of results per row its name fits in front of them.
    let mut bare = table(throughput);
    for (_, entries) in &all {
        for entry in entries {
            bare.row(cells(entry, "", inline));
        }
    }
    let room = width.saturating_sub(bare.width());
    let fits = |(row, entries): &(&ResultRow, Vec<Entry<'_>>)| {
        entries.len() == 1 && display_width(&named(&name(row), &entries[0].name)) < room
    };
    let one_line = !inline && all.iter().all(fits) || inline && all.iter().all(|r| r.1.len() == 1);
    let mut table = table(throughput);
    for (row, entries) in &all {
        let sign = mark(row.verdict.validity);
        if one_line {
            let entry = &entries[0];
            table.row(cells(
                entry,
                &format!("{sign}{}", named(&name(row), &entry.name)),
                inline,
            ));
            continue;
        }
        let title = format!("{sign}{}{}", name(row), title_details(row));
        for line in wrap(&title, width) {
            table.line(line);
        }
        if entries.is_empty() {
            table.line("  no operation succeeded");
        }
        for entry in entries {
            table.row(cells(entry, &format!("  {}", entry.name), inline));
        }
    }
    table
}

pub(super) fn table(throughput: Throughput) -> Table {
    let head = ["IOPS", throughput.name(), "mean", "p50", "p99", "p99.9"];
    let columns = head.map(|text| (text, Align::Right));
    Table::new(std::iter::once(("", Align::Left)).chain(columns))
}

/// The row with its kind of operation, unless it begins with that anyway.
fn named(row: &str, kind: &str) -> String {
    match row.split(' ').next() == Some(kind) {
        true => row.to_owned(),
        false => format!("{row} {kind}"),
    }
}

fn title_details(row: &ResultRow) -> String {
    let mut details = String::new();
    if row.trials.len() > 1 {
        details.push_str(&format!(" ({} trials)", row.trials.len()));
    }
    details
}

fn entries<'a>(run: &'a JudgedRun, row: &'a ResultRow, throughput: Throughput) -> Vec<Entry<'a>> {
    let levels = levels::of_row(run, row);
    let ops = levels.iter().flat_map(|level| {
        let ops = level.ops.iter().filter(|op| op.ops > 0);
        ops.map(move |op| (&level.when, op))
    });
    let mut out = Vec::new();
    for (when, op) in ops {
        for (i, (which, latency)) in summary::latencies(op).into_iter().enumerate() {
            let name = match op.response {
                Some(_) => format!("{} {which}", op.kind.name()),
                None => op.kind.name().to_owned(),
            };
            let name = levels::named(&name, when);
            let rates = [&op.ops_per_second, &op.bytes_per_second];
            let mut figures = vec![Figure::of(&latency.mean_ns, throughput)];
            figures.extend(PERCENTILES.map(|p| summary::percentile(latency, p)));
            out.push(Entry {
                name,
                figures: (i == 0).then(|| rates.map(|r| Figure::of(r, throughput))),
                latency: figures,
                op,
            });
        }
    }
    out
}

fn cells(entry: &Entry<'_>, name: &str, inline: bool) -> Vec<String> {
    let mut out = vec![name.to_owned()];
    match &entry.figures {
        Some([ops, bytes]) => {
            out.push(cell(ops, false, inline));
            // Flushes and commits move no bytes of their own.
            out.push(if entry.op.kind.moves_bytes() {
                cell(bytes, false, inline)
            } else {
                "-".to_owned()
            });
        }
        None => out.extend([String::new(), String::new()]),
    }
    out.extend(entry.latency.iter().map(|f| cell(f, true, inline)));
    out
}

/// A figure in one or two lines: `87,400` over `±1,200`, `n/a` over
/// `12 s more`.
pub(super) fn cell(figure: &Figure, with_unit: bool, inline: bool) -> String {
    let joint = if inline { " " } else { "\n" };
    let number = if with_unit {
        figure.value()
    } else {
        figure.number()
    };
    match figure {
        Figure::Missing {
            longer_ns: Some(ns),
            ..
        } => format!("n/a{joint}{} more", longer(*ns)),
        Figure::Missing { .. } => "n/a".to_owned(),
        Figure::Known { .. } => match figure.plus_minus(with_unit) {
            Some(half) => format!("{number}{joint}{half}"),
            None => format!("{number}{joint}±?"),
        },
    }
}

fn write_notes(page: &mut Page, run: &JudgedRun, rows: &[&ResultRow], throughput: Throughput) {
    let figures: Vec<Figure> = rows
        .iter()
        .flat_map(|r| entries(run, r, throughput))
        .flat_map(|e| e.figures.into_iter().flatten().chain(e.latency))
        .collect();
    let mut notes = Vec::new();
    let (missing, known): (Vec<_>, Vec<_>) = figures.iter().partition(|f| f.is_missing());
    if !known.is_empty() {
        notes.push("±: 95 % interval.".to_owned());
    }
    let bare = known.iter().filter(|f| f.plus_minus(false).is_none());
    if let Some(reason) = example(bare.copied()) {
        notes.push(format!("±?: no interval ({reason})."));
    }
    let hint = if missing.iter().any(|f| f.longer_ns().is_some()) {
        "n/a over a time: measure so much longer"
    } else {
        "n/a"
    };
    if let Some(reason) = example(missing.into_iter()) {
        notes.push(format!("{hint} ({reason})."));
    }
    notes.extend(mark_legend(rows.iter().copied()));
    if !notes.is_empty() {
        page.paragraph(0, 0, &notes.join(" "));
        page.blank();
    }
}

/// The figures' reason, or one of them as an example.
pub(super) fn example<'a>(figures: impl Iterator<Item = &'a Figure>) -> Option<String> {
    let mut reasons = figures.filter_map(Figure::reason);
    let first = reasons.next()?;
    Some(if reasons.all(|r| r == first) {
        first.to_owned()
    } else {
        format!("for example: {first}")
    })
}

/// What the signs in front of numbers mean, for those that occur.
pub(super) fn mark_legend<'a>(rows: impl Iterator<Item = &'a ResultRow>) -> Vec<String> {
    let validities: Vec<Validity> = rows.map(|r| r.verdict.validity).collect();
    [Validity::Caveats, Validity::NotTrusted]
        .into_iter()
        .filter(|v| validities.contains(v))
        .map(|v| format!("{} {}.", mark(v), names::validity(v)))
        .collect()
}
