use fathom_model::fingerprint::DeviceFacts;
use fathom_model::target::Target;
use fathom_model::verdict::FindingStatus::{Caveat, Info, Invalid, NotMeasured, Pass};
use fathom_model::verdict::{Limiter, Validity};
use fathom_model::workload::EngineKind;

use crate::test_records::{GIB, RecordBuilder};

fn cached(share: Option<f64>) -> RecordBuilder {
    RecordBuilder::reads()
        .buffered()
        .with_end(|end| end.data.cached_share = share)
}

#[test]
fn a_warm_file_is_caught_for_buffered_reads_only() {
    assert_eq!(cached(Some(0.0)).status("V02"), Some(Pass));
    assert_eq!(cached(Some(0.03)).status("V02"), Some(Caveat));
    assert_eq!(cached(Some(0.4)).status("V02"), Some(Invalid));
    let direct = RecordBuilder::reads().with_end(|end| end.data.cached_share = Some(0.4));
    assert_eq!(direct.status("V02"), Some(Info));
    assert_eq!(RecordBuilder::writes().status("V02"), None);
}

#[test]
fn unknown_residence_is_not_measured_unless_it_cannot_matter() {
    assert_eq!(cached(None).status("V02"), Some(NotMeasured));
    assert_eq!(cached(Some(f64::NAN)).status("V02"), Some(NotMeasured));
    let direct = RecordBuilder::reads().with_end(|end| end.data.cached_share = None);
    assert_eq!(direct.status("V02"), Some(Pass));
}

fn small(builder: RecordBuilder) -> RecordBuilder {
    builder.with_end(|end| end.data.active_bytes = GIB)
}

#[test]
fn a_set_that_fits_into_memory_counts_where_memory_can_answer() {
    let reads = RecordBuilder::reads;
    assert_eq!(reads().status("V03"), Some(Pass));
    assert_eq!(small(reads()).status("V03"), Some(Info));
    let unobserved = small(reads().buffered()).with(|b| b.observed = false);
    assert_eq!(unobserved.status("V03"), Some(Invalid));
    let between = reads().buffered().with(|b| b.observed = false);
    let between = between.with_end(|end| end.data.active_bytes = 24 * GIB);
    assert_eq!(between.status("V03"), Some(Caveat));
}

#[test]
fn proof_from_the_device_outweighs_a_small_set() {
    assert_eq!(
        small(RecordBuilder::reads().buffered()).status("V03"),
        Some(Info)
    );
    let from_cache = small(RecordBuilder::reads().buffered()).with(|b| b.device_share = 0.0);
    assert_eq!(from_cache.status("V03"), Some(Invalid));
}

#[test]
fn buffered_writes_of_a_small_set_depend_on_the_flush() {
    let writes = || small(RecordBuilder::writes().buffered());
    assert_eq!(writes().status("V03"), Some(Caveat));
    let flushed = writes().with(|b| b.workload.sync.final_flush = true);
    assert_eq!(flushed.status("V03"), Some(Info));
}

#[test]
fn unknown_sizes_are_not_measured() {
    let no_memory = RecordBuilder::reads().with(|b| b.host.memory_bytes = 0);
    assert_eq!(no_memory.status("V03"), Some(NotMeasured));
    assert_eq!(
        RecordBuilder::reads().with(|b| b.end = None).status("V03"),
        Some(NotMeasured)
    );
}

fn unwritten(builder: RecordBuilder, share: Option<f64>) -> RecordBuilder {
    builder.with_end(|end| end.data.unwritten_share = share)
}

#[test]
fn holes_are_invalid_for_reads_and_information_for_writes() {
    assert_eq!(RecordBuilder::reads().status("V04"), Some(Pass));
    assert_eq!(
        unwritten(RecordBuilder::reads(), Some(0.5)).status("V04"),
        Some(Invalid)
    );
    assert_eq!(
        unwritten(RecordBuilder::writes(), Some(0.5)).status("V04"),
        Some(Info)
    );
}

#[test]
fn a_simulated_drive_that_knows_its_holes_is_judged_like_a_real_one() {
    let simulated = |share| {
        unwritten(RecordBuilder::reads(), share).with(|b| b.target = Target::Sim("thin".to_owned()))
    };
    assert_eq!(simulated(Some(1.0)).status("V04"), Some(Invalid));
    assert_eq!(simulated(Some(0.0)).status("V04"), Some(Pass));
    assert_eq!(simulated(None).status("V04"), Some(NotMeasured));
}

#[test]
fn zeros_of_a_device_that_takes_its_time_are_a_caveat() {
    let device = |rate: u64| {
        let zeros = unwritten(RecordBuilder::reads(), Some(1.0));
        zeros.with(|b| {
            b.ops_per_second = rate;
            b.fingerprint.as_mut().unwrap().filesystem = None;
        })
    };
    assert_eq!(device(430).status("V04"), Some(Caveat));
    assert_eq!(device(50_000).status("V04"), Some(Invalid));
}

#[test]
fn unknown_holes_are_a_caveat_unless_fathom_wrote_the_data() {
    let unknown = unwritten(RecordBuilder::reads(), None);
    assert_eq!(unknown.status("V04"), Some(NotMeasured));
    let judged = crate::judge(&unknown.run());
    assert_eq!(judged.verdict.validity, Validity::Caveats);
    let prepared = unknown.with_end(|end| end.data.prepared_bytes = end.data.active_bytes);
    assert_eq!(prepared.status("V04"), Some(Pass));
    assert_eq!(unwritten(RecordBuilder::writes(), None).status("V04"), None);
}

#[test]
fn a_loop_device_past_the_cache_is_information() {
    let over = |dio: &str, filesystem: &str| {
        let facts = [("dio", dio), ("backing_filesystem", filesystem)];
        let facts = facts.map(|(name, value)| (name.to_owned(), value.to_owned()));
        RecordBuilder::reads().with(|b| {
            if let Some(fingerprint) = &mut b.fingerprint {
                fingerprint.devices = vec![DeviceFacts {
                    name: "loop3".to_owned(),
                    kind: "loop".to_owned(),
                    facts: facts.clone().into(),
                    ..DeviceFacts::default()
                }];
            }
        })
    };
    assert_eq!(over("0", "ext4").status("V06"), Some(Caveat));
    assert_eq!(over("1", "tmpfs").status("V06"), Some(Caveat));
    let finding = over("1", "ext4").finding("V06").unwrap();
    assert_eq!(finding.status, Info, "{finding:?}");
    assert!(finding.evidence.contains("loop3"), "{finding:?}");
    assert!(finding.evidence.contains("ext4"), "{finding:?}");
}

#[test]
fn layers_that_are_no_disk_are_named() {
    assert_eq!(RecordBuilder::reads().status("V06"), Some(Pass));
    for (kind, word) in [
        ("tmpfs", "memory"),
        ("nfs4", "network"),
        ("overlay", "on top of another"),
    ] {
        let finding = RecordBuilder::reads()
            .on(kind, true)
            .finding("V06")
            .unwrap();
        assert_eq!(finding.status, Caveat, "{kind}");
        assert!(finding.evidence.contains(word), "{finding:?}");
    }
    let zram = RecordBuilder::reads().with(|b| {
        if let Some(fingerprint) = &mut b.fingerprint {
            fingerprint.filesystem = None;
            fingerprint.devices = vec![DeviceFacts {
                name: "zram0".to_owned(),
                kind: "zram".to_owned(),
                ..DeviceFacts::default()
            }];
        }
    });
    assert_eq!(zram.status("V06"), Some(Caveat));
    assert_eq!(zram.limiter(), Limiter::Memory);
    assert_eq!(
        RecordBuilder::reads().on("tmpfs", true).limiter(),
        Limiter::Memory
    );
}

#[test]
fn an_overlay_whose_upper_layer_is_in_memory_counts_as_memory() {
    let on = |upper: &str| {
        RecordBuilder::reads().on("overlay", true).with(|b| {
            let facts = b.fingerprint.as_mut().and_then(|f| f.filesystem.as_mut());
            let facts = &mut facts.unwrap().facts;
            facts.insert("upper_layer".to_owned(), upper.to_owned());
        })
    };
    assert_eq!(on("tmpfs on t").limiter(), Limiter::Memory);
    let finding = on("tmpfs on t").finding("V06").unwrap();
    assert!(
        finding.evidence.contains("its upper layer is tmpfs on t"),
        "{finding:?}"
    );
    assert_ne!(on("ext4 on /dev/sda1").limiter(), Limiter::Memory);
    assert_ne!(
        on("none: the overlay is read-only").limiter(),
        Limiter::Memory
    );
}

#[test]
fn without_a_fingerprint_nothing_is_claimed() {
    let unknown = RecordBuilder::reads().with(|b| b.fingerprint = None);
    assert_eq!(unknown.status("V06"), Some(NotMeasured));
    let sim = unwritten(RecordBuilder::reads(), None).with(|b| {
        b.target = Target::Sim("ssd".to_owned());
        b.workload.engine = EngineKind::Sim;
    });
    for id in ["V01", "V02", "V03", "V04", "V06", "V30", "V37"] {
        assert_eq!(sim.status(id), Some(NotMeasured), "{id}");
    }
    assert_eq!(crate::judge(&sim.run()).verdict.validity, Validity::Trusted);
}

/// Reads of which the device delivered a part, from data that partly are holes.
fn holes(delivered: f64, unwritten: f64) -> RecordBuilder {
    RecordBuilder::reads()
        .with(|b| b.device_share = delivered)
        .with_end(|end| end.data.unwritten_share = Some(unwritten))
}

#[test]
fn a_hole_is_not_a_cache() {
    let sparse = holes(0.0, 1.0);
    assert_eq!(sparse.limiter(), Limiter::Filesystem);
    let finding = sparse.finding("V01").unwrap();
    assert_eq!(finding.status, Invalid);
    assert!(
        finding.evidence.contains("holes are read without"),
        "{finding:?}"
    );
    let judged = crate::judge(&sparse.run());
    let text = &judged.trials[0].verdict.limiter_evidence;
    assert!(
        text.contains("100 % of the data was never written"),
        "{text}"
    );
    // A few holes do not explain a cache that answers everything.
    let cached = holes(0.0, 0.01);
    assert_eq!(cached.limiter(), Limiter::Cache);
    assert!(!cached.finding("V01").unwrap().evidence.contains("holes"));
    assert_eq!(holes(0.6, 0.4).limiter(), Limiter::Filesystem);
}

#[test]
fn a_loop_device_on_a_file_in_memory_is_memory() {
    let on = |filesystem: &str| {
        let filesystem = filesystem.to_owned();
        RecordBuilder::reads().with(|b| {
            let device = &mut b.fingerprint.as_mut().unwrap().devices[0];
            device.kind = "loop".to_owned();
            device
                .facts
                .insert("backing_filesystem".to_owned(), filesystem);
        })
    };
    let memory = on("tmpfs");
    assert_eq!(memory.limiter(), Limiter::Memory);
    let finding = memory.finding("V06").unwrap();
    assert_eq!(finding.status, Caveat);
    assert!(finding.evidence.contains("those of memory"), "{finding:?}");
    assert_ne!(on("nfs4").limiter(), Limiter::Memory);
}
