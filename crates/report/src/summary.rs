//! Picking figures out of a result.

use fathom_model::figure::{Figure, Throughput};
use fathom_model::judged::{LatencySummary, OpSummary};
use fathom_model::{Estimate, Unit};

/// The estimate of one percentile; when it was not computed, its absence.
pub(crate) fn percentile_estimate(latency: &LatencySummary, percent: f64) -> Estimate {
    latency
        .percentiles
        .iter()
        .find(|p| (p.percent - percent).abs() < 1e-9)
        .map_or_else(
            || Estimate::unknown(Unit::Nanoseconds, "not computed"),
            |p| p.latency_ns.clone(),
        )
}

/// One percentile, ready to be printed.
pub(crate) fn percentile(latency: &LatencySummary, percent: f64) -> Figure {
    Figure::of(&percentile_estimate(latency, percent), Throughput::Binary)
}

/// `p50`, `p99.9`.
pub(crate) fn percentile_name(percent: f64) -> String {
    format!("p{percent}")
}

/// The latency distributions of a result: in an open loop response first, then
/// service; in a closed loop service alone.
pub(crate) fn latencies(op: &OpSummary) -> Vec<(&'static str, &LatencySummary)> {
    match &op.response {
        Some(response) => vec![("response", response), ("service", &op.service)],
        None => vec![("service", &op.service)],
    }
}

/// The latency that a reader should look at first.
pub(crate) fn first_latency(op: &OpSummary) -> &LatencySummary {
    op.response.as_ref().unwrap_or(&op.service)
}
