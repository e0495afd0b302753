//! V20, V23: was the load the one that was asked for?

use fathom_model::Sample;
use fathom_model::judged::LatencySummary;
use fathom_model::unit;
use fathom_model::verdict::{Finding, FindingStatus};
use fathom_model::workload::{Arrival, RateUnit};
use fathom_rules::check::v20::{KERNEL_SHARE, LEAST_OPS_PER_SLOT};
use fathom_rules::{Rule, TargetKind, check};

use super::Facts;
use crate::outcome::{Outcome, grade};
use crate::schedule_lag::{full_share, longest_unexplained_ns};
use crate::trial::Trial;

/// Queue depth that was kept over the one that was asked for, without the last
/// second, in which the workers end one by one.
pub(crate) fn depth_kept(trial: &Trial<'_>) -> Option<f64> {
    let count = trial.measured().count();
    let used = if count >= 3 { count - 1 } else { count };
    let (mut area, mut wanted) = (0.0, 0.0);
    for second in trial.measured().take(used) {
        let workers: f64 = second.groups.iter().map(|g| f64::from(g.workers)).sum();
        let in_flight = second.groups.iter().map(|g| g.in_flight_ns as f64);
        area += in_flight.sum::<f64>();
        wanted += second.duration_ns as f64 * workers * trial.depth() as f64;
    }
    (wanted > 0.0 && area > 0.0).then(|| area / wanted)
}

/// Whether operations are always there to be done: in a closed loop, and in an open one
/// that is due more than it gets.
pub(crate) fn asks_all_the_time(trial: &Trial<'_>) -> bool {
    match trial.open_loop() {
        false => trial.workload.think_ns == 0,
        true => achieved(trial).is_some_and(|rate| !rate.reached()),
    }
}

/// V20: Little's law against the requested depth.
pub(super) fn little(facts: &Facts<'_>) -> Option<Outcome> {
    const RULE: &Rule = check::V20;
    let trial = facts.trial;
    // Operations on files are the worker's own calls: there is no queue.
    let no_queue = trial.workload.files_work().is_some() || trial.kind == TargetKind::Null;
    if trial.open_loop() || trial.workload.think_ns > 0 || no_queue {
        return None;
    }
    let enough = trial.total_depth().saturating_mul(LEAST_OPS_PER_SLOT);
    if trial.data_ops() < enough {
        let reason = "too few operations to tell what depth was kept";
        return Some(Outcome::not_measured(RULE, reason));
    }
    let Some(kept) = depth_kept(trial) else {
        return Some(Outcome::not_measured(
            RULE,
            "operations in flight were not recorded",
        ));
    };
    let total = trial.total_depth();
    let alone = match trial.depth() < u64::from(trial.workload.queue_depth) {
        true => format!("; the engine {} works one at a time", trial.engine().name()),
        false => String::new(),
    };
    let busy_otherwise = slot_taken(trial);
    let note = busy_otherwise.map(|n| format!("; {n}")).unwrap_or_default();
    let evidence = format!(
        "{:.2} of {} operations were in flight on average ({:.1} %){alone}{note}",
        kept * total as f64,
        unit::group(total),
        100.0 * kept,
    );
    let short = kept < 1.0 && grade(RULE, kept).0 != FindingStatus::Pass;
    if let (Some(cost), None, true) = (submission_cost(trial, kept), busy_otherwise, short) {
        let evidence = format!("{evidence}; {}", cost.text);
        let remedy = "Submission takes CPU time, during which the operation is not in flight: use \
                      more workers with a smaller depth each; look at V22.";
        let outcome = Outcome::graded(RULE, kept, evidence).with_remedy(remedy);
        // Every program pays what the kernel takes: no other generator keeps more. What
        // fathom itself takes may be too little to matter.
        let own_part = (1.0 - kept) * (1.0 - cost.kernel_share);
        let kernel = cost.kernel_share >= KERNEL_SHARE
            || RULE.caveat.is_some_and(|least| 1.0 - own_part >= least);
        let enough = RULE.invalid.is_some_and(|least| kept >= least);
        return Some(match kernel && enough {
            true => outcome.at_most(FindingStatus::Info),
            false => outcome,
        });
    }
    let outcome = Outcome::graded(RULE, kept, evidence);
    Some(match busy_otherwise {
        Some(_) if kept < 1.0 => outcome.at_most(FindingStatus::Info),
        _ => outcome,
    })
}

/// CPU time of submitting and completing.
struct SubmissionCost {
    /// The kernel's part of it.
    kernel_share: f64,
    text: String,
}

/// Submission that costs so much CPU time that it explains the missing depth.
/// A worker that goes through a batch of completions has on average half of it
/// out of flight, and a batch holds at most the depth: while it computes for a
/// share b of the time, up to b/2 of its depth can be missing.
fn submission_cost(trial: &Trial<'_>, kept: f64) -> Option<SubmissionCost> {
    let ops = trial.data_ops() as f64;
    let workers = f64::from(trial.workload.workers.max(1));
    let sum = |field: fn(&Sample) -> u64| {
        let seconds = trial.measured().map(|second| second.sum(field) as f64);
        seconds.sum::<f64>()
    };
    let (user, system) = (sum(|s| s.cpu_user_ns), sum(|s| s.cpu_system_ns));
    let busy = (user + system) / (trial.duration_ns as f64 * workers);
    let explained = trial.depth() > 1 && !trial.workload.poll && 1.0 - kept <= busy / 2.0;
    (ops > 0.0 && explained).then(|| SubmissionCost {
        kernel_share: system / (user + system).max(1.0),
        text: format!(
            "submitting and completing one takes {} of CPU time, {} of it in the kernel, and \
             the workers were busy with that for {:.0} % of the time",
            unit::latency((user + system) / ops),
            unit::latency(system / ops),
            100.0 * busy.min(1.0)
        ),
    })
}

/// What else occupies a worker between operations, by design.
fn slot_taken(trial: &Trial<'_>) -> Option<&'static str> {
    let workload = trial.workload;
    if workload.each_worker.is_bounded() {
        return Some("workers end one by one, each at its own bound");
    }
    if workload.trim_first {
        return Some("each write waits for the trim of its block");
    }
    if workload.sync.every_writes > 0 {
        return Some("flushes take the slot in between");
    }
    if workload.sync.ranges.is_some() {
        return Some("calls of sync_file_range take the slot in between");
    }
    if workload.verify.is_some_and(|v| v.on_read) {
        return Some("checking of contents takes the slot in between");
    }
    None
}

/// Operations or bytes per second that an open loop achieved, what it was
/// asked for, and how far below that still counts as reached.
pub(crate) struct Achieved {
    pub(crate) share: f64,
    pub(crate) tolerance: f64,
    pub(crate) text: String,
}

pub(crate) fn achieved(trial: &Trial<'_>) -> Option<Achieved> {
    let rate = trial.workload.total_rate()?;
    let seconds = trial.duration_seconds();
    if !(rate.per_second.is_finite() && rate.per_second > 0.0 && seconds > 0.0) {
        return None;
    }
    let ops = trial.data_ops() as f64;
    let done = match rate.unit {
        RateUnit::Ops => ops,
        RateUnit::Bytes => trial.data_bytes() as f64,
    };
    let got = done / seconds;
    // Operations that were due and still in flight at the end, and one per
    // worker that was due at the very boundary.
    let edge = trial.mean_in_flight().unwrap_or(0.0) + f64::from(trial.workload.workers) + 1.0;
    let chance = match rate.arrival {
        Arrival::Constant => 0.0,
        Arrival::Poisson => check::v23::CHANCE_DEVIATIONS * ops.sqrt(),
    };
    let amount = |per_second: f64| match rate.unit {
        RateUnit::Ops => format!("{} ops/s", unit::count(per_second)),
        RateUnit::Bytes => unit::throughput(per_second),
    };
    Some(Achieved {
        share: got / rate.per_second,
        tolerance: (edge + chance) / ops.max(1.0),
        text: format!(
            "{} of the {} target ({:.1} %)",
            amount(got),
            amount(rate.per_second),
            100.0 * got / rate.per_second
        ),
    })
}

impl Achieved {
    /// Whether the rate was reached within the table's threshold and slack.
    pub(crate) fn reached(&self) -> bool {
        self.share + self.tolerance >= check::v23::CAVEAT
    }
}

/// How the evidence of V23 begins when the load was more than the target took,
/// and not only submitted late.
const NOT_REACHED: &str = "the rate was not reached";

/// Whether a finding of V23 says that the load was more than the target took.
pub fn is_rate_not_reached(finding: &Finding) -> bool {
    finding.id == check::id::V23 && finding.evidence.starts_with(NOT_REACHED)
}

/// V23: did the open loop keep its rate, and submit on time?
pub(super) fn open_loop_lag(facts: &Facts<'_>) -> Option<Outcome> {
    const RULE: &Rule = check::V23;
    let trial = facts.trial;
    if !trial.open_loop() {
        return None;
    }
    let (Some(achieved), true) = (achieved(trial), trial.data_ops() > 0) else {
        return Some(Outcome::not_measured(RULE, "no operation completed"));
    };
    let threshold = RULE.caveat;
    if !achieved.reached() {
        let evidence = format!("{NOT_REACHED}: {}", achieved.text);
        let status = FindingStatus::Caveat;
        return Some(Outcome::decided(
            RULE,
            status,
            achieved.share,
            threshold,
            evidence,
        ));
    }
    let share = achieved.share;
    let Some(lag) = facts.summary.lateness.as_ref().and_then(p99) else {
        let lag = match facts.summary.lateness {
            Some(_) => "too few operations for the 99th percentile of the schedule lag",
            None => "the schedule lag was not recorded",
        };
        let evidence = format!("{}; {lag}", achieved.text);
        return Some(Outcome::decided(
            RULE,
            FindingStatus::Info,
            share,
            threshold,
            evidence,
        ));
    };
    let service = facts.summary.ops.iter().filter(|op| op.kind.is_data());
    let service = service
        .filter_map(|op| p99(&op.service))
        .fold(0.0, f64::max);
    // The null target is done before the generator has looked at its clock.
    let late = lag > service && service > 0.0 && trial.kind != TargetKind::Null;
    let cause = late.then(|| {
        let own = longest_unexplained_ns(trial) as f64 > service;
        LateBecause::of(own, full_share(trial))
    });
    let whose = cause.map(LateBecause::words).unwrap_or_default();
    let evidence = format!(
        "{}; 99th percentile of the schedule lag {}, of the service latency {}{whose}",
        achieved.text,
        unit::latency(lag),
        unit::latency(service)
    );
    let status = match cause {
        Some(_) => FindingStatus::Caveat,
        None => FindingStatus::Pass,
    };
    let outcome = Outcome::decided(RULE, status, share, threshold, evidence);
    Some(match cause {
        Some(LateBecause::Either { .. }) => outcome.with_remedy(EITHER_REMEDY),
        _ => outcome,
    })
}

/// What to do where the rate was reached and neither side is proved to be late.
const EITHER_REMEDY: &str = "More depth (--iodepth) lets operations start on time behind a slow one. Where the lag \
                             stays, this host sends late: see V27 and V37.";

/// Why operations of an open loop that kept its rate were submitted late.
#[derive(Clone, Copy)]
enum LateBecause {
    /// A worker had room and did not run.
    Own,
    /// The target had not finished what filled the queue.
    FullQueue,
    /// The queue was full for a small part of the time at most: stops of the
    /// target within it, or of this host, look alike.
    Either { full_share: f64 },
}

impl LateBecause {
    fn of(own: bool, full_share: f64) -> LateBecause {
        match own {
            true => LateBecause::Own,
            false if full_share >= check::v23::MOSTLY_FULL => LateBecause::FullQueue,
            false => LateBecause::Either { full_share },
        }
    }

    fn words(self) -> String {
        match self {
            LateBecause::Own => "; fathom had room and came late".to_owned(),
            LateBecause::FullQueue => {
                "; the target kept the queue full meanwhile, so operations waited for a slot"
                    .to_owned()
            }
            LateBecause::Either { full_share } => {
                let percent = (100.0 * full_share).ceil();
                format!(
                    "; the queue was full for at most {percent:.0} % of the time, so short stops of the \
                     target or of this host held operations back"
                )
            }
        }
    }
}

fn p99(latency: &LatencySummary) -> Option<f64> {
    let found = latency.percentiles.iter().find(|p| p.percent == 99.0)?;
    found.latency_ns.value
}

#[cfg(test)]
#[path = "load_tests.rs"]
mod tests;
