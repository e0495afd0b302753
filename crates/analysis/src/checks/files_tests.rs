use fathom_model::OpKind;
use fathom_model::verdict::FindingStatus::{Caveat, Info, NotMeasured, Pass};
use fathom_model::verdict::Limiter;
use fathom_model::workload::{EngineKind, MetaTree, MetaWork, OpMix};

use crate::test_records::RecordBuilder;

fn files(kind: OpKind) -> RecordBuilder {
    let builder = RecordBuilder::reads().buffered().with(|b| {
        b.workload.engine = EngineKind::Meta;
        b.workload.mix = OpMix::READ;
        b.workload.queue_depth = 1;
        b.workload.meta = Some(Box::new(MetaWork {
            repeat: true,
            ..MetaWork::new([(kind, 1)], MetaTree::flat(1000, 4096))
        }));
    });
    let builder = builder.with_end(|end| {
        end.engine.requested = Some(EngineKind::Meta);
        end.engine.used = Some(EngineKind::Meta);
        end.data.cached_share = None;
    });
    builder.edit(|trial| {
        let meta = trial.spec.workload.meta.as_deref();
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

#[test]
fn changes_of_names_are_durable_only_with_a_flush() {
    assert_eq!(files(OpKind::Unlink).status("V78"), Some(Info));
    assert_eq!(files(OpKind::Stat).status("V78"), None);
    let flushed = files(OpKind::Create).with(|b| {
        if let Some(meta) = &mut b.workload.meta {
            meta.fsync = true;
        }
    });
    assert_eq!(flushed.status("V78"), Some(Pass));
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
