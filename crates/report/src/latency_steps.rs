//! The histogram at the end: latencies in steps that read well.

use fathom_model::Histogram;
use fathom_model::histogram::bucket_middle;

/// Steps of one decade, from fine to coarse.
const STEPS: [&[f64]; 4] = [
    &[1.0, 1.25, 1.6, 2.0, 2.5, 3.2, 4.0, 5.0, 6.3, 8.0],
    &[1.0, 1.6, 2.5, 4.0, 6.3],
    &[1.0, 2.0, 5.0],
    &[1.0],
];
/// Rows of a histogram that still fits on a screen.
const ROWS_MAX: usize = 20;

/// Latencies from `from_ns` up to and without `to_ns`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LatencyStep {
    /// From this latency.
    pub from_ns: f64,
    /// Up to and without this one.
    pub to_ns: f64,
    /// Requests in it.
    pub count: u64,
}

/// The rows from the fastest to the slowest request, with the finest steps
/// that fit; empty rows between them are kept, so that a gap shows.
pub fn steps_of(latencies: &Histogram) -> Vec<LatencyStep> {
    let (Some(min), Some(max)) = (latencies.min(), latencies.max()) else {
        return Vec::new();
    };
    let mut rows = Vec::new();
    for steps in STEPS {
        rows = edges(steps, min as f64, max as f64);
        if rows.len() <= ROWS_MAX {
            break;
        }
    }
    for (bucket, count) in latencies.buckets() {
        let middle = (bucket_middle(bucket).clamp(min, max)) as f64;
        let row = rows.iter().rposition(|row| row.from_ns <= middle);
        if let Some(row) = row {
            rows[row].count += count;
        }
    }
    rows
}

fn edges(steps: &[f64], min_ns: f64, max_ns: f64) -> Vec<LatencyStep> {
    let mut all: Vec<f64> = Vec::new();
    for decade in 0..20 {
        all.extend(steps.iter().map(|step| step * 10f64.powi(decade)));
    }
    let rows = all.windows(2).map(|pair| LatencyStep {
        from_ns: pair[0],
        to_ns: pair[1],
        count: 0,
    });
    rows.filter(|bin| bin.to_ns > min_ns && bin.from_ns <= max_ns)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: &[u64]) -> Vec<LatencyStep> {
        let mut histogram = Histogram::new();
        values.iter().for_each(|value| histogram.record(*value));
        steps_of(&histogram)
    }

    #[test]
    fn every_latency_is_in_a_row_and_gaps_show() {
        let rows = of(&[100_000, 101_000, 180_000, 990_000]);
        assert_eq!(rows.iter().map(|row| row.count).sum::<u64>(), 4);
        assert_eq!(rows[0].count, 2);
        assert_eq!(rows.last().unwrap().count, 1);
        assert!(rows.iter().any(|row| row.count == 0));
        assert!(of(&[]).is_empty());
        assert_eq!(of(&[1]).len(), 1);
    }

    #[test]
    fn it_fits_on_a_screen() {
        let spread: Vec<u64> = (0..12).map(|n| 10u64.pow(n)).collect();
        let rows = of(&spread);
        assert!(rows.len() <= ROWS_MAX, "{}", rows.len());
        assert_eq!(rows.iter().map(|row| row.count).sum::<u64>(), 12);
    }
}
