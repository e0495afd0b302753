//! V77, V78: what the figures of operations on files are figures of.

use fathom_model::OpKind;
use fathom_model::gluster::{GlusterBrickUse, GlusterUse};
use fathom_model::unit;
use fathom_model::verdict::FindingStatus;
use fathom_rules::check::v77::LEAST_INODE_BYTES;
use fathom_rules::{Rule, TargetKind, check};

use super::Facts;
use super::device_bytes::names;
use crate::activity::Activity;
use crate::outcome::Outcome;
use crate::trial::{Trial, add};
use crate::unknown::Unknown;

/// Requests of Gluster that look at files.
const LOOKS: [&str; 9] = [
    "LOOKUP", "STAT", "FSTAT", "OPEN", "OPENDIR", "READ", "READDIR", "READDIRP", "GETXATTR",
];

/// V77: could this host's caches answer?
pub(super) fn client_cache(facts: &Facts<'_>) -> Option<Outcome> {
    const RULE: &Rule = check::V77;
    let trial = facts.trial;
    let meta = trial.workload.files_work()?;
    if !meta.only_looks() || trial.artificial().is_some() {
        return None;
    }
    if trial.kind == TargetKind::Memory {
        let reason = "the target itself is in memory (see V06)";
        return Some(Outcome::not_measured(RULE, reason));
    }
    let data = trial.end().map(|end| &end.data);
    let dropped = data.is_some_and(|data| data.cached_share == Some(0.0));
    if dropped {
        let method = data.and_then(|data| data.cached_method.as_deref());
        let evidence = format!(
            "cold: the caches were dropped before the load ({})",
            method.unwrap_or("the whole machine's")
        );
        return Some(Outcome::graded(RULE, 0.0, evidence));
    }
    let note = match trial.workload.drop_cache {
        true => "; the caches could not be dropped",
        false => "",
    };
    Some(match storage_share(trial) {
        Err(reason) => {
            let text = format!("whether this host's caches answered is not known: {reason}{note}");
            Outcome::not_measured(RULE, text)
        }
        Ok((share, text)) => {
            let warm = 1.0 - share;
            let word = match RULE.caveat.is_some_and(|limit| warm > limit) {
                true => "warm: this host's caches of names, inodes and pages answered",
                false => "cold: the storage answered",
            };
            Outcome::graded(RULE, warm, format!("{word}; {text}{note}"))
        }
    })
}

/// Share of the operations that the storage must have answered, from what was
/// asked of it meanwhile, and that evidence; or why nothing tells.
fn storage_share(trial: &Trial<'_>) -> Result<(f64, String), Unknown> {
    let looks = || {
        trial
            .seconds
            .iter()
            .flat_map(|s| OpKind::ALL.into_iter().flat_map(|k| s.ops(k)))
    };
    let ops = add(looks().map(|op| op.ops));
    if ops == 0 {
        return Err(Unknown::because("no operation completed"));
    }
    if let Some(asked) = trial.end().and_then(|end| end.gluster.as_deref()) {
        return asked_of_bricks(asked, ops);
    }
    let activity = Activity::of_load_and_after(trial)?;
    let bytes = add(looks()
        .filter(|op| op.kind == OpKind::ReadFile)
        .map(|op| op.bytes));
    let files = trial
        .workload
        .files_work()
        .map_or(ops, |meta| meta.tree.files);
    let first = ops.min(files.saturating_mul(u64::from(trial.workload.workers.max(1))));
    // A file that is looked at again is in the caches by then.
    let (needed, passes, what) = match bytes {
        0 => (
            first * LEAST_INODE_BYTES,
            first as f64 / ops as f64,
            "inodes",
        ),
        bytes => (bytes, 1.0, "data"),
    };
    let share = |read: f64| (read / needed.max(1) as f64).min(1.0) * passes;
    let device = activity.device_read_bytes;
    let own = activity.own_read_bytes.unwrap_or(device);
    let limit = check::v77::CAVEAT;
    if share(own) < limit && share(device) >= limit {
        return Err(Unknown::because(format!(
            "{} read {}, of which this process asked for {} itself",
            names(&activity.leaves),
            unit::bytes(device as u64),
            unit::bytes(own as u64)
        )));
    }
    let text = format!(
        "this process read {} from {} and what carries it, for {} operations on at least {} of \
         {what}",
        unit::bytes(own as u64),
        names(&activity.leaves),
        unit::group(ops),
        unit::bytes(needed),
    );
    Ok((share(own), text))
}

/// Requests that reached the bricks of a Gluster volume.
fn asked_of_bricks(asked: &GlusterUse, ops: u64) -> Result<(f64, String), Unknown> {
    if asked.bricks.is_empty() {
        let reason = asked
            .notes
            .first()
            .map_or("no brick was seen", String::as_str);
        return Err(Unknown::because(reason.to_owned()));
    }
    let of_brick = |brick: &GlusterBrickUse| add(LOOKS.iter().map(|name| brick.calls_of(name)));
    let requests = add(asked.bricks.iter().map(of_brick));
    let text = format!(
        "the bricks of {} were asked {} times for {} operations",
        asked.volume,
        unit::group(requests),
        unit::group(ops),
    );
    Ok(((requests as f64 / ops as f64).min(1.0), text))
}

/// Whether a file is made durable before the operation returns, where contents that are
/// written may be flushed as told.
pub(crate) fn is_flushed(kind: OpKind, told: bool) -> bool {
    match kind {
        OpKind::Fsync | OpKind::SwiftPut => true,
        OpKind::Create | OpKind::Append | OpKind::Overwrite | OpKind::TruncateOverwrite => told,
        _ => false,
    }
}

/// V78: was anything durable when the operation returned?
pub(super) fn durable(facts: &Facts<'_>) -> Option<Outcome> {
    const RULE: &Rule = check::V78;
    let trial = facts.trial;
    let meta = trial.workload.files_work()?;
    if meta.only_looks() || trial.artificial().is_some() || trial.kind == TargetKind::Memory {
        return None;
    }
    let changing = meta.ops.iter().filter(|share| !share.kind.looks());
    let left: Vec<&str> = changing
        .filter(|share| !is_flushed(share.kind, meta.fsync))
        .map(|share| share.kind.name())
        .collect();
    if left.is_empty() {
        let renamed = meta.ops.iter().any(|share| share.kind == OpKind::SwiftPut);
        let evidence = match renamed {
            true => {
                "every file was flushed before it got its name; the name itself is written later"
            }
            false => "every file was flushed before it was closed",
        };
        return Some(Outcome::graded(RULE, 0.0, evidence.to_owned()));
    }
    let evidence = format!(
        "{} returned as soon as the change was in memory; the file system writes it later",
        left.join(", ")
    );
    let limit = RULE.info;
    Some(Outcome::decided(
        RULE,
        FindingStatus::Info,
        1.0,
        limit,
        evidence,
    ))
}

#[cfg(test)]
#[path = "files_tests.rs"]
mod tests;
