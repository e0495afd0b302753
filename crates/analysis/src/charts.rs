//! What is only drawn: distribution, cumulative curve, heat map.

use fathom_model::histogram::{Histogram, bucket_middle, bucket_range};
use fathom_model::judged::{Charts, HeatMap, OpCharts};
use fathom_model::op::OpKind;

use crate::summary::{KindLatencies, Which};
use crate::trial::{Second, Trial};

const CELLS_PER_DECADE: f64 = 20.0;
const MOST_COLUMNS: usize = 240;
const MOST_ROWS: usize = 60;

/// Drawings of every kind of data or commit operation that took place.
pub(crate) fn charts(trial: &Trial<'_>, latencies: &[KindLatencies<'_>]) -> Charts {
    let drawn = |of: &&KindLatencies<'_>| of.kind.is_data() || of.kind == OpKind::Commit;
    let kinds = latencies.iter().filter(drawn);
    Charts {
        ops: kinds.filter_map(|of| op_charts(trial, of)).collect(),
    }
}

fn op_charts(trial: &Trial<'_>, of: &KindLatencies<'_>) -> Option<OpCharts> {
    let kind = of.kind;
    let (which, latencies) = of.relevant();
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
            let mut row = 0;
            for (bucket, count) in histogram.buckets() {
                let middle = bucket_middle(bucket);
                while row + 1 < rows && edges[row + 1] <= middle {
                    row += 1;
                }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_records::RecordBuilder;

    fn drawn(seconds: u32) -> OpCharts {
        let builder = RecordBuilder::reads().with(|b| {
            b.seconds = seconds;
            b.ops_per_second = 200;
        });
        let mut judged = crate::judge(&builder.run());
        judged.trials[0].charts.ops.remove(0)
    }

    #[test]
    fn every_operation_is_drawn_once_in_each_chart() {
        let charts = drawn(30);
        let all = crate::judge(
            &RecordBuilder::reads()
                .with(|b| {
                    b.seconds = 30;
                    b.ops_per_second = 200;
                })
                .run(),
        )
        .trials[0]
            .summary
            .ops[0]
            .ops;
        assert_eq!(charts.distribution.iter().map(|c| c.2).sum::<u64>(), all);
        assert_eq!(charts.heat_map.counts.iter().sum::<u64>(), all);
        assert_eq!(charts.heat_map.column_start_ns.len(), 30);
    }

    #[test]
    fn cells_and_curves_ascend() {
        let charts = drawn(10);
        assert!(
            charts
                .distribution
                .is_sorted_by(|a, b| a.0 <= a.1 && a.1 < b.0)
        );
        let curve = &charts.percentile_curve;
        assert!(
            curve.is_sorted_by(|a, b| a.0 < b.0 && a.1 <= b.1),
            "{curve:?}"
        );
        assert_eq!(curve.last().map(|p| p.0), Some(100.0));
        assert!(charts.heat_map.row_edges_ns.is_sorted_by(|a, b| a < b));
    }

    #[test]
    fn long_runs_merge_seconds_into_columns() {
        let charts = drawn(601);
        let map = &charts.heat_map;
        assert_eq!(map.column_ns, 3_000_000_000);
        assert_eq!(map.column_start_ns.len(), 201);
        let rows = map.row_edges_ns.len() - 1;
        assert!((1..=MOST_ROWS).contains(&rows));
        assert_eq!(map.counts.len(), 201 * rows);
    }

    #[test]
    fn a_single_latency_can_be_drawn() {
        let mut merged = Histogram::new();
        for value in [0, u64::MAX] {
            merged.record(value);
            let edges = row_edges(&merged);
            assert!(
                edges.len() >= 2 && edges.is_sorted_by(|a, b| a < b),
                "{edges:?}"
            );
            assert!(!distribution(&merged).is_empty());
        }
    }
}
