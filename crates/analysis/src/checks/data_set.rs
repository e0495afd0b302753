//! V02, V03, V04, V06: what the data set is and where it lies.

use fathom_model::fingerprint::DeviceFacts;
use fathom_model::unit;
use fathom_model::verdict::FindingStatus;
use fathom_rules::check::v04::{LONGEST_ANSWER_NS, LONGEST_LOOK_UP_NS};
use fathom_rules::{Rule, TargetKind, check};

use super::Facts;
use super::device_bytes::read_ratio;
use crate::outcome::Outcome;

/// V02: was it in the page cache before the load?
pub(super) fn page_cache_resident(facts: &Facts<'_>) -> Option<Outcome> {
    const RULE: &Rule = check::V02;
    let trial = facts.trial;
    if !trial.workload.mix.reads() {
        return None;
    }
    if let Some(reason) = trial.artificial() {
        return Some(Outcome::not_measured(RULE, reason));
    }
    if trial.kind == TargetKind::Memory {
        return Some(Outcome::not_measured(
            RULE,
            "the target itself is in memory (see V06)",
        ));
    }
    let Some(end) = trial.end() else {
        return Some(Outcome::not_measured(
            RULE,
            "the trial did not reach its report",
        ));
    };
    let method = end.data.cached_method.as_deref();
    let share = end.data.cached_share.filter(|s| s.is_finite());
    let direct = trial.direct();
    let Some(share) = share else {
        if direct {
            let evidence = "direct reads bypass the page cache".to_owned();
            return Some(Outcome::decided(
                RULE,
                FindingStatus::Pass,
                0.0,
                None,
                evidence,
            ));
        }
        let reason = method.unwrap_or("the residence of the data in memory could not be read");
        return Some(Outcome::not_measured(RULE, reason));
    };
    let evidence = format!(
        "{:.1} % of {} was in the page cache before the load{}{}",
        100.0 * share,
        unit::bytes(end.data.active_bytes),
        method.map(|m| format!(" ({m})")).unwrap_or_default(),
        if direct {
            "; direct reads bypass it"
        } else {
            ""
        },
    );
    let outcome = Outcome::graded(RULE, share, evidence);
    Some(match direct {
        true => outcome.at_most(FindingStatus::Info),
        false => outcome,
    })
}

/// V03: does it fit into a cache?
pub(super) fn working_set(facts: &Facts<'_>) -> Option<Outcome> {
    const RULE: &Rule = check::V03;
    let trial = facts.trial;
    // V77 says what caches mean for operations on files.
    if trial.workload.files_work().is_some() || trial.workload.store().is_some() {
        return None;
    }
    if let Some(reason) = trial.artificial() {
        return Some(Outcome::not_measured(RULE, reason));
    }
    if trial.kind == TargetKind::Memory {
        return Some(Outcome::not_measured(
            RULE,
            "the target itself is in memory (see V06)",
        ));
    }
    if trial.data_ops() == 0 {
        return Some(Outcome::not_measured(RULE, "no operation completed"));
    }
    let active = trial.end().map_or(0, |end| end.data.active_bytes);
    let memory = trial.host.memory_bytes;
    if active == 0 || memory == 0 {
        let reason = "the size of the data set or of the memory is not known";
        return Some(Outcome::not_measured(RULE, reason));
    }
    let ratio = active as f64 / memory as f64;
    let (limit, why) = working_set_limit(facts);
    let evidence = format!(
        "the data set is {}, {:.2} times the {} of memory; {why}",
        unit::bytes(active),
        ratio,
        unit::bytes(memory),
    );
    Some(Outcome::graded(RULE, ratio, evidence).at_most(limit))
}

/// How bad a small data set can be for this workload, and why.
fn working_set_limit(facts: &Facts<'_>) -> (FindingStatus, &'static str) {
    let trial = facts.trial;
    if trial.direct() {
        let why = "direct I/O does not use it, a cache of the device may hold the set";
        return (FindingStatus::Info, why);
    }
    if trial.workload.mix.reads() {
        let proven = check::v01::CAVEAT;
        return match read_ratio(facts) {
            Some(ratio) if ratio >= proven => {
                (FindingStatus::Info, "V01 shows that the device answered")
            }
            _ => (FindingStatus::Invalid, "buffered reads can come from it"),
        };
    }
    let sync = &trial.workload.sync;
    match sync.every_writes > 0 || sync.final_flush {
        true => (FindingStatus::Info, "the writes were flushed to the device"),
        false => (FindingStatus::Caveat, "unflushed writes can stay in it"),
    }
}

/// V04: was it ever written?
pub(super) fn sparse_unwritten(facts: &Facts<'_>) -> Option<Outcome> {
    const RULE: &Rule = check::V04;
    let trial = facts.trial;
    if trial.workload.files_work().is_some() || trial.workload.store().is_some() {
        return None;
    }
    let Some(end) = trial.end() else {
        return Some(Outcome::not_measured(
            RULE,
            "the trial did not reach its report",
        ));
    };
    let reads = trial.workload.mix.reads();
    let data = &end.data;
    // Simulated drives that keep count of what was written answer like real ones.
    if let (Some(reason), None) = (trial.artificial(), data.unwritten_share) {
        return Some(Outcome::not_measured(RULE, reason));
    }
    let Some(share) = data.unwritten_share.filter(|s| s.is_finite()) else {
        if data.active_bytes > 0 && data.prepared_bytes >= data.active_bytes {
            let evidence = format!("fathom wrote all {} before", unit::bytes(data.active_bytes));
            return Some(Outcome::decided(
                RULE,
                FindingStatus::Pass,
                0.0,
                None,
                evidence,
            ));
        }
        let reason = data.unwritten_method.as_deref();
        let reason = reason.unwrap_or("it cannot be told whether the data were ever written");
        return reads.then(|| Outcome::not_measured(RULE, reason));
    };
    let method = data.unwritten_method.as_deref();
    let evidence = format!(
        "{:.2} % of {} was never written before the load{}{}",
        100.0 * share,
        unit::bytes(data.active_bytes),
        method.map(|m| format!(" ({m})")).unwrap_or_default(),
        if reads {
            ""
        } else {
            "; first writes also allocate"
        },
    );
    let outcome = Outcome::graded(RULE, share, evidence);
    Some(match (reads, slower_than_a_map(facts)) {
        (false, _) => outcome.at_most(FindingStatus::Info),
        (true, Some(each_ns)) => outcome
            .and(&format!(
                "; one read per {} takes longer than an answer without data, so something else set the rate; \
                 with data in them the blocks may take longer still",
                unit::latency(each_ns)
            ))
            .at_most(FindingStatus::Caveat),
        (true, None) => outcome,
    })
}

/// The time per read of a device, where it is longer than the device would need to
/// look up that a block was never written. The way to it is part of the time of one read,
/// and of several in flight it is spent side by side. The holes of a file are different:
/// the file system answers for them, and the device is not asked at all.
fn slower_than_a_map(facts: &Facts<'_>) -> Option<f64> {
    let trial = facts.trial;
    let each_ns = trial.duration_ns as f64 / trial.data_ops() as f64;
    let longest_ns = match trial.total_depth() {
        0 | 1 => LONGEST_ANSWER_NS,
        _ => LONGEST_LOOK_UP_NS,
    };
    let service_ns = each_ns * trial.total_depth() as f64;
    let is_slow = each_ns > longest_ns && service_ns > LONGEST_ANSWER_NS && each_ns.is_finite();
    (trial.kind == TargetKind::Device && is_slow).then_some(each_ns)
}

/// V06: is there a disk at all?
pub(super) fn virtual_fs(facts: &Facts<'_>) -> Option<Outcome> {
    const RULE: &Rule = check::V06;
    let trial = facts.trial;
    if let Some(reason) = trial.artificial() {
        return Some(Outcome::not_measured(RULE, reason));
    }
    let filesystem = trial.filesystem().map(|f| f.kind.as_str());
    let layer = match (trial.kind, filesystem) {
        (TargetKind::Unknown | TargetKind::ObjectStore, _) => {
            let reason = "what lies below the target is not known";
            return Some(Outcome::not_measured(RULE, reason));
        }
        (TargetKind::Memory | TargetKind::Network | TargetKind::Stacked, Some(kind)) => {
            Some(format!("{kind}: {}", layer_reason(facts)))
        }
        _ => virtual_leaf(facts),
    };
    if let Some(evidence) = loop_past_the_cache(facts).filter(|_| layer.is_none()) {
        return Some(Outcome::decided(
            RULE,
            FindingStatus::Info,
            1.0,
            RULE.info,
            evidence,
        ));
    }
    let below = filesystem.map_or("a block device".to_owned(), |kind| {
        format!("{kind} on a block device")
    });
    let measured = if layer.is_some() { 1.0 } else { 0.0 };
    let status = match layer {
        Some(_) => FindingStatus::Caveat,
        None => FindingStatus::Pass,
    };
    let evidence = layer.unwrap_or_else(|| format!("the target is {below}"));
    let threshold = RULE.caveat;
    Some(Outcome::decided(
        RULE, status, measured, threshold, evidence,
    ))
}

/// Why the file system is not a disk: in the words of the fingerprint, which
/// knows the file system best, else in those of its kind.
fn layer_reason(facts: &Facts<'_>) -> String {
    let known = facts.trial.filesystem().map(|f| &f.facts);
    let upper = known.and_then(|facts| facts.get("upper_layer"));
    if let (TargetKind::Memory, Some(upper)) = (facts.trial.kind, upper) {
        return format!("data are in memory: its upper layer is {upper}; no device is measured");
    }
    let known = known.and_then(|facts| facts.get("virtual_reason"));
    let general = match facts.trial.kind {
        TargetKind::Memory => "data are in memory; no device is measured",
        TargetKind::Network => "data are on a server; the network takes part",
        _ => "a file system on top of another, which takes part",
    };
    known.cloned().unwrap_or_else(|| general.to_owned())
}

/// A bottom device that is not a disk.
fn virtual_leaf(facts: &Facts<'_>) -> Option<String> {
    facts.trial.leaves().into_iter().find_map(|device| {
        let name = &device.name;
        match device.kind.as_str() {
            "zram" | "ram" | "brd" => Some(format!("{name} is a disk in memory")),
            "loop" if is_in_memory(device) => Some(format!(
                "{name} is a loop device on a file in {}: its figures are those of memory",
                device.facts["backing_filesystem"]
            )),
            "loop" if is_past_the_cache(device) => None,
            "loop" => Some(format!(
                "{name} is a loop device; the file system and cache below it set the number too"
            )),
            _ if name.starts_with("zram") || name.starts_with("ram") => {
                Some(format!("{name} is a disk in memory"))
            }
            _ => None,
        }
    })
}

/// A loop device that hands its I/O on past the cache of this host, in words: nothing
/// here flatters its figures, and what lies below is part of them.
fn loop_past_the_cache(facts: &Facts<'_>) -> Option<String> {
    let device = facts.trial.leaves().into_iter().find(|device| {
        let is_loop = device.kind == "loop";
        is_loop && is_past_the_cache(device)
    })?;
    let kind = device.facts.get("backing_filesystem");
    let on = kind.map_or(String::new(), |kind| format!(" on {kind}"));
    Some(format!(
        "{} is a loop device over a file{on}, with direct I/O: no cache of this host lies between, and the \
         file system below is part of the figure",
        device.name
    ))
}

fn is_past_the_cache(device: &DeviceFacts) -> bool {
    device.facts.get("dio").is_some_and(|dio| dio == "1")
}

/// Whether the data never leave memory.
pub(crate) fn in_memory(facts: &Facts<'_>) -> bool {
    let known = facts.trial.record.target_before.as_ref();
    facts.trial.kind == TargetKind::Memory
        || known.is_some_and(|target| all_in_memory(&target.devices))
}

/// Whether the bottom devices of a target, as far as it has any, keep their data in
/// memory.
pub(crate) fn all_in_memory(devices: &[DeviceFacts]) -> bool {
    let mut leaves = devices.iter().filter(|device| device.below.is_empty());
    let first = leaves.next();
    first.is_some_and(is_in_memory) && leaves.all(is_in_memory)
}

/// Whether a bottom device keeps its data in memory, a loop device on a file
/// there included.
fn is_in_memory(device: &DeviceFacts) -> bool {
    let filesystem = device.facts.get("backing_filesystem");
    match device.kind.as_str() {
        "zram" | "ram" | "brd" => true,
        "loop" => filesystem.is_some_and(|kind| matches!(kind.as_str(), "tmpfs" | "ramfs")),
        _ => false,
    }
}

/// Share of what a trial could read that was never written, where that explains
/// why the device did not answer: holes are read from a map.
pub(crate) fn holes(facts: &Facts<'_>) -> Option<f64> {
    let trial = facts.trial;
    let data = &trial.end()?.data;
    let share = data.unwritten_share.filter(|share| share.is_finite())?;
    let missing = 1.0 - read_ratio(facts)?.min(1.0);
    let counts = share > check::v04::INVALID;
    // Most of what did not come from the device must be holes.
    (counts && trial.workload.mix.reads() && 2.0 * share > missing && missing > 0.0)
        .then_some(share)
}

#[cfg(test)]
#[path = "data_set_tests.rs"]
mod tests;
