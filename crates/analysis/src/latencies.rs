//! What a series of latencies says, by the rules of a trial's: for callers
//! that have latencies and no trial.

use fathom_model::histogram::Histogram;
use fathom_model::judged::LatencySummary;

use crate::statistics::percentile::Latencies;

/// Mean and percentiles of latencies that were recorded in spans of equal
/// length, one histogram each, in order; `measured_ns` is how long the spans
/// are together. A percentile that the data cannot support has a reason in
/// place of its value: slow operations cluster, and what clusters is worth less.
pub fn summarize_latencies(spans: &[Histogram], measured_ns: u64) -> LatencySummary {
    let spans = spans.iter().map(|histogram| vec![histogram]).collect();
    Latencies::new(vec![spans], measured_ns).summary()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentile_needs_its_operations() {
        let span = |values: std::ops::Range<u64>| {
            let mut histogram = Histogram::new();
            values.for_each(|value| histogram.record(100_000 + value * 100));
            histogram
        };
        let few = summarize_latencies(&[span(0..20), span(0..20)], 2_000_000_000);
        assert_eq!(few.count, 40);
        let value = |summary: &LatencySummary, percent: f64| {
            let found = summary.percentiles.iter().find(|p| p.percent == percent);
            found.and_then(|p| p.latency_ns.value)
        };
        assert!(value(&few, 50.0).is_some());
        assert_eq!(value(&few, 99.0), None);
        let spans: Vec<Histogram> = (0..30).map(|_| span(0..200)).collect();
        let many = summarize_latencies(&spans, 30_000_000_000);
        assert!(value(&many, 99.9).is_some());
        assert_eq!(value(&many, 99.99), None);
    }
}
