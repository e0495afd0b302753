//! Latencies drawn from a mixture of log-normal modes, and their charts.

use fathom_model::judged::{HeatMap, LatencySummary, OpCharts, Percentile};
use fathom_model::rng::Rng;
use fathom_model::{Estimate, Histogram, OpKind, Unit};

/// A log-normal mode: share, median and spread (sigma of the logarithm).
#[derive(Clone, Copy)]
pub(crate) struct Mode {
    pub(crate) share: f64,
    pub(crate) median_ns: f64,
    pub(crate) sigma: f64,
}

/// One latency of a mixture; `slow` multiplies it.
pub(crate) fn draw(rng: &mut Rng, modes: &[Mode], slow: f64) -> u64 {
    let mut pick = uniform(rng);
    let mut mode = modes[0];
    for m in modes {
        mode = *m;
        if pick < m.share {
            break;
        }
        pick -= m.share;
    }
    // Box-Muller.
    let normal = (-2.0 * uniform(rng).ln()).sqrt() * (std::f64::consts::TAU * uniform(rng)).cos();
    (mode.median_ns * (normal * mode.sigma).exp() * slow).max(200.0) as u64
}

/// Uniform above 0, at most 1.
pub(crate) fn uniform(rng: &mut Rng) -> f64 {
    ((rng.next_u64() >> 11) as f64 + 1.0) / (1u64 << 53) as f64
}

/// A summary of a histogram as analysis would write it, with `weight`
/// operations behind each recorded value.
pub(crate) fn summary(histogram: &Histogram, weight: u64) -> LatencySummary {
    let count = histogram.count() * weight;
    let n = count as f64 / 8.0;
    let mean = histogram.mean();
    let estimate = |value: Option<f64>, relative: f64, needed: f64| match value {
        Some(v) if n >= needed => Estimate::known(
            Unit::Nanoseconds,
            v,
            v * (1.0 - relative),
            v * (1.0 + relative),
            n,
        ),
        _ => Estimate::unknown(
            Unit::Nanoseconds,
            format!("needs {needed:.0} independent samples, has {n:.0}"),
        )
        .run_longer(((needed / n.max(1.0) - 1.0) * 10e9) as u64),
    };
    let percentiles = [
        (50.0, 0.006, 10.0),
        (90.0, 0.01, 36.0),
        (95.0, 0.012, 72.0),
        (99.0, 0.03, 368.0),
        (99.9, 0.08, 3688.0),
        (99.99, 0.2, 36888.0),
    ]
    .map(|(percent, relative, needed)| Percentile {
        percent,
        latency_ns: estimate(
            histogram.quantile(percent / 100.0).map(|v| v as f64),
            relative,
            needed,
        ),
    });
    LatencySummary {
        count,
        min_ns: histogram.min(),
        max_ns: histogram.max(),
        mean_ns: estimate(mean, 0.012, 10.0),
        percentiles: percentiles.to_vec(),
    }
}

/// Charts from a merged histogram and one histogram per second.
pub(crate) fn charts(kind: OpKind, merged: &Histogram, seconds: &[(u64, Histogram)]) -> OpCharts {
    let per_decade = 24.0;
    let cell = |ns: f64| (ns.max(1.0).log10() * per_decade).floor() as i64;
    let edge = |c: i64| 10f64.powf(c as f64 / per_decade) as u64;
    let low = cell(merged.min().unwrap_or(1) as f64);
    let high = cell(merged.max().unwrap_or(1) as f64);
    let mut counts = vec![0u64; (high - low + 1) as usize];
    for (bucket, n) in merged.buckets() {
        let at = cell(fathom_model::histogram::bucket_middle(bucket) as f64);
        counts[(at.clamp(low, high) - low) as usize] += n;
    }
    let distribution = counts
        .iter()
        .enumerate()
        .filter(|(_, n)| **n > 0)
        .map(|(i, n)| (edge(low + i as i64), edge(low + i as i64 + 1), *n))
        .collect();
    let mut percentile_curve = Vec::new();
    for step in 0..=120 {
        let percent = 100.0 * (1.0 - 10f64.powf(-f64::from(step) / 20.0));
        let behind = merged.count() as f64 * (1.0 - percent / 100.0);
        if behind >= 1.0 {
            let ns = merged.quantile(percent / 100.0).unwrap_or(0);
            percentile_curve.push((percent, ns));
        }
    }
    percentile_curve.push((100.0, merged.max().unwrap_or(0)));
    OpCharts {
        kind,
        distribution,
        percentile_curve,
        heat_map: heat_map(seconds, low / 3, high / 3 + 1),
    }
}

fn heat_map(seconds: &[(u64, Histogram)], low: i64, high: i64) -> HeatMap {
    let rows = (high - low).max(1) as usize;
    let across = seconds.len().div_ceil(180).max(1);
    let mut counts = Vec::new();
    for group in seconds.chunks(across) {
        let mut column = vec![0u64; rows];
        for (bucket, n) in group.iter().flat_map(|(_, h)| h.buckets()) {
            let ns = fathom_model::histogram::bucket_middle(bucket) as f64;
            let row = (ns.max(1.0).log10() * 8.0).floor() as i64 - low;
            column[row.clamp(0, rows as i64 - 1) as usize] += n;
        }
        counts.extend(column);
    }
    HeatMap {
        column_start_ns: seconds.iter().step_by(across).map(|s| s.0).collect(),
        column_ns: across as u64 * 1_000_000_000,
        row_edges_ns: (low..=high)
            .map(|e| 10f64.powf(e as f64 / 8.0) as u64)
            .collect(),
        counts,
    }
}
