//! Picking figures out of a result.

use fathom_model::figure::{Figure, Throughput};
use fathom_model::judged::{LatencySummary, OpSummary};

/// One percentile, ready to be printed.
pub(crate) fn percentile(latency: &LatencySummary, percent: f64) -> Figure {
    Figure::of(&latency.percentile(percent), Throughput::Binary)
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
