//! V09, V44: what the way to the device adds to writes, and the state of the
//! file system on it.

use fathom_model::unit;
use fathom_model::verdict::FindingStatus;

use super::Facts;
use super::device_facts::pairs;
use crate::activity::Activity;
use crate::check_table::TargetKind;
use crate::outcome::{Outcome, check};
use crate::trial::Trial;

/// V09: bytes at the device over bytes of the application, and alignment.
pub(super) fn host_write_amplification(facts: &Facts<'_>) -> Option<Outcome> {
    const ID: &str = "V09";
    let trial = facts.trial;
    let local = matches!(trial.kind, TargetKind::Device | TargetKind::File);
    if trial.workload.mix.write_percent == 0 || !local {
        return None;
    }
    if trial.data_ops() == 0 {
        return Some(Outcome::not_measured(ID, "no operation completed"));
    }
    let limit = check(ID).info.unwrap_or(1.1);
    let ratio = amplification(trial);
    if let Some(fault) = misalignment(trial) {
        let share = match &ratio {
            Ok(ratio) => format!("; the device wrote {ratio:.2} bytes for each byte written"),
            Err(_) => String::new(),
        };
        let measured = ratio.as_ref().copied().unwrap_or(1.0);
        let status = FindingStatus::Caveat;
        let evidence = format!("{fault}{share}");
        return Some(Outcome::decided(
            ID,
            status,
            measured,
            Some(limit),
            evidence,
        ));
    }
    Some(match ratio {
        Err(reason) => Outcome::not_measured(ID, reason),
        Ok(ratio) => {
            let evidence = format!(
                "the device wrote {ratio:.2} bytes for each byte that was written; the blocks \
                 fit the device's"
            );
            Outcome::graded(ID, ratio, evidence).at_most(FindingStatus::Info)
        }
    })
}

fn amplification(trial: &Trial<'_>) -> Result<f64, String> {
    let activity = Activity::of_load_and_after(trial)?;
    if activity.leaves.len() > 1 {
        return Err(
            "several devices share the writes: redundancy writes more by design".to_owned(),
        );
    }
    let app = activity.written.bytes;
    let device = activity.device_write_bytes - activity.dirty_before_bytes - activity.written.slack;
    if app <= 0.0 {
        return Err("no write completed".to_owned());
    }
    Ok((device / app).max(0.0))
}

/// Writes that the device can carry out only by reading first.
fn misalignment(trial: &Trial<'_>) -> Option<String> {
    if !trial.direct() {
        return None;
    }
    let workload = trial.workload;
    let units = pairs(trial);
    if let Some(partition) = units.iter().find(|d| d.fact("alignment_offset").is_some()) {
        return Some(format!(
            "the partition {} begins {} bytes off the device's physical blocks",
            partition.name(),
            partition.fact("alignment_offset").unwrap_or_default(),
        ));
    }
    let leaves = units.iter().filter(|d| d.before.below.is_empty());
    let block = leaves.filter_map(|d| d.before.physical_block_bytes).max()?;
    let odd = |bytes: u64| block > 0 && !bytes.is_multiple_of(block);
    if odd(workload.min_block_bytes()) {
        return Some(format!(
            "blocks of {} on physical blocks of {}: the device reads before it writes",
            unit::bytes(workload.min_block_bytes()),
            unit::bytes(block)
        ));
    }
    let offsets = [
        workload.align_bytes,
        workload.misalign_bytes,
        workload.offset_bytes,
    ];
    offsets.into_iter().any(odd).then(|| {
        format!(
            "offsets are no multiples of the device's physical blocks of {}",
            unit::bytes(block)
        )
    })
}

/// V44: a file system that is nearly full, or mounted so that writes mean
/// something else.
pub(super) fn filesystem_state(facts: &Facts<'_>) -> Option<Outcome> {
    const ID: &str = "V44";
    let trial = facts.trial;
    let filesystem = trial.filesystem()?;
    let kinds = [TargetKind::File, TargetKind::Network, TargetKind::Stacked];
    if !kinds.contains(&trial.kind) {
        return None;
    }
    if filesystem.total_bytes == 0 {
        return Some(Outcome::not_measured(
            ID,
            "the size of the file system is not known",
        ));
    }
    let free = filesystem.available_bytes as f64 / filesystem.total_bytes as f64;
    let writes = trial.workload.mix.modifies();
    let meaning = mount_meaning(&filesystem.options, writes);
    let (mut status, threshold) = check(ID).grade(free);
    // Reads do not allocate; writes in place hardly do.
    if !writes {
        status = status.min(FindingStatus::Info);
    }
    if let Some((worst, _)) = meaning.iter().max_by_key(|(status, _)| *status) {
        status = status.max(*worst);
    }
    let notes: Vec<&str> = meaning.iter().map(|(_, text)| *text).collect();
    let evidence = format!(
        "{:.0} % of {} are free on {}{}{}",
        100.0 * free,
        unit::bytes(filesystem.total_bytes),
        filesystem.mount_point,
        if notes.is_empty() { "" } else { "; " },
        notes.join("; "),
    );
    Some(Outcome::decided(ID, status, free, threshold, evidence))
}

/// Mount options that change what a write or flush means.
fn mount_meaning(options: &[String], writes: bool) -> Vec<(FindingStatus, &'static str)> {
    let known = [
        (
            "sync",
            FindingStatus::Info,
            "mounted sync: every write is synchronous",
        ),
        (
            "data=journal",
            FindingStatus::Info,
            "data=journal: data are written twice",
        ),
        (
            "nobarrier",
            FindingStatus::Caveat,
            "nobarrier: a flush does not empty the device's cache",
        ),
        (
            "barrier=0",
            FindingStatus::Caveat,
            "barrier=0: a flush does not empty the device's cache",
        ),
        (
            "discard",
            FindingStatus::Info,
            "discard: freed blocks are trimmed at once",
        ),
        (
            "discard=sync",
            FindingStatus::Info,
            "discard: freed blocks are trimmed at once",
        ),
        (
            "nodatacow",
            FindingStatus::Info,
            "nodatacow: data are overwritten in place",
        ),
    ];
    let present = known
        .into_iter()
        .filter(|(name, ..)| writes && options.iter().any(|o| o == name));
    present.map(|(_, status, text)| (status, text)).collect()
}

#[cfg(test)]
#[path = "write_path_tests.rs"]
mod tests;
