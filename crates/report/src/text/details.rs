//! What `verbose` adds: every estimate with its interval, and every trial.

use fathom_model::figure::{Figure, Interval, Throughput, longer};
use fathom_model::judged::OpSummary;
use fathom_model::{Estimate, JudgedRun, unit};

use super::page::Page;
use crate::table::{Align, Table, clean};
use crate::{names, summary};

/// Every estimate with its interval and every trial.
pub(super) fn write(page: &mut Page, run: &JudgedRun, throughput: Throughput) {
    for row in &run.rows {
        for op in row.ops.iter().filter(|op| op.ops > 0) {
            page.line(&format!(
                "{} on {}, {}: {}",
                clean(&row.label),
                clean(&row.target.to_string()),
                op.kind.name(),
                unit::counted(op.ops, "operation")
            ));
            page.table(&detail_table(op, throughput));
            page.blank();
        }
    }
    write_trials(page, run, throughput);
}

fn detail_table(op: &OpSummary, throughput: Throughput) -> Table {
    let columns = [("", Align::Left), ("", Align::Right), ("", Align::Left)];
    let mut table = Table::new(columns).indent(2);
    let mut estimates = vec![("IOPS".to_owned(), &op.ops_per_second)];
    if op.kind.moves_bytes() {
        estimates.push(("throughput".to_owned(), &op.bytes_per_second));
    }
    for (which, latency) in summary::latencies(op) {
        estimates.push((format!("{which} mean"), &latency.mean_ns));
        for p in &latency.percentiles {
            let name = summary::percentile_name(p.percent);
            estimates.push((format!("{which} {name}"), &p.latency_ns));
        }
    }
    for (name, estimate) in estimates {
        let figure = Figure::of(estimate, throughput);
        table.row([name, figure.value(), details(&figure, estimate)]);
    }
    for (which, latency) in summary::latencies(op) {
        for (name, value) in [("min", latency.min_ns), ("max", latency.max_ns)] {
            if let Some(ns) = value {
                let text = unit::latency(ns as f64);
                table.row([format!("{which} {name}"), text, "exact".to_owned()]);
            }
        }
    }
    table
}

fn details(figure: &Figure, estimate: &Estimate) -> String {
    let mut parts = Vec::new();
    if let Figure::Known {
        interval: Some(Interval { low, high, .. }),
        ..
    } = figure
    {
        parts.push(format!("{low} to {high}"));
    }
    parts.extend(fathom_model::figure::effective_n(estimate));
    if let Some(ns) = figure.longer_ns() {
        parts.push(format!("needs {} more", longer(ns)));
    }
    parts.extend(figure.reason().map(str::to_owned));
    parts.join("; ")
}

fn write_trials(page: &mut Page, run: &JudgedRun, throughput: Throughput) {
    let head = ["IOPS", throughput.name(), "p50", "p99"];
    let columns = [
        ("trial", Align::Left),
        ("", Align::Left),
        ("state", Align::Left),
        ("op", Align::Left),
    ]
    .into_iter()
    .chain(head.map(|h| (h, Align::Right)));
    let mut table = Table::new(columns);
    for trial in &run.trials {
        let first = [
            format!("{}", trial.index + 1),
            trial.label.clone(),
            names::state(trial.state).to_owned(),
        ];
        if trial.summary.ops.is_empty() {
            table.row(&first);
        }
        for op in &trial.summary.ops {
            let latency = summary::first_latency(op);
            table.row(first.iter().cloned().chain([
                op.kind.name().to_owned(),
                Figure::of(&op.ops_per_second, throughput).number(),
                Figure::of(&op.bytes_per_second, throughput).number(),
                summary::percentile(latency, 50.0).value(),
                summary::percentile(latency, 99.0).value(),
            ]));
        }
    }
    page.table(&table);
    page.blank();
}
