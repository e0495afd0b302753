//! What a trial had written and not flushed when its load ended.
//!
//! The host's dirty pages belong to all its processes. What is known of the
//! trial itself comes first: the dirty pages of its own files (cachestat), then
//! what its flushes can have left. Only without either does the host's figure
//! speak, and only as far as it cannot be somebody else's.

use fathom_model::op::OpKind;
use fathom_model::unit;

use crate::activity::observation_end;
use crate::company::overlap;
use crate::trial::{Trial, add};

/// Bytes of the trial that were still in memory.
pub(super) struct Unflushed {
    pub(super) bytes: u64,
    /// Bytes that can be nobody else's; fewer where others wrote as well.
    pub(super) certain: u64,
    /// How that is known, for a sentence that names the bytes.
    pub(super) how: String,
}

/// What was left in memory; `None` when nothing tells.
pub(super) fn unflushed(trial: &Trial<'_>) -> Option<Unflushed> {
    let end = trial.end()?;
    let written = written(trial);
    let bound = left_by_flushes(trial).unwrap_or(u64::MAX);
    if let Some(own) = end.own_dirty_bytes_at_end {
        let bytes = own.min(written).min(bound);
        return Some(Unflushed {
            bytes,
            certain: bytes,
            how: "dirty pages of the test files".to_owned(),
        });
    }
    let host = end.dirty_bytes_at_end?;
    let bytes = host.min(written).min(bound);
    let before = dirty_before(trial).unwrap_or(0);
    let certain = match bound {
        u64::MAX => bytes.min(host.saturating_sub(before)),
        // The last batch may have been flushed as well.
        _ => 0,
    };
    let how = match (bound, before) {
        (u64::MAX, 0) => "dirty pages of the host".to_owned(),
        (u64::MAX, before) => format!(
            "dirty pages of the host, of which {} were there before",
            unit::bytes(before)
        ),
        _ => "at most what was written since the last flush of each worker".to_owned(),
    };
    Some(Unflushed {
        bytes,
        certain,
        how,
    })
}

/// Bytes that the load wrote, warm-up included.
pub(super) fn written(trial: &Trial<'_>) -> u64 {
    let writes = trial.seconds.iter().flat_map(|s| s.ops(OpKind::Write));
    add(writes.map(|op| op.bytes))
}

/// The most that workers can have left, where each of them flushes after every
/// so many writes and no flush failed.
fn left_by_flushes(trial: &Trial<'_>) -> Option<u64> {
    let sync = &trial.workload.sync;
    let rhythms = [sync.every_writes, sync.other_every_writes];
    let every = rhythms.into_iter().filter(|every| *every > 0).min()?;
    let flushes = || trial.seconds.iter().flat_map(|s| s.ops(OpKind::Sync));
    if flushes().any(|op| op.errors.total() > 0) {
        return None;
    }
    let workers = u64::from(trial.workload.workers.max(1));
    let batch = u64::from(every).saturating_mul(trial.workload.max_block_bytes());
    Some(workers.saturating_mul(batch))
}

/// Dirty bytes of the host when the load began. The first observation ends
/// after that: what the trial itself wrote until then is taken off.
fn dirty_before(trial: &Trial<'_>) -> Option<u64> {
    let first = trial.record.observations.first()?;
    let memory = first.memory?;
    let until = observation_end(first);
    let own: f64 = trial
        .seconds
        .iter()
        .map(|second| {
            let bytes = second.ops(OpKind::Write).map(|op| op.bytes as f64);
            let start_ns = i64::try_from(second.start_ns).unwrap_or(i64::MAX);
            let share = overlap(start_ns, second.duration_ns, (i64::MIN, until));
            bytes.sum::<f64>() * share
        })
        .sum();
    let dirty = memory.dirty_bytes.saturating_add(memory.writeback_bytes);
    Some(dirty.saturating_sub(own as u64))
}
