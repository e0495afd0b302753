//! What is recorded on request is the same story as what always is, whatever
//! the engine.

use fathom_model::workload::{Bounds, EngineKind, OpMix, SyncPolicy};
use fathom_model::{OpKind, Phase, Recording};

use super::group_level::{all_engines, job, ops, run};

fn goes_on_by_itself(kind: EngineKind) -> bool {
    matches!(kind, EngineKind::Uring | EngineKind::Libaio)
}

#[test]
fn details_agree_with_the_counts_on_every_engine() {
    for kind in all_engines() {
        let dir = tempfile::tempdir().unwrap();
        let end = run(&job(kind, dir.path(), |w| {
            w.mix = OpMix {
                read_percent: 50,
                write_percent: 50,
                trim_percent: 0,
            };
            w.sync = SyncPolicy {
                every_writes: 10,
                ..SyncPolicy::default()
            };
            w.recording = Recording {
                submission: true,
                distributions: true,
                op_log: 10_000,
                interval_ns: Some(50_000_000),
            };
        }));
        assert_eq!(end.report.errors, [], "{kind:?}");
        let data: u64 = [OpKind::Read, OpKind::Write]
            .map(|k| ops(&end, k))
            .iter()
            .sum();
        let depths = end.report.depths.unwrap();
        // Flushes are submitted as well.
        let submitted: u64 = depths.at_submission.iter().sum();
        assert_eq!(submitted, data + ops(&end, OpKind::Sync), "{kind:?}");
        let logged = end.samples.iter().flat_map(|s| &s.operations);
        let logged: Vec<_> = logged.filter(|o| o.kind.is_data()).collect();
        assert_eq!(logged.len() as u64, data, "{kind:?}");
        for sample in &end.samples {
            for op in sample.ops.iter().filter(|op| op.kind.is_data()) {
                let of_kind = || sample.operations.iter().filter(|o| o.kind == op.kind);
                let sum_ns: u128 = of_kind().map(|o| u128::from(o.service_ns)).sum();
                assert_eq!(sum_ns, op.service.sum(), "{kind:?}");
                let squares = of_kind().map(|o| u128::from(o.service_ns).pow(2));
                assert_eq!(op.service.squares(), Some(squares.sum()), "{kind:?}");
                let bytes: u64 = of_kind().map(|o| u64::from(o.bytes)).sum();
                assert_eq!(bytes, op.bytes, "{kind:?}");
                let Some(halves) = &op.halves else {
                    assert!(!goes_on_by_itself(kind), "{kind:?}");
                    continue;
                };
                assert!(goes_on_by_itself(kind), "{kind:?}");
                assert_eq!(halves.submission.count(), op.ops);
                let both = halves.submission.sum() + halves.completion.sum();
                assert_eq!(both, op.service.sum(), "the halves add up on {kind:?}");
                assert!(halves.submission.sum() > 0 || op.ops == 0);
            }
        }
    }
}

#[test]
fn short_intervals_are_cut_as_long_ones_are() {
    for kind in all_engines() {
        let dir = tempfile::tempdir().unwrap();
        let end = run(&job(kind, dir.path(), |w| {
            w.recording.interval_ns = Some(20_000_000);
            w.warmup_ns = 50_000_000;
            w.bounds = Bounds {
                time_ns: Some(110_000_000),
                ..Bounds::default()
            };
        }));
        let spans: Vec<_> = end
            .samples
            .iter()
            .filter(|s| s.phase != Phase::Settle)
            .map(|s| (s.phase, s.index, s.start_ns / 1_000_000))
            .collect();
        let (warm, measure) = spans.split_at(3);
        assert_eq!(
            warm,
            [
                (Phase::Warmup, 0, 0),
                (Phase::Warmup, 1, 20),
                (Phase::Warmup, 2, 40)
            ],
            "{kind:?}"
        );
        let starts: Vec<_> = (0..6)
            .map(|i| (Phase::Measure, i, 50 + 20 * u64::from(i)))
            .collect();
        assert_eq!(measure, starts, "{kind:?}");
    }
}
