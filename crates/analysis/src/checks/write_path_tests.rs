use fathom_model::verdict::FindingStatus::{Caveat, Info, NotMeasured, Pass};
use fathom_model::workload::{BlockSizes, Distribution, Pattern};

use crate::test_records::RecordBuilder;

fn physical(bytes: u64) -> RecordBuilder {
    RecordBuilder::writes().with(|b| {
        let target = b.fingerprint.as_mut().unwrap();
        target.devices[0].physical_block_bytes = Some(bytes);
    })
}

#[test]
fn aligned_writes_that_cost_their_size_pass() {
    assert_eq!(physical(4096).status("V09"), Some(Pass));
    assert_eq!(RecordBuilder::reads().status("V09"), None);
    assert_eq!(physical(4096).on("tmpfs", true).status("V09"), None);
}

#[test]
fn journal_traffic_is_information() {
    let journal = physical(4096).with(|b| b.device_share = 2.2);
    let finding = journal.finding("V09").unwrap();
    assert_eq!(finding.status, Info);
    assert!((finding.measured.unwrap() - 2.2).abs() < 0.2, "{finding:?}");
}

#[test]
fn blocks_that_do_not_fit_are_a_caveat() {
    let small = physical(4096).with(|b| b.workload.block = BlockSizes::Fixed(512));
    assert_eq!(small.status("V09"), Some(Caveat));
    let shifted = physical(4096).with(|b| b.workload.misalign_bytes = 512);
    assert_eq!(shifted.status("V09"), Some(Caveat));
    let partition = physical(4096).drive_facts(&[("alignment_offset", "512")], &[]);
    assert_eq!(partition.status("V09"), Some(Caveat));
    let buffered = physical(4096)
        .with(|b| b.workload.misalign_bytes = 512)
        .buffered();
    assert_ne!(
        buffered.status("V09"),
        Some(Caveat),
        "the page cache aligns"
    );
}

#[test]
fn parts_of_pages_that_are_flushed_are_a_caveat() {
    let log = |every: u32, share: f64| {
        physical(4096).buffered().with(|b| {
            b.workload.block = BlockSizes::Fixed(2300);
            b.workload.pattern = Pattern::Sequential;
            b.workload.sync.every_writes = every;
            b.device_share = share;
        })
    };
    let finding = log(1, 10.0).finding("V09").unwrap();
    assert_eq!(finding.status, Caveat);
    for part in ["2300 B", "4 KiB", "before a page is full", "10.0 bytes"] {
        assert!(finding.evidence.contains(part), "{part}: {finding:?}");
    }
    // Known without a look at the device.
    let unseen = log(1, 10.0).with(|b| b.observed = false);
    assert_eq!(unseen.status("V09"), Some(Caveat));
    // Scattered ones never fill a page.
    let scattered = |every| {
        log(every, 1.0).with(|b| b.workload.pattern = Pattern::Random(Distribution::EachOnce))
    };
    assert_eq!(scattered(32).status("V09"), Some(Caveat));
    // Pages that must be read first cost as well.
    let cold = log(0, 1.0).edit(|t| {
        for observation in &mut t.observations {
            if let Some(own) = &mut observation.own {
                own.storage_read_bytes = Some(3 * observation.devices[0].write_bytes);
            }
        }
    });
    let finding = cold.finding("V09").unwrap();
    assert_eq!(finding.status, Caveat, "{finding:?}");
    assert!(finding.evidence.contains("and read 3.0"), "{finding:?}");
    // The page cache gathers what nobody flushes.
    assert_eq!(log(0, 1.0).status("V09"), Some(Pass));
    assert_eq!(log(100, 3.0).status("V09"), Some(Caveat));
    assert_eq!(
        log(0, 1.0).with(|b| b.observed = false).status("V09"),
        Some(NotMeasured)
    );
}

#[test]
fn unobserved_writes_are_not_measured() {
    let unseen = physical(4096).with(|b| b.observed = false);
    assert_eq!(unseen.status("V09"), Some(NotMeasured));
}

fn filled(available: u64, options: &[&str], builder: RecordBuilder) -> RecordBuilder {
    builder.with(|b| {
        let target = b.fingerprint.as_mut().unwrap();
        let filesystem = target.filesystem.as_mut().unwrap();
        filesystem.total_bytes = 1000 << 30;
        filesystem.available_bytes = available << 30;
        filesystem.options = options.iter().map(|o| (*o).to_owned()).collect();
    })
}

#[test]
fn a_nearly_full_file_system_is_told() {
    let writes = |available| filled(available, &["rw"], RecordBuilder::writes()).status("V44");
    assert_eq!(writes(500), Some(Pass));
    assert_eq!(writes(80), Some(Info));
    assert_eq!(writes(20), Some(Caveat));
    let reads = filled(20, &["rw"], RecordBuilder::reads());
    assert_eq!(reads.status("V44"), Some(Info));
    assert_eq!(RecordBuilder::reads().status("V44"), Some(NotMeasured));
}

#[test]
fn options_that_change_the_meaning_of_writes_are_told() {
    let status = |option| filled(500, &["rw", option], RecordBuilder::writes()).status("V44");
    assert_eq!(status("nobarrier"), Some(Caveat));
    assert_eq!(status("data=journal"), Some(Info));
    assert_eq!(status("sync"), Some(Info));
    assert_eq!(status("noatime"), Some(Pass));
    let reads = filled(500, &["rw", "nobarrier"], RecordBuilder::reads());
    assert_eq!(reads.status("V44"), Some(Pass));
}
