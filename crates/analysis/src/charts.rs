//! What is only drawn: distribution, cumulative curve, heat map.

use fathom_model::histogram::{Histogram, bucket_middle, bucket_range};
use fathom_model::judged::{Charts, HeatMap, OpCharts};
use fathom_model::op::OpKind;

use crate::summary::{Which, latencies};
use crate::trial::{Second, Trial};

const CELLS_PER_DECADE: f64 = 20.0;
const MOST_COLUMNS: usize = 240;
const MOST_ROWS: usize = 60;

/// Drawings of every kind of data or commit operation that took place.
pub(crate) fn charts(trial: &Trial<'_>) -> Charts {
    let kinds = OpKind::ALL
        .into_iter()
        .filter(|kind| kind.is_data() || *kind == OpKind::Commit);
    Charts {
        ops: kinds.filter_map(|kind| op_charts(trial, kind)).collect(),
    }
}

fn op_charts(trial: &Trial<'_>, kind: OpKind) -> Option<OpCharts> {
    let which = match trial.open_loop() {
        true => Which::Response,
        false => Which::Service,
    };
    let latencies = latencies(&[trial], kind, which);
    let merged = latencies.merged();
    if merged.is_empty() {
        return None;
    }
    Some(OpCharts {
        kind,
        distribution: distribution(merged),
        percentile_curve: percentile_curve(merged),
        heat_map: heat_map(trial, kind, which, merged),
    })
}

/// Number of the log cell that holds a latency.
fn cell_of(nanoseconds: u64) -> usize {
    ((nanoseconds.max(1) as f64).log10() * CELLS_PER_DECADE) as usize
}

/// Lower edge of a log cell in whole nanoseconds.
fn cell_edge(cell: usize) -> u64 {
    10f64.powf(cell as f64 / CELLS_PER_DECADE).ceil() as u64
}

fn distribution(merged: &Histogram) -> Vec<(u64, u64, u64)> {
    let mut cells: Vec<(usize, u64)> = Vec::new();
    for (bucket, count) in merged.buckets() {
        let cell = cell_of(bucket_middle(bucket));
        match cells.last_mut() {
            Some((last, total)) if *last == cell => *total = total.saturating_add(count),
            _ => cells.push((cell, count)),
        }
    }
    cells
        .into_iter()
        .map(|(cell, count)| {
            let low = cell_edge(cell);
            (low, (cell_edge(cell + 1).saturating_sub(1)).max(low), count)
        })
        .collect()
}

/// Shares that are dense where tails are, up to the largest value.
fn percentile_curve(merged: &Histogram) -> Vec<(f64, u64)> {
    let count = merged.count() as f64;
    let coarse = (0..=18).map(|step| f64::from(step) * 5.0);
    // 90, 91, …, 99, 99.1, …, 99.9, … as far as there are values.
    let tails = (1..=7).flat_map(|decade: i32| {
        (0..9).map(move |step| 100.0 - 10f64.powi(2 - decade) * (10.0 - f64::from(step)) / 10.0)
    });
    let mut curve: Vec<(f64, u64)> = coarse
        .chain(tails)
        .filter(|percent| (1.0 - percent / 100.0) * count >= 1.0)
        .filter_map(|percent| Some((percent, merged.quantile(percent / 100.0)?)))
        .collect();
    curve.dedup_by(|a, b| a.0 <= b.0 + 1e-9);
    curve.extend(merged.max().map(|max| (100.0, max)));
    curve
}

fn heat_map(trial: &Trial<'_>, kind: OpKind, which: Which, merged: &Histogram) -> HeatMap {
    let seconds: Vec<&Second<'_>> = trial.measured().collect();
    let per_column = seconds.len().div_ceil(MOST_COLUMNS).max(1);
    let columns: Vec<&[&Second<'_>]> = seconds.chunks(per_column).collect();
    let edges = row_edges(merged);
    let rows = edges.len() - 1;
    let mut counts = vec![0u64; columns.len() * rows];
    for (column, seconds) in columns.iter().enumerate() {
        for histogram in seconds
            .iter()
            .flat_map(|s| s.ops(kind))
            .filter_map(|op| which.of(op))
        {
            for (bucket, count) in histogram.buckets() {
                let middle = bucket_middle(bucket);
                let row = edges.partition_point(|edge| *edge <= middle);
                let row = row.saturating_sub(1).min(rows - 1);
                let cell = &mut counts[column * rows + row];
                *cell = cell.saturating_add(count);
            }
        }
    }
    let length = |seconds: &&[&Second<'_>]| {
        seconds
            .iter()
            .map(|s| s.duration_ns)
            .fold(0, u64::saturating_add)
    };
    HeatMap {
        column_start_ns: columns
            .iter()
            .filter_map(|c| c.first().map(|s| s.start_ns))
            .collect(),
        column_ns: columns.iter().map(length).max().unwrap_or(0),
        row_edges_ns: edges,
        counts,
    }
}

/// At most 61 edges, evenly spaced on a log axis over all that was recorded.
fn row_edges(merged: &Histogram) -> Vec<u64> {
    let low = merged
        .buckets()
        .next()
        .map_or(1, |(b, _)| bucket_range(b).0.max(1));
    let high = merged
        .buckets()
        .last()
        .map_or(2, |(b, _)| bucket_range(b).1 + 1);
    let decades = (high as f64 / low as f64).log10().max(0.05);
    let rows = ((decades * CELLS_PER_DECADE).ceil() as usize).clamp(1, MOST_ROWS);
    let mut edges: Vec<u64> = (0..=rows)
        .map(|row| (low as f64 * 10f64.powf(decades * row as f64 / rows as f64)).round() as u64)
        .collect();
    edges.dedup();
    if edges.len() < 2 {
        edges.push(low + 1);
    }
    edges
}
