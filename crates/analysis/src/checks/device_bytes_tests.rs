use fathom_model::target::Target;
use fathom_model::verdict::FindingStatus::{Caveat, Invalid, NotMeasured, Pass};
use fathom_model::workload::{EngineKind, OpMix};

use crate::test_records::RecordBuilder;

fn served(share: f64, seconds: u32) -> RecordBuilder {
    RecordBuilder::reads().with(|b| {
        b.device_share = share;
        b.seconds = seconds;
    })
}

#[test]
fn reads_that_the_device_delivered_pass_in_short_and_long_runs() {
    for seconds in [1, 3, 10, 60] {
        assert_eq!(
            served(1.0, seconds).status("V01"),
            Some(Pass),
            "{seconds} s"
        );
        assert_eq!(served(1.4, seconds).status("V01"), Some(Pass), "read-ahead");
    }
    let warm = served(1.0, 10).with(|b| b.warmup_seconds = 3);
    assert_eq!(warm.status("V01"), Some(Pass));
}

#[test]
fn reads_that_a_cache_answered_are_caught_in_short_and_long_runs() {
    for seconds in [1, 3, 10, 60] {
        assert_eq!(
            served(0.0, seconds).status("V01"),
            Some(Invalid),
            "{seconds} s"
        );
    }
    assert_eq!(served(0.5, 10).status("V01"), Some(Invalid));
    assert_eq!(served(0.88, 60).status("V01"), Some(Caveat));
    let finding = served(0.5, 60).finding("V01").unwrap();
    assert!(
        finding.evidence.contains("nvme0n1") && finding.evidence.contains("50 %"),
        "{finding:?}"
    );
    assert!(finding.measured.unwrap() < 0.6 && finding.threshold == Some(0.8));
    assert!(!finding.remedy.is_empty());
}

#[test]
fn a_load_that_starts_and_ends_abruptly_does_not_alarm() {
    // The first seconds carry ten times the load of the rest.
    let uneven = RecordBuilder::reads().edit(|trial| {
        for sample in trial.samples.iter_mut().skip(2) {
            sample.ops[0].bytes /= 10;
        }
        for observation in trial.observations.iter_mut().skip(3) {
            observation.devices[0].read_bytes /= 10;
        }
    });
    assert!(matches!(uneven.status("V01"), Some(Pass)));
}

#[test]
fn missing_data_are_not_measured() {
    assert_eq!(
        RecordBuilder::reads()
            .with(|b| b.observed = false)
            .status("V01"),
        Some(NotMeasured)
    );
    let no_leaf = RecordBuilder::reads().edit(|trial| {
        trial
            .observations
            .iter_mut()
            .for_each(|o| o.devices.clear());
    });
    assert_eq!(no_leaf.status("V01"), Some(NotMeasured));
    let half = RecordBuilder::reads().edit(|trial| trial.observations.truncate(30));
    let finding = half.finding("V01").unwrap();
    assert_eq!(finding.status, NotMeasured);
    assert!(finding.evidence.contains('%'), "{finding:?}");
    assert_eq!(
        served(0.0, 10).on("tmpfs", true).status("V01"),
        Some(NotMeasured)
    );
    for (target, engine) in [
        (Target::Null, EngineKind::Null),
        (Target::Sim("ssd".to_owned()), EngineKind::Sim),
    ] {
        let artificial = served(0.0, 10).with(|b| {
            b.target = target;
            b.workload.engine = engine;
        });
        assert_eq!(artificial.status("V01"), Some(NotMeasured));
    }
}

#[test]
fn direct_writes_must_reach_the_device() {
    let writes = |share| RecordBuilder::writes().with(|b| b.device_share = share);
    assert_eq!(writes(1.0).status("V01"), Some(Pass));
    assert_eq!(writes(2.0).status("V01"), Some(Pass));
    assert_eq!(writes(0.3).status("V01"), Some(Invalid));
}

/// Buffered writes that reach the device only in the second after the load.
fn written_back_late(flush: bool) -> RecordBuilder {
    let builder = RecordBuilder::writes().buffered().with(|b| {
        b.device_share = 0.0;
        b.seconds = 10;
        b.workload.sync.final_flush = flush;
    });
    builder.with_end(|end| {
        end.final_flush_ns = flush.then_some(900_000_000);
        end.dirty_bytes_at_end = Some(if flush { 0 } else { 60 << 20 });
    })
}

#[test]
fn buffered_writes_are_judged_with_the_flush_included() {
    let flushed = written_back_late(true).edit(|trial| {
        let written: u64 = trial.samples.iter().map(|s| s.ops[0].bytes).sum();
        trial.observations[11].devices[0].write_bytes = written;
    });
    assert_eq!(flushed.status("V01"), Some(Pass));
    let swallowed = written_back_late(true);
    assert_eq!(swallowed.status("V01"), Some(Invalid));
    // Still dirty and honestly reported as such: V07 speaks, not V01.
    let dirty = written_back_late(false);
    assert_eq!(dirty.status("V01"), Some(Pass));
    assert_eq!(dirty.status("V07"), Some(Invalid));
}

#[test]
fn trims_alone_have_no_bytes_to_compare() {
    let trims = RecordBuilder::reads().with(|b| {
        b.workload.mix = OpMix {
            read_percent: 0,
            write_percent: 0,
            trim_percent: 100,
        };
    });
    assert_eq!(trims.status("V01"), None);
}
