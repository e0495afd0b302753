//! V22, V27: was it fathom itself?

use fathom_model::unit;
use fathom_model::verdict::FindingStatus;
use fathom_model::workload::RateUnit;
use fathom_rules::{Rule, TargetKind, check};

use super::Facts;
use super::generator_cpu::{CpuBound, busiest_thread, cpu_bound};
use crate::outcome::{Outcome, grade};
use crate::schedule_lag::longest_unexplained_ns;
use crate::summary::usable;
use crate::trial::Trial;

/// Result over the ceiling of the null target; `None` when there is none or it
/// was itself held back by an asked-for rate or think time.
pub(crate) fn share_of_ceiling(trial: &Trial<'_>) -> Option<f64> {
    let ceiling = trial.end()?.ceiling.filter(usable)?.ops_per_second;
    let result = trial.data_ops() as f64 / trial.duration_seconds();
    if trial.workload.think_ns > 0 {
        return None;
    }
    let paced = trial.workload.total_rate();
    if paced.is_none() && trial.workload.is_open_loop() && trial.workload.replay().is_none() {
        return None;
    }
    if let Some(rate) = paced {
        let asked = match rate.unit {
            RateUnit::Ops => rate.per_second,
            RateUnit::Bytes => rate.per_second / trial.workload.max_block_bytes().max(1) as f64,
        };
        if ceiling < check::v22::ROOM_OVER_PACE * asked {
            return None;
        }
    }
    (result.is_finite() && trial.duration_ns > 0).then(|| result / ceiling)
}

/// Share of time that the busiest worker thread computed; `None` where polling
/// makes it meaningless.
pub(crate) fn busy_worker(trial: &Trial<'_>) -> Option<f64> {
    match trial.workload.poll {
        true => None,
        false => trial.busiest_worker_share(),
    }
}

/// V22: how far below its own limit did the generator work?
pub(super) fn ceiling(facts: &Facts<'_>) -> Option<Outcome> {
    const RULE: &Rule = check::V22;
    let trial = facts.trial;
    if trial.kind == TargetKind::Null {
        return None;
    }
    if trial.kind == TargetKind::Sim {
        let reason = "a simulated drive runs under a virtual clock";
        return Some(Outcome::not_measured(RULE, reason));
    }
    if trial.data_ops() == 0 {
        return Some(Outcome::not_measured(RULE, "no operation completed"));
    }
    let bound = cpu_bound(trial);
    let cpu = match &bound {
        Some(bound) => Some(bound.text.clone()),
        None => busiest_thread(trial),
    };
    let caveat = |bound: &CpuBound, evidence: String| {
        let limit = Some(bound.limit);
        Outcome::decided(RULE, FindingStatus::Caveat, bound.share, limit, evidence)
    };
    let Some(share) = share_of_ceiling(trial) else {
        let known = cpu.map(|c| format!(" ({c})")).unwrap_or_default();
        return Some(match &bound {
            Some(bound) => caveat(bound, bound.text.clone()),
            None => Outcome::not_measured(
                RULE,
                format!("the ceiling of the generator is not known for this load{known}"),
            ),
        });
    };
    let ceiling = trial
        .end()
        .and_then(|e| e.ceiling)
        .map_or(0.0, |c| c.ops_per_second);
    let evidence = format!(
        "the result is {:.1} % of the {} ops/s that the generator reaches without a target{}",
        100.0 * share,
        unit::count(ceiling.min(1e15)),
        cpu.map(|c| format!("; {c}")).unwrap_or_default(),
    );
    let (status, threshold) = grade(RULE, share);
    match &bound {
        Some(bound) if status < FindingStatus::Caveat => Some(caveat(bound, evidence)),
        _ => Some(Outcome::decided(RULE, status, share, threshold, evidence)),
    }
}

/// V27: did the generator stop?
pub(super) fn stall(facts: &Facts<'_>) -> Option<Outcome> {
    const RULE: &Rule = check::V27;
    let trial = facts.trial;
    if trial.kind == TargetKind::Sim {
        let reason = "a simulated drive runs under a virtual clock";
        return Some(Outcome::not_measured(RULE, reason));
    }
    if trial.duration_ns == 0 {
        return Some(Outcome::not_measured(RULE, "nothing was measured"));
    }
    let stopped = trial
        .measured()
        .map(|second| second.largest(|g| g.longest_stall_ns));
    let stopped_ns = stopped.max().unwrap_or(0);
    let longest_ns = stopped_ns.max(longest_unexplained_ns(trial));
    let share = longest_ns as f64 / trial.duration_ns as f64;
    let caveat = check::v27::CAVEAT;
    let seconds = longest_ns as f64 / 1e9;
    let (status, what) = match seconds >= caveat {
        false => (FindingStatus::Pass, "the longest stop of a worker was"),
        true if share > check::v27::INVALID_SHARE => (
            FindingStatus::Invalid,
            "the generator itself stood still for",
        ),
        true => (
            FindingStatus::Caveat,
            "the generator itself stood still for",
        ),
    };
    let evidence = format!(
        "{what} {}, {:.2} % of the measure phase",
        unit::latency(longest_ns as f64),
        100.0 * share
    );
    Some(Outcome::decided(
        RULE,
        status,
        seconds,
        Some(caveat),
        evidence,
    ))
}

#[cfg(test)]
#[path = "generator_tests.rs"]
mod tests;
