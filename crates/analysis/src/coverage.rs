//! How often 95 % intervals are printed, and how often those that are hold the
//! truth, by simulation from fixed seeds: the first table of
//! `docs/evidence/accuracy.md`.
//!
//! Means: an AR(1) series of one value per second around a known level.
//! Percentiles: operations whose latency is log-normal within a second around a
//! level that is AR(1) over the seconds, so that every percentile is known
//! exactly.

use fathom_model::estimate::{Estimate, Unit};
use fathom_model::histogram::Histogram;

use crate::statistics::noise::{Noise, seeded};
use crate::statistics::percentile::Latencies;
use crate::statistics::ratio::{Ratio, RatioPart};

const LEVEL: f64 = 1000.0;
const VARIATION: f64 = 0.05;
const MEDIAN_NS: f64 = 1e5;
/// Deviation of the logarithm within a second.
const WITHIN: f64 = 0.4;
/// Position in the summary's percentiles and the normal quantile.
const PERCENTILES: [(&str, usize, f64); 3] = [
    ("p50", 0, 0.0),
    ("p90", 1, 1.281_551_566),
    ("p99", 3, 2.326_347_874),
];

/// Intervals of one statistic in one setting.
#[derive(Debug, Clone, PartialEq)]
pub struct CoverageRow {
    /// `mean`, or the percentile.
    pub statistic: &'static str,
    /// Length of the series.
    pub seconds: usize,
    /// Correlation of neighbouring seconds.
    pub phi: f64,
    /// Simulated series.
    pub series: u32,
    /// In how many of them an interval was printed.
    pub printed: u32,
    /// How many of the printed ones held the truth.
    pub held: u32,
}

impl CoverageRow {
    /// Share of the printed intervals that held the truth; `None` when none was
    /// printed.
    pub fn coverage(&self) -> Option<f64> {
        (self.printed > 0).then(|| f64::from(self.held) / f64::from(self.printed))
    }

    fn count(&mut self, estimate: &Estimate, truth: f64) {
        if let (Some(low), Some(high)) = (estimate.low, estimate.high) {
            self.printed += 1;
            self.held += u32::from(low <= truth && truth <= high);
        }
    }
}

/// Simulates `series` series of each length and correlation for the mean, and a
/// tenth as many for the percentiles, which cost more.
pub fn interval_coverage(series: u32) -> Vec<CoverageRow> {
    let mut rows = Vec::new();
    for seconds in [60, 120, 300, 600] {
        for phi in [0.0, 0.3, 0.5, 0.7, 0.8, 0.9] {
            rows.push(of_mean(seconds, phi, series));
        }
    }
    for seconds in [60, 300] {
        for phi in [0.0, 0.5, 0.8] {
            rows.extend(of_percentiles(seconds, phi, (series / 10).max(1)));
        }
    }
    rows
}

fn empty(statistic: &'static str, seconds: usize, phi: f64, series: u32) -> CoverageRow {
    CoverageRow {
        statistic,
        seconds,
        phi,
        series,
        printed: 0,
        held: 0,
    }
}

fn seed(seconds: usize, phi: f64) -> u64 {
    seconds as u64 * 1000 + (phi * 100.0).round() as u64
}

fn of_mean(seconds: usize, phi: f64, series: u32) -> CoverageRow {
    let mut noise = seeded(seed(seconds, phi));
    let mut row = empty("mean", seconds, phi, series);
    for _ in 0..series {
        let part = |v: &f64| RatioPart {
            numerator: LEVEL * (1.0 + VARIATION * v),
            denominator: 1.0,
        };
        let parts: Vec<RatioPart> = noise.ar1(phi, seconds).iter().map(part).collect();
        let measured_ns = seconds as u64 * 1_000_000_000;
        if let Some(ratio) = Ratio::of(&parts) {
            row.count(&ratio.estimate(Unit::OpsPerSecond, measured_ns), LEVEL);
        }
    }
    row
}

fn of_percentiles(seconds: usize, phi: f64, series: u32) -> Vec<CoverageRow> {
    // Correlated levels move the more, as garbage collection does.
    let between = 0.1 + 0.1 * phi;
    let deviation = (between * between + WITHIN * WITHIN).sqrt();
    let mut noise = seeded(seed(seconds, phi) + 7);
    let mut rows: Vec<CoverageRow> = PERCENTILES
        .iter()
        .map(|(name, ..)| empty(name, seconds, phi, series))
        .collect();
    for _ in 0..series {
        let histograms = latencies(&mut noise, seconds, phi, between);
        let parts = histograms.iter().map(|h| vec![h]).collect();
        let measured_ns = seconds as u64 * 1_000_000_000;
        let summary = Latencies::new(vec![parts], measured_ns).summary();
        for (row, (_, position, z)) in rows.iter_mut().zip(PERCENTILES) {
            let truth = MEDIAN_NS * (deviation * z).exp();
            if let Some(percentile) = summary.percentiles.get(position) {
                row.count(&percentile.latency_ns, truth);
            }
        }
    }
    rows
}

fn latencies(noise: &mut Noise, seconds: usize, phi: f64, between: f64) -> Vec<Histogram> {
    let levels = noise.ar1(phi, seconds);
    let second = |level: &f64| {
        let mut histogram = Histogram::new();
        for _ in 0..60 {
            let log = between * level + WITHIN * noise.normal();
            histogram.record((MEDIAN_NS * log.exp()) as u64);
        }
        histogram
    };
    levels.iter().map(second).collect()
}

#[cfg(test)]
mod tests {
    use super::interval_coverage;

    #[test]
    fn the_table_is_whole_and_keeps_the_promise() {
        let rows = interval_coverage(60);
        assert_eq!(rows.len(), 24 + 18);
        for row in &rows {
            assert!(row.held <= row.printed && row.printed <= row.series);
        }
        let sum = |of: fn(&super::CoverageRow) -> u32| f64::from(rows.iter().map(of).sum::<u32>());
        assert!(sum(|r| r.held) >= 0.92 * sum(|r| r.printed));
        let independent = rows
            .iter()
            .filter(|r| r.statistic == "mean" && r.phi == 0.0);
        assert!(independent.into_iter().all(|r| r.printed == r.series));
    }
}
