//! V77, V78: what the figures of operations on files are figures of.

use fathom_model::OpKind;
use fathom_model::verdict::FindingStatus;

use super::Facts;
use crate::check_table::TargetKind;
use crate::outcome::{Outcome, check};

/// V77: could this host's caches answer?
pub(super) fn client_cache(facts: &Facts<'_>) -> Option<Outcome> {
    const ID: &str = "V77";
    let trial = facts.trial;
    let meta = trial.workload.meta.as_deref()?;
    if !meta.only_looks() || trial.artificial().is_some() {
        return None;
    }
    if trial.kind == TargetKind::Memory {
        let reason = "the target itself is in memory (see V06)";
        return Some(Outcome::not_measured(ID, reason));
    }
    let data = trial.end().map(|end| &end.data);
    let dropped = data.is_some_and(|data| data.cached_share == Some(0.0));
    if dropped {
        let method = data.and_then(|data| data.cached_method.as_deref());
        let evidence = format!(
            "cold: the caches were dropped before the load ({})",
            method.unwrap_or("the whole machine's")
        );
        return Some(Outcome::graded(ID, 0.0, evidence));
    }
    let asked = match trial.workload.drop_cache {
        true => ", which could not be dropped",
        false => "",
    };
    let evidence = format!(
        "warm: the files had just been made on this host and lie in its caches of names, inodes \
         and pages{asked}"
    );
    Some(Outcome::graded(ID, 1.0, evidence))
}

/// V78: was anything durable when the operation returned?
pub(super) fn durable(facts: &Facts<'_>) -> Option<Outcome> {
    const ID: &str = "V78";
    let trial = facts.trial;
    let meta = trial.workload.meta.as_deref()?;
    if meta.only_looks() || trial.artificial().is_some() || trial.kind == TargetKind::Memory {
        return None;
    }
    let flushed = |kind: OpKind| {
        kind == OpKind::Fsync
            || meta.fsync && matches!(kind, OpKind::Create | OpKind::Append | OpKind::Overwrite)
    };
    let changing = meta.ops.iter().filter(|share| !share.kind.looks());
    let left: Vec<&str> = changing
        .filter(|share| !flushed(share.kind))
        .map(|share| share.kind.name())
        .collect();
    if left.is_empty() {
        let evidence = "every file was flushed before it was closed".to_owned();
        return Some(Outcome::graded(ID, 0.0, evidence));
    }
    let evidence = format!(
        "{} returned as soon as the change was in memory; the file system writes it later",
        left.join(", ")
    );
    let limit = check(ID).info;
    Some(Outcome::decided(
        ID,
        FindingStatus::Info,
        1.0,
        limit,
        evidence,
    ))
}

#[cfg(test)]
#[path = "files_tests.rs"]
mod tests;
