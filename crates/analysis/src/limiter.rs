//! What set the number?
//!
//! Names are given from the surest evidence to the least sure, and only on
//! proof: a wrong name sends people to buy the wrong part. Without proof the
//! limiter is unknown, with what was excluded and what would tell.

use fathom_model::estimate::Estimate;
use fathom_model::op::OpKind;
use fathom_model::unit;
use fathom_model::verdict::{Finding, FindingStatus, Limiter};
use fathom_model::workload::Workload;

use crate::check_table::TargetKind;
use crate::checks::{Facts, achieved, busy_worker, depth_kept, in_memory, share_of_ceiling};
use crate::outcome::check;
use crate::plateau::plateau;
use crate::trial::Trial;

/// A name and its evidence.
pub(crate) type Named = (Limiter, String);

/// Names the limiter when its evidence is complete.
type Rule = fn(&Facts<'_>, &[Finding]) -> Option<Named>;

/// Share of time in flushes from which on they set the rate.
const FLUSH_SHARE: f64 = 0.5;
/// Largest block for which one operation at a time is ruled by latency rather
/// than by the transfer itself.
const LATENCY_BOUND_BYTES: u64 = 65_536;

/// What limited one trial, from its own evidence.
pub(crate) fn of_trial(facts: &Facts<'_>, findings: &[Finding]) -> Named {
    let trial = facts.trial;
    if trial.data_ops() == 0 {
        return (Limiter::Unknown, "no operation was completed".to_owned());
    }
    if trial.kind == TargetKind::Null {
        let evidence = "the null target does nothing: this is the generator's own rate";
        return (Limiter::GeneratorCpu, evidence.to_owned());
    }
    let rules: [Rule; 8] = [
        by_rate,
        by_memory,
        by_cache,
        by_generator,
        by_foreign_load,
        by_flush,
        by_cap,
        by_depth,
    ];
    rules
        .iter()
        .find_map(|rule| rule(facts, findings))
        .unwrap_or_else(|| (Limiter::Unknown, unknown(facts)))
}

fn status(findings: &[Finding], id: &str) -> Option<FindingStatus> {
    findings.iter().find(|f| f.id == id).map(|f| f.status)
}

fn evidence(findings: &[Finding], id: &str) -> String {
    let finding = findings.iter().find(|f| f.id == id);
    finding
        .map(|f| format!("{}: {}", f.id, f.evidence))
        .unwrap_or_default()
}

fn by_rate(facts: &Facts<'_>, _: &[Finding]) -> Option<Named> {
    let achieved = achieved(facts.trial)?;
    let text = format!("the rate that was asked for was reached: {}", achieved.text);
    achieved.reached().then_some((Limiter::Rate, text))
}

fn by_memory(facts: &Facts<'_>, _: &[Finding]) -> Option<Named> {
    let text = "the data never leave memory";
    in_memory(facts).then(|| (Limiter::Memory, text.to_owned()))
}

fn by_cache(_: &Facts<'_>, findings: &[Finding]) -> Option<Named> {
    // V01 alone proves it: what the device did not move, something else did.
    let proven = status(findings, "V01") == Some(FindingStatus::Invalid);
    // A warm file counts where V01 could not look.
    let warm = status(findings, "V02") == Some(FindingStatus::Invalid)
        && matches!(
            status(findings, "V01"),
            None | Some(FindingStatus::NotMeasured)
        );
    match (proven, warm) {
        (true, _) => Some((Limiter::Cache, evidence(findings, "V01"))),
        (_, true) => Some((Limiter::Cache, evidence(findings, "V02"))),
        _ => None,
    }
}

fn by_generator(facts: &Facts<'_>, findings: &[Finding]) -> Option<Named> {
    let table = check("V22");
    let near = share_of_ceiling(facts.trial).is_some_and(|s| s > table.invalid.unwrap_or(1.0));
    let busy = busy_worker(facts.trial).is_some_and(|b| b > table.busy_thread.unwrap_or(1.0));
    (near || busy).then(|| (Limiter::GeneratorCpu, evidence(findings, "V22")))
}

fn by_foreign_load(_: &Facts<'_>, findings: &[Finding]) -> Option<Named> {
    (status(findings, "V30") == Some(FindingStatus::Invalid))
        .then(|| (Limiter::ForeignLoad, evidence(findings, "V30")))
}

fn by_flush(facts: &Facts<'_>, _: &[Finding]) -> Option<Named> {
    let trial = facts.trial;
    let in_syncs: f64 = trial
        .measured()
        .flat_map(|s| s.ops(OpKind::Sync))
        .map(|op| op.service.sum() as f64)
        .sum();
    let workers = f64::from(trial.workload.workers.max(1));
    let share = in_syncs / (trial.duration_ns as f64 * workers).max(1.0);
    if share > FLUSH_SHARE {
        let text = format!(
            "the workers spent {:.0} % of their time waiting for flushes",
            100.0 * share.min(1.0)
        );
        return Some((Limiter::Flush, text));
    }
    let flush = trial.end().and_then(|end| end.final_flush_ns)? as f64;
    let share = flush / (flush + trial.duration_ns as f64).max(1.0);
    (share > FLUSH_SHARE).then(|| {
        let text = format!(
            "the final flush took {:.0} % of the whole time",
            100.0 * share
        );
        (Limiter::Flush, text)
    })
}

fn by_cap(facts: &Facts<'_>, _: &[Finding]) -> Option<Named> {
    plateau(facts).map(|text| (Limiter::Cap, text))
}

/// One operation at a time, and the device was idle in between.
fn by_depth(facts: &Facts<'_>, findings: &[Finding]) -> Option<Named> {
    let trial = facts.trial;
    let workload = trial.workload;
    let small = workload.block.max_bytes() <= LATENCY_BOUND_BYTES;
    let alone = trial.total_depth() == 1 && !trial.open_loop() && workload.think_ns == 0;
    let trusted = !matches!(
        status(findings, "V01"),
        Some(FindingStatus::Invalid | FindingStatus::Caveat)
    );
    let queue = facts.activity.as_ref().ok()?.mean_queue;
    // Buffered I/O is carried out by the kernel in its own order and depth.
    (alone && small && trusted && trial.direct() && queue < 1.0).then(|| {
        let text = format!(
            "one operation at a time: latency sets the rate; the device had {queue:.2} requests \
             in its queue on average"
        );
        (Limiter::QueueDepth, text)
    })
}

fn unknown(facts: &Facts<'_>) -> String {
    let trial = facts.trial;
    let mut parts: Vec<String> = Vec::new();
    match share_of_ceiling(trial) {
        Some(share) => parts.push(format!(
            "the generator worked at {:.0} % of its ceiling",
            100.0 * share
        )),
        None => parts.push("the generator's ceiling is not known".to_owned()),
    }
    if let (Some(kept), false) = (depth_kept(trial), trial.open_loop()) {
        parts.push(format!(
            "{:.0} % of {} operations were kept in flight",
            100.0 * kept,
            unit::group(trial.total_depth())
        ));
    }
    match &facts.activity {
        Ok(activity) => parts.push(format!(
            "the device had {:.1} requests in its queue",
            activity.mean_queue
        )),
        Err(reason) => parts.push(reason.clone()),
    }
    format!(
        "nothing is proved: {}; the same workload at twice the depth would tell device from depth",
        parts.join(", ")
    )
}

/// One trial of a run for comparison with its siblings.
pub(crate) struct Member<'a> {
    pub(crate) trial: &'a Trial<'a>,
    pub(crate) rate: Option<&'a Estimate>,
    pub(crate) named: Named,
    /// Whether its number may serve as evidence.
    pub(crate) usable: bool,
}

/// Throughput may grow by this much at twice the depth and the device still
/// counts as saturated.
const KNEE: f64 = 0.05;

/// What the trials of a run prove about one another: the same workload on the
/// same target at another depth. Throughput is concave in depth (asymptotic
/// bounds, Denning & Buzen 1978), so a rise from a lower depth also bounds the
/// rise to twice the own one.
pub(crate) fn by_siblings(members: &[Member<'_>], index: usize) -> Option<Named> {
    let own = &members[index];
    if own.named.0 != Limiter::Unknown || !own.usable {
        return None;
    }
    members
        .iter()
        .enumerate()
        .filter(|(i, other)| *i != index && other.usable && same_but_depth(own, other))
        .find_map(|(_, other)| compare_depths(own, other))
}

fn same_but_depth(own: &Member<'_>, other: &Member<'_>) -> bool {
    let shape = |trial: &Trial<'_>| Workload {
        name: String::new(),
        workers: 1,
        queue_depth: 1,
        batch: 0,
        bounds: fathom_model::workload::Bounds::default(),
        until: None,
        ..trial.workload.clone()
    };
    own.trial.record.spec.target == other.trial.record.spec.target
        && own.trial.engine() == other.trial.engine()
        && !own.trial.open_loop()
        && own.trial.workload.think_ns == 0
        && shape(own.trial) == shape(other.trial)
}

fn compare_depths(own: &Member<'_>, other: &Member<'_>) -> Option<Named> {
    let (mine, theirs) = (
        own.trial.total_depth() as f64,
        other.trial.total_depth() as f64,
    );
    let (low, rate, high) = (own.rate?.low?, own.rate?.value?, own.rate?.high?);
    let (their_low, their_high) = (other.rate?.low?, other.rate?.high?);
    if !(low > 0.0 && their_low > 0.0) {
        return None;
    }
    let with = |what: &str, growth: f64| {
        format!(
            "at {} operations in flight in place of {} {what} ({:+.1} %)",
            unit::group(theirs as u64),
            unit::group(mine as u64),
            100.0 * growth
        )
    };
    let at_least = their_low / high - 1.0;
    let at_most = their_high / low - 1.0;
    if theirs > mine && at_least > KNEE {
        return Some((Limiter::QueueDepth, with("throughput was higher", at_least)));
    }
    if theirs >= 2.0 * mine && at_most <= KNEE {
        let text = with("throughput was no higher", at_most);
        return Some((Limiter::Device, saturated(text)));
    }
    if mine > theirs {
        // Slope of the chord from the lower depth, continued to twice the own.
        let bound = (high - their_low) / (mine - theirs) * mine / rate;
        if (bound - KNEE).is_sign_negative() {
            let text = with("throughput was hardly lower", their_low / high - 1.0);
            return Some((Limiter::Device, saturated(text)));
        }
    }
    None
}

fn saturated(text: String) -> String {
    format!("{text}: the device or the path to it is saturated, the generator is not")
}

/// Folds the limiters of several trials: one name if all agree.
pub(crate) fn fold(named: &[(String, Named)]) -> Named {
    let Some((_, first)) = named.first() else {
        return (Limiter::Unknown, "nothing was measured".to_owned());
    };
    if named.iter().all(|(_, (limiter, _))| *limiter == first.0) {
        return first.clone();
    }
    let mut groups: Vec<(&'static str, usize)> = Vec::new();
    for (_, (limiter, _)) in named {
        let name = name(*limiter);
        match groups.iter_mut().find(|(known, _)| *known == name) {
            Some((_, count)) => *count += 1,
            None => groups.push((name, 1)),
        }
    }
    let parts: Vec<String> = groups
        .iter()
        .map(|(name, count)| format!("{name} in {count}"))
        .collect();
    let text = format!(
        "it differs between the {} trials: {}",
        named.len(),
        parts.join(", ")
    );
    (Limiter::Unknown, text)
}

fn name(limiter: Limiter) -> &'static str {
    match limiter {
        Limiter::Device => "device",
        Limiter::QueueDepth => "queue depth",
        Limiter::GeneratorCpu => "generator CPU",
        Limiter::Rate => "asked-for rate",
        Limiter::Cap => "cap",
        Limiter::Cache => "cache",
        Limiter::Flush => "flush",
        Limiter::Filesystem => "file system",
        Limiter::Memory => "memory",
        Limiter::Network => "network",
        Limiter::Thermal => "heat",
        Limiter::ForeignLoad => "foreign load",
        Limiter::Unknown => "unknown",
    }
}

#[cfg(test)]
#[path = "limiter_tests.rs"]
mod tests;
