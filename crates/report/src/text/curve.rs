//! A curve as text: answers, chart, table.

use fathom_model::{JudgedRun, unit};

use super::page::Page;
use super::plot;
use super::rows::mark_legend;
use crate::curve::{Cell, CurveView, Map};
use crate::table::{Align, Table};

pub(super) fn write(page: &mut Page, run: &JudgedRun, view: &CurveView) {
    for answer in &view.answers {
        page.paragraph(0, 2, &sentence(answer));
    }
    page.blank();
    if let Some(plot) = view.plots.first() {
        page.block(&plot::draw(plot, page.width));
        page.blank();
    }
    if let Some(map) = &view.map {
        write_map(page, map);
    }
    page.block(&table(view, page.width).render());
    page.blank();
    let mut notes = vec!["±: half the 95 % interval; ?: too short for one.".to_owned()];
    notes.extend(view.notes.iter().cloned());
    notes.extend(mark_legend(run.rows.iter()));
    page.paragraph(0, 0, &notes.join(" "));
    page.blank();
}

/// With a capital and a full stop.
fn sentence(text: &str) -> String {
    let mut chars = text.chars();
    let first = chars.next().map(|c| {
        match text.starts_with('p') && text[1..].starts_with(|c: char| c.is_ascii_digit()) {
            // p99 is no word.
            true => c.to_string(),
            false => c.to_uppercase().to_string(),
        }
    });
    format!("{}{}.", first.unwrap_or_default(), chars.as_str())
}

fn table(view: &CurveView, width: usize) -> Table {
    let build = |columns: &[usize]| {
        let mut table = Table::new(columns.iter().map(|i| {
            let align = match *i + 1 == view.table.head.len() {
                true => Align::Left,
                false => Align::Right,
            };
            (view.table.head[*i].clone(), align)
        }));
        for row in &view.table.rows {
            table.row(columns.iter().map(|i| row[*i].clone()));
        }
        table
    };
    let mut columns: Vec<usize> = (0..view.table.head.len()).collect();
    // What is left out first where the page is narrow.
    for name in ["mean", "±", "late p99", "p99.9", ""] {
        let table = build(&columns);
        if table.width() <= width {
            return table;
        }
        columns.retain(|i| view.table.head[*i] != name);
    }
    build(&columns)
}

/// 99th percentile by mix and load.
fn write_map(page: &mut Page, map: &Map) {
    if map.loads.is_empty() {
        return;
    }
    page.line("p99 of the response by share of reads and offered load (ops/s)");
    let heads = map
        .loads
        .iter()
        .map(|load| (unit::count(*load), Align::Right));
    let first = ("reads".to_owned(), Align::Right);
    let mut table = Table::new(std::iter::once(first).chain(heads));
    for (mix, cells) in map.mixes.iter().zip(&map.cells) {
        let cells = cells
            .iter()
            .map(|cell| cell.as_ref().map_or("·".to_owned(), cell_text));
        table.row(std::iter::once(format!("{mix} %")).chain(cells));
    }
    page.block(&table.render());
    let signs = match map.target {
        Some(_) => "+ holds the target in its trials; - does not; ",
        None => "",
    };
    page.paragraph(
        0,
        0,
        &format!("{signs}sat: saturated; !: not trusted; ·: beyond saturation, not measured."),
    );
    page.blank();
}

fn cell_text(cell: &Cell) -> String {
    if cell.saturated {
        return "sat".to_owned();
    }
    let sign = match (cell.untrusted, cell.holds) {
        (true, _) => "!",
        (_, Some(true)) => "+",
        (_, Some(false)) => "-",
        (_, None) => "",
    };
    let latency = cell.latency_ns.map_or("n/a".to_owned(), unit::latency);
    format!("{sign}{latency}")
}
