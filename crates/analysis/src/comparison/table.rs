//! Effects and decisions as the rows of a comparison.

use fathom_model::comparison::{
    ComparedMetric, ComparedPair, ComparedRow, ComparisonOutcome, Metric,
};
use fathom_model::estimate::{Estimate, Unit};

use super::decide::{Decision, Direction};
use super::effect::{Effect, Margin};
use super::figures::Figure;
use crate::unknown::Unknown;

/// One figure with everything that is known about it.
pub(crate) struct Entry {
    pub(crate) figure: Figure,
    /// Geometric means of the sides.
    pub(crate) a: Result<f64, Unknown>,
    pub(crate) b: Result<f64, Unknown>,
    pub(crate) pairs: Vec<ComparedPair>,
    pub(crate) effect: Option<Effect>,
    pub(crate) p_sign_flip: Option<f64>,
    /// Why there is no effect.
    pub(crate) reason: String,
}

/// Rows by label, each with its figures; the first decides.
pub(crate) struct RowEntries {
    pub(crate) label: String,
    pub(crate) entries: Vec<Entry>,
}

/// Decides all rows together.
pub(crate) fn rows(rows: Vec<RowEntries>, margin: Margin, least: usize) -> Vec<ComparedRow> {
    let twins: Vec<Vec<Option<usize>>> = rows.iter().map(|r| twins(&r.entries)).collect();
    let tested: Vec<Vec<Option<Effect>>> = rows
        .iter()
        .zip(&twins)
        .map(|(row, twins)| {
            let each = row.entries.iter().zip(twins);
            // What says the same is tested once.
            each.map(|(entry, twin)| entry.effect.filter(|_| twin.is_none()))
                .collect()
        })
        .collect();
    let decided = super::decide::decide(&tested, margin, least);
    let each = rows.into_iter().zip(decided).zip(twins);
    each.map(|((row, decisions), twins)| {
        let decision = |i: usize| {
            let own = twins.get(i).copied().flatten().unwrap_or(i);
            decisions.get(own).copied().flatten()
        };
        let metrics: Vec<ComparedMetric> = row
            .entries
            .into_iter()
            .enumerate()
            .map(|(i, entry)| metric(entry, decision(i), margin, least))
            .collect();
        ComparedRow {
            label: row.label,
            outcome: metrics
                .first()
                .map_or(ComparisonOutcome::Inconclusive, |m| m.outcome),
            metrics,
        }
    })
    .collect()
}

/// For each figure an earlier one that says the same: bytes per second of
/// blocks of one size are operations per second.
fn twins(entries: &[Entry]) -> Vec<Option<usize>> {
    let same = |a: &Entry, b: &Entry| match (a.effect, b.effect) {
        (Some(x), Some(y)) => {
            let rates = |e: &Entry| {
                matches!(
                    e.figure.metric,
                    Metric::OpsPerSecond | Metric::BytesPerSecond
                )
            };
            rates(a) && rates(b) && (x.mean - y.mean).abs() + (x.error - y.error).abs() < 1e-9
        }
        _ => false,
    };
    let earlier = |i: usize| (0..i).find(|j| same(&entries[*j], &entries[i]));
    (0..entries.len()).map(earlier).collect()
}

/// One figure, decided.
pub(crate) fn metric(
    entry: Entry,
    decision: Option<Decision>,
    margin: Margin,
    least: usize,
) -> ComparedMetric {
    let unit = entry.figure.unit();
    let better = entry.figure.metric.higher_is_better();
    let more = decision
        .zip(entry.effect)
        .and_then(|(decision, effect)| decision.more(&effect, margin, least));
    let side = |value: Result<f64, Unknown>| match value {
        Ok(value) => Estimate::point(unit, value, "the interval is that of the ratio"),
        Err(reason) => Estimate::unknown(unit, reason),
    };
    ComparedMetric {
        metric: entry.figure.metric,
        op: entry.figure.op,
        a: side(entry.a),
        b: side(entry.b),
        ratio: match entry.effect {
            Some(effect) => ratio(effect),
            None => Estimate::unknown(Unit::Ratio, entry.reason),
        },
        pairs: entry.pairs,
        p_value: decision.map(|d| d.p),
        p_adjusted: decision.map(|d| d.p_adjusted),
        p_sign_flip: entry.p_sign_flip,
        p_equivalence: decision.map(|d| d.p_equivalence),
        outcome: decision.map_or(ComparisonOutcome::Inconclusive, |d| {
            outcome(d.direction, better)
        }),
        more_pairs: more.and_then(|more| u32::try_from(more).ok()),
    }
}

fn outcome(direction: Direction, higher_is_better: bool) -> ComparisonOutcome {
    match (direction, higher_is_better) {
        (Direction::Open, _) => ComparisonOutcome::Inconclusive,
        (Direction::Equivalent, _) => ComparisonOutcome::Equivalent,
        (Direction::Higher, true) | (Direction::Lower, false) => ComparisonOutcome::Faster,
        (Direction::Lower, true) | (Direction::Higher, false) => ComparisonOutcome::Slower,
    }
}

fn ratio(effect: Effect) -> Estimate {
    let (low, high) = effect.interval();
    let [value, low, high] = [effect.mean, low, high].map(f64::exp);
    let n = effect.units as f64;
    match [value, low, high].iter().all(|v| v.is_finite()) {
        true => Estimate::known(Unit::Ratio, value, low, high, n),
        false => Estimate::unknown(Unit::Ratio, "the spread is beyond computation"),
    }
}
