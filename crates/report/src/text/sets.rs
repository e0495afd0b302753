//! What trials that ran at the same time did together.

use fathom_model::JudgedRun;
use fathom_model::figure::{Figure, Throughput};

use super::page::Page;
use super::rows::{Intervals, PERCENTILES, cell, table};
use crate::sets::{self, SumLine};
use crate::summary;
use crate::table::wrap;

pub(super) fn write(page: &mut Page, run: &JudgedRun, throughput: Throughput) {
    if run.sets.is_empty() {
        return;
    }
    page.paragraph(0, 0, "Sum of what ran at the same time");
    let behind = build(run, page.width, throughput, Intervals::Behind);
    let shown = match behind.width() <= page.width {
        true => behind,
        false => build(run, page.width, throughput, Intervals::Below),
    };
    page.table(&shown);
    page.blank();
}

fn build(
    run: &JudgedRun,
    width: usize,
    throughput: Throughput,
    intervals: Intervals,
) -> crate::table::Table {
    let mut table = table(throughput, false);
    for set in &run.sets {
        for line in wrap(&sets::heading(set), width) {
            table.line(line);
        }
        for line in set.sum.iter().flat_map(sets::lines) {
            table.row(cells(&line, throughput, intervals));
        }
    }
    table
}

fn cells(line: &SumLine<'_>, throughput: Throughput, intervals: Intervals) -> Vec<String> {
    let mut out = vec![format!("  {}", line.name)];
    let rate = |at: usize| match line.rates {
        Some(rates) if at == 0 || line.moves_data => {
            cell(&Figure::of(rates[at], throughput), false, intervals)
        }
        Some(_) => "-".to_owned(),
        None => String::new(),
    };
    out.extend([rate(0), rate(1)]);
    let mut latency = vec![Figure::of(&line.latency.mean_ns, throughput)];
    latency.extend(PERCENTILES.map(|p| summary::percentile(line.latency, p)));
    out.extend(latency.iter().map(|figure| cell(figure, true, intervals)));
    out
}
