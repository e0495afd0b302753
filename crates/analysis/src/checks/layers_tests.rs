use fathom_model::verdict::FindingStatus::{Info, Invalid, NotMeasured, Pass};
use fathom_model::workload::Content;

use crate::test_records::RecordBuilder;

fn with_options(kind: &str, options: &[&str]) -> RecordBuilder {
    RecordBuilder::writes().on(kind, false).with(|b| {
        let filesystem = b.fingerprint.as_mut().and_then(|f| f.filesystem.as_mut());
        let options = options.iter().map(|o| (*o).to_owned());
        filesystem.unwrap().options = options.collect();
    })
}

fn zeros(builder: RecordBuilder) -> RecordBuilder {
    builder.with(|b| b.workload.payload.content = Content::Zeros)
}

#[test]
fn a_plain_disk_with_random_bytes_passes() {
    assert_eq!(RecordBuilder::writes().status("V05"), Some(Pass));
    let plain = with_options("btrfs", &["rw", "compress=no", "space_cache"]);
    assert_eq!(plain.status("V05"), Some(Pass));
}

#[test]
fn a_compressing_layer_asks_for_the_payload() {
    let btrfs = with_options("btrfs", &["rw", "compress=zstd:3"]);
    let finding = btrfs.finding("V05").unwrap();
    assert_eq!(finding.status, Info);
    assert!(finding.evidence.contains("zstd:3"), "{finding:?}");
    assert_eq!(zeros(btrfs).status("V05"), Some(Invalid));
    let vdo = RecordBuilder::writes().drive_facts(&[("vdo", "yes")], &[]);
    assert_eq!(vdo.status("V05"), Some(Info));
    let half = vdo.with(|b| b.workload.payload.compress_percent = 50);
    assert_eq!(half.status("V05"), Some(Invalid));
}

#[test]
fn what_other_storage_does_with_zeros_is_not_known() {
    assert_eq!(
        zeros(RecordBuilder::writes()).status("V05"),
        Some(NotMeasured)
    );
    let zfs = RecordBuilder::writes().on("zfs", false);
    assert_eq!(zfs.status("V05"), Some(NotMeasured));
    let unknown = RecordBuilder::writes().with(|b| b.fingerprint = None);
    assert_eq!(unknown.status("V05"), Some(NotMeasured));
}
