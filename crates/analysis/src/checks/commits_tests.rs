use fathom_model::fingerprint::DeviceFacts;
use fathom_model::op::OpKind;
use fathom_model::run::TrialRecord;
use fathom_model::sample::OpSample;
use fathom_model::verdict::FindingStatus::{Caveat, NotMeasured, Pass};
use fathom_model::workload::SyncOpen;

use crate::test_records::RecordBuilder;

/// Writes 4 KiB at random 1,000 times a second, flushes each, and the device
/// completes these for each of them: writes, flushes, bytes.
fn flushing(writes: f64, flushes: f64, bytes: f64) -> RecordBuilder {
    let builder = RecordBuilder::writes()
        .buffered()
        .with(|b| b.workload.sync.every_writes = 1)
        .edit(flush_each_write);
    let add = |t: &mut TrialRecord, per_write: [f64; 3]| {
        for observation in &mut t.observations {
            let device = &mut observation.devices[0];
            let own = device.write_bytes as f64 / 4096.0;
            device.writes = (own * per_write[0]) as u64;
            device.flushes = Some((own * per_write[1]) as u64);
            device.write_bytes = (own * per_write[2]) as u64;
        }
    };
    builder.edit_with(move |t| add(t, [writes, flushes, bytes]))
}

fn flush_each_write(trial: &mut TrialRecord) {
    for sample in &mut trial.samples {
        let writes = sample.op(OpKind::Write).map_or(0, |op| op.ops);
        let mut sync = OpSample::new(OpKind::Sync, false);
        sync.ops = writes;
        sample.ops.push(sync);
    }
}

/// As measured on loop devices, alone: writes, flushes and bytes per flush.
const ALONE: [(&str, [f64; 3]); 9] = [
    ("ext4, overwriting, fdatasync", [2.0, 1.0, 4096.0]),
    ("ext4, overwriting, fsync", [2.08, 1.08, 5094.0]),
    (
        "ext4, overwriting, fsync of 16 workers",
        [1.57, 0.24, 5222.0],
    ),
    ("ext4, appending, fsync", [3.01, 2.01, 24_602.0]),
    ("ext4, appending, fdatasync", [3.0, 2.0, 23_296.0]),
    ("XFS, overwriting, fsync", [2.0, 1.1, 4194.0]),
    ("XFS, appending 2,300 bytes, fdatasync", [2.56, 2.0, 7434.0]),
    ("XFS, O_SYNC", [2.0, 1.34, 4442.0]),
    ("XFS, fdatasync of 16 workers", [2.0, 0.19, 4096.0]),
];

#[test]
fn the_journal_of_the_run_itself_raises_no_alarm() {
    for (what, [writes, flushes, bytes]) in ALONE {
        let finding = flushing(writes, flushes, bytes).finding("V30").unwrap();
        assert_eq!(finding.status, Pass, "{what}: {finding:?}");
        assert!(finding.evidence.contains("explain up to"), "{finding:?}");
    }
}

#[test]
fn a_neighbour_with_two_thirds_of_the_commits_is_found() {
    for (what, [writes, flushes, bytes]) in ALONE {
        let all = flushing(3.0 * writes, 3.0 * flushes, 3.0 * bytes);
        let finding = all.finding("V30").unwrap();
        assert_eq!(finding.status, Caveat, "{what}: {finding:?}");
        assert!(finding.evidence.contains("at least"), "{finding:?}");
    }
    // Flushes without data show as flushes.
    let empty = flushing(2.0, 6.0, 4096.0).finding("V30").unwrap();
    assert_eq!(empty.status, Caveat);
    assert!(empty.evidence.contains("flushes that nvme0n1"), "{empty:?}");
}

#[test]
fn commits_that_nobody_can_count_are_not_called_own() {
    let heavy = || flushing(9.0, 6.0, 36_864.0);
    for unknown in [
        heavy().on("btrfs", false),
        heavy().edit(|t| {
            t.observations
                .iter_mut()
                .for_each(|o| o.devices[0].writes = 0);
        }),
        heavy().with(|b| {
            let target = b.fingerprint.as_mut().unwrap();
            target.devices[0].kind = "dm".to_owned();
        }),
        heavy().with(|b| {
            let target = b.fingerprint.as_mut().unwrap();
            let filesystem = target.filesystem.as_mut().unwrap();
            filesystem.options = vec!["data=journal".to_owned()];
        }),
    ] {
        let finding = unknown.finding("V30").unwrap();
        assert_eq!(finding.status, NotMeasured, "{finding:?}");
        assert!(finding.evidence.contains("cannot be told"), "{finding:?}");
    }
    // Where the run's own bytes explain all, nobody needs to count.
    assert_eq!(
        flushing(2.0, 1.0, 4096.0).on("btrfs", false).status("V30"),
        Some(Pass)
    );
}

#[test]
fn commits_are_counted_on_the_disk_below_a_plain_volume() {
    let on = |id: &str| {
        let mut volume = DeviceFacts {
            name: "dm-0".to_owned(),
            kind: "dm".to_owned(),
            below: vec!["nvme0n1".to_owned()],
            ..DeviceFacts::default()
        };
        volume.facts.insert("dm_uuid".to_owned(), id.to_owned());
        let heavy = flushing(9.0, 6.0, 36_864.0).with(|b| {
            let target = b.fingerprint.as_mut().unwrap();
            target.devices.insert(0, volume);
        });
        heavy.status("V30")
    };
    assert_eq!(on("LVM-0123456789abcdef"), Some(Caveat));
    assert_eq!(on("CRYPT-LUKS2-0123-data"), Some(Caveat));
    assert_eq!(on("LVM-0123456789abcdef-tpool"), Some(NotMeasured));
    assert_eq!(on(""), Some(NotMeasured));
}

#[test]
fn writes_past_the_cache_and_synchronous_ones_are_counted_as_well() {
    let direct = |writes: u64| {
        RecordBuilder::writes().edit_with(move |t| {
            for observation in &mut t.observations {
                let device = &mut observation.devices[0];
                device.writes = device.write_bytes / 4096 * writes;
            }
        })
    };
    assert_eq!(direct(1).status("V30"), Some(Pass));
    assert_eq!(
        direct(2).status("V30"),
        Some(Caveat),
        "half of them are foreign"
    );
    let synchronous = |writes| direct(writes).with(|b| b.workload.sync.open = SyncOpen::Dsync);
    assert_eq!(
        synchronous(2).status("V30"),
        Some(Pass),
        "each brings its flush"
    );
    assert_eq!(synchronous(6).status("V30"), Some(Caveat));
}

#[test]
fn dirty_pages_of_others_hide_no_commits() {
    let beside_a_writer = flushing(9.0, 3.0, 12_288.0).edit(|t| {
        for observation in &mut t.observations {
            if let Some(memory) = &mut observation.memory {
                memory.dirty_bytes = 100 << 30;
            }
        }
    });
    assert_eq!(beside_a_writer.status("V30"), Some(Caveat));
}

#[test]
fn a_quiet_neighbour_stays_below_the_floor() {
    let slow = flushing(3.6, 2.4, 24_000.0).with(|b| b.ops_per_second = 20);
    assert_eq!(slow.status("V30"), Some(Pass));
}
