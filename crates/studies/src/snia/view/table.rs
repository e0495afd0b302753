//! The results as tables.

use fathom_model::figure::{Figure, Throughput};
use fathom_model::snia::{SniaCell, SniaPart, SniaTest};
use fathom_model::view::{Cell, Column, Table};
use fathom_model::{Unit, unit};

use super::value;

/// The tables of a part, the most important first.
pub(super) fn of(test: SniaTest, part: &SniaPart, throughput: Throughput) -> Vec<Table> {
    if part.cells.is_empty() {
        return Vec::new();
    }
    let over = match part.cells[0].rounds {
        1 => "one round".to_owned(),
        n => format!("{n} rounds"),
    };
    match test {
        SniaTest::Iops => vec![
            matrix(part, format!("IOPS by R/W mix, mean of {over}"), |cell| {
                value(Unit::OpsPerSecond, cell.ops_per_second, throughput).replace(" IOPS", "")
            }),
            matrix(
                part,
                format!("Throughput by R/W mix, mean of {over}"),
                |cell| value(Unit::BytesPerSecond, cell.bytes_per_second, throughput),
            ),
            matrix(part, format!("Mean latency by R/W mix, {over}"), |cell| {
                mean(cell, throughput)
            }),
        ],
        _ => vec![list(test, part, &over, throughput)],
    }
}

fn mean(cell: &SniaCell, throughput: Throughput) -> String {
    match cell.latency.mean_ns.value {
        Some(ns) => value(Unit::Nanoseconds, ns, throughput),
        None => "n/a".to_owned(),
    }
}

/// Block sizes down, mixes across.
fn matrix(part: &SniaPart, title: String, text: impl Fn(&SniaCell) -> String) -> Table {
    let mut mixes: Vec<u8> = Vec::new();
    let mut blocks: Vec<u64> = Vec::new();
    for cell in &part.cells {
        if !mixes.contains(&cell.read_percent) {
            mixes.push(cell.read_percent);
        }
        if !blocks.contains(&cell.block_bytes) {
            blocks.push(cell.block_bytes);
        }
    }
    let heads = mixes.iter().map(|mix| format!("{mix}/{}", 100 - mix));
    let row = |block: &u64| {
        let cells = mixes.iter().map(|mix| match part.cell(*mix, *block) {
            Some(cell) => text(cell),
            None => "n/a".to_owned(),
        });
        std::iter::once(unit::bytes_exact(*block))
            .chain(cells)
            .collect()
    };
    let heads = std::iter::once("R/W".to_owned()).chain(heads);
    table(title, heads, blocks.iter().map(row))
}

/// A table of figures, the first column the names of its rows.
fn table(
    title: String,
    heads: impl Iterator<Item = String>,
    rows: impl Iterator<Item = Vec<String>>,
) -> Table {
    let cells = |row: Vec<String>| row.into_iter().map(Cell::from).collect();
    Table {
        title: Some(title.into()),
        columns: heads.map(Column::number).collect(),
        rows: rows.map(cells).collect(),
        ..Table::default()
    }
}

/// One line a cell.
fn list(test: SniaTest, part: &SniaPart, over: &str, throughput: Throughput) -> Table {
    let rate = match test {
        SniaTest::Throughput => throughput.name(),
        _ => "IOPS",
    };
    let head = ["R/W", "block", rate, "mean", "p50", "p99", "p99.9", "max"];
    let row = |cell: &SniaCell| {
        let percentile = |percent| {
            let estimate = cell.latency.percentile(percent);
            Figure::of(&estimate, throughput).value()
        };
        let max = cell.latency.max_ns;
        let rate = match test {
            SniaTest::Throughput => value(Unit::BytesPerSecond, cell.bytes_per_second, throughput),
            _ => value(Unit::OpsPerSecond, cell.ops_per_second, throughput),
        };
        vec![
            format!("{}/{}", cell.read_percent, 100 - cell.read_percent),
            unit::bytes_exact(cell.block_bytes),
            rate.split(' ').next().unwrap_or_default().to_owned(),
            mean(cell, throughput),
            percentile(50.0),
            percentile(99.0),
            percentile(99.9),
            max.map_or("n/a".to_owned(), |ns| {
                value(Unit::Nanoseconds, ns as f64, throughput)
            }),
        ]
    };
    let title = format!("Results, {over}; percentiles are beyond what the standard requires");
    let heads = head.into_iter().map(str::to_owned);
    table(title, heads, part.cells.iter().map(row))
}
