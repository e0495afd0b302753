//! All rows of a run side by side: throughput and rate, each on its own axis.

use fathom_model::judged::{OpSummary, ResultRow};
use fathom_model::{JudgedRun, OpKind};

use crate::chart::bars::{self, Bar};
use crate::chart::figure::ChartFigure;
use crate::chart::{kind_class, overlay};
use crate::facts;

/// More rows than this are a table, not a picture.
const MOST_ROWS: usize = 40;

/// The charts; none where there is nothing to put side by side.
pub(super) fn charts(run: &JudgedRun) -> Vec<ChartFigure> {
    if run.comparison.is_some() {
        return overlay::distributions(run);
    }
    if run.view.as_ref().is_some_and(|view| view.charts_hold_rows) {
        return Vec::new();
    }
    let shown = |row: &&ResultRow| facts::is_result(row);
    let rows: Vec<&ResultRow> = run.rows.iter().filter(shown).collect();
    if rows.len() < 2 || rows.len() > MOST_ROWS {
        return Vec::new();
    }
    let ops = rows.iter().flat_map(|row| {
        let commits = row.ops.iter().any(|op| op.kind == OpKind::Commit);
        let fits = move |op: &&OpSummary| match commits {
            true => op.kind == OpKind::Commit,
            false => op.kind.is_data(),
        };
        row.ops.iter().filter(fits).map(move |op| (*row, op))
    });
    let ops: Vec<(&ResultRow, &OpSummary)> = ops.collect();
    let several =
        |row: &ResultRow| ops.iter().filter(|(other, _)| other.row == row.row).count() > 1;
    let bar = |row: &ResultRow, op: &OpSummary| {
        let name = facts::first_trial(run, row);
        let name = name.map_or(row.label.clone(), |trial| facts::trial_name(run, trial));
        match several(row) {
            true => format!("{name} {}", op.kind.name()),
            false => name,
        }
    };
    let class = |op: &OpSummary| kind_class::of(op.kind).to_owned();
    let throughput = ops.iter().filter(|(_, op)| op.kind.moves_bytes());
    let throughput: Vec<Bar> = throughput
        .map(|(row, op)| Bar::of(bar(row, op), &op.bytes_per_second, class(op)))
        .collect();
    let rate = ops
        .iter()
        .map(|(row, op)| Bar::of(bar(row, op), &op.ops_per_second, class(op)));
    let rate: Vec<Bar> = rate.collect();
    [
        bars::render(
            "Throughput",
            "Throughput by workload, bytes per second",
            &throughput,
        ),
        bars::render(
            "Operations per second",
            "Operations per second by workload, IOPS",
            &rate,
        ),
    ]
    .into_iter()
    .flatten()
    .collect()
}
