//! The probe at twice the depth: which trial would tell device from depth?
//!
//! Asked after every trial. A probe is worth its time when the last iteration
//! of a row has just ended, its limiter is unknown, more depth could have an
//! effect, and no other trial of the schedule answers the question anyway.

use fathom_model::run::{RunRecord, RunState, TrialRecord};
use fathom_model::schedule::{ScheduledTrial, TrialRole};
use fathom_model::verdict::{Limiter, Validity};
use fathom_model::workload::{Bounds, EngineKind, Precondition, Workload};

use crate::judge::judge_trials;
use crate::knee::{depth_matters, same_shape};
use crate::trial::Trial;

/// Rows that are shorter have no time for a probe.
const LEAST_ROW_NS: u64 = 5_000_000_000;
const LEAST_NS: u64 = 3_000_000_000;
const MOST_NS: u64 = 15_000_000_000;
const WARMUP_NS: u64 = 1_000_000_000;
/// Deeper queues than this are not asked for.
const DEEPEST: u32 = 4096;

/// The trial that would tell whether the depth or the device set the number of
/// the trial that ended last; `None` when it is known, cannot be told so, or is
/// told by another trial of the schedule.
pub fn depth_probe(record: &RunRecord) -> Option<ScheduledTrial> {
    let last = record.trials.last()?;
    let spec = &last.spec;
    if !record.meta.schedule.depth_probe
        || spec.role != TrialRole::Row
        || last.state != RunState::Complete
        || is_answered_otherwise(record, spec)
    {
        return None;
    }
    let workload = twice_as_deep(last, &record.meta.host)?;
    is_unknown(record, last).then(|| ScheduledTrial {
        index: next_index(record),
        iteration: 0,
        label: format!("{}, probe at twice the depth", spec.label),
        workload,
        role: TrialRole::DepthProbe,
        ..spec.clone()
    })
}

fn next_index(record: &RunRecord) -> u32 {
    let ran = record.trials.iter().map(|t| t.spec.index);
    let planned = record.meta.schedule.trials.iter().map(|t| t.index);
    ran.chain(planned).max().unwrap_or(0).saturating_add(1)
}

/// Later iterations of the row come first; other rows with the same workload at
/// twice the depth or more answer the question, now or later.
fn is_answered_otherwise(record: &RunRecord, spec: &ScheduledTrial) -> bool {
    let ran = |index: u32| record.trials.iter().any(|t| t.spec.index == index);
    let probed = record
        .trials
        .iter()
        .any(|t| t.spec.row == spec.row && t.spec.role == TrialRole::DepthProbe);
    let deep = spec.workload.total_depth().saturating_mul(2);
    let planned = &record.meta.schedule.trials;
    probed
        || planned
            .iter()
            .filter(|t| t.role == TrialRole::Row)
            .any(|t| {
                let later_iteration = t.row == spec.row && !ran(t.index);
                let deeper = t.target == spec.target
                    && t.workload.engine == spec.workload.engine
                    && t.workload.total_depth() >= deep
                    && same_shape(&t.workload, &spec.workload);
                later_iteration || deeper
            })
}

/// The workload of the probe; `None` where depth has no meaning or cannot be
/// doubled without other files.
fn twice_as_deep(record: &TrialRecord, host: &fathom_model::Fingerprint) -> Option<Workload> {
    let trial = Trial::new(record, host);
    let workload = &record.spec.workload;
    // At depth 1 the latency sets the rate, and another rule says so.
    if !depth_matters(&trial)
        || trial.total_depth() < 2
        || trial.duration_ns < LEAST_ROW_NS
        || workload.verify.is_some()
    {
        return None;
    }
    let (workers, queue_depth) = match trial.engine() {
        // They work one at a time, so only workers add depth.
        EngineKind::Psync | EngineKind::Mmap if !workload.files.shared => return None,
        EngineKind::Psync | EngineKind::Mmap => {
            (workload.workers.checked_mul(2)?, workload.queue_depth)
        }
        EngineKind::Null => return None,
        _ => (workload.workers, workload.queue_depth.checked_mul(2)?),
    };
    if workers > DEEPEST || queue_depth > DEEPEST {
        return None;
    }
    Some(Workload {
        workers,
        queue_depth,
        bounds: Bounds {
            time_ns: Some((trial.duration_ns / 3).clamp(LEAST_NS, MOST_NS)),
            ..Bounds::default()
        },
        warmup_ns: workload.warmup_ns.min(WARMUP_NS),
        precondition: Precondition::None,
        ..workload.clone()
    })
}

/// Judges the trial beside those of its target that may explain it.
fn is_unknown(record: &RunRecord, last: &TrialRecord) -> bool {
    let same_target = record.trials.iter().filter(|t| {
        t.spec.target == last.spec.target && same_shape(&t.spec.workload, &last.spec.workload)
    });
    let trials: Vec<Trial<'_>> = same_target
        .map(|trial| Trial::new(trial, &record.meta.host))
        .collect();
    let judged = judge_trials(&trials);
    judged.last().is_some_and(|judged| {
        judged.verdict.limiter == Limiter::Unknown
            && judged.verdict.validity != Validity::NotTrusted
    })
}

#[cfg(test)]
#[path = "probe_tests.rs"]
mod tests;
