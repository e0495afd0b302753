//! The rates of a curve's trials, point by point, and their noise.
//!
//! Logarithms, because drives differ by factors. The noise is that between
//! the passes over the points, or that between neighbouring points where it is
//! larger: passes may agree by chance, and a drift may lie between them.

use fathom_model::JudgedRun;
use fathom_model::curve::CurvePoint;
use fathom_model::verdict::Validity;
use fathom_rules::method::curve::LEAST_DEVIATION;
use fathom_stats::mad::MAD_OF_NORMAL;
use fathom_stats::moments::{self, Moments};
use fathom_stats::quantile::nearest_rank;

/// The trials of one point.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Rates {
    /// Bytes that the point could access.
    pub(super) at: u64,
    /// Natural logarithm of each trial's bytes per second.
    pub(super) logs: Vec<f64>,
}

impl Rates {
    pub(super) fn mean(&self) -> f64 {
        moments::mean(&self.logs).unwrap_or(0.0)
    }
}

/// Noise of a point's mean, as a relative standard deviation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct NoiseOfMeans {
    pub(super) deviation: f64,
    /// Degrees of freedom of that deviation.
    pub(super) degrees: f64,
}

/// The rates of points that are not untrusted, in their order.
pub(super) fn of(run: &JudgedRun, points: &[CurvePoint]) -> Vec<Rates> {
    let usable = points.iter().filter(|p| p.validity != Validity::NotTrusted);
    usable
        .filter_map(|point| {
            let row = run.rows.iter().find(|row| row.row == point.row)?;
            let logs: Vec<f64> = row
                .trials
                .iter()
                .filter_map(|i| run.trials.get(*i))
                .map(|trial| {
                    let data = trial.summary.ops.iter().filter(|op| op.kind.is_data());
                    data.filter_map(|op| op.bytes_per_second.value).sum::<f64>()
                })
                .filter(|rate| rate.is_finite() && *rate > 0.0)
                .map(f64::ln)
                .collect();
            let at = point.active_bytes;
            (!logs.is_empty()).then_some(Rates { at, logs })
        })
        .collect()
}

/// The noise of the points' means, as the passes show it.
pub(super) fn noise_of_passes(series: &[Rates]) -> NoiseOfMeans {
    let (mut squares, mut degrees, mut count) = (0.0, 0usize, 0usize);
    for point in series {
        squares += Moments::of(&point.logs).map_or(0.0, |moments| moments.squares);
        degrees += point.logs.len() - 1;
        count += point.logs.len();
    }
    let per_point = count as f64 / series.len().max(1) as f64;
    let deviation = match degrees {
        0 => 0.0,
        n => (squares / n as f64 / per_point.max(1.0)).sqrt(),
    };
    NoiseOfMeans {
        deviation: deviation.max(LEAST_DEVIATION),
        degrees: degrees as f64,
    }
}

/// The same, or that between neighbouring points where it is larger. For
/// curves that are flat but for steps.
pub(super) fn noise(series: &[Rates]) -> NoiseOfMeans {
    let passes = noise_of_passes(series);
    let neighbours = neighbour_deviation(series);
    match passes.degrees >= 2.0 && passes.deviation >= neighbours {
        true => passes,
        // A median of differences is worth about half of them.
        false => NoiseOfMeans {
            deviation: neighbours.max(LEAST_DEVIATION),
            degrees: (series.len() as f64 / 2.0).max(2.0),
        },
    }
}

/// Deviation of a point's mean from the median of its neighbours' differences,
/// which a few steps do not move.
fn neighbour_deviation(series: &[Rates]) -> f64 {
    let differences: Vec<f64> = series
        .windows(2)
        .map(|w| (w[1].mean() - w[0].mean()).abs())
        .collect();
    // Of two differences the smaller one: the larger may be a step.
    let middle = nearest_rank(&differences, 0.5).unwrap_or(0.0);
    // The difference of two normal values deviates by σ √2.
    middle / MAD_OF_NORMAL / std::f64::consts::SQRT_2
}
