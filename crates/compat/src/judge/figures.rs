//! The stated figures in base units, with intervals where logs allow them.

use crate::results::ResultDirection;
use fathom_model::estimate::{Estimate, Unit};
use fathom_model::opinion::{StatedFigures, StatedPercentile};
use fathom_rules::check::v25::LOG_DIFFERS;
use fathom_stats::effective_size::MIN_EFFECTIVE;
use fathom_stats::moments::mean;

use super::Entry;
use super::precision::{needed, percentiles, rate_series, spread_of};
use super::said::Counted;
use fathom_analysis::judgement::is_too_wide;

/// Figures of each direction that did something.
pub(super) fn of(entry: &Entry<'_>) -> Vec<StatedFigures> {
    let each = entry.job.directions.iter();
    each.map(|d| figures(entry, d)).collect()
}

fn figures(entry: &Entry<'_>, d: &ResultDirection) -> StatedFigures {
    let count = |value: Option<f64>| value.map(|v| v as u64);
    let (latency_kind, latency) = match (&d.total, &d.completion) {
        (Some(total), _) => (Some("total"), Some(total)),
        (None, Some(completion)) => (Some("completion"), Some(completion)),
        (None, None) => (None, None),
    };
    let listed = percentiles(d);
    StatedFigures {
        direction: d.name().to_owned(),
        ops: count(d.ops),
        bytes: count(d.bytes),
        ops_per_second: rate(entry, d, Unit::OpsPerSecond, d.rate()),
        bytes_per_second: rate(entry, d, Unit::BytesPerSecond, d.bytes_per_second),
        latency_kind: latency_kind.map(str::to_owned),
        stated_mean_ns: latency.and_then(|l| l.mean_ns),
        stated_max_ns: latency.and_then(|l| l.max_ns),
        percentile_kind: listed.map(|(kind, _)| kind.to_owned()),
        percentiles: listed
            .into_iter()
            .flat_map(|(_, l)| {
                let count = l.count.unwrap_or(d.ops());
                let upper = l
                    .percentiles
                    .iter()
                    .filter(|(p, _)| (50.0..100.0).contains(p));
                upper.map(move |(percent, stated_ns)| StatedPercentile {
                    percent: *percent,
                    stated_ns: *stated_ns,
                    ops_needed: needed(*percent).ceil(),
                    supported: count >= needed(*percent),
                })
            })
            .collect(),
    }
}

/// The stated mean, with the relative interval of the log around it.
fn rate(entry: &Entry<'_>, d: &ResultDirection, unit: Unit, stated: Option<f64>) -> Estimate {
    let series = rate_series(entry, d);
    let Some(stated) = stated else {
        let of_log = series.filter(|s| {
            let ops = s.kind == crate::results::SeriesKind::Operations;
            ops == (unit == Unit::OpsPerSecond)
        });
        return match of_log.and_then(|log| Some((log, mean(&log.values)?))) {
            Some((log, mean)) => with_interval(unit, mean, &log.values),
            None => Estimate::unknown(unit, "not stated"),
        };
    };
    let Some((series, logged)) = series.and_then(|series| Some((series, mean(&series.values)?)))
    else {
        return Estimate::point(unit, stated, "one mean without a log has no interval");
    };
    let same = match series.kind {
        crate::results::SeriesKind::Operations => d.rate(),
        _ => d.bytes_per_second,
    };
    if same.is_some_and(|s| (logged / s - 1.0).abs() > LOG_DIFFERS) {
        return Estimate::point(unit, stated, "the log does not agree with the stated mean");
    }
    with_interval(unit, stated, &series.values)
}

fn with_interval(unit: Unit, value: f64, series: &[f64]) -> Estimate {
    match spread_of(series) {
        Some((half, _)) if is_too_wide(1.0, half) => {
            let reason = format!(
                "the log varies so much that the interval would be ±{:.0} % of the value",
                100.0 * half
            );
            Estimate::point(unit, value, reason)
        }
        Some((half, n)) if n >= MIN_EFFECTIVE => {
            let (low, high) = (value * (1.0 - half), value * (1.0 + half));
            Estimate::known(unit, value, low.max(0.0), high, n)
        }
        Some((_, n)) => {
            let count = series.len();
            let reason = format!(
                "{count} intervals of the log hold {n:.1} independent ones; an estimate needs 10"
            );
            let mut point = Estimate::point(unit, value, reason);
            point.n_effective = Some(n);
            point
        }
        None => Estimate::point(unit, value, "the log is too short for an interval"),
    }
}
