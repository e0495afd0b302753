//! The grid of the `quick` plan.

use fathom_model::figure::{Figure, Throughput};
use fathom_model::judged::LatencySummary;

use super::page::Page;
use crate::grid::{Cell, Grid, GridRow};
use crate::names::{self, mark};
use crate::table::{Align, Table, display_width, pad, wrap};

pub(super) fn write(page: &mut Page, grid: &Grid<'_>, throughput: Throughput) {
    if grid.is_empty() {
        return;
    }
    let spaced = sides_table(&grid.rows, throughput, true);
    let close = sides_table(&grid.rows, throughput, false);
    if spaced.width() <= page.width {
        page.block(&spaced.render());
    } else if close.width() <= page.width {
        page.block(&close.render());
    } else {
        for (title, side) in [("Read", 0), ("Write", 1)] {
            page.block(&side_table(&grid.rows, throughput, title, side).render());
            page.blank();
        }
    }
    page.blank();
    for durable in &grid.durable {
        write_durable(page, &durable.name, &durable.cell);
    }
    page.blank();
    write_notes(page, grid);
    page.blank();
}

fn side_columns(title: &str, throughput: Throughput) -> [(String, Align); 4] {
    let head = |text: &str| (text.to_owned(), Align::Right);
    let first = format!("{title}\n{}", throughput.name());
    [head(&first), head("IOPS"), head("p50"), head("p99")]
}

/// Reads and writes side by side, set apart by an empty column when `spaced`.
fn sides_table(rows: &[GridRow<'_>], throughput: Throughput, spaced: bool) -> Table {
    let gap = usize::from(spaced);
    let columns = std::iter::once((String::new(), Align::Left))
        .chain(side_columns("Read", throughput))
        .chain(std::iter::repeat_n((String::new(), Align::Left), gap))
        .chain(side_columns("Write", throughput));
    let mut table = Table::new(columns).gap(2);
    for row in rows {
        let cells = std::iter::once(row.name.clone())
            .chain(cells(row.read.as_ref(), throughput))
            .chain(std::iter::repeat_n(String::new(), gap))
            .chain(cells(row.write.as_ref(), throughput));
        table.row(cells);
    }
    table
}

fn side_table(rows: &[GridRow<'_>], throughput: Throughput, title: &str, side: usize) -> Table {
    let columns =
        std::iter::once((String::new(), Align::Left)).chain(side_columns(title, throughput));
    let mut table = Table::new(columns);
    for row in rows {
        let cell = if side == 0 { &row.read } else { &row.write };
        if cell.is_some() {
            let cells = cells(cell.as_ref(), throughput);
            table.row(std::iter::once(row.name.clone()).chain(cells));
        }
    }
    table
}

fn cells(cell: Option<&Cell<'_>>, throughput: Throughput) -> [String; 4] {
    let Some(cell) = cell else {
        return ["-", "-", "-", "-"].map(str::to_owned);
    };
    let Some(op) = cell.op else {
        return [names::state(cell.state), "-", "-", "-"].map(str::to_owned);
    };
    let [bytes, ops] = cell.levels(throughput).unwrap_or_else(|| {
        [&op.bytes_per_second, &op.ops_per_second].map(|e| Figure::of(e, throughput).number())
    });
    [
        format!("{}{bytes}", mark(cell.row.verdict.validity)),
        ops,
        percentile(&op.service, 50.0).value(),
        percentile(&op.service, 99.0).value(),
    ]
}

fn percentile(latency: &LatencySummary, percent: f64) -> Figure {
    crate::summary::percentile(latency, percent)
}

fn write_durable(page: &mut Page, name: &str, cell: &Cell<'_>) {
    let Some(op) = cell.op else {
        page.line(&format!("{name}  {}", names::state(cell.state)));
        return;
    };
    let latency = &op.service;
    let max = latency.max_ns.map_or("n/a".to_owned(), |ns| {
        fathom_model::unit::latency(ns as f64)
    });
    let rate = Figure::of(&op.ops_per_second, Throughput::Binary);
    let text = format!(
        "{}{} commits/s; commit p50 {}, p99 {}, max {max}",
        mark(cell.row.verdict.validity),
        rate.number(),
        percentile(latency, 50.0).value(),
        percentile(latency, 99.0).value(),
    );
    let hang = display_width(name) + 2;
    for (i, line) in wrap(&text, page.width.saturating_sub(hang))
        .iter()
        .enumerate()
    {
        let lead = if i == 0 { name } else { "" };
        page.line(&format!("{}{line}", pad(lead, hang, Align::Left)));
    }
}

/// How sure the grid's numbers are, what its signs mean, what is missing.
fn write_notes(page: &mut Page, grid: &Grid<'_>) {
    let cells = || {
        let sides = grid.rows.iter().flat_map(|r| r.read.iter().chain(&r.write));
        sides.chain(grid.durable.iter().map(|d| &d.cell))
    };
    let ops = || cells().filter_map(|c| c.op);
    let mut notes = Vec::new();
    let widest = ops()
        .filter_map(|op| op.ops_per_second.relative_half_width())
        .max_by(f64::total_cmp);
    let rates: Vec<Figure> = ops()
        .map(|op| Figure::of(&op.ops_per_second, Throughput::Binary))
        .filter(|f| f.plus_minus(false).is_none())
        .collect();
    let reason = super::rows::example(rates.iter());
    match (widest, reason) {
        (Some(widest), None) => notes.push(format!(
            "95 % intervals of IOPS: ±{} or narrower.",
            fathom_model::figure::percent(widest)
        )),
        (Some(widest), Some(reason)) => notes.push(format!(
            "95 % intervals of IOPS: ±{} or narrower, but {} without ({reason}).",
            fathom_model::figure::percent(widest),
            rates.len()
        )),
        (None, Some(reason)) => notes.push(format!("No 95 % intervals ({reason}).")),
        (None, None) => {}
    }
    let missing: Vec<Figure> = ops()
        .flat_map(|op| [50.0, 99.0].map(|p| percentile(&op.service, p)))
        .filter(Figure::is_missing)
        .collect();
    if let Some(reason) = super::rows::example(missing.iter()) {
        let most = missing.iter().filter_map(Figure::longer_ns).max();
        let hint = most.map_or(String::new(), |ns| {
            format!(
                "measure up to {} longer; ",
                fathom_model::figure::longer(ns)
            )
        });
        notes.push(format!("n/a: {hint}{reason}."));
    }
    notes.extend(super::rows::mark_legend(cells().map(|c| c.row)));
    if !notes.is_empty() {
        page.paragraph(0, 0, &notes.join(" "));
    }
}
