use fathom_model::op::{ErrorClass, OpKind};
use fathom_model::run::TrialRecord;
use fathom_model::sample::OpSample;
use fathom_model::target::Target;
use fathom_model::verdict::Limiter;
use fathom_model::workload::{Arrival, EngineKind, Rate, RateUnit};

use crate::test_records::{RecordBuilder, run_of};

fn at_depth(depth: u32, ops_per_second: u64) -> RecordBuilder {
    RecordBuilder::reads().with(|b| {
        b.workload.queue_depth = depth;
        b.ops_per_second = ops_per_second;
    })
}

fn limiters(builders: &[RecordBuilder]) -> Vec<Limiter> {
    let trials: Vec<TrialRecord> = builders.iter().map(RecordBuilder::trial).collect();
    let judged = crate::judge(&run_of(trials, builders[0].host.clone()));
    judged.trials.iter().map(|t| t.verdict.limiter).collect()
}

#[test]
fn one_operation_at_a_time_is_limited_by_depth() {
    assert_eq!(at_depth(1, 900).limiter(), Limiter::QueueDepth);
    // Large blocks keep the device busy with one operation.
    let large = at_depth(1, 900).with(|b| {
        b.workload.block = fathom_model::workload::BlockSizes::Fixed(1 << 20);
    });
    assert_eq!(large.limiter(), Limiter::Unknown);
    let unobserved = at_depth(1, 900).with(|b| b.observed = false);
    assert_eq!(unobserved.limiter(), Limiter::Unknown);
    // No device of this host lies below what another program serves.
    let served = unobserved.on("fuse.drive", true);
    assert_eq!(served.limiter(), Limiter::QueueDepth);
}

#[test]
fn beside_many_failures_the_rate_of_the_rest_has_no_one_cause() {
    let failed = |count| {
        at_depth(1, 900).edit_with(move |trial| {
            let op = &mut trial.samples[3].ops[0];
            op.errors.add_many(ErrorClass::Io, count);
        })
    };
    // One failure among many thousands changes no rate.
    assert_eq!(failed(1).limiter(), Limiter::QueueDepth);
    assert_eq!(failed(5_000).limiter(), Limiter::Unknown);
}

#[test]
fn depth_without_proof_is_unknown() {
    assert_eq!(at_depth(32, 1000).limiter(), Limiter::Unknown);
}

#[test]
fn a_sibling_at_another_depth_proves_device_or_depth() {
    let saturated = [at_depth(8, 990), at_depth(32, 1000)];
    assert_eq!(limiters(&saturated), [Limiter::Device, Limiter::Device]);
    let growing = [at_depth(4, 400), at_depth(8, 750)];
    assert_eq!(limiters(&growing), [Limiter::QueueDepth, Limiter::Unknown]);
    let other_block = at_depth(32, 1000).with(|b| {
        b.workload.block = fathom_model::workload::BlockSizes::Fixed(8192);
    });
    assert_eq!(
        limiters(&[at_depth(8, 990), other_block]),
        [Limiter::Unknown, Limiter::Unknown]
    );
}

#[test]
fn a_cache_is_named_when_the_device_did_not_answer() {
    let cached = RecordBuilder::reads().with(|b| b.device_share = 0.1);
    assert_eq!(cached.limiter(), Limiter::Cache);
}

#[test]
fn flushes_are_named_by_their_share_of_time() {
    // By itself, and as the operation of a phase on files.
    for kind in [OpKind::Sync, OpKind::Fsync] {
        let syncing = RecordBuilder::writes()
            .with(|b| b.workload.sync.every_writes = 1)
            .edit_with(move |t| {
                for sample in &mut t.samples {
                    let mut sync = OpSample::new(kind, false);
                    sync.ops = 10;
                    (0..10).for_each(|_| sync.service.record(80_000_000));
                    sample.ops.push(sync);
                }
            });
        assert_eq!(syncing.limiter(), Limiter::Flush, "{kind:?}");
    }
    let final_flush = RecordBuilder::writes()
        .buffered()
        .with(|b| b.workload.sync.final_flush = true)
        .with_end(|end| end.final_flush_ns = Some(90_000_000_000));
    assert_eq!(final_flush.limiter(), Limiter::Flush);
}

#[test]
fn a_flat_plateau_at_a_round_figure_is_a_cap_where_caps_exist() {
    let flat = |ops| at_depth(32, ops).with(|b| b.noise = 0.0005);
    let cloud = |ops| flat(ops).with(|b| b.host.virtualization = Some("kvm".to_owned()));
    assert_eq!(cloud(3000).limiter(), Limiter::Cap);
    assert_eq!(cloud(3170).limiter(), Limiter::Unknown, "not round");
    assert_eq!(flat(3000).limiter(), Limiter::Unknown, "bare metal");
    let unsteady = cloud(3000).with(|b| b.noise = 0.02);
    assert_eq!(unsteady.limiter(), Limiter::Unknown);
    let sim = flat(3000).with(|b| {
        b.target = Target::Sim("capped".to_owned());
        b.workload.engine = EngineKind::Sim;
    });
    assert_eq!(sim.limiter(), Limiter::Cap);
}

#[test]
fn an_open_loop_that_is_due_more_than_a_cap_gives_is_at_it() {
    let due = |per_second| {
        at_depth(32, 3000).with(|b| {
            b.noise = 0.0005;
            b.host.virtualization = Some("kvm".to_owned());
            b.workload.rate = Some(Rate {
                per_second,
                unit: RateUnit::Ops,
                arrival: Arrival::Constant,
            });
        })
    };
    assert_eq!(due(5000.0).limiter(), Limiter::Cap);
    assert_eq!(due(3000.0).limiter(), Limiter::Rate);
    let shallow = due(5000.0).with(|b| b.workload.queue_depth = 1);
    assert_ne!(shallow.limiter(), Limiter::Cap);
}

#[test]
fn an_empty_trial_has_no_limiter() {
    let empty = RecordBuilder::reads().with(|b| b.seconds = 0);
    assert_eq!(empty.limiter(), Limiter::Unknown);
}

#[test]
fn a_device_that_does_not_respond_is_named_and_depth_is_not() {
    let hung = at_depth(4, 1000).with_end(|end| {
        end.engine.stuck.push(fathom_model::run::StuckOp {
            message: "read of 4,096 bytes at 0".to_owned(),
            age_ns: 8_000_000_000,
        });
    });
    let judged = crate::judge(&run_of(vec![hung.trial()], hung.host.clone()));
    let verdict = &judged.trials[0].verdict;
    assert_eq!(verdict.limiter, Limiter::Device);
    let said = &verdict.limiter_evidence;
    assert!(
        said.contains("does not respond") && !said.contains("depth"),
        "{said}"
    );
}

#[test]
fn trials_at_the_device_and_at_one_of_two_are_at_one_of_the_two() {
    let folded = |limiters: &[Limiter]| {
        let named = limiters
            .iter()
            .map(|l| (String::new(), (*l, String::new())));
        super::fold(&named.collect::<Vec<_>>()).0
    };
    use Limiter::{Cap, Device, DeviceOrCap, QueueDepth, Unknown};
    assert_eq!(folded(&[Device, DeviceOrCap]), DeviceOrCap);
    assert_eq!(folded(&[DeviceOrCap, Cap, Device]), DeviceOrCap);
    assert_eq!(folded(&[Device, Cap]), Unknown);
    assert_eq!(folded(&[DeviceOrCap, QueueDepth]), Unknown);
}
