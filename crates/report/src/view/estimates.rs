//! Tables of estimates in text and Markdown.
//!
//! Text prints numbers alone, so that reads and writes fit side by side, and says
//! below the tables how wide the intervals are and what is missing. Markdown has
//! the interval behind each number with a unit of its own.

use std::fmt::Write;
use std::ops::Range;

use fathom_model::estimate::Unit;
use fathom_model::figure::{self, Figure, Throughput};
use fathom_model::names::mark;
use fathom_model::unit;
use fathom_model::view::{Cell, Column, ColumnKind, EstimateCell, Table, UnitText, View};

use crate::escape::escape_markdown as escape;
use crate::table::{self, Align, display_width, pad, wrap};
use crate::text::notes::{mark_legend, why};
use crate::text::page::Page;

/// The unit of formats whose reader chooses none.
pub(super) const UNIT: Throughput = Throughput::Binary;

/// A text as those formats show it.
pub(crate) fn shown(text: &UnitText) -> &str {
    text.shown(UNIT)
}

/// Whether a table holds estimates.
pub(crate) fn has_estimates(table: &Table) -> bool {
    table.columns.iter().any(|column| column.kind.is_estimate())
}

/// The columns of each group; all behind the first where there are no groups.
pub(crate) fn groups(table: &Table) -> Vec<Range<usize>> {
    let columns = table.columns.iter().enumerate();
    let begins = columns.filter(|(_, column)| column.group.is_some());
    let mut begins: Vec<usize> = begins.map(|(at, _)| at).collect();
    if begins.is_empty() {
        begins.push(1);
    }
    let ends = begins.iter().skip(1).copied().chain([table.columns.len()]);
    begins
        .iter()
        .zip(ends)
        .map(|(from, to)| *from..to)
        .collect()
}

/// What a reader of text sees of a cell.
pub(super) fn text_of(cell: &Cell, kind: ColumnKind, throughput: Throughput) -> String {
    match cell {
        Cell::Text(text) => text.shown(throughput).to_owned(),
        Cell::Empty => "-".to_owned(),
        Cell::State { words, .. } => (*words).to_owned(),
        Cell::Extreme(ns) => ns.map_or("n/a".to_owned(), |ns| unit::latency(ns as f64)),
        Cell::Estimate(of) => {
            let number = match (&of.levels, Figure::of(&of.estimate, throughput)) {
                (Some(levels), _) => levels.shown(throughput).to_owned(),
                (None, figure) if kind == ColumnKind::Rate => figure.number(),
                (None, figure) => figure.value(),
            };
            format!("{}{number}", sign(of))
        }
    }
}

fn sign(of: &EstimateCell) -> &'static str {
    of.validity.map_or("", mark)
}

/// The table as text.
pub(super) fn write(page: &mut Page, table: &Table, throughput: Throughput) {
    if table.as_lines {
        for row in &table.rows {
            write_line(page, table, row, throughput);
        }
        return;
    }
    let groups = groups(table);
    let spaced = beside(table, &groups, throughput, true);
    let close = beside(table, &groups, throughput, false);
    if spaced.width() <= page.width {
        page.table(&spaced);
    } else if close.width() <= page.width {
        page.table(&close);
    } else {
        let tables = groups
            .into_iter()
            .map(|group| below(table, group, throughput));
        // Of a run that was interrupted a whole group may not be measured.
        for table in tables.filter(|table| !table.is_empty()) {
            page.table(&table);
            page.blank();
        }
    }
}

fn heads(columns: &[Column], throughput: Throughput) -> impl Iterator<Item = (String, Align)> {
    columns.iter().map(move |column| {
        let head = column.head.shown(throughput);
        let align = match column.kind.is_estimate() {
            true => Align::Right,
            false => Align::Left,
        };
        match column.group {
            Some(group) => (format!("{group}\n{head}"), align),
            None => (head.to_owned(), align),
        }
    })
}

/// The groups side by side, set apart by an empty column when `spaced`.
fn beside(
    of: &Table,
    groups: &[Range<usize>],
    throughput: Throughput,
    spaced: bool,
) -> table::Table {
    let is_gap = |at: usize| spaced && groups.iter().skip(1).any(|group| group.start == at);
    let mut columns = Vec::new();
    for (at, head) in heads(&of.columns, throughput).enumerate() {
        columns.extend(is_gap(at).then(|| (String::new(), Align::Left)));
        columns.push(head);
    }
    let mut table = table::Table::new(columns);
    for row in &of.rows {
        let mut cells = Vec::new();
        for (at, (column, cell)) in of.columns.iter().zip(row).enumerate() {
            cells.extend(is_gap(at).then(String::new));
            cells.push(text_of(cell, column.kind, throughput));
        }
        table.row(cells);
    }
    table
}

/// One group, with the rows in which it has anything.
fn below(of: &Table, group: Range<usize>, throughput: Throughput) -> table::Table {
    let first = groups(of).first().map_or(0, |group| group.start);
    let names = heads(&of.columns[..first], throughput);
    let columns = names.chain(heads(&of.columns[group.clone()], throughput));
    let mut table = table::Table::new(columns);
    for row in &of.rows {
        let own = || row.iter().enumerate().filter(|(at, _)| group.contains(at));
        if own().all(|(_, cell)| *cell == Cell::Empty) {
            continue;
        }
        let cells = row.iter().enumerate().take(first).chain(own());
        table.row(cells.map(|(at, cell)| text_of(cell, of.columns[at].kind, throughput)));
    }
    table
}

fn write_line(page: &mut Page, table: &Table, row: &[Cell], throughput: Throughput) {
    let mut cells = row.iter().zip(&table.columns);
    let name = cells
        .next()
        .map(|(cell, column)| text_of(cell, column.kind, throughput));
    let name = name.unwrap_or_default();
    let head = |column: &Column| match column.short_head {
        Some(short) => short.to_owned(),
        None => column.head.shown(throughput).to_owned(),
    };
    let parts = cells.map(|(cell, column)| {
        let figure = text_of(cell, column.kind, throughput);
        (column.kind, part(cell, column.kind, figure, head(column)))
    });
    let text = joined(parts);
    let hang = display_width(&name) + 2;
    let lines = wrap(&text, page.width.saturating_sub(hang));
    for (i, line) in lines.iter().enumerate() {
        let lead = if i == 0 { name.as_str() } else { "" };
        page.line(&format!("{}{line}", pad(lead, hang, Align::Left)));
    }
}

/// A figure with its head: `812 commits/s`, `p99 1.3 ms`.
fn part(cell: &Cell, kind: ColumnKind, figure: String, head: String) -> String {
    match (cell, kind) {
        (Cell::State { .. }, _) => figure,
        (_, ColumnKind::Rate) => format!("{figure} {head}"),
        _ => format!("{head} {figure}"),
    }
}

/// Figures of one kind behind commas, kinds behind semicolons.
fn joined(parts: impl Iterator<Item = (ColumnKind, String)>) -> String {
    let mut text = String::new();
    let mut before = None;
    for (kind, part) in parts {
        text += match before {
            None => "",
            Some(before) if before == kind => ", ",
            Some(_) => "; ",
        };
        text += &part;
        before = Some(kind);
    }
    text
}

/// How sure the numbers of text are, what is missing, what the signs mean.
pub(super) fn notes(view: &View) -> Vec<String> {
    let tables = view.tables.iter().filter(|table| has_estimates(table));
    let cells: Vec<&Cell> = tables
        .flat_map(|table| table.rows.iter().flatten())
        .collect();
    let of = |unit: Unit| {
        let estimates = cells.iter().filter_map(|cell| cell.as_estimate());
        let estimates = estimates.map(|cell| &cell.estimate);
        estimates.filter(move |estimate| estimate.unit == unit)
    };
    let mut notes = Vec::new();
    let rates = || of(Unit::OpsPerSecond);
    let widest = rates()
        .filter_map(fathom_model::Estimate::relative_half_width)
        .max_by(f64::total_cmp);
    let bare: Vec<Figure> = rates()
        .map(|rate| Figure::of(rate, UNIT))
        .filter(|figure| figure.interval(false).is_none())
        .collect();
    let widest = widest.map(|share| format!("±{} or narrower", figure::percent(share)));
    let bare: Vec<&Figure> = bare.iter().collect();
    notes.extend(match (widest, why(&bare, "too short", false)) {
        (Some(widest), None) => Some(format!("95 % intervals of IOPS: {widest}.")),
        (Some(widest), Some(reason)) => Some(format!(
            "95 % intervals of IOPS: {widest}, but {} without ({reason}).",
            bare.len()
        )),
        (None, Some(reason)) => Some(format!("No 95 % intervals of IOPS: {reason}.")),
        (None, None) => None,
    });
    let missing: Vec<Figure> = of(Unit::Nanoseconds)
        .map(|latency| Figure::of(latency, UNIT))
        .filter(Figure::is_missing)
        .collect();
    let missing: Vec<&Figure> = missing.iter().collect();
    let reason = why(&missing, "too few data", false);
    notes.extend(reason.map(|reason| {
        let most = missing.iter().filter_map(|figure| figure.longer_ns()).max();
        let hint = most.map_or(String::new(), |ns| {
            format!("; measure up to {} longer", figure::longer(ns))
        });
        format!("n/a: {reason}{hint}.")
    }));
    // What a row of words says is not signed.
    let signed = cells.iter().filter_map(|cell| cell.as_estimate()?.validity);
    notes.extend(mark_legend(signed));
    notes
}

/// The table as Markdown.
pub(super) fn push_markdown(out: &mut String, table: &Table) {
    if table.as_lines {
        for row in &table.rows {
            push_line(out, table, row);
        }
        return;
    }
    let heads = table.columns.iter().map(|column| match column.group {
        Some(group) => format!("{group} {}", shown(&column.head)),
        None => shown(&column.head).to_owned(),
    });
    let heads = heads.map(|head| match head.is_empty() {
        true => " ".to_owned(),
        false => format!(" {} ", escape(&head)),
    });
    let rules = table
        .columns
        .iter()
        .map(|column| match column.kind.is_estimate() {
            true => "--:",
            false => "---",
        });
    let _ = writeln!(out, "|{}|", heads.collect::<Vec<_>>().join("|"));
    let _ = writeln!(out, "|{}|", rules.collect::<Vec<_>>().join("|"));
    for row in &table.rows {
        let cells = row.iter().zip(&table.columns);
        let cells = cells.map(|(cell, column)| match cell {
            Cell::Empty => String::new(),
            Cell::Estimate(of) if column.kind == ColumnKind::Latency && of.levels.is_none() => {
                escape(&with_interval(of))
            }
            _ => escape(&text_of(cell, column.kind, UNIT)),
        });
        let _ = writeln!(out, "| {} |", cells.collect::<Vec<_>>().join(" | "));
    }
    out.push('\n');
}

fn with_interval(of: &EstimateCell) -> String {
    format!("{}{}", sign(of), Figure::of(&of.estimate, UNIT).inline())
}

/// A row as a paragraph, with the sign of its validity behind its name.
fn push_line(out: &mut String, table: &Table, row: &[Cell]) {
    let mut cells = row.iter().zip(&table.columns);
    let name = cells
        .next()
        .map(|(cell, column)| text_of(cell, column.kind, UNIT));
    let signs = row.iter().filter_map(Cell::as_estimate).map(sign);
    let parts = cells.map(|(cell, column)| {
        let figure = match cell {
            Cell::Estimate(of) => Figure::of(&of.estimate, UNIT).inline(),
            _ => text_of(cell, column.kind, UNIT),
        };
        let head = shown(&column.head).to_owned();
        (column.kind, part(cell, column.kind, figure, head))
    });
    let _ = writeln!(
        out,
        "**{}**{}: {}\n",
        escape(&name.unwrap_or_default()),
        escape(&signs.collect::<String>()),
        escape(&joined(parts)),
    );
}
