//! What trials that ran at the same time did together.

use fathom_model::JudgedRun;
use fathom_model::figure::{Figure, Throughput};

use super::page::Page;
use super::rows::{PERCENTILES, cell, table};
use crate::sets::{self, SumLine};
use crate::summary;
use crate::table::wrap;

pub(super) fn write(page: &mut Page, run: &JudgedRun, throughput: Throughput) {
    if run.sets.is_empty() {
        return;
    }
    page.paragraph(0, 0, "Sum of what ran at the same time");
    let inline = build(run, page.width, throughput, true);
    let shown = match inline.width() <= page.width {
        true => inline,
        false => build(run, page.width, throughput, false),
    };
    page.table(&shown);
    page.blank();
}

fn build(
    run: &JudgedRun,
    width: usize,
    throughput: Throughput,
    inline: bool,
) -> crate::table::Table {
    let mut table = table(throughput, false);
    for set in &run.sets {
        for line in wrap(&sets::heading(set), width) {
            table.line(line);
        }
        for line in set.sum.iter().flat_map(sets::lines) {
            table.row(cells(&line, throughput, inline));
        }
    }
    table
}

fn cells(line: &SumLine<'_>, throughput: Throughput, inline: bool) -> Vec<String> {
    let mut out = vec![format!("  {}", line.name)];
    let rate = |at: usize| match line.rates {
        Some(rates) if at == 0 || line.moves_data => {
            cell(&Figure::of(rates[at], throughput), false, inline)
        }
        Some(_) => "-".to_owned(),
        None => String::new(),
    };
    out.extend([rate(0), rate(1)]);
    let mut latency = vec![Figure::of(&line.latency.mean_ns, throughput)];
    latency.extend(PERCENTILES.map(|p| summary::percentile(line.latency, p)));
    out.extend(latency.iter().map(|figure| cell(figure, true, inline)));
    out
}
