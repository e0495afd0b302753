use fathom_model::op::{ErrorClass, OpKind};
use fathom_model::sample::OpSample;
use fathom_model::verdict::FindingStatus::{Caveat, Info, Invalid, NotMeasured, Pass};
use fathom_model::workload::{RangeSync, SyncOpen};

use crate::test_records::RecordBuilder;

/// Buffered, without any flush; `share` of what was written is dirty at the end.
fn dirty(share: f64) -> RecordBuilder {
    let written = 60.0 * 1000.0 * 4096.0;
    RecordBuilder::writes()
        .buffered()
        .with_end(|end| end.dirty_bytes_at_end = Some((written * share) as u64))
}

#[test]
fn reads_have_nothing_to_make_durable() {
    assert_eq!(RecordBuilder::reads().status("V07"), None);
}

#[test]
fn writes_that_stayed_in_memory_are_caught() {
    assert_eq!(dirty(0.01).status("V07"), Some(Pass));
    assert_eq!(dirty(0.1).status("V07"), Some(Caveat));
    assert_eq!(dirty(0.9).status("V07"), Some(Invalid));
    // Dirty bytes of others cannot exceed what was written.
    assert_eq!(dirty(50.0).finding("V07").unwrap().measured, Some(1.0));
    let unknown = RecordBuilder::writes().buffered();
    assert_eq!(unknown.status("V07"), Some(NotMeasured));
}

#[test]
fn what_sync_file_range_wrote_back_is_not_durable() {
    let ranges = RangeSync {
        every_writes: 1,
        wait_before: true,
        write: true,
        wait_after: true,
    };
    let with = |builder: RecordBuilder| builder.with(|b| b.workload.sync.ranges = Some(ranges));
    let finding = with(dirty(0.0)).finding("V07").unwrap();
    assert_eq!(finding.status, Info, "{finding:?}");
    assert!(
        finding.evidence.contains("commits no metadata"),
        "{finding:?}"
    );
    assert_eq!(with(dirty(0.9)).status("V07"), Some(Invalid));
}

#[test]
fn dirty_pages_of_others_condemn_nobody() {
    // Every 32 writes are flushed: at most 128 KiB of 234 MiB can be left.
    let synced = |share| dirty(share).with(|b| b.workload.sync.every_writes = 32);
    let finding = synced(50.0).finding("V07").unwrap();
    assert_eq!(finding.status, Pass, "{finding:?}");
    assert!(finding.evidence.contains("since the last flush"));
    // Without flushes the test files themselves tell.
    let own = |bytes| {
        dirty(50.0)
            .with_end(|end| end.own_dirty_bytes_at_end = Some(bytes))
            .finding("V07")
            .unwrap()
    };
    assert_eq!(own(4096).status, Pass);
    let half = own(120 << 20);
    assert_eq!(half.status, Invalid);
    assert!(half.evidence.contains("test files"), "{half:?}");
    // The host's figure alone, most of which was there before.
    let before = dirty(50.0).edit(|t| {
        if let Some(memory) = &mut t.observations[0].memory {
            memory.dirty_bytes = 50 << 30;
        }
    });
    let finding = before.finding("V07").unwrap();
    assert_eq!(finding.status, Caveat, "{finding:?}");
    assert!(finding.evidence.contains("were there before"));
}

#[test]
fn a_short_load_with_rare_flushes_is_a_caveat_at_most() {
    let rare = dirty(50.0).with(|b| {
        b.seconds = 1;
        b.workload.sync.every_writes = 900;
    });
    assert_eq!(rare.status("V07"), Some(Caveat));
}

#[test]
fn failed_flushes_prove_nothing() {
    let failed = dirty(0.9)
        .with(|b| b.workload.sync.every_writes = 32)
        .edit(|t| {
            let mut sync = OpSample::new(OpKind::Sync, false);
            sync.errors.add_many(ErrorClass::Io, 3);
            t.samples[5].ops.push(sync);
        });
    assert_eq!(failed.status("V07"), Some(Invalid));
}

#[test]
fn synchronous_writes_pass() {
    let dsync = dirty(0.9).with(|b| b.workload.sync.open = SyncOpen::Dsync);
    assert_eq!(dsync.status("V07"), Some(Pass));
    let each = dirty(0.9).with(|b| b.workload.sync.every_writes = 1);
    assert_eq!(each.status("V07"), Some(Pass));
}

#[test]
fn a_final_flush_makes_the_rate_durable() {
    let flushed = |ns| {
        dirty(0.9)
            .with(|b| b.workload.sync.final_flush = true)
            .with_end(|end| end.final_flush_ns = Some(ns))
    };
    assert_eq!(flushed(100_000_000).status("V07"), Some(Pass));
    let long = flushed(60_000_000_000);
    let finding = long.finding("V07").unwrap();
    assert_eq!(finding.status, Info);
    assert!(finding.evidence.contains("rate includes it"), "{finding:?}");
    // 60 s of load and 60 s of flush: half the rate.
    let judged = crate::judge(&long.run());
    let rate = judged.trials[0].summary.ops[0]
        .ops_per_second
        .value
        .unwrap();
    assert!((rate - 500.0).abs() < 5.0, "{rate}");
}

#[test]
fn volatile_device_caches_are_information() {
    assert_eq!(RecordBuilder::writes().status("V07"), Some(Pass));
    let volatile = RecordBuilder::writes().with(|b| {
        if let Some(fingerprint) = &mut b.fingerprint {
            fingerprint.devices[0].write_cache = Some("write back".to_owned());
        }
    });
    assert_eq!(volatile.status("V07"), Some(Info));
}
