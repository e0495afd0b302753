//! V31, V32: is something else at work on the storage, and is it whole?

use fathom_model::unit;
use fathom_model::verdict::FindingStatus;
use fathom_rules::{Rule, TargetKind, check};

use super::Facts;
use super::device_facts::{Pair, pairs};
use crate::outcome::Outcome;
use crate::trial::Trial;

/// V31: rebuilds, checks, balances, self-tests.
pub(super) fn background_job(facts: &Facts<'_>) -> Option<Outcome> {
    const RULE: &Rule = check::V31;
    let trial = facts.trial;
    if let Some(outcome) = out_of_sight(RULE, trial) {
        return outcome;
    }
    let mut jobs: Vec<String> = pairs(trial).iter().filter_map(job_of).collect();
    jobs.extend(
        filesystem_facts(trial, "exclusive_operation").find_map(|operation| {
            let running = operation != "none"
                && !operation.ends_with("paused")
                && !operation.starts_with("swap");
            running.then(|| format!("btrfs: {operation}"))
        }),
    );
    if jobs.is_empty() && trial.filesystem().is_some_and(|f| f.kind == "zfs") {
        let reason = "a scrub or resilver of ZFS shows only to its own tools (zpool status)";
        return Some(Outcome::not_measured(RULE, reason));
    }
    let evidence = match jobs.is_empty() {
        true => "no rebuild, check, balance or self-test showed before or after".to_owned(),
        false => format!("at work during the trial: {}", jobs.join(", ")),
    };
    Some(Outcome::graded(RULE, jobs.len() as f64, evidence))
}

fn job_of(device: &Pair<'_>) -> Option<String> {
    let name = device.name();
    let idle = ["idle", "frozen", "none"];
    let mut actions = device.both("sync_action");
    if let Some(action) = actions.find(|action| !idle.contains(action)) {
        return Some(format!("{action} of {name}"));
    }
    if device
        .fact("dm_name")
        .is_some_and(|dm| dm.contains("pvmove"))
    {
        return Some(format!("pvmove through {name}"));
    }
    let mut tests = device.both("self_test");
    let test = tests.find(|test| *test != "none")?;
    Some(format!("self-test of {name} ({test})"))
}

/// V32: redundancy lost, paths lost, errors on record.
pub(super) fn degraded(facts: &Facts<'_>) -> Option<Outcome> {
    const RULE: &Rule = check::V32;
    let trial = facts.trial;
    if let Some(outcome) = out_of_sight(RULE, trial) {
        return outcome;
    }
    let devices = pairs(trial);
    let mut faults: Vec<String> = devices.iter().filter_map(fault_of).collect();
    faults.extend(filesystem_faults(trial));
    let evidence = match faults.is_empty() {
        true => "every array, path and file system that shows its state is whole".to_owned(),
        false => faults.join(", "),
    };
    Some(Outcome::graded(RULE, faults.len() as f64, evidence))
}

fn fault_of(device: &Pair<'_>) -> Option<String> {
    let name = device.name();
    if let Some(missing) = device.largest("degraded").filter(|missing| *missing > 0) {
        let level = device.fact("level").unwrap_or("array");
        return Some(format!("{name} ({level}) lacks {missing} of its devices"));
    }
    let sound = ["running", "live", "clean", "dirty", "writeback running"];
    let is_path = device.before.below.is_empty();
    let mut states = device.both("state");
    let state = states.find(|state| is_path && !sound.contains(state))?;
    // bcache says "no cache" of a backing device that works alone.
    Some(format!("{name} is {state}"))
}

fn filesystem_faults(trial: &Trial<'_>) -> Vec<String> {
    let mut faults = Vec::new();
    let missing = filesystem_facts(trial, "missing_devices").filter_map(|n| n.parse::<u64>().ok());
    if let Some(missing) = missing.max().filter(|missing| *missing > 0) {
        faults.push(format!("the file system lacks {missing} of its devices"));
    }
    let mut states = filesystem_facts(trial, "pool_state");
    if let Some(state) = states.find(|state| *state != "ONLINE") {
        faults.push(format!("the pool is {state}"));
    }
    let errors = filesystem_facts(trial, "errors_count").filter_map(|n| n.parse::<u64>().ok());
    if let Some(errors) = errors.max().filter(|errors| *errors > 0) {
        let errors = unit::counted(errors, "error");
        faults.push(format!("the file system has {errors} on record"));
    }
    faults
}

/// A fact of the file system before and after.
fn filesystem_facts<'a>(trial: &Trial<'a>, name: &'static str) -> impl Iterator<Item = &'a str> {
    let after = trial
        .end()
        .and_then(|end| end.target_after.as_ref()?.filesystem.as_ref());
    let both = [trial.filesystem(), after].into_iter().flatten();
    both.filter_map(move |facts| facts.facts.get(name).map(String::as_str))
}

/// Targets whose storage cannot be seen: `Some(None)` where the check has no
/// meaning, `Some(outcome)` where it has one and no data.
pub(super) fn out_of_sight(id: &'static Rule, trial: &Trial<'_>) -> Option<Option<Outcome>> {
    match trial.kind {
        TargetKind::Null | TargetKind::Sim | TargetKind::Memory => Some(None),
        TargetKind::Network
        | TargetKind::ObjectStore
        | TargetKind::Unknown
        | TargetKind::Stacked
            if trial.leaves().is_empty() =>
        {
            let reason = "the devices behind the target cannot be seen from here";
            Some(Some(Outcome::not_measured(id, reason)))
        }
        _ if trial.leaves().is_empty() && trial.filesystem().is_none_or(|f| f.kind != "zfs") => {
            let reason = "no device under the target is known";
            Some(Some(Outcome::not_measured(id, reason)))
        }
        _ => None,
    }
}

/// A pass of a check whose value is a count.
pub(super) fn pass(id: &'static Rule, evidence: String) -> Outcome {
    Outcome::decided(id, FindingStatus::Pass, 0.0, id.caveat, evidence)
}

#[cfg(test)]
#[path = "state_tests.rs"]
mod tests;
