//! The part of V30 that counts beside a read test.
//!
//! Bytes hide a neighbour whose requests are small beside the blocks of the run: 500
//! commits a second are a third of a hard disk's time and a thousandth of its bytes.

use fathom_model::unit;
use fathom_model::verdict::FindingStatus;
use fathom_rules::check::v30::{FLOOR_OPS_PER_SECOND, ONE_REQUEST_BYTES, REQUEST_BYTES};
use fathom_rules::{Rule, check};

use super::Facts;
use super::commits::carrier;
use super::device_facts::pairs;
use crate::activity::{Activity, DeviceCounts};
use crate::outcome::Outcome;

const RULE: &Rule = check::V30;

/// Requests of others on the device of a read test, where more of them than of bytes
/// can be told.
pub(super) fn of_others(facts: &Facts<'_>, activity: &Activity) -> Option<Outcome> {
    if facts.trial.devices_are_modified() {
        return None;
    }
    let [leaf] = &activity.leaves[..] else {
        return None;
    };
    let device = activity.devices.iter().find(|d| d.name == *leaf)?;
    // Pages that were dirty before may be written back now, each by itself.
    let written_back = activity.dirty_before_bytes / ONE_REQUEST_BYTES as f64;
    let flushes = device.flushes.unwrap_or(0.0);
    let found = [
        ("writes", device.writes - written_back),
        ("flushes", flushes),
        ("reads", device.reads - most_own_reads(facts, activity)),
    ];
    let (what, foreign) = found.into_iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
    if foreign <= FLOOR_OPS_PER_SECOND * activity.seconds {
        return None;
    }
    let all = device.reads + device.writes + flushes;
    let share = foreign / all;
    let evidence = format!(
        "at least {:.1} % of the requests that {} completed were {what} of others: {} of {} in \
         {:.0} s",
        100.0 * share,
        device.name,
        unit::count(foreign),
        unit::count(all),
        activity.seconds,
    );
    Some(Outcome::graded(RULE, share, evidence).at_most(FindingStatus::Caveat))
}

/// Reads of the device that the run can have caused, as far as requests can be counted:
/// past the page cache, on a device that gets each of them once.
fn most_own_reads(facts: &Facts<'_>, activity: &Activity) -> f64 {
    let trial = facts.trial;
    let has_reads = |known: &DeviceCounts| known.reads > 0.0;
    let countable = trial.direct()
        && activity.direct_read.bytes >= activity.read.bytes
        && carrier(trial, activity, has_reads).is_ok();
    if !countable || activity.read.bytes <= 0.0 {
        return f64::INFINITY;
    }
    let uncertain = 1.0 + activity.read.slack / activity.read.bytes;
    activity.reads * requests_per_read(facts) * uncertain
}

/// Requests that a block of the workload can become: devices split what is larger than
/// they take at once, and a block may lie across two pieces of the file.
fn requests_per_read(facts: &Facts<'_>) -> f64 {
    let trial = facts.trial;
    let block_bytes = trial.workload.max_block_bytes();
    if block_bytes <= ONE_REQUEST_BYTES {
        return 1.0;
    }
    let limits = pairs(trial).into_iter();
    let taken_kib = limits
        .filter_map(|device| device.latest("max_sectors_kb"))
        .min();
    let taken_bytes = taken_kib.map_or(REQUEST_BYTES, |kib| kib.max(4).saturating_mul(1024));
    block_bytes.div_ceil(taken_bytes) as f64 + 1.0
}

#[cfg(test)]
mod tests {
    use fathom_model::verdict::FindingStatus::{Caveat, Pass};
    use fathom_model::workload::BlockSizes;

    use crate::test_records::RecordBuilder;

    /// Reads of this many bytes each, beside so many requests of 4 KiB a second.
    fn beside(block_bytes: u64, reads: u64, writes: u64, flushes: u64) -> RecordBuilder {
        RecordBuilder::reads()
            .with(move |b| b.workload.block = BlockSizes::Fixed(block_bytes))
            .edit_with(move |record| {
                for observation in &mut record.observations {
                    let device = &mut observation.devices[0];
                    let own = device.read_bytes / block_bytes;
                    device.reads = own * block_bytes.div_ceil(524_288) + reads;
                    device.read_bytes += reads * 4096;
                    device.writes = writes;
                    device.write_bytes = writes * 4096;
                    device.flushes = Some(flushes);
                }
                let target = record.target_before.as_mut().expect("a target");
                let facts = &mut target.devices[0].facts;
                facts.insert("max_sectors_kb".to_owned(), "512".to_owned());
            })
    }

    #[test]
    fn small_requests_beside_large_blocks_are_counted() {
        for (what, others) in [
            ("writes", beside(1 << 20, 0, 300, 0)),
            ("flushes", beside(1 << 20, 0, 100, 150)),
            ("reads", beside(4096, 60, 0, 0)),
        ] {
            let finding = others.finding("V30").unwrap();
            assert_eq!(finding.status, Caveat, "{what}: {finding:?}");
            let words = format!("were {what} of others: ");
            assert!(finding.evidence.contains(&words), "{finding:?}");
        }
    }

    #[test]
    fn own_requests_and_the_noise_of_a_system_are_not_others() {
        for quiet in [
            beside(4096, 0, 0, 0),
            beside(1 << 20, 0, 15, 5),
            // Two requests for each block, and another where it lies across two pieces.
            beside(1 << 20, 900, 0, 0),
        ] {
            let finding = quiet.finding("V30").unwrap();
            assert_eq!(finding.status, Pass, "{finding:?}");
        }
    }

    #[test]
    fn pages_that_were_dirty_before_may_be_written_back() {
        let dirty = beside(1 << 20, 0, 300, 0).edit(|record| {
            for observation in &mut record.observations {
                let memory = observation.memory.get_or_insert_default();
                memory.dirty_bytes = 100 << 20;
            }
        });
        assert_eq!(dirty.status("V30"), Some(Pass));
    }
}
