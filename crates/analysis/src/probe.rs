//! Probes: which trial would tell device from depth, and device from cap?
//!
//! The one is at twice the depth, the other at half the rate (`pace_probe`). Asked after every trial. A probe is worth its time when the last iteration
//! of a row has just ended, its limiter is unknown, more depth could have an
//! effect, and no other trial of the schedule answers the question anyway.

use std::collections::VecDeque;

use fathom_model::Fingerprint;
use fathom_model::conduct::{Conductor, Step};
use fathom_model::run::{RunRecord, RunState, TrialRecord};
use fathom_model::schedule::{Purpose, Schedule, ScheduledTrial, TrialRole};
use fathom_model::verdict::{FindingStatus, Limiter, Validity, Verdict};
use fathom_model::workload::{
    Bounds, DataSet, EngineKind, FailIf, Precondition, WorkerBounds, WorkerRegion, Workload,
};
use fathom_rules::check;
use fathom_rules::check::v21::{
    DEEPEST, LEAST_PROBE_NS as LEAST_NS, LEAST_ROW_NS, MOST_PROBE_NS as MOST_NS, WARMUP_NS,
};

use crate::filling_queue;
use crate::judge::judge_trials;
use crate::knee::{depth_matters, same_shape};
use crate::pace_probe::pace_probe;
use crate::trial::Trial;

/// The trial that would tell whether the depth or the device set the number of
/// the trial that ended last; `None` when it is known, cannot be told so, or is
/// told by another trial of the schedule.
pub fn depth_probe(record: &RunRecord) -> Option<ScheduledTrial> {
    let (last, earlier) = record.trials.split_last()?;
    let probed: Vec<u32> = earlier
        .iter()
        .filter(|t| t.spec.role == TrialRole::Probe)
        .map(|t| t.spec.row)
        .collect();
    let ran: Vec<u32> = record.trials.iter().map(|t| t.spec.index).collect();
    probe_after(
        &record.meta.schedule,
        &record.meta.host,
        earlier,
        last,
        &Done {
            probed,
            ran,
            ..Done::default()
        },
    )
}

/// Hands out the trials of a schedule in order, and probes after each row whose
/// limiter they would tell.
#[derive(Debug)]
pub struct Probing {
    schedule: Schedule,
    host: Fingerprint,
    left: VecDeque<ScheduledTrial>,
    /// Trials with a sibling at another depth, which may explain it.
    siblings: Vec<TrialRecord>,
    /// The row that ended last, and its probe at twice the depth.
    row: Vec<TrialRecord>,
    done: Done,
}

/// What has ended.
#[derive(Debug, Default)]
struct Done {
    /// Rows that have their probe.
    probed: Vec<u32>,
    /// Indexes of the trials.
    ran: Vec<u32>,
    /// Rows that have their probe at half the rate.
    paced: Vec<u32>,
}

impl Probing {
    /// Walks this schedule on a host with these facts.
    pub fn new(schedule: &Schedule, host: Fingerprint) -> Probing {
        Probing {
            left: schedule.trials.iter().cloned().collect(),
            schedule: schedule.clone(),
            host,
            siblings: Vec::new(),
            row: Vec::new(),
            done: Done::default(),
        }
    }

    /// The probe at half the rate that the row which ended last asks for.
    fn paced(&mut self) -> Option<ScheduledTrial> {
        let (row, probe) = self.row.split_first()?;
        let number = row.spec.row;
        let left = |t: &ScheduledTrial| t.row == number && !self.done.ran.contains(&t.index);
        if self.done.paced.contains(&number) || self.schedule.trials.iter().any(left) {
            return None;
        }
        let siblings = self
            .siblings
            .iter()
            .filter(|t| t.spec.index != row.spec.index);
        let around: Vec<&TrialRecord> = siblings.chain(probe).collect();
        let probe = pace_probe(&self.schedule, &self.host, &around, row)?;
        self.done.paced.push(number);
        Some(ScheduledTrial {
            index: next_index(&self.schedule, &self.done.ran),
            ..probe
        })
    }

    fn has_sibling(&self, spec: &ScheduledTrial) -> bool {
        let planned = &self.schedule.trials;
        planned.iter().any(|other| {
            other.row != spec.row
                && other.target == spec.target
                && same_shape(&other.workload, &spec.workload)
        })
    }
}

impl Conductor for Probing {
    fn next(&mut self, last: &[TrialRecord]) -> Step {
        // What ran beside others is no base for a probe that runs alone.
        if last.len() > 1 {
            let ended = last.iter().map(|trial| trial.spec.index);
            self.done.ran.extend(ended);
        }
        if let [last] = last {
            self.done.ran.push(last.spec.index);
            let probe = probe_after(&self.schedule, &self.host, &self.siblings, last, &self.done);
            match last.spec.role {
                TrialRole::Measure => {
                    if self.has_sibling(&last.spec) {
                        self.siblings.push(last.clone());
                    }
                    self.row = vec![last.clone()];
                }
                _ => self.row.push(last.clone()),
            }
            if let Some(probe) = probe {
                self.done.probed.push(probe.row);
                return Step::Run(Box::new(probe));
            }
            if let Some(probe) = self.paced() {
                return Step::Run(Box::new(probe));
            }
        }
        Step::take(&mut self.left).unwrap_or(Step::End(None))
    }

    fn looks(&self) -> bool {
        self.schedule.depth_probe
    }
}

fn probe_after(
    schedule: &Schedule,
    host: &Fingerprint,
    earlier: &[TrialRecord],
    last: &TrialRecord,
    done: &Done,
) -> Option<ScheduledTrial> {
    let spec = &last.spec;
    if !schedule.depth_probe
        || schedule.purpose != Purpose::Measure
        || spec.role != TrialRole::Measure
        || spec.together.is_some()
        || last.state != RunState::Complete
        || done.probed.contains(&spec.row)
        || is_answered_otherwise(schedule, spec, &done.ran)
    {
        return None;
    }
    let workload = twice_as_deep(last, host)?;
    is_unknown(host, earlier, last).then(|| ScheduledTrial {
        index: next_index(schedule, &done.ran),
        iteration: 0,
        label: format!("{}, probe at twice the depth", spec.label),
        workload,
        role: TrialRole::Probe,
        ..spec.clone()
    })
}

/// An index that no trial has.
fn next_index(schedule: &Schedule, ran: &[u32]) -> u32 {
    let planned = schedule.trials.iter().map(|t| t.index);
    let highest = planned.chain(ran.iter().copied()).max().unwrap_or(0);
    highest.saturating_add(1)
}

/// Later iterations of the row come first; other rows with the same workload at
/// twice the depth or more answer the question, now or later.
fn is_answered_otherwise(schedule: &Schedule, spec: &ScheduledTrial, ran: &[u32]) -> bool {
    let deep = spec.workload.total_depth().saturating_mul(2);
    let mut planned = schedule.trials.iter().filter(|t| !t.role.is_probe());
    planned.any(|t| {
        let later_iteration = t.row == spec.row && !ran.contains(&t.index);
        let deeper = t.target == spec.target
            && t.together.is_none()
            && t.workload.engine == spec.workload.engine
            && t.workload.total_depth() >= deep
            && same_shape(&t.workload, &spec.workload);
        later_iteration || deeper
    })
}

/// The workload of the probe; `None` where depth has no meaning or cannot be
/// doubled without other files.
fn twice_as_deep(record: &TrialRecord, host: &Fingerprint) -> Option<Workload> {
    let trial = Trial::new(record, host);
    let workload = &record.spec.workload;
    // More requests that write would leave another store behind.
    let writes = workload
        .requests()
        .is_some_and(|requests| !requests.only_reads());
    // At depth 1 the latency sets the rate, and another rule says so.
    if writes
        || !depth_matters(&trial)
        || trial.total_depth() < 2
        || trial.duration_ns < LEAST_ROW_NS
        || workload.verify.is_some()
    {
        return None;
    }
    let (workers, queue_depth) = match trial.engine() {
        EngineKind::Null => return None,
        // Only workers add depth.
        engine if engine.one_at_a_time() => {
            if !workload.data_set.files.shared {
                return None;
            }
            (workload.workers.checked_mul(2)?, workload.queue_depth)
        }
        _ => (workload.workers, workload.queue_depth.checked_mul(2)?),
    };
    // A recorded list starts its operations when they are due, or a wider
    // region is another workload.
    let fixed = workload.replay().is_some() || workload.data_set.region != WorkerRegion::Split;
    if workers > DEEPEST || queue_depth > DEEPEST || fixed {
        return None;
    }
    let time_ns = (trial.duration_ns / 3).clamp(LEAST_NS, MOST_NS);
    Some(Workload {
        workers,
        queue_depth,
        ..once(workload, time_ns)
    })
}

/// The same work for so long, once, on the data that are there, and without what the
/// trial itself is to end or to fail by.
pub(crate) fn once(workload: &Workload, time_ns: u64) -> Workload {
    Workload {
        bounds: Bounds {
            time_ns: Some(time_ns),
            ..Bounds::default()
        },
        until: None,
        each_worker: WorkerBounds::default(),
        fail_if: FailIf::default(),
        warmup_ns: workload.warmup_ns.min(WARMUP_NS),
        data_set: DataSet {
            precondition: Precondition::None,
            ..workload.data_set.clone()
        },
        ..workload.clone()
    }
}

/// Judges the trial beside those of its target that may explain it.
fn is_unknown(host: &Fingerprint, earlier: &[TrialRecord], last: &TrialRecord) -> bool {
    let siblings = earlier.iter().filter(|t| {
        t.spec.target == last.spec.target && same_shape(&t.spec.workload, &last.spec.workload)
    });
    let trials: Vec<Trial<'_>> = siblings
        .chain([last])
        .map(|trial| Trial::new(trial, host))
        .collect();
    let judged = judge_trials(&trials);
    let Some((trial, judged)) = trials.last().zip(judged.last()) else {
        return false;
    };
    let verdict = &judged.verdict;
    let open = verdict.limiter.wants_evidence() || told_by_its_start(trial, verdict);
    open && verdict.validity != Validity::NotTrusted
}

/// Only the start of the trial names the device: another depth says by how much, too.
fn told_by_its_start(trial: &Trial<'_>, verdict: &Verdict) -> bool {
    let other_depth = verdict.findings.iter().find(|f| f.id == check::id::V21);
    verdict.limiter == Limiter::Device
        && other_depth.is_some_and(|f| f.status == FindingStatus::NotMeasured)
        && filling_queue::saturated(trial).is_some()
}

#[cfg(test)]
#[path = "probe_tests.rs"]
mod tests;
