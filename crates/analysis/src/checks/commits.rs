//! The part of V30 that counts: requests and flushes of the device against the
//! writes and commits of the run.
//!
//! What one commit adds (journal blocks, the request that empties the device's
//! cache) is small and differs from commit to commit, so bytes do not tell the
//! run's journal from somebody else's commits. Requests do, up to a bound:
//! ext4 and XFS send no more than a known number of them for a commit, and a
//! block device gets the flush alone. Group commits only lower the number.

use fathom_model::op::OpKind;
use fathom_model::sample::Phase;
use fathom_model::unit;
use fathom_model::verdict::FindingStatus;
use fathom_model::workload::SyncOpen;
use fathom_rules::check::v30::{BESIDES, ONE_REQUEST_BYTES, REQUEST_BYTES};
use fathom_rules::{Rule, TargetKind, check};

use super::Facts;
use super::device_facts::{Pair, pairs};
use crate::activity::{Activity, DeviceCounts};
use crate::outcome::Outcome;
use crate::trial::{Trial, add};
use crate::unknown::Unknown;

const RULE: &Rule = check::V30;
/// File systems whose commits are known.
const JOURNALS: [&str; 4] = ["ext2", "ext3", "ext4", "xfs"];

/// What counting says.
pub(super) enum Commits {
    /// Bytes say enough, or the trial does not write.
    NotAsked,
    /// The run's flushes may explain what bytes leave open, or somebody else.
    Unknown(String),
    /// Requests and flushes were compared.
    Counted(Outcome, String),
}

/// Requests that somebody else caused.
pub(super) fn foreign(facts: &Facts<'_>, activity: &Activity) -> Commits {
    let trial = facts.trial;
    let commits = commits(trial, activity);
    if !trial.devices_are_modified() || commits == 0.0 && !trial.direct() {
        return Commits::NotAsked;
    }
    match (carrier(trial, activity, has_writes), per_commit(trial)) {
        (Ok(device), Ok(per_commit)) => counted(facts, activity, device, (commits, per_commit)),
        (Err(reason), _) | (_, Err(reason)) if hidden_share(trial, activity, commits) => {
            Commits::Unknown(format!(
                "this run flushed {} times, and whether its journal or somebody else wrote the \
                 rest cannot be told: {reason}",
                unit::count(commits)
            ))
        }
        _ => Commits::NotAsked,
    }
}

/// The finding of the bytes and that of the counts as one.
pub(super) fn weigh(by_bytes: Outcome, commits: Commits) -> Outcome {
    match commits {
        Commits::NotAsked => by_bytes,
        Commits::Unknown(reason) => match by_bytes.status() {
            FindingStatus::Pass => Outcome::not_measured(RULE, reason),
            _ => by_bytes,
        },
        Commits::Counted(by_count, text) if by_count.status() < FindingStatus::Caveat => {
            match by_bytes.status() {
                FindingStatus::Pass => by_bytes.and(&text),
                _ => by_bytes,
            }
        }
        Commits::Counted(by_count, _) => match by_count.is_worse_than(&by_bytes) {
            true => by_count,
            false => by_bytes,
        },
    }
}

/// Flushes that the run asked for; a synchronous write is one as well.
fn commits(trial: &Trial<'_>, activity: &Activity) -> f64 {
    let synchronous = trial.workload.sync.open != SyncOpen::No
        || trial.company.as_ref().is_some_and(|c| c.synchronous);
    match synchronous {
        true => activity.syncs + activity.writes,
        false => activity.syncs,
    }
}

/// Whether flushes are the only explanation for more bytes than the table lets
/// pass.
fn hidden_share(trial: &Trial<'_>, activity: &Activity, commits: f64) -> bool {
    let moved = activity.written.bytes + activity.written.slack;
    let own = moved * (1.0 + BESIDES) + activity.dirty_before_bytes;
    let open = activity.device_write_bytes - own;
    let total = (activity.device_read_bytes + activity.device_write_bytes).max(1.0);
    let floor = check::v30::FLOOR_BYTES_PER_SECOND * activity.seconds;
    let one_device = activity.leaves.len() == 1 && trial.workload.mix.write_percent > 0;
    let limit = check::v30::CAVEAT;
    one_device && commits > 0.0 && open > floor && open / total > limit
}

/// Whether writes of a device were counted.
pub(super) fn has_writes(device: &DeviceCounts) -> bool {
    device.writes > 0.0
}

/// The device that carries the file system, or the disk below its partition or
/// logical volume: nothing between it and the run multiplies requests.
pub(super) fn carrier<'a>(
    trial: &Trial<'_>,
    activity: &'a Activity,
    is_counted: impl Fn(&DeviceCounts) -> bool,
) -> Result<&'a DeviceCounts, Unknown> {
    let devices = pairs(trial);
    let uncounted = || Unknown::because("the requests of the device were not counted");
    let is_below = |name: &str| {
        let mut all = devices.iter();
        all.any(|device| device.before.below.iter().any(|below| below == name))
    };
    let mut device = devices.iter().find(|device| !is_below(device.name()));
    // Each step goes further down; a circle ends with the number of devices.
    for _ in 0..devices.len() {
        let Some(at) = device else { break };
        let kind = at.before.kind.as_str();
        if matches!(kind, "disk" | "nvme" | "loop" | "mmcblk" | "pmem") {
            let mut known = activity.devices.iter();
            let found = known.find(|known| known.name == at.name() && is_counted(known));
            return found.ok_or_else(uncounted);
        }
        device = match at.before.below.as_slice() {
            [below] if passes_on(at) => devices.iter().find(|d| d.name() == below),
            _ => {
                return Err(Unknown::because(format!(
                    "{} ({kind}) may send requests of its own to what lies below",
                    at.name()
                )));
            }
        };
    }
    Err(uncounted())
}

/// Whether each request goes down once: partitions, encryption, and logical
/// volumes of LVM that are no pools, snapshots or mirrors (their ids have
/// suffixes).
fn passes_on(device: &Pair<'_>) -> bool {
    let id = device.fact("dm_uuid").unwrap_or_default();
    let plain_volume = id.strip_prefix("LVM-").is_some_and(|id| !id.contains('-'));
    match device.before.kind.as_str() {
        "partition" => true,
        "dm" => plain_volume || id.starts_with("CRYPT-"),
        _ => false,
    }
}

/// Requests and flushes that one commit sends to the device.
fn per_commit(trial: &Trial<'_>) -> Result<(f64, f64), Unknown> {
    let flushes = check::v30::FLUSHES_PER_COMMIT;
    if trial.kind == TargetKind::Device {
        return Ok((1.0, flushes));
    }
    let filesystem = trial
        .filesystem()
        .filter(|_| trial.kind == TargetKind::File);
    let Some(filesystem) = filesystem else {
        return Err(Unknown::because(
            "what lies between the run and the device is not known",
        ));
    };
    let kind = filesystem.kind.as_str();
    if !JOURNALS.contains(&kind) {
        return Err(Unknown::because(format!(
            "what a commit of {kind} writes is not known"
        )));
    }
    if filesystem.options.iter().any(|o| o == "data=journal") {
        return Err(Unknown::because(
            "with data=journal the data are in the journal as well",
        ));
    }
    Ok((check::v30::WRITES_PER_COMMIT, flushes))
}

fn counted(
    facts: &Facts<'_>,
    activity: &Activity,
    device: &DeviceCounts,
    (commits, (writes_each, flushes_each)): (f64, (f64, f64)),
) -> Commits {
    let trial = facts.trial;
    let slack = match activity.written.bytes > 0.0 {
        true => activity.written.slack / activity.written.bytes,
        false => 0.0,
    };
    let uncertain = (1.0 + BESIDES) * (1.0 + slack);
    let left_over = left_over(facts, activity) / REQUEST_BYTES as f64;
    let data = activity.writes * requests_per_write(trial);
    let most_writes = (data + commits * writes_each) * uncertain + left_over;
    let most_flushes = commits * flushes_each * uncertain;
    let floor = check::v30::FLOOR_OPS_PER_SECOND * activity.seconds;
    let over = |all: f64, most: f64| {
        let foreign = (all - most).max(0.0);
        let share = if foreign > floor {
            foreign / all.max(1.0)
        } else {
            0.0
        };
        (share, foreign)
    };
    let of_writes = over(device.writes, most_writes);
    let flushes = device.flushes.unwrap_or(0.0);
    let of_flushes = over(flushes, most_flushes);
    let (what, all, most, (share, foreign)) = match of_flushes.0 > of_writes.0 {
        true => ("flushes", flushes, most_flushes, of_flushes),
        false => ("writes", device.writes, most_writes, of_writes),
    };
    let own = format!(
        "{} writes and {} flushes of this run explain up to {} {what} there",
        unit::count(activity.writes),
        unit::count(commits),
        unit::count(most),
    );
    let evidence = format!(
        "at least {} of {} {what} that {} completed over {:.0} s were not caused by this run \
         ({:.1} %): {own}",
        unit::count(foreign),
        unit::count(all),
        device.name,
        activity.seconds,
        100.0 * share,
    );
    let text = match commits > 0.0 {
        false => String::new(),
        true => format!(
            "; {} completed {} writes and {} flushes: {own}; commits of others within that bound \
             cannot be told from the run's",
            device.name,
            unit::count(device.writes),
            device
                .flushes
                .map_or("an unknown number of".to_owned(), unit::count),
        ),
    };
    let outcome = Outcome::graded(RULE, share, evidence).at_most(FindingStatus::Caveat);
    Commits::Counted(outcome, text)
}

/// Bytes that were dirty before the measurement and can be the run's own: of
/// earlier trials and of the warm-up.
fn left_over(facts: &Facts<'_>, activity: &Activity) -> f64 {
    let warm_up = facts
        .trial
        .seconds
        .iter()
        .filter(|s| s.phase == Phase::Warmup);
    let warm_up = warm_up
        .flat_map(|s| s.ops(OpKind::Write))
        .map(|op| op.bytes);
    let own = facts.left_by_earlier_trials().saturating_add(add(warm_up));
    activity.dirty_before_bytes.min(own as f64)
}

/// Requests that a block of the workload can become.
fn requests_per_write(trial: &Trial<'_>) -> f64 {
    match trial.workload.max_block_bytes() {
        bytes if bytes <= ONE_REQUEST_BYTES => 1.0,
        // It may lie across two pieces of the file.
        bytes => bytes.div_ceil(REQUEST_BYTES) as f64 + 1.0,
    }
}

#[cfg(test)]
#[path = "commits_tests.rs"]
mod tests;
