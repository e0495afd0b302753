//! V11 to V14: does one number describe what the logs show?
//!
//! The rates of a log go through the same search for levels, drift and modes
//! as those of fathom's own trials.

use crate::results::{ResultDirection, SeriesKind};
use fathom_model::steadiness::SteadinessClass;
use fathom_model::verdict::FindingStatus;
use fathom_rules::{Rule, check};

use super::Entry;
use super::precision::rate_series;
use super::said::Counted;
use fathom_analysis::judgement::Outcome;
use fathom_analysis::judgement::{Logged, of_log};

const NO_LOG: &str = "without a log of the rate a mean is all there is";
const TOO_SHORT: &str = "the log is too short";

/// What the log of a direction says.
fn logged(entry: &Entry<'_>, d: &ResultDirection) -> Option<Logged> {
    let series = rate_series(entry, d)?;
    let ops = Some(d.ops()).filter(|n| *n > 0.0);
    let block = d.bytes.zip(ops).map_or(0.0, |(bytes, ops)| bytes / ops);
    match series.kind {
        // A log of bandwidth is one of operations of a byte.
        SeriesKind::Bandwidth if block <= 0.0 => of_log(&series.values, series.interval_ns, 1.0),
        SeriesKind::Bandwidth => {
            let rates: Vec<f64> = series.values.iter().map(|v| v / block).collect();
            of_log(&rates, series.interval_ns, block)
        }
        _ => of_log(&series.values, series.interval_ns, block),
    }
}

/// The outcome of the direction that comes out worst.
fn worst(
    entry: &Entry<'_>,
    id: &'static Rule,
    outcome: impl Fn(&str, &Logged) -> Outcome,
) -> Option<Outcome> {
    let each = entry.job.directions.iter().filter_map(|d| {
        let logged = logged(entry, d)?;
        Some(match logged.class {
            SteadinessClass::TooShort => Outcome::not_measured(id, TOO_SHORT),
            _ => outcome(d.name(), &logged),
        })
    });
    let worst = each.max_by_key(Outcome::status);
    Some(worst.unwrap_or_else(|| Outcome::not_measured(id, NO_LOG)))
}

/// V11: the standard's rule over the last five minutes.
pub(super) fn snia(entry: &Entry<'_>) -> Option<Outcome> {
    const RULE: &Rule = check::V11;
    worst(entry, RULE, |name, logged| {
        let Some(window) = &logged.snia else {
            let reason = "the rule needs five rounds of one minute";
            return Outcome::not_measured(RULE, reason);
        };
        let evidence = format!(
            "{name}: over the last five minutes of the log the range is {:.1} % and the line moves \
             by {:.1} % of the average",
            100.0 * window.range,
            100.0 * window.excursion
        );
        let status = match window.steady {
            true => FindingStatus::Pass,
            false => FindingStatus::Caveat,
        };
        Outcome::decided(RULE, status, window.range, RULE.caveat, evidence)
    })
}

/// V12: drift of the last level.
pub(super) fn drift(entry: &Entry<'_>) -> Option<Outcome> {
    const RULE: &Rule = check::V12;
    worst(entry, RULE, |name, logged| {
        let Some((change, within)) = logged.drift else {
            return Outcome::not_measured(RULE, TOO_SHORT);
        };
        let (status, words) = match (logged.class == SteadinessClass::Drifting, within) {
            (true, _) => (FindingStatus::Caveat, ""),
            (false, true) => (FindingStatus::Pass, ""),
            (false, false) => (
                FindingStatus::Info,
                "; neither drift nor its absence is shown",
            ),
        };
        let evidence = format!(
            "{name}: the last level of the log changes by {:+.1} % over its time{words}",
            100.0 * change
        );
        Outcome::decided(RULE, status, change.abs(), RULE.caveat, evidence)
    })
}

/// V13: abrupt changes of level.
pub(super) fn cliff(entry: &Entry<'_>) -> Option<Outcome> {
    const RULE: &Rule = check::V13;
    worst(entry, RULE, |name, logged| {
        // The printed mean covers the warm-up as well, so it is not excused.
        let evidence = format!("{name}: {}", logged.sentence);
        Outcome::graded(RULE, logged.step, evidence)
    })
}

/// V14: two levels without order.
pub(super) fn bimodal(entry: &Entry<'_>) -> Option<Outcome> {
    const RULE: &Rule = check::V14;
    worst(entry, RULE, |name, logged| {
        let evidence = format!("{name}: {}", logged.sentence);
        match logged.ashman_d {
            Some(d) => Outcome::graded(RULE, d, evidence),
            None => Outcome::decided(
                RULE,
                FindingStatus::Pass,
                0.0,
                RULE.caveat,
                format!("{name}: the log does not go back and forth between two levels"),
            ),
        }
    })
}
