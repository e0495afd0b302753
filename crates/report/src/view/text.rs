//! The view of a study as text: answers, chart, map, tables, sentences.

use fathom_model::figure::Throughput;
use fathom_model::judged::ResultRow;
use fathom_model::unit;
use fathom_model::view::{ColumnKind, LatencyMap, MapCell, Table, View};

use super::estimates;
use crate::table::{self, Align};
use crate::text::notes::mark_legend;
use crate::text::page::Page;
use crate::text::plot;

/// What a half interval is.
const HALF_INTERVAL: &str = "±: half the 95 % interval; ?: too short for one.";

pub(crate) fn write(page: &mut Page, rows: &[ResultRow], view: &View, throughput: Throughput) {
    // Where the tables are the results themselves, the numbers come first.
    let numbers_first = view.form.is_some();
    if !numbers_first {
        write_answers(page, view);
    }
    if let Some(plot) = view.charts.first() {
        page.block(&plot::draw(plot, page.width));
        page.blank();
    }
    if let Some(map) = &view.map {
        write_map(page, map);
    }
    for of in &view.tables {
        if estimates::has_estimates(of) {
            estimates::write(page, of, throughput);
            page.blank();
            continue;
        }
        let mut indent = 0;
        if let Some(title) = &of.title {
            page.line(title.shown(throughput));
            indent = 2;
        }
        let table = table(of, page.width - indent, throughput);
        page.table(&table.indent(indent));
        page.blank();
    }
    if numbers_first {
        write_answers(page, view);
    }
    for warning in &view.warnings {
        page.paragraph(0, 2, warning.shown(throughput));
    }
    for sentence in &view.sentences {
        page.paragraph(0, 2, sentence);
    }
    let mut notes = view.notes.clone();
    if view.has_signs {
        // A narrow page has no room for that column.
        if page.shows('±') {
            notes.insert(0, HALF_INTERVAL.to_owned());
        }
        notes.extend(mark_legend(rows.iter().map(|row| row.verdict.validity)));
    }
    notes.extend(estimates::notes(view));
    if !notes.is_empty() {
        page.paragraph(0, 0, &notes.join(" "));
    }
    page.blank();
}

fn write_answers(page: &mut Page, view: &View) {
    for answer in &view.answers {
        page.paragraph(0, 2, &sentence(answer));
    }
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

/// The table without the spare columns for which there is no room.
pub(crate) fn table(of: &Table, width: usize, throughput: Throughput) -> table::Table {
    let mut columns: Vec<usize> = (0..of.columns.len()).collect();
    let mut spare: Vec<u8> = of.columns.iter().filter_map(|c| c.spare).collect();
    spare.sort_unstable();
    spare.dedup();
    for turn in spare {
        let table = build(of, &columns, throughput);
        if table.width() <= width {
            return table;
        }
        columns.retain(|at| of.columns[*at].spare != Some(turn));
    }
    build(of, &columns, throughput)
}

fn build(of: &Table, columns: &[usize], throughput: Throughput) -> table::Table {
    let column = |at: &usize| {
        let column = &of.columns[*at];
        let head = column.head.shown(throughput);
        match column.kind {
            ColumnKind::Group => ("", Align::Left),
            ColumnKind::Text | ColumnKind::Remark => (head, Align::Left),
            ColumnKind::Number | ColumnKind::Rate | ColumnKind::Latency => (head, Align::Right),
        }
    };
    let mut table = table::Table::new(columns.iter().map(column));
    let mut above: Option<&Vec<_>> = None;
    for row in &of.rows {
        table.row(columns.iter().map(|at| {
            let repeats = above.is_some_and(|above| above.get(*at) == row.get(*at));
            if of.columns[*at].kind == ColumnKind::Group && repeats {
                String::new()
            } else {
                let kind = of.columns[*at].kind;
                let cell = row.get(*at);
                cell.map_or(String::new(), |cell| {
                    estimates::text_of(cell, kind, throughput)
                })
            }
        }));
        above = Some(row);
    }
    table
}

fn write_map(page: &mut Page, map: &LatencyMap) {
    if map.columns.is_empty() {
        return;
    }
    page.line(&map.heading);
    let heads = std::iter::once(&map.y_title).chain(&map.columns);
    let mut table = table::Table::new(heads.map(|head| (head, Align::Right)));
    for (name, cells) in map.rows.iter().zip(&map.cells) {
        let cells = cells
            .iter()
            .map(|cell| cell.as_ref().map_or("·".to_owned(), cell_text));
        table.row(std::iter::once(name.clone()).chain(cells));
    }
    page.table(&table);
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

fn cell_text(cell: &MapCell) -> String {
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
