//! Tables of estimates on a page: intervals on demand, numbers to sort by.

use askama::Template;
use fathom_model::Validity;
use fathom_model::view::{Cell, Column, ColumnKind, Table, View};

use super::estimates::{groups, has_estimates, shown};
use crate::html::cell::{Badge, NumberCell, exact};

/// The results of a run in the form that its study gives them.
#[derive(Template)]
#[template(path = "results.html")]
pub(crate) struct Results<'v> {
    tables: Vec<EstimateTable<'v>>,
}

impl<'v> Results<'v> {
    pub(crate) fn of(view: &'v View) -> Results<'v> {
        let tables = view.tables.iter().filter(|table| has_estimates(table));
        Results {
            tables: tables.map(EstimateTable::of).collect(),
        }
    }
}

impl Results<'_> {
    /// All cells with numbers.
    pub(crate) fn cells(&self) -> impl Iterator<Item = &NumberCell> {
        let lines = self.tables.iter().flat_map(|table| &table.lines);
        lines.flat_map(|line| &line.cells)
    }
}

struct EstimateTable<'v> {
    heads: Vec<Head<'v>>,
    /// Names of the groups, and how many columns each has.
    groups: Vec<(&'static str, usize)>,
    lines: Vec<Line>,
    explanation: Option<&'static str>,
}

impl EstimateTable<'_> {
    /// Whether anything in it is not fully trusted.
    fn has_badges(&self) -> bool {
        self.lines.iter().any(|line| !line.badges.is_empty())
    }
}

struct Head<'v> {
    text: &'v str,
    /// A group begins here beside another.
    apart: bool,
}

struct Line {
    name: String,
    cells: Vec<NumberCell>,
    /// What is not trusted, with the group where only one is.
    badges: Vec<(String, Badge)>,
}

impl<'v> EstimateTable<'v> {
    fn of(table: &'v Table) -> EstimateTable<'v> {
        let ranges = groups(table);
        let apart = |at: usize| ranges.iter().skip(1).any(|range| range.start == at);
        let heads = table.columns.iter().enumerate();
        let heads = heads.map(|(at, column)| Head {
            text: shown(&column.head),
            apart: apart(at),
        });
        let names = ranges.iter().filter_map(|range| {
            let name = table.columns.get(range.start)?.group?;
            Some((name, range.len()))
        });
        EstimateTable {
            heads: heads.collect(),
            groups: names.collect(),
            lines: table.rows.iter().map(|row| line(table, row)).collect(),
            explanation: table.explanation,
        }
    }
}

fn line(table: &Table, row: &[Cell]) -> Line {
    let mut cells = row
        .iter()
        .zip(&table.columns)
        .map(|(cell, column)| show(cell, column));
    Line {
        name: cells.next().map_or(String::new(), |cell| cell.text),
        cells: cells.collect(),
        badges: badges(table, row),
    }
}

fn show(cell: &Cell, column: &Column) -> NumberCell {
    match cell {
        Cell::Text(text) => NumberCell::text(shown(text)),
        Cell::Empty => NumberCell::text("–"),
        Cell::State { words, .. } => NumberCell::text(words),
        Cell::Extreme(ns) => exact(*ns),
        Cell::Estimate(of) => match &of.levels {
            Some(levels) => NumberCell::text(shown(levels)),
            None => NumberCell::estimate(&of.estimate, column.kind == ColumnKind::Latency),
        },
    }
}

fn badges(table: &Table, row: &[Cell]) -> Vec<(String, Badge)> {
    let groups = groups(table).into_iter().map(|range| {
        let name = table
            .columns
            .get(range.start)
            .and_then(|column| column.group);
        let cells = row.iter().take(range.end).skip(range.start);
        (name, cells.filter_map(Cell::validity).next())
    });
    let groups: Vec<(Option<&str>, Option<Validity>)> = groups.collect();
    let alike = groups.windows(2).all(|pair| pair[0].1 == pair[1].1);
    let shown = if alike { 1 } else { groups.len() };
    let badges = groups
        .into_iter()
        .take(shown)
        .filter_map(|(name, validity)| {
            let side = match name.filter(|_| !alike) {
                Some(name) => format!("{} ", name.to_lowercase()),
                None => String::new(),
            };
            Some((side, Badge::of(validity?)))
        });
    badges.filter(|(_, badge)| badge.class != "good").collect()
}
