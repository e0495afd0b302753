//! Results by row: estimates with their intervals.

use fathom_model::figure::{self, Figure, Throughput};
use fathom_model::judged::{OpSummary, ResultRow};
use fathom_model::verdict::FindingStatus;
use fathom_model::{JudgedRun, RunState, unit};
use fathom_rules::check;

use super::notes::{mark_legend, why};
use super::page::Page;
use super::rerun;
use crate::names::mark;
use crate::summary;
use crate::table::{Align, Table, display_width, wrap};
use crate::{facts, levels, sets};

/// Percentiles of the table.
pub(super) const PERCENTILES: [f64; 3] = [50.0, 99.0, 99.9];

/// One line of results: an operation kind and one of its latencies.
pub(super) struct ResultEntry<'a> {
    name: String,
    pub(super) figures: Option<[Figure; 2]>,
    pub(super) latency: Vec<Figure>,
    /// The largest latency, which is exact.
    max_ns: Option<u64>,
    pub(super) op: &'a OpSummary,
}

/// Where the intervals of a table stand.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Intervals {
    /// Behind their numbers.
    Behind,
    /// In a line below them.
    Below,
    /// Nowhere: no number has one.
    Absent,
}

/// How the table is laid out.
#[derive(Clone, Copy)]
struct Layout {
    intervals: Intervals,
    /// A column for the largest latency.
    max: bool,
}

pub(super) fn write(page: &mut Page, run: &JudgedRun, rows: &[&ResultRow], throughput: Throughput) {
    if rows.is_empty() {
        return;
    }
    let max = rows.iter().any(|row| shows_max(row));
    let mut layouts = match figures(run, rows, throughput).any(|f| f.interval(false).is_some()) {
        true => vec![(Intervals::Behind, max), (Intervals::Below, max)],
        false => vec![(Intervals::Absent, max)],
    };
    layouts.extend(layouts.last().map(|(intervals, _)| (*intervals, false)));
    let last = layouts.len() - 1;
    let layouts = layouts.into_iter();
    let layouts = layouts.map(|(intervals, max)| Layout { intervals, max });
    for (place, layout) in layouts.enumerate() {
        let table = build(run, rows, throughput, page.width, layout);
        if table.width() <= page.width || place == last {
            page.table(&table);
            page.blank();
            break;
        }
    }
    write_notes(page, run, rows, throughput);
}

fn build(
    run: &JudgedRun,
    rows: &[&ResultRow],
    throughput: Throughput,
    width: usize,
    layout: Layout,
) -> Table {
    let Layout { intervals, max } = layout;
    let several_targets = facts::targets(run).len() > 1;
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
    let all: Vec<(&ResultRow, Vec<ResultEntry<'_>>)> = rows
        .iter()
        .map(|r| (*r, entries(run, r, throughput)))
        .collect();
    // With one line of results per row its name fits in front of them.
    let mut bare = table(throughput, max);
    for (_, entries) in &all {
        for entry in entries {
            bare.row(cells(entry, "", layout));
        }
    }
    let room = width.saturating_sub(bare.width());
    let fits = |(row, entries): &(&ResultRow, Vec<ResultEntry<'_>>)| {
        entries.len() == 1 && display_width(&named(&name(row), &entries[0].name)) < room
    };
    let one_line = match intervals {
        Intervals::Behind => all.iter().all(|(_, entries)| entries.len() == 1),
        Intervals::Below | Intervals::Absent => all.iter().all(fits),
    };
    let mut table = table(throughput, max);
    for (row, entries) in &all {
        let sign = mark(row.verdict.validity);
        if one_line {
            let entry = &entries[0];
            table.row(cells(
                entry,
                &format!("{sign}{}", named(&name(row), &entry.name)),
                layout,
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
            table.row(cells(entry, &format!("  {}", entry.name), layout));
        }
        if shows_max(row) && !max {
            for line in max_lines(entries) {
                table.line(line);
            }
        }
    }
    table
}

fn is_open_loop(row: &ResultRow) -> bool {
    row.ops.iter().any(|op| op.response.is_some())
}

/// Whether the largest latency belongs to the result: in an open loop a single stop of
/// the target is what users feel most, and percentiles hide one of a few seconds.
fn shows_max(row: &ResultRow) -> bool {
    let mut findings = row.verdict.findings.iter();
    let stood_still = findings
        .any(|finding| finding.id == check::id::V45 && finding.status >= FindingStatus::Caveat);
    stood_still || is_open_loop(row)
}

/// The largest latencies, where the table has no room for their column.
fn max_lines(entries: &[ResultEntry<'_>]) -> Vec<String> {
    let line = |entry: &ResultEntry<'_>| {
        let max = unit::latency(entry.max_ns? as f64);
        Some(format!("  {}: max {max}", entry.name))
    };
    entries.iter().filter_map(line).collect()
}

pub(super) fn table(throughput: Throughput, max: bool) -> Table {
    let head = ["IOPS", throughput.name(), "mean", "p50", "p99", "p99.9"];
    let columns = head.into_iter().chain(max.then_some("max"));
    let columns = columns.map(|text| (text, Align::Right));
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

pub(super) fn entries<'a>(
    run: &'a JudgedRun,
    row: &'a ResultRow,
    throughput: Throughput,
) -> Vec<ResultEntry<'a>> {
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
            out.push(ResultEntry {
                name,
                figures: (i == 0).then(|| rates.map(|r| Figure::of(r, throughput))),
                latency: figures,
                max_ns: latency.max_ns,
                op,
            });
        }
    }
    out
}

fn cells(entry: &ResultEntry<'_>, name: &str, layout: Layout) -> Vec<String> {
    let intervals = layout.intervals;
    let mut out = vec![name.to_owned()];
    match &entry.figures {
        Some([ops, bytes]) => {
            out.push(cell(ops, false, intervals));
            // Flushes and commits move no bytes of their own.
            out.push(if entry.op.kind.moves_bytes() {
                cell(bytes, false, intervals)
            } else {
                "-".to_owned()
            });
        }
        None => out.extend([String::new(), String::new()]),
    }
    out.extend(entry.latency.iter().map(|f| cell(f, true, intervals)));
    if layout.max {
        let max = entry.max_ns.map(|ns| unit::latency(ns as f64));
        out.push(max.unwrap_or_else(|| "-".to_owned()));
    }
    out
}

/// A figure, with its interval behind or below it: `87,400` over `±1,200`, or `n/a`; a note
/// below the table says for how long to measure.
pub(super) fn cell(figure: &Figure, with_unit: bool, intervals: Intervals) -> String {
    let number = match with_unit {
        true => figure.value(),
        false => figure.number(),
    };
    if figure.is_missing() || intervals == Intervals::Absent {
        return number;
    }
    let interval = figure.interval(with_unit);
    let interval = interval.unwrap_or_else(|| "±?".to_owned());
    match intervals {
        Intervals::Below => format!("{number}\n{interval}"),
        _ if interval.starts_with('±') => format!("{number} {interval}"),
        // Ends look like numbers themselves.
        _ => format!("{number} ({interval})"),
    }
}

/// Of a row that is called by a depth which its flushes do not let it keep: V20 has no
/// objection to that, but a reader takes the name for what was in flight.
fn depth_not_kept(row: &ResultRow) -> Option<String> {
    let mut findings = row.verdict.findings.iter();
    let kept = findings.find(|finding| finding.id == check::id::V20)?;
    let little = kept
        .measured
        .is_some_and(|share| share < check::v20::INVALID);
    let by_design = kept.status == FindingStatus::Info;
    (little && by_design).then(|| format!("{}: {}.", row.label, kept.evidence))
}

/// All figures of the table.
fn figures<'a>(
    run: &'a JudgedRun,
    rows: &'a [&ResultRow],
    throughput: Throughput,
) -> impl Iterator<Item = Figure> + 'a {
    let entries = rows
        .iter()
        .flat_map(move |row| entries(run, row, throughput));
    entries.flat_map(|entry| entry.figures.into_iter().flatten().chain(entry.latency))
}

fn write_notes(page: &mut Page, run: &JudgedRun, rows: &[&ResultRow], throughput: Throughput) {
    let figures: Vec<Figure> = figures(run, rows, throughput).collect();
    let mut notes = Vec::new();
    let (missing, known): (Vec<_>, Vec<_>) = figures.iter().partition(|f| f.is_missing());
    let (sure, bare): (Vec<&Figure>, Vec<&Figure>) =
        known.into_iter().partition(|f| f.interval(false).is_some());
    let intervals: Vec<String> = sure.iter().filter_map(|f| f.interval(false)).collect();
    let legend = figure::interval_legend(intervals.iter().map(String::as_str));
    notes.extend(legend.map(str::to_owned));
    if let Some(reason) = why(&bare, "too short", page.verbose) {
        notes.push(match sure.is_empty() {
            true => format!("No 95 % intervals: {reason}."),
            false => format!("±?: {reason}."),
        });
    }
    if let Some(reason) = why(&missing, "too few data", page.verbose) {
        notes.push(format!("n/a: {reason}."));
    }
    // What was interrupted is repeated as it was.
    let complete = run.run.state == RunState::Complete;
    let advice = rerun::advice(run, rows, throughput).filter(|_| complete);
    notes.extend(advice.map(|flags| format!("`{flags}` may give them.")));
    notes.extend(mark_legend(rows.iter().map(|row| row.verdict.validity)));
    notes.extend(rows.iter().filter_map(|row| depth_not_kept(row)));
    if !notes.is_empty() {
        page.paragraph(0, 0, &notes.join(" "));
        page.blank();
    }
}
