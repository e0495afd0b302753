//! V07: were the data durable when the clock stopped?

use fathom_model::unit;
use fathom_model::verdict::FindingStatus;
use fathom_model::workload::SyncOpen;
use fathom_rules::{Rule, TargetKind, check};

use super::Facts;
use super::unflushed::{Unflushed, unflushed, written};
use crate::outcome::{Outcome, grade};

const RULE: &Rule = check::V07;

pub(super) fn durability(facts: &Facts<'_>) -> Option<Outcome> {
    let trial = facts.trial;
    if trial.workload.mix.write_percent == 0 {
        return None;
    }
    if let Some(reason) = trial.artificial() {
        return Some(Outcome::not_measured(RULE, reason));
    }
    if trial.kind == TargetKind::Memory {
        let reason = "data in memory are never durable (see V06)";
        return Some(Outcome::not_measured(RULE, reason));
    }
    let written = written(trial);
    if written == 0 {
        return Some(Outcome::not_measured(RULE, "nothing was written"));
    }
    let sync = &trial.workload.sync;
    let end = trial.end();
    if sync.open != SyncOpen::No || sync.every_writes == 1 {
        return Some(pass("every write was made durable on its own"));
    }
    if let Some(flush_ns) = end.and_then(|end| end.final_flush_ns) {
        return Some(final_flush(facts, flush_ns));
    }
    if trial.direct() {
        return Some(direct(facts));
    }
    let Some(left) = unflushed(trial) else {
        let reason = "there was no flush, and the dirty bytes at the end are not known";
        return Some(Outcome::not_measured(RULE, reason));
    };
    let outcome = not_flushed(&left, written);
    match outcome.status() {
        FindingStatus::Pass if sync.ranges.is_some() => Some(written_back(&left, written)),
        _ => Some(outcome),
    }
}

/// Hardly anything is left in memory, which `sync_file_range` does not make durable.
fn written_back(left: &Unflushed, written: u64) -> Outcome {
    let evidence = format!(
        "{} of {} written were still in memory at the end of the load ({}); sync_file_range \
         writes data back, but commits no metadata and flushes no write cache",
        unit::bytes(left.bytes),
        unit::bytes(written),
        left.how,
    );
    let share = left.bytes as f64 / written.max(1) as f64;
    Outcome::decided(RULE, FindingStatus::Info, share, RULE.info, evidence)
}

fn not_flushed(left: &Unflushed, written: u64) -> Outcome {
    let evidence = format!(
        "{} of {} written were still in memory at the end of the load ({}), and nothing flushed \
         them",
        unit::bytes(left.bytes),
        unit::bytes(written),
        left.how,
    );
    let share = |bytes: u64| bytes as f64 / written.max(1) as f64;
    let outcome = Outcome::graded(RULE, share(left.bytes), evidence);
    // Pages that can be somebody else's do not make the number untrue.
    match grade(RULE, share(left.certain)).0 {
        FindingStatus::Invalid => outcome,
        _ => outcome.at_most(FindingStatus::Caveat),
    }
}

fn pass(evidence: &str) -> Outcome {
    let threshold = RULE.caveat;
    Outcome::decided(
        RULE,
        FindingStatus::Pass,
        0.0,
        threshold,
        evidence.to_owned(),
    )
}

fn final_flush(facts: &Facts<'_>, flush_ns: u64) -> Outcome {
    let whole = facts.trial.duration_ns.saturating_add(flush_ns).max(1);
    let share = flush_ns as f64 / whole as f64;
    let counted = match facts.trial.workload.sync.final_flush {
        true => "the write rate includes it, the write latencies do not",
        false => "it followed the measurement",
    };
    let evidence = format!(
        "the final flush took {}, {:.1} % of the whole time; {counted}",
        unit::span(flush_ns),
        100.0 * share,
    );
    Outcome::graded(RULE, share, evidence).at_most(FindingStatus::Info)
}

/// Direct writes are at the device, but may be in its volatile cache.
fn direct(facts: &Facts<'_>) -> Outcome {
    let leaves = facts.trial.leaves();
    let volatile = leaves
        .iter()
        .find(|device| device.write_cache.as_deref() == Some("write back"));
    match volatile {
        Some(device) if facts.trial.workload.sync.every_writes == 0 => {
            let evidence = format!(
                "direct writes were acknowledged by {}, whose write cache is volatile \
                 (write back), and nothing flushed it",
                device.name
            );
            Outcome::decided(RULE, FindingStatus::Info, 0.0, RULE.info, evidence)
        }
        _ => pass("direct writes were acknowledged by the device"),
    }
}

#[cfg(test)]
#[path = "durability_tests.rs"]
mod tests;
