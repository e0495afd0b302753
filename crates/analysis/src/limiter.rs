//! What set the number?
//!
//! Names are given from the surest evidence to the least sure, and only on
//! proof: a wrong name sends people to buy the wrong part. Without proof the
//! limiter is unknown, with what was excluded and what would tell.

use fathom_model::figure;
use fathom_model::op::OpKind;
use fathom_model::unit;
use fathom_model::verdict::{Finding, FindingStatus, Limiter};
use fathom_model::workload::MetaShare;
use fathom_rules::method::named_limiter::{
    FAILED_SHARE, FOREIGN_SHARE, KERNEL_SHARE, LATENCY_BOUND_BYTES, THRESHOLD as FLUSH_SHARE,
};
use fathom_rules::{TargetKind, check};

use crate::above_the_device;
use crate::checks::{
    Facts, achieved, cap_evidence, cpu_bound, declared_cap, depth_kept, heat_limited, holes,
    in_memory, is_flushed, quota_bound, share_of_ceiling,
};
use crate::named_limiter::Named;
use crate::telling_command::depth_command;
use crate::trial::{Trial, data_kinds};

/// Names the limiter when its evidence is complete.
type Rule = fn(&Facts<'_>, &[Finding]) -> Option<Named>;

/// What limited one trial, from its own evidence.
pub(crate) fn of_trial(facts: &Facts<'_>, findings: &[Finding]) -> Named {
    let trial = facts.trial;
    if let Some(named) = by_silence(facts) {
        return named;
    }
    if trial.data_ops() == 0 {
        return (Limiter::Unknown, "no operation was completed".to_owned());
    }
    if let (TargetKind::Null, Some(named)) = (trial.kind, by_rate(facts, findings)) {
        return named;
    }
    if trial.kind == TargetKind::Null {
        let evidence = "the null target does nothing: this is the generator's own rate";
        return (Limiter::GeneratorCpu, evidence.to_owned());
    }
    let rules: [Rule; 15] = [
        by_rate,
        by_quota,
        by_memory,
        by_declared_cap,
        by_holes,
        by_cache,
        by_generator,
        by_foreign_load,
        by_failures,
        by_heat,
        by_file_system_code,
        by_flush,
        by_cap,
        by_depth,
        above_the_device::by_filesystem,
    ];
    rules
        .iter()
        .find_map(|rule| rule(facts, findings))
        .unwrap_or_else(|| (Limiter::Unknown, unknown(facts)))
}

/// Operations that never came back: nothing else need be looked for.
fn by_silence(facts: &Facts<'_>) -> Option<Named> {
    let trial = facts.trial;
    let stuck = trial.end().map_or(0, |end| end.engine.stuck.len());
    if stuck == 0 {
        return None;
    }
    let (limiter, what) = match trial.workload.requests() {
        Some(_) => (Limiter::Unknown, "store"),
        None => (Limiter::Device, "device"),
    };
    let operations = unit::counted(stuck as u64, "operation");
    let text = format!("{operations} did not come back: the {what} does not respond (V29)");
    Some((limiter, text))
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
    let text = format!("target rate reached: {}", achieved.text);
    achieved.reached().then_some((Limiter::Rate, text))
}

fn by_memory(facts: &Facts<'_>, _: &[Finding]) -> Option<Named> {
    let text = "the data never leave memory";
    in_memory(facts).then(|| (Limiter::Memory, text.to_owned()))
}

/// A hole is read from the map of the file system, not from a cache.
fn by_holes(facts: &Facts<'_>, findings: &[Finding]) -> Option<Named> {
    let missing = status(findings, check::id::V01) >= Some(FindingStatus::Caveat);
    let share = holes(facts).filter(|_| missing)?;
    let text = format!(
        "{:.0} % of the data was never written: such reads are answered from the map of where \
         the data lie, without the device and without a cache (V04)",
        100.0 * share
    );
    Some((Limiter::Filesystem, text))
}

fn by_cache(_: &Facts<'_>, findings: &[Finding]) -> Option<Named> {
    // V01 alone proves it: what the device did not move, something else did.
    let proven = status(findings, check::id::V01) == Some(FindingStatus::Invalid);
    // A warm file counts where V01 could not look.
    let warm = status(findings, check::id::V02) == Some(FindingStatus::Invalid)
        && matches!(
            status(findings, check::id::V01),
            None | Some(FindingStatus::NotMeasured)
        );
    match (proven, warm) {
        (true, _) => Some((Limiter::Cache, evidence(findings, check::id::V01))),
        (_, true) => Some((Limiter::Cache, evidence(findings, check::id::V02))),
        _ => None,
    }
}

fn by_generator(facts: &Facts<'_>, findings: &[Finding]) -> Option<Named> {
    let near = share_of_ceiling(facts.trial).is_some_and(|s| s > check::v22::INVALID);
    let bound = cpu_bound(facts.trial);
    match bound {
        Some(bound) => Some((Limiter::GeneratorCpu, bound.text)),
        None => near.then(|| (Limiter::GeneratorCpu, evidence(findings, check::id::V22))),
    }
}

/// A quota that stopped the generator says more than where the data lie.
fn by_quota(facts: &Facts<'_>, _: &[Finding]) -> Option<Named> {
    let text = quota_bound(facts.trial)?.text;
    Some((Limiter::GeneratorCpu, text))
}

/// A limit that was set and is met explains the rate by itself, also beside
/// foreign load on a device further down.
fn by_declared_cap(facts: &Facts<'_>, findings: &[Finding]) -> Option<Named> {
    let text = declared_cap(facts.trial)?;
    let foreign = by_foreign_load(facts, findings);
    let beside = foreign.map_or("", |_| "; others used the devices besides (V30)");
    Some((Limiter::Cap, format!("{text}{beside}")))
}

fn by_foreign_load(facts: &Facts<'_>, findings: &[Finding]) -> Option<Named> {
    let finding = findings.iter().find(|f| f.id == check::id::V30)?;
    // What a run that writes causes beside its data is an estimate; a run that only
    // reads causes no writes.
    let only_reads = !facts.trial.devices_are_modified();
    let most = finding.measured.is_some_and(|share| share > FOREIGN_SHARE);
    let foreign = match finding.status {
        FindingStatus::Invalid => true,
        FindingStatus::Caveat => only_reads && most,
        _ => false,
    };
    foreign.then(|| (Limiter::ForeignLoad, evidence(findings, check::id::V30)))
}

/// Failures take their own time, from nothing at all to a timeout of minutes:
/// the rate of what succeeded beside many of them has no one cause.
fn by_failures(facts: &Facts<'_>, findings: &[Finding]) -> Option<Named> {
    let trial = facts.trial;
    let failed: u64 = data_kinds()
        .map(|kind| trial.total(kind).errors.total())
        .fold(0, u64::saturating_add);
    let all = trial.data_ops().saturating_add(failed);
    let share = failed as f64 / all.max(1) as f64;
    (share > FAILED_SHARE).then(|| {
        let text = format!(
            "{:.0} % of the operations failed, and failures take their own time; {}",
            100.0 * share,
            evidence(findings, check::id::V26)
        );
        (Limiter::Unknown, text)
    })
}

fn by_flush(facts: &Facts<'_>, _: &[Finding]) -> Option<Named> {
    let trial = facts.trial;
    let in_syncs: f64 = trial
        .measured()
        .flat_map(|s| s.ops(OpKind::Sync).chain(s.ops(OpKind::Fsync)))
        .map(|op| op.service.sum() as f64)
        .sum();
    let workers = f64::from(trial.workload.workers.max(1));
    let share = in_syncs / (trial.duration_ns as f64 * workers).max(1.0);
    if share > FLUSH_SHARE {
        let what = match trial.workload.sync.ranges {
            None => "waiting for flushes",
            Some(_) => "in calls of sync_file_range",
        };
        let text = format!(
            "the workers spent {:.0} % of their time {what}",
            100.0 * share.min(1.0)
        );
        return Some((Limiter::Flush, text));
    }
    if let Some(share) = in_flushes_of_the_device(facts).filter(|share| *share > FLUSH_SHARE) {
        let text = format!(
            "the device carried out flushes for {:.0} % of the time",
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

/// Share of the time for which the device flushed, where each operation makes its file
/// durable: how long a flush took is then part of the operation's own time.
fn in_flushes_of_the_device(facts: &Facts<'_>) -> Option<f64> {
    let work = facts.trial.workload.files_work()?;
    let flushes = |share: &MetaShare| is_flushed(share.kind, work.fsync);
    let activity = facts.activity.as_ref().ok()?;
    work.ops.iter().any(flushes).then_some(activity.flush_share)
}

/// Operations on files during which the workers computed in the kernel nearly
/// all the time: nothing was waited for.
fn by_file_system_code(facts: &Facts<'_>, _: &[Finding]) -> Option<Named> {
    let trial = facts.trial;
    trial.workload.files_work()?;
    let system = trial.measured().map(|s| s.sum(|g| g.cpu_system_ns) as f64);
    let workers = f64::from(trial.workload.workers.max(1));
    let share = system.sum::<f64>() / (trial.duration_ns as f64 * workers).max(1.0);
    (share > KERNEL_SHARE).then(|| {
        let text = format!(
            "the workers computed in the kernel for {:.0} % of the time: the file system's own code \
             on this host's CPUs, not a device",
            100.0 * share.min(1.0)
        );
        (Limiter::Filesystem, text)
    })
}

fn by_cap(facts: &Facts<'_>, _: &[Finding]) -> Option<Named> {
    cap_evidence(facts.trial).map(|text| (Limiter::Cap, text))
}

fn by_heat(facts: &Facts<'_>, _: &[Finding]) -> Option<Named> {
    heat_limited(facts.trial).map(|text| (Limiter::Thermal, text))
}

/// One operation at a time, and the device was idle in between.
fn by_depth(facts: &Facts<'_>, findings: &[Finding]) -> Option<Named> {
    let trial = facts.trial;
    let workload = trial.workload;
    let small = workload.max_block_bytes() <= LATENCY_BOUND_BYTES;
    let alone = trial.total_depth() == 1 && !trial.open_loop() && workload.think_ns == 0;
    let trusted = !matches!(
        status(findings, check::id::V01),
        Some(FindingStatus::Invalid | FindingStatus::Caveat)
    );
    let queue = facts.activity.as_ref().ok().map(|a| a.mean_queue);
    // Storage that is served has no device on this host that could be looked at.
    let served = matches!(
        trial.kind,
        TargetKind::Sim | TargetKind::Network | TargetKind::Stacked
    );
    let idle = queue.map_or(served, |queue| queue < 1.0);
    // Buffered I/O is carried out by the kernel in its own order and depth.
    (alone && small && trusted && trial.direct() && idle).then(|| {
        let device = queue
            .map(|queue| format!("; the device had {queue:.2} requests in its queue on average"));
        let text = format!(
            "one operation at a time: latency sets the rate{}",
            device.unwrap_or_default()
        );
        (Limiter::QueueDepth, text)
    })
}

/// How an unknown limiter could be told.
pub(crate) fn would_tell(trial: &Trial<'_>) -> String {
    let command = depth_command(trial);
    match trial.workload.files_work() {
        Some(_) => format!("; `{command}` would tell waiting from computing"),
        None => format!("; `{command}` would tell device from depth"),
    }
}

fn unknown(facts: &Facts<'_>) -> String {
    let trial = facts.trial;
    let mut parts: Vec<String> = Vec::new();
    parts.extend(
        share_of_ceiling(trial)
            .map(|share| format!("fathom used {} of its own capacity", figure::percent(share))),
    );
    if let (Some(kept), false) = (depth_kept(trial), trial.open_loop()) {
        let percent = (100.0 * kept).round();
        // One operation that is always in flight is not a queue.
        if trial.total_depth() > 1 || percent < 100.0 {
            let depth = unit::group(trial.total_depth());
            parts.push(format!("the queue of {depth} was {percent:.0} % full"));
        }
    }
    match &facts.activity {
        Ok(activity) => parts.push(format!(
            "the device had {:.1} requests in its own queue",
            activity.mean_queue
        )),
        // A simulated drive has no host to observe.
        Err(_) if trial.kind == TargetKind::Sim => {}
        Err(reason) => parts.push(reason.to_string()),
    }
    let tell = would_tell(trial);
    let tell = tell.trim_start_matches("; ");
    match parts.is_empty() {
        true => tell.to_owned(),
        false => format!("{tell} ({})", parts.join(", ")),
    }
}

/// Folds the limiters of several trials: one name if all agree.
pub(crate) fn fold(named: &[(String, Named)]) -> Named {
    let Some((_, first)) = named.first() else {
        return (Limiter::Unknown, "nothing was measured".to_owned());
    };
    if named.iter().all(|(_, (limiter, _))| *limiter == first.0) {
        return first.clone();
    }
    if let Some(either) = device_or_cap(named) {
        return either;
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
        "differs between the {} trials: {}",
        named.len(),
        parts.join(", ")
    );
    (Limiter::Unknown, text)
}

/// One of two in some trials, and in the others one of these: it is one of the two in all.
fn device_or_cap(named: &[(String, Named)]) -> Option<Named> {
    let one_of_them = |l| matches!(l, Limiter::Device | Limiter::Cap | Limiter::DeviceOrCap);
    let all = named.iter().all(|(_, (limiter, _))| one_of_them(*limiter));
    let mut either = named.iter().map(|(_, named)| named);
    let either = either.find(|(limiter, _)| *limiter == Limiter::DeviceOrCap)?;
    all.then(|| either.clone())
}

fn name(limiter: Limiter) -> &'static str {
    match limiter {
        Limiter::Device => "device",
        Limiter::QueueDepth => "queue depth",
        Limiter::GeneratorCpu => "generator CPU",
        Limiter::Rate => "requested rate",
        Limiter::Cap => "cap",
        Limiter::DeviceOrCap => "device or cap",
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
