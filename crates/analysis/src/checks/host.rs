//! V30, V37: who else was there?

use fathom_model::unit;
use fathom_model::verdict::FindingStatus;
use fathom_rules::check::v30::{JOURNAL_BYTES_PER_FLUSH, METADATA_SHARE, ROUNDING_BYTES_PER_WRITE};
use fathom_rules::{Rule, TargetKind, check};

use super::Facts;
use super::commits;
use super::device_bytes::names;
use super::generator::share_of_ceiling;
use super::requests;
use crate::activity::{Activity, host_observations};
use crate::outcome::{Outcome, grade};
use crate::trial::Trial;

/// Foreign bytes on the devices of the target.
struct Foreign {
    bytes: f64,
    /// How bad foreign bytes of this sort can be, and why not worse.
    limit: FindingStatus,
    why: &'static str,
    what: &'static str,
}

/// V30: did somebody else use the device?
pub(super) fn foreign_io(facts: &Facts<'_>) -> Option<Outcome> {
    const RULE: &Rule = check::V30;
    if let Some(reason) = facts.trial.artificial() {
        return Some(Outcome::not_measured(RULE, reason));
    }
    if facts.trial.kind == TargetKind::Memory {
        let reason = "the target is in memory: there is no device (see V06)";
        return Some(Outcome::not_measured(RULE, reason));
    }
    if facts.trial.workload.files_work().is_some() {
        let reason = "what operations on files make a file system read and write of its own \
                      (inodes, directories, its journal) is not known";
        return Some(Outcome::not_measured(RULE, reason));
    }
    let activity = match &facts.activity {
        Ok(activity) => activity,
        Err(reason) => return Some(Outcome::not_measured(RULE, reason.clone())),
    };
    let mut foreign: Vec<Foreign> = Vec::new();
    foreign.extend(foreign_reads(facts, activity));
    foreign.extend(foreign_writes(facts, activity));
    let commits = commits::foreign(facts, activity);
    if foreign.is_empty() {
        let reason = "own and foreign I/O cannot be told apart here: several devices or a cache \
                      multiply what the workload causes";
        return Some(Outcome::not_measured(RULE, reason));
    }
    let total = (activity.device_read_bytes + activity.device_write_bytes).max(1.0);
    let floor = check::v30::FLOOR_BYTES_PER_SECOND * activity.seconds;
    let by_bytes = foreign.into_iter().map(|found| {
        let share = match found.bytes > floor {
            true => found.bytes / total,
            false => 0.0,
        };
        let milder = grade(RULE, share).0 > found.limit;
        let evidence = format!(
            "{:.1} % of what {} read and wrote were {} of others: {} of {} in {:.0} s{}",
            100.0 * found.bytes / total,
            names(&activity.leaves),
            found.what,
            unit::bytes(found.bytes as u64),
            unit::bytes(total as u64),
            activity.seconds,
            if milder { found.why } else { "" },
        );
        let outcome = Outcome::graded(RULE, share, evidence).at_most(found.limit);
        (share, outcome)
    });
    let worst = by_bytes.max_by(|a, b| {
        let by_share = a.0.total_cmp(&b.0);
        a.1.status().cmp(&b.1.status()).then(by_share)
    });
    let (_, by_bytes) = worst?;
    Some(match requests::of_others(facts, activity) {
        Some(by_count) if by_count.is_worse_than(&by_bytes) => by_count,
        _ => commits::weigh(by_bytes, commits),
    })
}

/// Reads beyond the workload's and the process's own. Redundancy reads for
/// itself while it writes (parity), so a write test on several devices says
/// nothing.
fn foreign_reads(facts: &Facts<'_>, activity: &Activity) -> Option<Foreign> {
    let writes = facts.trial.devices_are_modified();
    if writes && activity.leaves.len() > 1 {
        return None;
    }
    let workload = activity.read.bytes + activity.read.slack;
    let own = match activity.own_read_bytes {
        Some(own) => own.max(workload),
        // Read-ahead of buffered reads is own, and only the process knows it.
        None if !facts.trial.direct() || beside_buffered(facts) => return None,
        None => workload,
    };
    Some(Foreign {
        bytes: (activity.device_read_bytes - own).max(0.0),
        limit: match writes {
            true => FindingStatus::Caveat,
            false => FindingStatus::Invalid,
        },
        why: "; reads during a write test are a caveat at most: a file system reads what it needs \
              to write",
        what: "reads",
    })
}

/// Writes beyond the workload's own and what they cause.
fn foreign_writes(facts: &Facts<'_>, activity: &Activity) -> Option<Foreign> {
    let reading = !facts.trial.devices_are_modified();
    let own = if reading {
        // Pages that were dirty before may be written back now.
        activity.dirty_before_bytes
    } else if activity.leaves.len() > 1 {
        return None;
    } else {
        let moved = activity.written.bytes + activity.written.slack;
        moved * (1.0 + METADATA_SHARE)
            + activity.syncs * JOURNAL_BYTES_PER_FLUSH
            + activity.writes * extra_per_write(facts)
            + activity.dirty_before_bytes
    };
    Some(Foreign {
        bytes: (activity.device_write_bytes - own).max(0.0),
        limit: FindingStatus::Caveat,
        why: match reading {
            true => {
                "; writes during a read test are a caveat at most: the kernel may have written \
                     back what was made before"
            }
            false => {
                "; writes during a write test are a caveat at most: what journal and metadata \
                      add is an estimate"
            }
        },
        what: "writes",
    })
}

fn extra_per_write(facts: &Facts<'_>) -> f64 {
    let trial = facts.trial;
    let synchronous = trial.workload.sync.open != fathom_model::workload::SyncOpen::No
        || trial.company.as_ref().is_some_and(|c| c.synchronous);
    match synchronous {
        false => ROUNDING_BYTES_PER_WRITE,
        // A synchronous write brings its own journal commit.
        true => ROUNDING_BYTES_PER_WRITE + JOURNAL_BYTES_PER_FLUSH,
    }
}

fn beside_buffered(facts: &Facts<'_>) -> bool {
    facts.trial.company.as_ref().is_some_and(|c| c.buffered)
}

/// Shares of time in which the CPU was short.
struct Shortage {
    steal: Option<f64>,
    pressure: Option<f64>,
    run_delay: Option<f64>,
}

/// V37: did fathom have to wait for a CPU?
pub(super) fn contention(facts: &Facts<'_>) -> Option<Outcome> {
    const RULE: &Rule = check::V37;
    if facts.trial.kind == TargetKind::Sim {
        let reason = "a simulated drive runs under a virtual clock";
        return Some(Outcome::not_measured(RULE, reason));
    }
    if facts.trial.duration_ns == 0 || facts.trial.data_ops() == 0 {
        return Some(Outcome::not_measured(RULE, "no operation completed"));
    }
    let short = shortage(facts.trial);
    if short.steal.is_none() && short.pressure.is_none() && short.run_delay.is_none() {
        return Some(Outcome::not_measured(
            RULE,
            "the host's CPUs were not observed",
        ));
    }
    let percent = |share: Option<f64>| match share {
        Some(share) => format!("{:.1} %", 100.0 * share),
        None => "an unknown share".to_owned(),
    };
    let evidence = format!(
        "workers waited for a CPU for {} of the time, any task for {}; the hypervisor kept {}",
        percent(short.run_delay),
        percent(short.pressure),
        percent(short.steal),
    );
    let steal = short.steal.unwrap_or(0.0);
    let (mut status, threshold) = grade(RULE, steal);
    // A generator with much to spare makes up for what it lost: single operations end
    // late, the figure is not another.
    let light = share_of_ceiling(facts.trial).is_some_and(|share| share <= check::v37::LIGHT);
    if light && steal < check::v37::STOLEN_FROM_LIGHT {
        status = status.min(FindingStatus::Caveat);
    }
    if status >= FindingStatus::Caveat {
        return Some(Outcome::decided(RULE, status, steal, threshold, evidence));
    }
    let delay = short.run_delay;
    if let Some(delay) = delay.filter(|share| *share > check::v37::RUN_DELAY) {
        return Some(waited(facts, delay, evidence));
    }
    if let Some(pressure) = short.pressure.filter(|share| *share > check::v37::PRESSURE) {
        // Others may wait while the workers do not.
        let status = match short.run_delay {
            Some(_) => FindingStatus::Info,
            None => FindingStatus::Caveat,
        };
        return Some(Outcome::decided(
            RULE,
            status,
            pressure,
            Some(check::v37::PRESSURE),
            evidence,
        ));
    }
    Some(Outcome::decided(RULE, status, steal, threshold, evidence))
}

/// Workers waited: for others, or for the kernel's own work where nobody else ran.
fn waited(facts: &Facts<'_>, delay: f64, evidence: String) -> Outcome {
    let others = others_share(facts);
    let hardly_ran = others.is_some_and(|share| share <= check::v37::OTHERS);
    let evidence = match others {
        Some(share) => format!(
            "{evidence}; other programs took {:.1} % of a CPU",
            100.0 * share.max(0.0)
        ),
        None => evidence,
    };
    let (status, evidence) = match hardly_ran {
        true => (
            FindingStatus::Info,
            format!(
                "{evidence}, so that the workers waited for the kernel's own work for the load"
            ),
        ),
        false => (FindingStatus::Caveat, evidence),
    };
    let limit = check::v37::RUN_DELAY;
    Outcome::decided(check::V37, status, delay, Some(limit), evidence)
}

/// For how much of the time a CPU was short at most: workers waited for one, or any task
/// did, or the hypervisor kept it. `None` where waiting was not observed.
pub(crate) fn short_of_cpus(trial: &Trial<'_>) -> Option<f64> {
    let short = shortage(trial);
    Some(short.run_delay?.max(short.pressure?) + short.steal.unwrap_or(0.0))
}

fn shortage(trial: &Trial<'_>) -> Shortage {
    let observations = host_observations(trial);
    let (mut steal, mut all, mut waited, mut observed) = (0.0, 0.0, 0.0, 0.0);
    for observation in observations {
        if let Some(cpu) = &observation.cpu {
            let times = [
                cpu.user_ns,
                cpu.system_ns,
                cpu.interrupt_ns,
                cpu.idle_ns,
                cpu.iowait_ns,
                cpu.steal_ns,
            ];
            all += times.iter().map(|t| *t as f64).sum::<f64>();
            steal += cpu.steal_ns as f64;
        }
        if let Some(pressure) = &observation.pressure {
            waited += pressure.cpu_some_ns as f64;
            observed += observation.duration_ns as f64;
        }
    }
    Shortage {
        steal: (all > 0.0).then(|| steal / all),
        pressure: (observed > 0.0).then(|| (waited / observed).min(1.0)),
        run_delay: trial.run_delay_share(),
    }
}

/// CPU time of other programs outside of the kernel, over the time of one CPU.
fn others_share(facts: &Facts<'_>) -> Option<f64> {
    let (mut others_ns, mut observed_ns) = (0.0, 0.0);
    for observation in host_observations(facts.trial) {
        let all_ns = observation.cpu.as_ref()?.user_ns as f64;
        // All of fathom's threads, also those that watch the host and store the run.
        let own_ns = observation.own.as_ref()?.cpu_user_ns as f64;
        others_ns += all_ns - own_ns;
        observed_ns += observation.duration_ns as f64;
    }
    (observed_ns > 0.0).then(|| others_ns / observed_ns)
}

#[cfg(test)]
#[path = "host_tests.rs"]
mod tests;
