//! V83, V84, V85: what figures of an object store can be quoted for.

use fathom_model::OpKind;
use fathom_model::unit;
use fathom_model::workload::EndpointReport;
use fathom_rules::check::v84::LEAST_REQUESTS;
use fathom_rules::{Rule, TargetKind, check};

use super::Facts;
use crate::outcome::Outcome;

/// V83: did the load last long enough for caches and compaction?
pub(super) fn seconds(facts: &Facts<'_>) -> Option<Outcome> {
    const RULE: &Rule = check::V83;
    let trial = facts.trial;
    trial.workload.requests()?;
    if trial.artificial().is_some() || trial.kind == TargetKind::Null || trial.data_ops() == 0 {
        return None;
    }
    let seconds = trial.duration_seconds();
    let evidence = format!("the store was under load for {seconds:.0} s");
    Some(Outcome::graded(RULE, seconds, evidence))
}

/// V84: did all endpoints carry their part?
pub(super) fn endpoints(facts: &Facts<'_>) -> Option<Outcome> {
    const RULE: &Rule = check::V84;
    let trial = facts.trial;
    trial.workload.requests()?;
    let all = &trial.end()?.engine.endpoints;
    if all.len() < 2 {
        return None;
    }
    let done = |one: &EndpointReport| one.requests;
    let total: u64 = all.iter().map(done).sum();
    if total < LEAST_REQUESTS * all.len() as u64 {
        let reason = format!(
            "{total} requests to {} endpoints are too few to compare them",
            all.len()
        );
        return Some(Outcome::not_measured(RULE, reason));
    }
    let least = all.iter().min_by_key(|one| one.requests)?;
    let others = (total - least.requests) as f64 / (all.len() - 1) as f64;
    let ratio = least.requests as f64 / others.max(1.0);
    let most = all.iter().max_by_key(|one| one.p99_ns)?;
    let evidence = format!(
        "{} answered {} requests, the others {} on average; the longest p99 is {} at {}, and {} \
         requests to {} failed",
        least.endpoint,
        unit::group(least.requests),
        unit::group(others as u64),
        unit::latency(most.p99_ns as f64),
        most.endpoint,
        unit::group(least.failed),
        least.endpoint,
    );
    Some(Outcome::graded(RULE, ratio, evidence))
}

/// V85: is there what was put, and gone what was removed?
pub(super) fn kept(facts: &Facts<'_>) -> Option<Outcome> {
    const RULE: &Rule = check::V85;
    facts.trial.workload.requests()?;
    let kept = facts.trial.end()?.data.kept.as_ref()?;
    let example = kept.example.as_deref();
    if kept.looked + kept.removed_looked == 0 {
        let reason = format!(
            "none of the objects that were put or removed could be looked at ({})",
            example.unwrap_or("it was interrupted")
        );
        return Some(Outcome::not_measured(RULE, reason));
    }
    let put = [
        (kept.missing, "not there"),
        (kept.other_size, "of another size"),
        (kept.other_content, "of other contents"),
    ];
    let still_there = match removals_failed(facts) {
        // They may be those that the store refused to remove.
        true => 0,
        false => kept.still_there,
    };
    let removed = [(still_there, "still there")];
    let seen: Vec<String> = [
        seen(kept.looked, "put", &put, "as they were put"),
        seen(kept.removed_looked, "removed", &removed, "gone"),
    ]
    .into_iter()
    .flatten()
    .collect();
    let wrong: u64 = put.iter().chain(&removed).map(|(count, _)| count).sum();
    let unanswered = match kept.unanswered {
        0 => String::new(),
        count => format!("; {count} more could not be looked at"),
    };
    let example = match example.filter(|_| wrong > 0) {
        Some(example) => format!(" (for example {example})"),
        None => String::new(),
    };
    let evidence = format!("{}{example}{unanswered}", seen.join("; "));
    Some(Outcome::graded(RULE, wrong as f64, evidence))
}

/// What was seen of objects that the load has `done` something with; nothing where
/// none was looked at.
fn seen(looked: u64, done: &str, wrong: &[(u64, &str)], right: &str) -> Option<String> {
    if looked == 0 {
        return None;
    }
    let wrong: Vec<String> = wrong
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{count} {what}"))
        .collect();
    let found = match wrong.is_empty() {
        true => format!("all are {right}"),
        false => wrong.join(", "),
    };
    Some(format!(
        "of {looked} objects that were {done} and looked at after the load, {found}"
    ))
}

fn removals_failed(facts: &Facts<'_>) -> bool {
    let samples = facts.trial.record.samples.iter();
    let removals = samples
        .flat_map(|sample| &sample.ops)
        .filter(|op| matches!(op.kind, OpKind::Delete | OpKind::DeleteMany));
    removals
        .flat_map(|op| op.errors.iter())
        .any(|(_, count)| count > 0)
}

#[cfg(test)]
#[path = "objects_tests.rs"]
mod tests;
