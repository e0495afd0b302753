use fathom_model::verdict::FindingStatus::{Caveat, Invalid, NotMeasured, Pass};

use crate::test_records::RecordBuilder;

fn drive(before: &[(&str, &str)], after: &[(&str, &str)]) -> RecordBuilder {
    RecordBuilder::reads().drive_facts(before, after)
}

#[test]
fn work_of_the_storage_before_or_after_condemns() {
    assert_eq!(
        drive(&[("sync_action", "idle")], &[]).status("V31"),
        Some(Pass)
    );
    assert_eq!(
        drive(&[("sync_action", "frozen")], &[]).status("V31"),
        Some(Pass)
    );
    let rebuild = drive(&[("sync_action", "idle")], &[("sync_action", "recover")]);
    let finding = rebuild.finding("V31").unwrap();
    assert_eq!(finding.status, Invalid);
    assert!(
        finding.evidence.contains("recover of nvme0n1"),
        "{finding:?}"
    );
    let moving = drive(&[("dm_name", "vg-pvmove0")], &[]);
    assert_eq!(moving.status("V31"), Some(Invalid));
    let testing = drive(
        &[("self_test", "none")],
        &[("self_test", "short, 3 % done")],
    );
    assert_eq!(testing.status("V31"), Some(Invalid));
    let on_btrfs = |operation| {
        let facts = [("exclusive_operation", operation)];
        RecordBuilder::reads()
            .on("btrfs", false)
            .filesystem_facts(&facts)
    };
    assert_eq!(on_btrfs("balance").status("V31"), Some(Invalid));
    for calm in ["none", "balance paused", "swap activate"] {
        assert_eq!(on_btrfs(calm).status("V31"), Some(Pass), "{calm}");
    }
}

#[test]
fn what_cannot_be_seen_is_not_measured() {
    let zfs = RecordBuilder::reads().on("zfs", false);
    assert_eq!(zfs.status("V31"), Some(NotMeasured));
    let unknown = RecordBuilder::reads().with(|b| b.fingerprint = None);
    assert_eq!(unknown.status("V31"), Some(NotMeasured));
    assert_eq!(unknown.status("V32"), Some(NotMeasured));
    let server = RecordBuilder::reads().on("nfs4", true).with(|b| {
        if let Some(target) = &mut b.fingerprint {
            target.devices.clear();
        }
    });
    assert_eq!(server.status("V31"), Some(NotMeasured));
}

#[test]
fn lost_redundancy_and_paths_are_a_caveat() {
    assert_eq!(RecordBuilder::reads().status("V32"), Some(Pass));
    let whole = drive(&[("degraded", "0"), ("state", "live")], &[]);
    assert_eq!(whole.status("V32"), Some(Pass));
    let broken = drive(
        &[("degraded", "0"), ("level", "raid1")],
        &[("degraded", "1")],
    );
    let finding = broken.finding("V32").unwrap();
    assert_eq!(finding.status, Caveat);
    assert!(finding.evidence.contains("raid1"), "{finding:?}");
    let dead = drive(&[("state", "running")], &[("state", "offline")]);
    assert_eq!(dead.status("V32"), Some(Caveat));
    let cases = [
        ("btrfs", "missing_devices", "1", Caveat),
        ("btrfs", "missing_devices", "0", Pass),
        ("zfs", "pool_state", "DEGRADED", Caveat),
        ("zfs", "pool_state", "ONLINE", Pass),
        ("ext4", "errors_count", "2", Caveat),
        ("ext4", "errors_count", "0", Pass),
    ];
    for (kind, name, value, expected) in cases {
        let trial = RecordBuilder::reads()
            .on(kind, false)
            .filesystem_facts(&[(name, value)]);
        assert_eq!(trial.status("V32"), Some(expected), "{kind} {name} {value}");
    }
}
