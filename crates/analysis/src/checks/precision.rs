//! V15, V16, V17, V63: how much the data can say.
//!
//! None of these makes a number untrue. What the data cannot support is not
//! printed in the first place, so V15 and V17 are information; V16 is a caveat
//! when a repetition could come out noticeably different.

use fathom_model::judged::{LatencySummary, OpSummary};
use fathom_model::op::OpKind;
use fathom_model::unit;
use fathom_model::verdict::FindingStatus;
use fathom_rules::check::v16::{SHORT_CAVEAT, SHORT_SECONDS};
use fathom_rules::check::v21::AUTOCORRELATED;
use fathom_rules::{Rule, check};
use fathom_stats::effective_size::MIN_EFFECTIVE;
use fathom_stats::student::student_975;

use super::Facts;
use crate::outcome::{Outcome, grade};
use crate::statistics::ratio::{Ratio, is_too_wide, longer_for};
use crate::summary::operation_rate;
use crate::trial::data_kinds;

/// The rates of the data operations that took place, each with how a sentence about it
/// begins: with the kind, where there is more than one.
fn rates(facts: &Facts<'_>) -> Vec<(String, Ratio)> {
    let kinds = data_kinds().filter(|kind| facts.trial.total(*kind).ops > 0);
    let rates = kinds.filter_map(|kind| Some((kind, operation_rate(facts.trial, kind)?)));
    let rates: Vec<(OpKind, Ratio)> = rates.collect();
    let several = rates.len() > 1;
    let begun = rates.into_iter().map(|(kind, rate)| match several {
        true => (format!("{}: ", kind.name()), rate),
        false => (String::new(), rate),
    });
    begun.collect()
}

/// V15: independent seconds.
pub(super) fn n_eff(facts: &Facts<'_>) -> Option<Outcome> {
    const RULE: &Rule = check::V15;
    let worth = |ratio: &Ratio| ratio.error.map_or(1.0, |e| e.n_effective);
    let rates = rates(facts);
    let worst = rates
        .iter()
        .min_by(|a, b| worth(&a.1).total_cmp(&worth(&b.1)));
    let Some((kind, ratio)) = worst else {
        return Some(Outcome::not_measured(RULE, "no operation completed"));
    };
    let n_effective = worth(ratio);
    let seconds = ratio.parts;
    let hint = if n_effective < MIN_EFFECTIVE {
        format!(
            "; no interval is printed; measure {} longer",
            unit::span(ratio.longer_for_interval(facts.trial.duration_ns))
        )
    } else if n_effective < check::v15::INFO {
        "; so the interval is wide".to_owned()
    } else {
        String::new()
    };
    let evidence = match seconds {
        1 => format!("{kind}a single second was measured{hint}"),
        _ => format!(
            "{kind}{seconds} s say as much as {n_effective:.1} that do not depend on one another{hint}"
        ),
    };
    Some(Outcome::graded(RULE, n_effective, evidence).at_most(FindingStatus::Info))
}

/// V63: seconds measured. Below one, start-up and chance make the result.
pub(super) fn duration(facts: &Facts<'_>) -> Option<Outcome> {
    const RULE: &Rule = check::V63;
    let any = OpKind::ALL.into_iter();
    if any
        .map(|kind| facts.trial.total(kind).ops)
        .all(|ops| ops == 0)
    {
        return Some(Outcome::not_measured(RULE, "no operation completed"));
    }
    let seconds = facts.trial.duration_seconds();
    let least = check::v63::OWN_CAVEAT;
    let status = match seconds < least {
        true => FindingStatus::Caveat,
        false => FindingStatus::Pass,
    };
    let evidence = format!("measured for {}", unit::span(facts.trial.duration_ns));
    Some(Outcome::decided(
        RULE,
        status,
        seconds,
        Some(least),
        evidence,
    ))
}

/// V16: width of the interval.
pub(super) fn ci_width(facts: &Facts<'_>) -> Option<Outcome> {
    const RULE: &Rule = check::V16;
    let several = facts
        .steadiness
        .as_ref()
        .filter(|s| s.has_no_single_rate() || s.zones.is_some());
    if several.is_some() {
        let reason = "no one rate describes it; its levels are shown instead";
        return Some(Outcome::not_measured(RULE, reason));
    }
    let widths = rates(facts).into_iter().filter_map(|(kind, ratio)| {
        let half = judged_half_width(&ratio)? / ratio.value.abs();
        half.is_finite().then_some((kind, ratio, half))
    });
    let Some((kind, ratio, half)) = widths.max_by(|a, b| a.2.total_cmp(&b.2)) else {
        let reason = "one interval or none: there is no spread to look at";
        return Some(Outcome::not_measured(RULE, reason));
    };
    let short = ratio.parts <= SHORT_SECONDS;
    let few = is_few(&ratio);
    let need = check::v16::INFO;
    let hint = match (short, half > need) {
        (true, _) => " (rough: too few seconds)".to_owned(),
        (false, true) => format!(
            "; about {} longer would bring it to {:.0} %",
            unit::span(longer_for(
                facts.trial.duration_ns,
                half.powi(2),
                need.powi(2)
            )),
            100.0 * need
        ),
        (false, false) => String::new(),
    };
    // What is not printed above is not printed here.
    let evidence = match (few, is_too_wide(1.0, half)) {
        (true, _) => {
            let scatter = match grade(RULE, half).0 >= FindingStatus::Caveat {
                true => "its seconds scatter widely",
                false => "its seconds scatter little",
            };
            format!("{kind}too short for an interval; {scatter}")
        }
        (false, true) => {
            format!("{kind}the 95 % interval is too wide to be printed{hint}")
        }
        (false, false) => format!(
            "{kind}the 95 % interval is ± {:.1} % of the mean{hint}",
            100.0 * printed(&ratio).unwrap_or(half)
        ),
    };
    // Ten seconds of a healthy drive say so much and no more.
    if short && half <= SHORT_CAVEAT {
        let status = grade(RULE, half).0.min(FindingStatus::Info);
        let least = Some(SHORT_CAVEAT);
        return Some(Outcome::decided(RULE, status, half, least, evidence));
    }
    Some(Outcome::graded(RULE, half, evidence))
}

/// Half the width over the value of the interval that stands in the table.
fn printed(ratio: &Ratio) -> Option<f64> {
    let half = ratio.half_width()? / ratio.value.abs();
    let is_shown = !is_few(ratio) && half.is_finite() && !is_too_wide(1.0, half);
    is_shown.then_some(half)
}

fn is_few(ratio: &Ratio) -> bool {
    ratio.error.is_some_and(|e| e.n_effective < MIN_EFFECTIVE)
}

/// The printed half width, or a rough one. In a short run the autocorrelation is
/// assumed to be as usual: one that is estimated from ten seconds, with the
/// caution that a printed interval takes, widens it by as much as four. In a
/// longer one of which no interval is printed it may at most double the error of
/// independent seconds.
fn judged_half_width(ratio: &Ratio) -> Option<f64> {
    let error = ratio.error?;
    let seconds = ratio.parts as f64;
    if ratio.parts <= SHORT_SECONDS {
        return Some(AUTOCORRELATED * student_975(seconds - 1.0) * error.independent);
    }
    if error.n_effective >= MIN_EFFECTIVE {
        return ratio.half_width();
    }
    let cautious = student_975((error.n_effective - 1.0).max(2.0)) * error.likely;
    Some(cautious.min(2.0 * student_975(seconds - 1.0) * error.independent))
}

/// V17: percentiles that had to be left out.
pub(super) fn pctl_support(facts: &Facts<'_>) -> Option<Outcome> {
    const RULE: &Rule = check::V17;
    let ops = facts.summary.ops.iter().filter(|op| op.ops > 0);
    let missing: Vec<(String, usize)> = ops
        .map(|op| {
            let refused: Vec<String> = relevant(op)
                .percentiles
                .iter()
                .filter(|p| p.latency_ns.value.is_none())
                .map(|p| format!("p{}", p.percent))
                .collect();
            (
                format!("{} {}", op.kind.name(), refused.join(", ")),
                refused.len(),
            )
        })
        .collect();
    if missing.is_empty() {
        return Some(Outcome::not_measured(RULE, "no operation completed"));
    }
    let count: usize = missing.iter().map(|m| m.1).sum();
    if count == 0 {
        let evidence = "every percentile has enough operations behind it".to_owned();
        return Some(Outcome::decided(
            RULE,
            FindingStatus::Pass,
            0.0,
            RULE.info,
            evidence,
        ));
    }
    let list: Vec<String> = missing
        .into_iter()
        .filter(|m| m.1 > 0)
        .map(|m| m.0)
        .collect();
    let evidence = format!("too few data for {}", list.join("; "));
    let threshold = RULE.info;
    Some(Outcome::decided(
        RULE,
        FindingStatus::Info,
        count as f64,
        threshold,
        evidence,
    ))
}

/// The latency that matters: response in an open loop, else service.
pub(crate) fn relevant(op: &OpSummary) -> &LatencySummary {
    op.response.as_ref().unwrap_or(&op.service)
}

#[cfg(test)]
#[path = "precision_tests.rs"]
mod tests;
