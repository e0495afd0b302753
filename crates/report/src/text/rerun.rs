//! What to type for the figures and intervals that are missing: a longer run, or more files
//! where all of them were worked on before the time was over.

use fathom_model::figure::{Figure, Throughput};
use fathom_model::judged::ResultRow;
use fathom_model::{JudgedRun, JudgedTrial};

use super::rows::entries;
use crate::facts::more_files;

/// Flags of one more run that gives every missing figure of the rows.
pub(crate) fn advice(
    run: &JudgedRun,
    rows: &[&ResultRow],
    throughput: Throughput,
) -> Option<String> {
    let mut runtime_ns: Option<u64> = None;
    let mut files: Option<u64> = None;
    for row in rows {
        let Some(longer_ns) = longer_of(run, row, throughput) else {
            continue;
        };
        let trials: Vec<&JudgedTrial> = row
            .trials
            .iter()
            .filter_map(|at| run.trials.get(*at))
            .collect();
        match trials.iter().find_map(|trial| more_files(trial, longer_ns)) {
            Some(more) => files = files.max(Some(more)),
            None => runtime_ns = runtime_ns.max(runtime_of(&trials, longer_ns)),
        }
    }
    let files = files.map(|files| format!("--files {files}"));
    let runtime = runtime_ns.map(|ns| format!("--runtime {}s", rounded_up(ns)));
    let flags: Vec<String> = files.into_iter().chain(runtime).collect();
    (!flags.is_empty()).then(|| flags.join(" "))
}

/// How much longer the row would have to be measured.
fn longer_of(run: &JudgedRun, row: &ResultRow, throughput: Throughput) -> Option<u64> {
    let entries = entries(run, row, throughput);
    // Connections are made once: no length of a run gives them percentiles.
    let whole = entries
        .iter()
        .filter(|entry| !entry.op.kind.is_part_of_request());
    let figures = whole.flat_map(|entry| {
        let rates = entry.figures.iter().flatten();
        rates.chain(&entry.latency)
    });
    figures.filter_map(Figure::longer_ns).max()
}

fn runtime_of(trials: &[&JudgedTrial], longer_ns: u64) -> Option<u64> {
    let planned = trials.iter().map(|trial| {
        let bound = trial.workload.bounds.time_ns;
        bound.unwrap_or(trial.summary.duration_ns)
    });
    // Over several iterations the time adds up.
    let iterations = trials.len().max(1) as u64;
    Some(planned.max()?.saturating_add(longer_ns / iterations))
}

/// Seconds that somebody would type.
fn rounded_up(nanoseconds: u64) -> u64 {
    let seconds = nanoseconds.div_ceil(1_000_000_000);
    let step = match seconds {
        0..=120 => 10,
        121..=600 => 30,
        _ => 300,
    };
    seconds.div_ceil(step).saturating_mul(step)
}
