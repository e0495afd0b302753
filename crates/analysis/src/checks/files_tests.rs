use fathom_model::OpKind;
use fathom_model::gluster::{GlusterBrickUse, GlusterCalls, GlusterUse};
use fathom_model::verdict::FindingStatus::{Caveat, Info, NotMeasured, Pass};
use fathom_model::verdict::{Limiter, Validity};
use fathom_model::workload::{EngineKind, MetaTree, MetaWork, OpMix, Work};

use crate::test_records::RecordBuilder;

fn files(kind: OpKind) -> RecordBuilder {
    let builder = RecordBuilder::reads().buffered().with(|b| {
        // The storage is not asked.
        b.device_share = 0.0;
        b.workload.engine = EngineKind::Meta;
        b.workload.mix = OpMix::READ;
        b.workload.queue_depth = 1;
        b.workload.work = Work::files(MetaWork {
            repeat: true,
            ..MetaWork::new([(kind, 1)], MetaTree::flat(1000, 4096))
        });
    });
    let builder = builder.with_end(|end| {
        end.engine.requested = Some(EngineKind::Meta);
        end.engine.used = Some(EngineKind::Meta);
        end.data.cached_share = None;
    });
    builder.edit(|trial| {
        let meta = trial.spec.workload.files_work();
        let Some(kind) = meta.and_then(MetaWork::phase) else {
            return;
        };
        trial.spec.workload.mix = OpMix::NONE;
        for op in trial.samples.iter_mut().flat_map(|sample| &mut sample.ops) {
            op.kind = kind;
            op.bytes = 0;
        }
    })
}

#[test]
fn a_look_at_what_was_just_made_is_warm_unless_the_caches_were_dropped() {
    assert_eq!(files(OpKind::Stat).status("V77"), Some(Caveat));
    let cold = files(OpKind::Stat).with_end(|end| end.data.cached_share = Some(0.0));
    assert_eq!(cold.status("V77"), Some(Pass));
    assert_eq!(files(OpKind::Create).status("V77"), None);
    let memory = files(OpKind::Stat).on("tmpfs", true);
    assert_eq!(memory.status("V77"), Some(NotMeasured));
    assert_eq!(RecordBuilder::reads().status("V77"), None);
}

/// A second of 1,000 operations on 60,000 files, during which the device and
/// the process read this much.
fn reading(kind: OpKind, device: u64, own: u64) -> RecordBuilder {
    files(kind)
        .with(|b| {
            if let Some(meta) = b.workload.files_work_mut() {
                meta.tree = MetaTree::flat(60_000, 4096);
            }
        })
        .edit_with(move |trial| {
            for op in trial.samples.iter_mut().flat_map(|sample| &mut sample.ops) {
                op.bytes = match op.kind {
                    OpKind::ReadFile => op.ops * 4096,
                    _ => 0,
                };
            }
            for observation in &mut trial.observations {
                observation.devices[0].read_bytes = device;
                if let Some(activity) = &mut observation.own {
                    activity.storage_read_bytes = Some(own);
                }
            }
        })
}

#[test]
fn what_the_device_read_tells_cold_from_warm() {
    let cold = reading(OpKind::Stat, 260_000, 256_000)
        .finding("V77")
        .unwrap();
    assert_eq!(cold.status, Pass, "{cold:?}");
    assert!(cold.evidence.starts_with("cold: the storage answered"));
    let warm = reading(OpKind::Stat, 0, 0).finding("V77").unwrap();
    assert_eq!(warm.status, Caveat);
    assert!(warm.evidence.contains("read 0 B from nvme0n1"), "{warm:?}");
    let data = |bytes| reading(OpKind::ReadFile, bytes, bytes).status("V77");
    assert_eq!(data(4_200_000), Some(Pass));
    assert_eq!(data(260_000), Some(Caveat), "inodes alone are not the data");
    // Somebody else read as well: nothing is proved.
    let unsure = reading(OpKind::Stat, 9_000_000, 100);
    assert_eq!(unsure.status("V77"), Some(NotMeasured));
    // The same few files again and again are warm after the first time.
    let again = reading(OpKind::Stat, 260_000, 256_000).with(|b| {
        if let Some(meta) = b.workload.files_work_mut() {
            meta.tree = MetaTree::flat(1000, 4096);
        }
    });
    assert_eq!(again.status("V77"), Some(Caveat));
}

#[test]
fn what_the_bricks_were_asked_tells_cold_from_warm() {
    let asked = |lookups: u64| {
        let calls = GlusterCalls {
            name: "LOOKUP".to_owned(),
            calls: lookups,
            time_ns: 0.0,
        };
        let bricks = vec![GlusterBrickUse {
            calls: vec![calls],
            ..GlusterBrickUse::default()
        }];
        let volume = GlusterUse {
            bricks,
            ..GlusterUse::default()
        };
        files(OpKind::Stat)
            .on("fuse.glusterfs", true)
            .with(|b| b.observed = false)
            .with_end(|end| end.gluster = Some(Box::new(volume)))
    };
    assert_eq!(asked(61_000).status("V77"), Some(Pass));
    assert_eq!(asked(100).status("V77"), Some(Caveat));
    let unknown = files(OpKind::Stat)
        .on("nfs4", true)
        .with(|b| b.observed = false);
    assert_eq!(unknown.status("V77"), Some(NotMeasured));
    let judged = crate::judge(&unknown.run());
    assert_eq!(judged.trials[0].verdict.validity, Validity::Caveats);
}

#[test]
fn changes_of_names_are_durable_only_with_a_flush() {
    assert_eq!(files(OpKind::Unlink).status("V78"), Some(Info));
    assert_eq!(files(OpKind::Stat).status("V78"), None);
    let flushed = files(OpKind::Create).with(|b| {
        if let Some(meta) = b.workload.files_work_mut() {
            meta.fsync = true;
        }
    });
    assert_eq!(flushed.status("V78"), Some(Pass));
    assert_eq!(files(OpKind::SwiftPut).status("V78"), Some(Pass));
}

#[test]
fn flushes_of_the_device_limit_what_is_made_durable() {
    let flushing = |kind, share: f64| {
        let of = files(kind).edit_with(move |trial| {
            for seen in &mut trial.observations {
                let time_ns = share * seen.duration_ns as f64;
                let leaves = seen.devices.iter_mut().filter(|device| device.leaf);
                leaves.for_each(|device| device.flush_time_ns = Some(time_ns as u64));
            }
        });
        of.limiter()
    };
    assert_eq!(flushing(OpKind::SwiftPut, 0.9), Limiter::Flush);
    assert_ne!(flushing(OpKind::SwiftPut, 0.1), Limiter::Flush);
    // Its flushes are those of somebody else.
    assert_ne!(flushing(OpKind::Unlink, 0.9), Limiter::Flush);
}

#[test]
fn checks_of_blocks_do_not_speak_of_files() {
    let stat = files(OpKind::Stat);
    for id in ["V01", "V02", "V03", "V04", "V07", "V20"] {
        assert_eq!(stat.status(id), None, "{id}");
    }
    assert_eq!(stat.status("V25"), Some(Pass));
    assert_eq!(stat.status("V30"), Some(NotMeasured));
}

#[test]
fn workers_that_compute_in_the_kernel_are_limited_by_the_file_system() {
    let busy = files(OpKind::Stat).edit(|trial| {
        for sample in &mut trial.samples {
            sample.cpu_system_ns = sample.duration_ns * 9 / 10;
        }
    });
    assert_eq!(busy.limiter(), Limiter::Filesystem);
}
