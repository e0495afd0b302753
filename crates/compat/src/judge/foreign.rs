//! V30: did somebody else use the devices meanwhile?

use crate::results::ResultDevice;
use fathom_model::op::OpKind;
use fathom_model::unit;
use fathom_model::verdict::FindingStatus;
use fathom_rules::check::v01::{SHORTEST_S, UNCOUNTED_S};
use fathom_rules::check::v30::{FLOOR_BYTES_PER_SECOND, JOURNAL_BYTES_PER_FLUSH, METADATA_SHARE};
use fathom_rules::{Rule, check};

use super::Entry;
use super::device::{counting_devices, memory_path};
use super::identity::verifies;
use super::said::{EngineWay, Said};
use fathom_analysis::judgement::Outcome;

/// Options with which fio itself reads or writes more than it counts.
const UNCOUNTED: [&str; 3] = ["ramp_time", "pre_read", "loops"];

/// V30: bytes of the devices beyond those of all jobs of the document.
pub(super) fn others(entry: &Entry<'_>) -> Option<Outcome> {
    const RULE: &Rule = check::V30;
    let said = &entry.said;
    let more = UNCOUNTED
        .iter()
        .any(|key| entry.job.options.contains_key(*key));
    if said.way == EngineWay::Nothing
        || memory_path(entry).is_some()
        || !said.options_known
        || more
        || verifies(entry)
    {
        return None;
    }
    let seconds = said.seconds().filter(|seconds| *seconds >= SHORTEST_S)?;
    let leaves = counting_devices(entry).ok()?;
    let moved = |of: fn(&ResultDevice) -> Option<f64>| -> Option<f64> {
        leaves.iter().map(|device| of(device)).sum()
    };
    let reads = moved(|device| device.read_bytes)?;
    let writes = moved(|device| device.write_bytes)?;
    let (own_reads, own_writes) = (
        own_bytes(entry, OpKind::Read),
        own_bytes(entry, OpKind::Write),
    );
    // The counters go on for a moment after the jobs.
    let slack = 1.0 + UNCOUNTED_S / seconds;
    // Buffered reads are read ahead, and redundancy writes more than once.
    let reads_count = said.direct == Some(true);
    let flushes = entry.job.flushes.as_ref().and_then(|f| f.count);
    let journal = flushes.unwrap_or(0.0) * JOURNAL_BYTES_PER_FLUSH;
    let other_reads = match reads_count {
        true => (reads - own_reads * slack).max(0.0),
        false => 0.0,
    };
    let other_writes = match leaves.len() {
        1 => (writes - own_writes * (slack + METADATA_SHARE) - journal).max(0.0),
        _ => 0.0,
    };
    let others = other_reads + other_writes;
    let share = match others > FLOOR_BYTES_PER_SECOND * seconds {
        true => others / (reads + writes),
        false => 0.0,
    };
    let (kind, by_devices, by_jobs) = match other_reads >= other_writes {
        true => ("read", reads, own_reads),
        false => ("wrote", writes, own_writes),
    };
    let evidence = format!(
        "the devices {kind} {} and the jobs {}: {:.0} % of all is somebody else's, or more than \
         was asked for is read or written below",
        unit::bytes(by_devices as u64),
        unit::bytes(by_jobs as u64),
        100.0 * share
    );
    if share == 0.0 {
        let evidence = "the devices did hardly more than the jobs".to_owned();
        return Some(Outcome::graded(RULE, share, evidence));
    }
    let target = said.target.as_deref();
    let on_the_device = target.is_some_and(|target| target.starts_with("/dev/"));
    let outcome = Outcome::graded(RULE, share, evidence);
    Some(match on_the_device && other_reads >= other_writes {
        true => outcome,
        false => outcome.at_most(FindingStatus::Caveat),
    })
}

/// Bytes that all jobs of the document moved to or from devices.
fn own_bytes(entry: &Entry<'_>, kind: OpKind) -> f64 {
    let jobs = entry.result.jobs.iter().filter(|job| !job.sum_of_others);
    let moving = jobs.filter(|job| Said::of(entry.result, job).way != EngineWay::Nothing);
    let directions = moving.flat_map(|job| &job.directions);
    // Where reads and writes are reported as one, both may be all of it.
    let own = directions.filter(|d| d.kind == Some(kind) || d.kind.is_none());
    own.filter_map(|d| d.bytes).sum()
}
