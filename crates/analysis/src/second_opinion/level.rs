//! V72: two levels in one mean.
//!
//! The split of a log that leaves the least spread on its two sides (least
//! squares, one change point). It counts when each side has five intervals or
//! more and the two means differ by more than five standard errors, each taken
//! at the upper end of its plausible autocorrelation, so that slow noise is no
//! cliff.

use fathom_model::foreign::{ForeignDirection, ForeignSeries, SeriesKind};
use fathom_model::unit;

use super::Entry;
use super::precision::rate_series;
use super::said::Counted;
use crate::outcome::Outcome;
use crate::statistics::series::mean_error;

const LEAST_INTERVALS: usize = 20;
const LEAST_SIDE: usize = 5;
const STANDARD_ERRORS: f64 = 5.0;
/// Longer logs are thinned out before they are split.
const MOST_INTERVALS: usize = 20_000;

/// Two levels of a series.
struct Levels {
    before: f64,
    after: f64,
    /// Length of the first.
    seconds: f64,
}

/// V72: a log whose level changed.
pub(super) fn level_change(entry: &Entry<'_>) -> Option<Outcome> {
    const ID: &str = "V72";
    let logged: Vec<(&ForeignDirection, &ForeignSeries)> = entry
        .job
        .directions
        .iter()
        .filter_map(|d| Some((d, rate_series(entry, d)?)))
        .collect();
    if logged.is_empty() {
        let reason = "without a log a cliff hides in the mean";
        return Some(Outcome::not_measured(ID, reason));
    }
    let change = |levels: &Levels| {
        let larger = levels.before.max(levels.after);
        (levels.before - levels.after).abs() / larger
    };
    let worst = logged
        .iter()
        .filter_map(|(d, series)| Some((d, series, split(series)?)))
        .max_by(|a, b| change(&a.2).total_cmp(&change(&b.2)));
    let Some((direction, series, levels)) = worst else {
        let evidence = "no change of level shows in the log".to_owned();
        return Some(Outcome::graded(ID, 0.0, evidence));
    };
    let show = |value: f64| match series.kind {
        SeriesKind::Bandwidth => unit::throughput_decimal(value),
        _ => format!("{} IOPS", unit::count(value)),
    };
    let evidence = format!(
        "{}: {} for the first {}{}, then {}",
        direction.name(),
        show(levels.before),
        unit::span((levels.seconds * 1e9) as u64),
        moved(direction, series, &levels),
        show(levels.after)
    );
    Some(Outcome::graded(ID, change(&levels), evidence))
}

/// Bytes of the first level, where they are known.
fn moved(d: &ForeignDirection, series: &ForeignSeries, levels: &Levels) -> String {
    let block = d
        .bytes
        .zip(Some(d.ops()).filter(|n| *n > 0.0))
        .map(|(b, n)| b / n);
    let bytes = match series.kind {
        SeriesKind::Bandwidth => Some(levels.before * levels.seconds),
        _ => block.map(|block| block * levels.before * levels.seconds),
    };
    bytes
        .map(|b| format!(" ({})", unit::bytes(b as u64)))
        .unwrap_or_default()
}

fn split(series: &ForeignSeries) -> Option<Levels> {
    let stride = series.values.len().div_ceil(MOST_INTERVALS).max(1);
    let values: Vec<f64> = series
        .values
        .chunks(stride)
        .map(|part| part.iter().sum::<f64>() / part.len() as f64)
        .collect();
    let n = values.len();
    if n < LEAST_INTERVALS || values.iter().any(|v| !v.is_finite()) {
        return None;
    }
    let total: f64 = values.iter().sum();
    let mut left = 0.0;
    let mut best = (0.0, 0);
    for at in 1..n {
        left += values[at - 1];
        if at < LEAST_SIDE || n - at < LEAST_SIDE {
            continue;
        }
        let (a, b) = (at as f64, (n - at) as f64);
        let between = (left / a - (total - left) / b).powi(2) * a * b;
        if between > best.0 {
            best = (between, at);
        }
    }
    let (before, after) = values.split_at(best.1);
    let mean = |part: &[f64]| part.iter().sum::<f64>() / part.len().max(1) as f64;
    let error = mean_error(before)?.upper.hypot(mean_error(after)?.upper);
    let (before_mean, after_mean) = (mean(before), mean(after));
    let apart = (before_mean - after_mean).abs();
    (apart > STANDARD_ERRORS * error && apart > 0.0).then(|| Levels {
        before: before_mean,
        after: after_mean,
        seconds: (before.len() * stride) as f64 * series.interval_ns as f64 / 1e9,
    })
}
