//! How often 95 % intervals are printed, and how often those that are hold the
//! truth, by simulation from fixed seeds: the first table of
//! `docs/evidence/accuracy.md`.
//!
//! Means: series of one value per second around a known level, AR(1) and others.
//! Percentiles: operations whose latency is log-normal within a second around a
//! level that is AR(1) over the seconds, so that every percentile is known
//! exactly.

use fathom_model::estimate::{Estimate, Unit};
use fathom_model::histogram::Histogram;
use fathom_stats::moments::Moments;

use crate::series::{OTHER_SERIES, Series};
use crate::statistics::noise::{Noise, seeded};
use crate::statistics::percentile::Latencies;
use crate::statistics::ratio::{Ratio, RatioPart};

const LEVEL: f64 = 1000.0;
const VARIATION: f64 = 0.05;
/// What a normal value exceeds in one of forty cases.
const NORMAL_975: f64 = 1.959_963_985;
/// Series of means for each requested one: 4,000 tell 94 % from 95 %, 1,000 do not.
const MEANS_EACH: u32 = 4;
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
    /// How the seconds hang together, such as `φ 0.5`.
    pub kind: String,
    /// Simulated series.
    pub series: u32,
    /// In how many of them an interval was printed.
    pub printed: u32,
    /// How many of the printed ones held the truth.
    pub held: u32,
    /// Sum of half their widths, in the unit of the statistic.
    half_widths: f64,
    /// Half the width of somebody who knows how the means of such series scatter.
    oracle: Option<f64>,
}

impl CoverageRow {
    /// Share of the printed intervals that held the truth; `None` when none was
    /// printed.
    pub fn coverage(&self) -> Option<f64> {
        (self.printed > 0).then(|| f64::from(self.held) / f64::from(self.printed))
    }

    /// Mean width of the printed intervals over that of somebody who knows how the
    /// means of such series scatter; `None` of percentiles and when none was printed.
    pub fn width(&self) -> Option<f64> {
        let oracle = self.oracle.filter(|_| self.printed > 0)?;
        Some(self.half_widths / f64::from(self.printed) / oracle)
    }

    fn count(&mut self, estimate: &Estimate, truth: f64) {
        if let (Some(low), Some(high)) = (estimate.low, estimate.high) {
            self.printed += 1;
            self.half_widths += (high - low) / 2.0;
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
            rows.push(of_mean(
                seconds,
                Series::Correlated(phi),
                MEANS_EACH * series,
            ));
        }
    }
    for kind in OTHER_SERIES {
        for seconds in [60, 120, 600] {
            rows.push(of_mean(seconds, kind, MEANS_EACH * series));
        }
    }
    for seconds in [60, 300] {
        for phi in [0.0, 0.5, 0.8] {
            rows.extend(of_percentiles(seconds, phi, (series / 10).max(1)));
        }
    }
    rows
}

fn empty(statistic: &'static str, seconds: usize, kind: Series, series: u32) -> CoverageRow {
    CoverageRow {
        statistic,
        seconds,
        kind: kind.to_string(),
        series,
        printed: 0,
        held: 0,
        half_widths: 0.0,
        oracle: None,
    }
}

fn seed(seconds: usize, phi: f64) -> u64 {
    seconds as u64 * 1000 + (phi * 100.0).round() as u64
}

fn of_mean(seconds: usize, kind: Series, series: u32) -> CoverageRow {
    let mut noise = seeded(match kind {
        Series::Correlated(phi) => seed(seconds, phi),
        _ => seconds as u64,
    });
    let mut row = empty("mean", seconds, kind, series);
    let mut means = Vec::new();
    for _ in 0..series {
        let part = |v: &f64| RatioPart {
            numerator: LEVEL * (1.0 + VARIATION * v),
            denominator: 1.0,
        };
        let values = kind.values(&mut noise, seconds);
        let parts: Vec<RatioPart> = values.iter().map(part).collect();
        let measured_ns = seconds as u64 * 1_000_000_000;
        if let Some(ratio) = Ratio::of(&parts) {
            let estimate = ratio.estimate(Unit::OpsPerSecond, measured_ns);
            means.extend(estimate.value);
            row.count(&estimate, LEVEL);
        }
    }
    let scatter = Moments::of(&means).and_then(|moments| moments.deviation());
    row.oracle = scatter.map(|deviation| NORMAL_975 * deviation);
    row
}

fn of_percentiles(seconds: usize, phi: f64, series: u32) -> Vec<CoverageRow> {
    // Correlated levels move the more, as garbage collection does.
    let between = 0.1 + 0.1 * phi;
    let deviation = (between * between + WITHIN * WITHIN).sqrt();
    let mut noise = seeded(seed(seconds, phi) + 7);
    let mut rows: Vec<CoverageRow> = PERCENTILES
        .iter()
        .map(|(name, ..)| empty(name, seconds, Series::Correlated(phi), series))
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
    use super::{CoverageRow, interval_coverage};

    #[test]
    fn the_table_is_whole_and_keeps_the_promise() {
        let rows = interval_coverage(60);
        assert_eq!(rows.len(), 24 + 18 + 18);
        for row in &rows {
            assert!(row.held <= row.printed && row.printed <= row.series);
        }
        let sum = |of: fn(&CoverageRow) -> u32| f64::from(rows.iter().map(of).sum::<u32>());
        assert!(sum(|r| r.held) >= 0.92 * sum(|r| r.printed));
        let independent = rows
            .iter()
            .filter(|r| r.statistic == "mean" && r.kind == "φ 0.0");
        assert!(independent.clone().all(|r| r.printed == r.series));
        // Hardly narrower than that of somebody who knows, and not twice as wide.
        let widths: Vec<f64> = independent.filter_map(CoverageRow::width).collect();
        assert_eq!(widths.len(), 4);
        assert!(widths.iter().all(|w| (0.8..2.0).contains(w)), "{widths:?}");
    }
}
