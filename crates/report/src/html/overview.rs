//! All rows of a run side by side: throughput and rate, each on its own axis.

use fathom_model::judged::{OpSummary, ResultRow};
use fathom_model::{JudgedRun, OpKind};

use crate::chart::bars::{self, Bar};
use crate::chart::figure::ChartFigure;
use crate::chart::{kind_class, overlay};
use crate::{facts, levels};

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
    let ops = rows.iter().flat_map(|row| of_row(run, row));
    let ops: Vec<(&ResultRow, String, &OpSummary)> = ops.collect();
    let several = |row: &ResultRow, when: &str| {
        let alike = ops
            .iter()
            .filter(|(other, other_when, _)| other.row == row.row && other_when == when);
        alike.count() > 1
    };
    let bar = |row: &ResultRow, when: &str, op: &OpSummary| {
        let name = facts::first_trial(run, row);
        let name = name.map_or(row.label.clone(), |trial| facts::trial_name(run, trial));
        let name = match several(row, when) {
            true => format!("{name} {}", op.kind.name()),
            false => name,
        };
        levels::named(&name, when)
    };
    let class = |op: &OpSummary| kind_class::of(op.kind).to_owned();
    let throughput = ops.iter().filter(|(_, _, op)| op.kind.moves_bytes());
    let throughput: Vec<Bar> = throughput
        .map(|(row, when, op)| Bar::of(bar(row, when, op), &op.bytes_per_second, class(op)))
        .collect();
    let rate = ops
        .iter()
        .map(|(row, when, op)| Bar::of(bar(row, when, op), &op.ops_per_second, class(op)));
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

/// What is shown of a row, level by level where no one rate describes it.
fn of_row<'a>(
    run: &'a JudgedRun,
    row: &'a ResultRow,
) -> impl Iterator<Item = (&'a ResultRow, String, &'a OpSummary)> {
    let commits = row.ops.iter().any(|op| op.kind == OpKind::Commit);
    let fits = move |op: &&OpSummary| match commits {
        true => op.kind == OpKind::Commit,
        false => op.kind.is_data(),
    };
    let levels = levels::of_row(run, row).into_iter();
    levels.flat_map(move |level| {
        let ops = level.ops.iter().filter(fits);
        ops.map(move |op| (row, level.when.clone(), op))
    })
}
