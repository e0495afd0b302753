//! Results as rows of cells.

use fathom_model::judged::{OpSummary, ResultRow};
use fathom_model::schedule::TrialRole;
use fathom_model::{JudgedRun, JudgedTrial, unit};

use super::cell::{Badge, NumberCell, exact};
use crate::{facts, levels, names, sets, summary};

/// One line of the results table.
#[derive(Debug, Clone)]
pub(super) struct ResultLine {
    pub(super) label: String,
    pub(super) target: String,
    pub(super) trials: usize,
    pub(super) op: String,
    /// IOPS, MiB/s, mean, p50, p90, p99, p99.9, max.
    pub(super) cells: Vec<NumberCell>,
    pub(super) badge: Badge,
    pub(super) limiter: &'static str,
}

/// The rows of the results: without a control, which says nothing about the storage.
pub(super) fn results(run: &JudgedRun) -> Vec<&ResultRow> {
    let rows = facts::plain_rows(run);
    let is_control = |row: &&ResultRow| row.role == TrialRole::Control;
    match rows.iter().all(is_control) {
        true => rows,
        false => rows.into_iter().filter(|row| !is_control(row)).collect(),
    }
}

/// What the control is and what it gave; nothing where it is among the results or where
/// a comparison says it.
pub(super) fn control_line(run: &JudgedRun) -> Option<String> {
    let is_control = |row: &&ResultRow| row.role == TrialRole::Control;
    let control = run.rows.iter().find(is_control)?;
    let comparison = run.comparison.as_ref();
    let is_said = comparison.is_some_and(|comparison| comparison.control.is_some());
    let is_beside = !is_said && !run.rows.iter().all(|row| is_control(&row));
    let rate = control.ops.first().map(|op| &op.ops_per_second);
    let rate = rate.and_then(|rate| rate.value).filter(|_| is_beside)?;
    Some(format!(
        "Control: {} ran before each trial and reached {} IOPS. It shows changes of the host, \
         not of the storage.",
        control.target,
        unit::count(rate)
    ))
}

/// The results table of rows.
pub(super) fn lines<'a>(
    run: &'a JudgedRun,
    rows: impl IntoIterator<Item = &'a ResultRow>,
) -> Vec<ResultLine> {
    let mut out = Vec::new();
    for row in rows {
        let company = sets::company(run, row);
        let company = company.map_or(String::new(), |text| format!(", {text}"));
        let line = |op: String, cells| ResultLine {
            label: format!("{}{company}", row.label),
            target: row.target.to_string(),
            trials: row.trials.len(),
            op,
            cells,
            badge: Badge::of(row.verdict.validity),
            limiter: names::limiter(row.verdict.limiter),
        };
        let before = out.len();
        for level in levels::of_row(run, row) {
            for (name, cells) in done(level.ops).flat_map(op_cells) {
                out.push(line(levels::named(&name, &level.when), cells));
            }
        }
        if out.len() == before {
            let nothing = vec![NumberCell::default(); 8];
            out.push(line("none succeeded".to_owned(), nothing));
        }
    }
    out
}

/// Operations that took place: a flush that never came due has no result.
fn done(ops: &[OpSummary]) -> impl Iterator<Item = &OpSummary> {
    ops.iter().filter(|op| op.ops > 0)
}

/// Results of a trial, level by level where it has several.
pub(super) fn trial_cells(trial: &JudgedTrial) -> Vec<(String, Vec<NumberCell>)> {
    let mut out = Vec::new();
    for level in levels::of_trial(trial) {
        let cells = done(level.ops).flat_map(op_cells);
        out.extend(cells.map(|(name, cells)| (levels::named(&name, &level.when), cells)));
    }
    out
}

/// Name and cells of each latency of a result.
pub(super) fn op_cells(op: &OpSummary) -> Vec<(String, Vec<NumberCell>)> {
    let mut out = Vec::new();
    for (i, (which, latency)) in summary::latencies(op).into_iter().enumerate() {
        let name = match op.response {
            Some(_) => format!("{} {which}", op.kind.name()),
            None => op.kind.name().to_owned(),
        };
        let mut cells = match i {
            0 => vec![
                NumberCell::estimate(&op.ops_per_second, false),
                if op.kind.moves_bytes() {
                    NumberCell::estimate(&op.bytes_per_second, false)
                } else {
                    NumberCell::text("–")
                },
            ],
            _ => vec![NumberCell::default(), NumberCell::default()],
        };
        cells.push(NumberCell::estimate(&latency.mean_ns, true));
        for percent in [50.0, 90.0, 99.0, 99.9] {
            let estimate = latency.percentile(percent);
            cells.push(NumberCell::estimate(&estimate, true));
        }
        cells.push(exact(latency.max_ns));
        out.push((name, cells));
    }
    out
}

/// The sum of rows that ran at the same time.
#[derive(Debug, Clone)]
pub(super) struct SumTable {
    /// What it is over, or why there is no sum.
    pub(super) heading: String,
    /// Name and cells: IOPS, MiB/s, mean, p50, p90, p99, p99.9, max.
    pub(super) lines: Vec<(String, Vec<NumberCell>)>,
}

/// The sums of a run.
pub(super) fn sums(run: &JudgedRun) -> Vec<SumTable> {
    let table = |set: &fathom_model::together::ResultSet| SumTable {
        heading: sets::heading(set),
        lines: set
            .sum
            .iter()
            .flat_map(sets::lines)
            .map(|line| (line.name.clone(), sum_cells(&line)))
            .collect(),
    };
    run.sets.iter().map(table).collect()
}

fn sum_cells(line: &sets::SumLine<'_>) -> Vec<NumberCell> {
    let mut cells = match line.rates {
        Some([ops, bytes]) => vec![
            NumberCell::estimate(ops, false),
            match line.moves_data {
                true => NumberCell::estimate(bytes, false),
                false => NumberCell::text("–"),
            },
        ],
        None => vec![NumberCell::default(), NumberCell::default()],
    };
    cells.push(NumberCell::estimate(&line.latency.mean_ns, true));
    for percent in [50.0, 90.0, 99.0, 99.9] {
        let estimate = line.latency.percentile(percent);
        cells.push(NumberCell::estimate(&estimate, true));
    }
    cells.push(exact(line.latency.max_ns));
    cells
}
