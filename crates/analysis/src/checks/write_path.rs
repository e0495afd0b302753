//! V09, V44: what the way to the device adds to writes, and the state of the
//! file system on it.

use fathom_model::unit;
use fathom_model::verdict::FindingStatus;
use fathom_model::workload::{Pattern, SyncOpen};
use fathom_rules::check::v09::PAGE_BYTES;
use fathom_rules::{Rule, TargetKind, check};

use super::Facts;
use super::commits::{carrier, has_writes};
use super::device_facts::pairs;
use crate::activity::Activity;
use crate::outcome::{Outcome, grade};
use crate::trial::Trial;
use crate::unknown::Unknown;

const RULE: &Rule = check::V09;
/// What helps where records are smaller than pages.
const GATHER: &str = "Gather records into whole pages before each flush, or read the rate as that \
                      of flushes of small records; bytes per second say nothing about the device.";

/// V09: bytes at the device over bytes of the application, and alignment.
pub(super) fn host_write_amplification(facts: &Facts<'_>) -> Option<Outcome> {
    let trial = facts.trial;
    let local = matches!(trial.kind, TargetKind::Device | TargetKind::File);
    if trial.workload.mix.write_percent == 0 || !local {
        return None;
    }
    if trial.data_ops() == 0 {
        return Some(Outcome::not_measured(RULE, "no operation completed"));
    }
    let limit = check::v09::INFO;
    let ratio = amplification(facts);
    if let Some(block) = partial_page(trial) {
        return Some(partial_pages(facts, block, &ratio));
    }
    if let Some(fault) = misalignment(trial) {
        let share = match &ratio {
            Ok(ratio) => format!("; the device wrote {ratio:.2} bytes for each byte written"),
            Err(_) => String::new(),
        };
        let measured = ratio.as_ref().copied().unwrap_or(1.0);
        let status = FindingStatus::Caveat;
        let evidence = format!("{fault}{share}");
        return Some(Outcome::decided(
            RULE,
            status,
            measured,
            Some(limit),
            evidence,
        ));
    }
    Some(match ratio {
        Err(reason) => Outcome::not_measured(RULE, reason),
        Ok(ratio) => {
            let evidence = format!(
                "the device wrote {ratio:.2} bytes for each byte that was written; the blocks \
                 fit the device's"
            );
            Outcome::graded(RULE, ratio, evidence).at_most(FindingStatus::Info)
        }
    })
}

/// The block of buffered writes that do not fit pages.
fn partial_page(trial: &Trial<'_>) -> Option<u64> {
    let workload = trial.workload;
    let block = workload.min_block_bytes();
    let places = [
        block,
        workload.align_bytes,
        workload.misalign_bytes,
        workload.data_set.offset_bytes,
    ];
    let odd = places.iter().any(|bytes| !bytes.is_multiple_of(PAGE_BYTES));
    (odd && !trial.direct()).then_some(block)
}

/// Buffered writes of parts of pages. The page cache gathers them, unless a
/// flush comes before a page is full: then whole pages are written again and
/// again, as a write-ahead log does that syncs every small record.
fn partial_pages(facts: &Facts<'_>, block: u64, ratio: &Result<f64, Unknown>) -> Outcome {
    let trial = facts.trial;
    let too_soon = flushed_before_full(trial, block);
    let reads = bytes_read_to_write(trial);
    let cost = match ratio {
        Ok(ratio) => format!("the device wrote {ratio:.1} bytes for each byte written"),
        Err(reason) => format!("what the device wrote for each byte is not known ({reason})"),
    };
    let read = reads.map_or(String::new(), |reads| format!(", and read {reads:.1}"));
    let why = match too_soon {
        true => "a flush comes before a page is full, so pages are written again and again",
        false => "a page that is not in memory is read before a part of it is written",
    };
    let evidence = format!(
        "blocks of {} at offsets that do not fit the page cache's pages of {}: {why}; {cost}{read}",
        unit::bytes_exact(block),
        unit::bytes_exact(PAGE_BYTES),
    );
    let measured = ratio.as_ref().copied().unwrap_or(1.0) + reads.unwrap_or(0.0);
    let (status, threshold) = grade(RULE, measured);
    match (too_soon, ratio) {
        (true, _) => Outcome::decided(RULE, FindingStatus::Caveat, measured, RULE.caveat, evidence)
            .with_remedy(GATHER),
        (false, Ok(_)) => Outcome::decided(RULE, status, measured, threshold, evidence),
        (false, Err(reason)) => Outcome::not_measured(RULE, reason.clone()),
    }
}

/// Whether a flush comes before the writes have filled a page; scattered ones
/// never do.
fn flushed_before_full(trial: &Trial<'_>, block: u64) -> bool {
    let workload = trial.workload;
    let sync = &workload.sync;
    let rhythms = [sync.every_writes, sync.other_every_writes];
    let every = match sync.open {
        SyncOpen::No => rhythms.into_iter().filter(|every| *every > 0).min(),
        _ => Some(1),
    };
    let in_sequence = matches!(workload.pattern, Pattern::Sequential | Pattern::Backwards);
    let batch = every.map(|every| u64::from(every).saturating_mul(block));
    batch.is_some_and(|batch| batch < PAGE_BYTES || !in_sequence && block < PAGE_BYTES)
}

/// Bytes that the process had to read for each byte that it wrote, where the
/// workload itself reads nothing.
fn bytes_read_to_write(trial: &Trial<'_>) -> Option<f64> {
    let alone = trial.company.is_none() && !trial.workload.mix.reads();
    let activity = Activity::of_load_and_after(trial).ok().filter(|_| alone)?;
    let written = activity.written.bytes;
    (written > 0.0).then_some(activity.own_read_bytes? / written)
}

fn amplification(facts: &Facts<'_>) -> Result<f64, Unknown> {
    let trial = facts.trial;
    let activity = Activity::of_load_and_after(trial)?;
    if activity.leaves.len() > 1 {
        return Err(Unknown::because(
            "several devices share the writes: redundancy writes more by design",
        ));
    }
    let app = activity.written.bytes;
    // Others use the disk below a loop device as well.
    let all = carrier(trial, &activity, has_writes)
        .map_or(activity.device_write_bytes, |d| d.write_bytes);
    let before = facts.left_by_earlier_trials() as f64;
    let device = all - activity.dirty_before_bytes.min(before) - activity.written.slack;
    if app <= 0.0 {
        return Err(Unknown::because("no write completed"));
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
        workload.data_set.offset_bytes,
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
    const RULE: &Rule = check::V44;
    let trial = facts.trial;
    let filesystem = trial.filesystem()?;
    let kinds = [TargetKind::File, TargetKind::Network, TargetKind::Stacked];
    if !kinds.contains(&trial.kind) {
        return None;
    }
    if filesystem.total_bytes == 0 {
        return Some(Outcome::not_measured(
            RULE,
            "the size of the file system is not known",
        ));
    }
    let free = filesystem.available_bytes as f64 / filesystem.total_bytes as f64;
    let writes = trial.workload.mix.modifies();
    let meaning = mount_meaning(&filesystem.options, writes);
    let (mut status, threshold) = grade(RULE, free);
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
    Some(Outcome::decided(RULE, status, free, threshold, evidence))
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
