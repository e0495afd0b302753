//! V83, V84: what figures of an object store can be quoted for.

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

#[cfg(test)]
#[path = "objects_tests.rs"]
mod tests;
