//! V10 to V14, V19: does one number describe the trial?
//!
//! A trial that is too short to say is not condemned for that: these checks
//! then could not be measured, and none of them is required.

use fathom_model::run::RunState;
use fathom_model::steadiness::{RungStatus, Steadiness, SteadinessClass};
use fathom_model::unit;
use fathom_model::verdict::FindingStatus;
use fathom_model::workload::Until;
use fathom_rules::{Rule, TargetKind, check};

use super::Facts;
use crate::outcome::Outcome;

const TOO_SHORT: &str = "the trial is too short";

fn steadiness<'a>(facts: &'a Facts<'_>) -> Option<&'a Steadiness> {
    facts.steadiness.as_ref()
}

/// V10: has the drive left its fresh state?
pub(super) fn fresh(facts: &Facts<'_>) -> Option<Outcome> {
    const RULE: &Rule = check::V10;
    let trial = facts.trial;
    let leaves = trial.leaves();
    let spinning = !leaves.is_empty() && leaves.iter().all(|d| d.rotational == Some(true));
    let flash = matches!(&trial.record.spec.target,
        fathom_model::Target::Sim(model) if model.starts_with("ssd") || model.starts_with("slc"));
    let concerned = match trial.kind {
        TargetKind::Device
        | TargetKind::File
        | TargetKind::Stacked
        | TargetKind::ObjectStore
        | TargetKind::Unknown => !spinning,
        TargetKind::Sim => flash,
        TargetKind::Network | TargetKind::Memory | TargetKind::Null => false,
    };
    if !concerned || !trial.workload.mix.modifies() {
        return None;
    }
    let rung = steadiness(facts).and_then(|s| s.rung("bytes"));
    let Some((rung, ratio)) = rung.and_then(|r| Some((r, r.measured?))) else {
        return Some(Outcome::not_measured(
            RULE,
            "the size of the written range is not known",
        ));
    };
    let label = match rung.status {
        RungStatus::Held => "",
        _ => "; read it as the rate of a fresh drive (burst)",
    };
    let evidence = format!("{}{label}", rung.evidence);
    Some(Outcome::graded(RULE, ratio, evidence))
}

/// V11: the standard's rule.
pub(super) fn snia(facts: &Facts<'_>) -> Option<Outcome> {
    const RULE: &Rule = check::V11;
    let steadiness = steadiness(facts)?;
    let rung = steadiness.rung("snia")?;
    let Some(window) = &steadiness.snia else {
        return Some(Outcome::not_measured(RULE, rung.evidence.clone()));
    };
    if by_position(steadiness) {
        return Some(not_judged_by_position(RULE));
    }
    let limit = check::v11::CAVEAT;
    let excursion = check::v11::EXCURSION;
    let (status, measured, threshold) = if window.range > limit {
        (FindingStatus::Caveat, window.range, limit)
    } else if window.excursion > excursion {
        (FindingStatus::Caveat, window.excursion, excursion)
    } else {
        (FindingStatus::Pass, window.range, limit)
    };
    let evidence = rung.evidence.clone();
    Some(Outcome::decided(
        RULE,
        status,
        measured,
        Some(threshold),
        evidence,
    ))
}

/// V12: drift.
pub(super) fn drift(facts: &Facts<'_>) -> Option<Outcome> {
    const RULE: &Rule = check::V12;
    let steadiness = steadiness(facts)?;
    if by_position(steadiness) {
        return Some(not_judged_by_position(RULE));
    }
    let rung = steadiness.rung("drift")?;
    if steadiness.class == SteadinessClass::TooShort {
        return Some(Outcome::not_measured(RULE, TOO_SHORT));
    }
    let Some((furthest, margin)) = rung.measured.zip(rung.threshold) else {
        return Some(Outcome::not_measured(RULE, rung.evidence.clone()));
    };
    // Wholly outside of the margin it drifts; across it, it is not known.
    let drifts = steadiness.class == SteadinessClass::Drifting;
    let (status, words) = match (drifts, rung.status) {
        (true, _) => (FindingStatus::Caveat, ""),
        (false, RungStatus::Held) => (FindingStatus::Pass, ""),
        (false, _) => (
            FindingStatus::Info,
            "; neither drift nor its absence is shown",
        ),
    };
    let evidence = format!("{}{words}", rung.evidence);
    Some(Outcome::decided(
        RULE,
        status,
        furthest,
        Some(margin),
        evidence,
    ))
}

/// V13: abrupt changes of level.
pub(super) fn cliff(facts: &Facts<'_>) -> Option<Outcome> {
    const RULE: &Rule = check::V13;
    let steadiness = steadiness(facts)?;
    if by_position(steadiness) {
        return Some(not_judged_by_position(RULE));
    }
    if steadiness.class == SteadinessClass::TooShort {
        return Some(Outcome::not_measured(RULE, TOO_SHORT));
    }
    let step = largest_step(steadiness);
    let outcome = Outcome::graded(RULE, step, steadiness.sentence.clone());
    Some(match steadiness.class {
        // Its levels are shown in place of the mean, and it came to one.
        SteadinessClass::WarmupThenFlat => outcome.at_most(FindingStatus::Info),
        _ => outcome,
    })
}

/// Relative change between two neighbouring levels.
fn largest_step(steadiness: &Steadiness) -> f64 {
    let rate = |regime: &fathom_model::steadiness::Regime| {
        let data = regime.ops.iter().filter(|op| op.kind.is_data());
        let rates = data.map(|op| (op.bytes_per_second.value, op.ops_per_second.value));
        let (bytes, ops) = rates.fold((0.0, 0.0), |sum, (bytes, ops)| {
            (sum.0 + bytes.unwrap_or(0.0), sum.1 + ops.unwrap_or(0.0))
        });
        if bytes > 0.0 { bytes } else { ops }
    };
    steadiness
        .regimes
        .windows(2)
        .map(|pair| (rate(&pair[0]), rate(&pair[1])))
        .filter(|(before, after)| before.max(*after) > 0.0)
        .map(|(before, after)| 1.0 - before.min(after) / before.max(after))
        .fold(0.0, f64::max)
}

/// V14: two levels without order.
pub(super) fn bimodal(facts: &Facts<'_>) -> Option<Outcome> {
    const RULE: &Rule = check::V14;
    let steadiness = steadiness(facts)?;
    if by_position(steadiness) {
        return Some(not_judged_by_position(RULE));
    }
    if steadiness.class == SteadinessClass::TooShort {
        return Some(Outcome::not_measured(RULE, TOO_SHORT));
    }
    let threshold = RULE.caveat;
    Some(match &steadiness.modes {
        Some(modes) => Outcome::graded(RULE, modes.ashman_d, steadiness.sentence.clone()),
        None => Outcome::decided(
            RULE,
            FindingStatus::Pass,
            0.0,
            threshold,
            "the rate does not jump between two levels".to_owned(),
        ),
    })
}

/// V19: did the trial end at the state that was asked for?
pub(super) fn until(facts: &Facts<'_>) -> Option<Outcome> {
    const RULE: &Rule = check::V19;
    let until = facts.trial.workload.until?;
    if facts.trial.record.state != RunState::Complete {
        return None;
    }
    let threshold = RULE.caveat;
    let decided = |status, measured, evidence| {
        Some(Outcome::decided(
            RULE, status, measured, threshold, evidence,
        ))
    };
    if let Some(reason) = facts.trial.end().and_then(|end| end.reason.clone()) {
        return decided(FindingStatus::Pass, 0.0, reason);
    }
    let time = unit::span(facts.trial.duration_ns);
    let why: Vec<String> = steadiness(facts)
        .map(|s| missing_rungs(s, until))
        .unwrap_or_default();
    let what = match until {
        Until::Steady => format!("never steady within {time}"),
        Until::Precision { percent } => format!("not precise to {percent} % within {time}"),
        Until::Settled(rule) => {
            let wanted = crate::steadiness::settled_words(&rule);
            return decided(
                FindingStatus::Caveat,
                1.0,
                format!("within {time} there was no window with a {wanted}"),
            );
        }
    };
    let evidence = match why.is_empty() {
        true => format!("{what}; it may have become so after the last look"),
        false => format!("{what}: {}", why.join("; ")),
    };
    decided(FindingStatus::Caveat, 1.0, evidence)
}

fn missing_rungs(steadiness: &Steadiness, until: Until) -> Vec<String> {
    let wanted: &[&str] = match until {
        Until::Steady => &["bytes", "segment", "snia", "drift"],
        Until::Precision { .. } => &["segment", "precision"],
        Until::Settled(_) => &[],
    };
    let missing = |name: &&str| {
        let rung = steadiness.rung(name)?;
        let absent = rung.status == RungStatus::NotHeld
            || (rung.status == RungStatus::NotApplicable && *name != "bytes");
        absent.then(|| rung.evidence.clone())
    };
    wanted.iter().filter_map(missing).collect()
}

fn by_position(steadiness: &Steadiness) -> bool {
    steadiness.zones.is_some()
}

fn not_judged_by_position(id: &'static Rule) -> Outcome {
    Outcome::not_measured(
        id,
        "a pass over a hard disk: the rate follows the position, not time",
    )
}

#[cfg(test)]
#[path = "steadiness_tests.rs"]
mod tests;
