//! Any workload is exported or refused, and the installed fio accepts what is
//! exported.

use std::process::Command;

use fathom_model::workload::{
    Arrival, BlockSizes, Bounds, CacheMode, Content, DataSet, Distribution, EngineKind, FileLayout,
    OnError, OpMix, Pattern, Payload, Precondition, RangeSync, Rate, RateUnit, SyncCall, SyncOpen,
    SyncPolicy, Until, Verify, WeightedSize,
};
use fathom_model::{Target, Workload};
use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, TestRunner};

use super::tests::{facts, target, trial};
use super::*;

fn patterns() -> impl Strategy<Value = Pattern> {
    let random = prop_oneof![
        Just(Distribution::EachOnce),
        Just(Distribution::Uniform),
        (0.1f64..2.0).prop_map(|theta| Distribution::Zipf { theta }),
        (0.01f64..0.99).prop_map(|h| Distribution::Pareto { h }),
        (0.5f64..120.0).prop_map(|deviation_percent| Distribution::Normal {
            deviation_percent,
            center_percent: 50.0
        }),
        (1u8..100, 1u8..100).prop_map(|(access, size)| Distribution::HotSpot {
            access_percent: f64::from(access),
            size_percent: f64::from(size),
        }),
    ];
    prop_oneof![
        Just(Pattern::Sequential),
        Just(Pattern::Backwards),
        (1u64..32).prop_map(|n| Pattern::Strided {
            stride_bytes: n * 4096
        }),
        random.prop_map(Pattern::Random),
    ]
}

fn blocks() -> impl Strategy<Value = BlockSizes> {
    let bytes = || (0u32..6).prop_map(|n| 4096u64 << n);
    prop_oneof![
        bytes().prop_map(BlockSizes::Fixed),
        (bytes(), 1u64..9, select(vec![1, 512, 4096])).prop_map(|(min_bytes, n, step_bytes)| {
            BlockSizes::Range {
                min_bytes,
                max_bytes: min_bytes * n,
                step_bytes,
            }
        }),
        prop::collection::vec((bytes(), 1u32..6), 1..5).prop_map(|sizes| {
            let sizes = sizes.into_iter();
            let sizes = sizes.map(|(bytes, weight)| WeightedSize { bytes, weight });
            BlockSizes::Weighted(sizes.collect())
        }),
    ]
}

fn mixes() -> impl Strategy<Value = OpMix> {
    let mix = |read_percent: u8, write_percent: u8| OpMix {
        read_percent,
        write_percent,
        trim_percent: 100 - read_percent - write_percent,
    };
    prop_oneof![
        Just(OpMix::READ),
        Just(OpMix::WRITE),
        Just(mix(0, 0)),
        (1u8..100).prop_map(move |read| mix(read, 100 - read)),
        (1u8..50, 1u8..50).prop_map(move |(read, write)| mix(read, write)),
    ]
}

fn syncs() -> impl Strategy<Value = SyncPolicy> {
    let call = select(vec![SyncCall::Fsync, SyncCall::Fdatasync]);
    let open = select(vec![SyncOpen::No, SyncOpen::Dsync, SyncOpen::Sync]);
    let policy = (0u32..40, call, open, any::<bool>()).prop_map(
        |(every_writes, call, open, final_flush)| SyncPolicy {
            every_writes,
            call,
            open,
            final_flush,
            ..SyncPolicy::default()
        },
    );
    (policy, prop::option::of((1u32..40, 1u8..8))).prop_map(|(policy, ranges)| {
        let ranges = ranges.filter(|_| policy.every_writes == 0);
        let ranges = ranges.map(|(every_writes, modes)| RangeSync {
            every_writes,
            wait_before: modes & 1 != 0,
            write: modes & 2 != 0,
            wait_after: modes & 4 != 0,
        });
        SyncPolicy { ranges, ..policy }
    })
}

fn bounds() -> impl Strategy<Value = Bounds> {
    let some = |range: std::ops::Range<u64>| prop::option::of(range);
    (some(1..1 << 36), some(1..1 << 40), some(1..1_000_000)).prop_map(|(time_ns, bytes, ops)| {
        Bounds {
            time_ns,
            bytes,
            ops,
        }
    })
}

fn rates() -> impl Strategy<Value = Option<Rate>> {
    let unit = select(vec![RateUnit::Ops, RateUnit::Bytes]);
    let arrival = select(vec![Arrival::Constant, Arrival::Poisson]);
    let rate = (0.5f64..1e10, unit, arrival).prop_map(|(per_second, unit, arrival)| Rate {
        per_second,
        unit,
        arrival,
    });
    prop::option::of(rate)
}

fn payloads() -> impl Strategy<Value = Payload> {
    let content = prop_oneof![
        Just(Content::Random),
        Just(Content::Zeros),
        prop::collection::vec(any::<u8>(), 1..600).prop_map(Content::Bytes),
    ];
    let percent = || prop_oneof![3 => Just(0u8), 1 => 0u8..=100];
    (content, percent(), percent()).prop_map(|(content, compress_percent, duplicate_percent)| {
        Payload {
            content,
            compress_percent,
            duplicate_percent,
        }
    })
}

/// Any workload, sensible or not.
fn workloads() -> impl Strategy<Value = Workload> {
    let what = (
        patterns(),
        blocks(),
        mixes(),
        syncs(),
        bounds(),
        rates(),
        payloads(),
    );
    // fio has nothing like requests to a bucket.
    let known = EngineKind::ALL
        .into_iter()
        .filter(|kind| *kind != EngineKind::S3);
    let engine = select(known.collect::<Vec<_>>());
    let layout = (1u32..5, any::<bool>()).prop_map(|(count, shared)| FileLayout { count, shared });
    let load = (
        engine,
        1u32..9,
        1u32..200,
        0u32..64,
        layout,
        any::<[bool; 5]>(),
    );
    let size = prop::option::of(1u64..1 << 40);
    let place = (
        size,
        prop::option::of(1u64..1 << 40),
        0u64..1 << 30,
        0u64..3,
        0u64..4,
    );
    let rest = (
        0u64..1 << 36,
        0u64..10_000_000,
        prop::collection::vec(0u32..4, 0..4),
        select(vec![
            Precondition::None,
            Precondition::Fill,
            Precondition::RandomFill,
        ]),
    );
    (what, load, place, rest).prop_map(|(what, load, place, rest)| {
        let mut w = Workload::example("any; [w] #1");
        (
            w.pattern, w.block, w.mix, w.sync, w.bounds, w.rate, w.payload,
        ) = what;
        let [direct, drop, poll, huge, go_on] = load.5;
        (
            w.engine,
            w.workers,
            w.queue_depth,
            w.batch,
            w.data_set.files,
        ) = (load.0, load.1, load.2, load.3, load.4);
        (w.drop_cache, w.poll, w.huge_pages) = (drop, poll, huge);
        w.cache = if direct {
            CacheMode::Direct
        } else {
            CacheMode::Buffered
        };
        w.on_error = if go_on {
            OnError::Continue
        } else {
            OnError::Stop
        };
        (
            w.data_set.size_bytes,
            w.data_set.working_set_bytes,
            w.data_set.offset_bytes,
        ) = (place.0, place.1, place.2);
        (w.misalign_bytes, w.align_bytes) = (place.3 * 512, 512 << place.4);
        (w.warmup_ns, w.think_ns, w.cpus) = (rest.0, rest.1, rest.2);
        w.data_set.precondition = rest.3;
        w.until = go_on.then_some(Until::Precision { percent: 2.0 });
        w.verify = (drop && huge).then_some(Verify {
            on_read: poll,
            after: !poll,
            ..Verify::default()
        });
        w
    })
}

fn targets() -> impl Strategy<Value = Target> {
    let names = [
        "/data",
        "/data/file",
        "/dev/unknown",
        "null:",
        "sim:ssd",
        "/a b:c",
    ];
    select(names.map(target).to_vec())
}

fn number(section: &FioSection, name: &str) -> Option<u64> {
    let found = section.options.iter().find(|(n, _)| n == name);
    found.and_then(|(_, value)| value.parse().ok())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn every_workload_is_exported_or_refused(
        workload in workloads(), target in targets(), own in any::<bool>(),
    ) {
        let facts = facts();
        let files = if own { FioFiles::Own("t") } else { FioFiles::Given("t") };
        let export = FioExport { facts: &facts, files };
        match export_trial(&trial(target, workload.clone()), &export) {
            Err(refusals) => {
                prop_assert!(!refusals.is_empty());
                prop_assert!(refusals.iter().all(|r| !r.reason.is_empty() && !r.key.is_empty()));
            }
            Ok(done) => {
                let jobs = done.sections.iter().map(|s| number(s, "numjobs").unwrap_or(1));
                prop_assert_eq!(jobs.sum::<u64>(), u64::from(workload.workers));
                for section in &done.sections {
                    prop_assert!(number(section, "size") != Some(0));
                    let plain = |text: &str| !text.contains(['\n', '#', ';']);
                    prop_assert!(section.options.iter().all(|(n, v)| plain(n) && plain(v)));
                }
            }
        }
    }
}

/// One file with many jobs: a call of fio for each workload would take long.
#[test]
fn the_installed_fio_accepts_what_is_exported() {
    if Command::new("fio").arg("--version").output().is_err() {
        println!("skipped: fio is not installed");
        return;
    }
    let facts = facts();
    let mut runner = TestRunner::new_with_rng(
        Config::default(),
        proptest::test_runner::TestRng::deterministic_rng(Config::default().rng_algorithm),
    );
    let dir = tempfile::tempdir().unwrap();
    let mut accepted = 0;
    for case in 0..900 {
        let (workload, target) = (workloads(), targets())
            .new_tree(&mut runner)
            .unwrap()
            .current();
        let files = if case % 2 == 0 {
            FioFiles::Own("t")
        } else {
            FioFiles::Given("t")
        };
        let export = FioExport {
            facts: &facts,
            files,
        };
        let Ok(done) = export_trial(&trial(target, workload.clone()), &export) else {
            continue;
        };
        let text = fio_job_file(&done);
        let path = dir.path().join("job.fio");
        std::fs::write(&path, &text).unwrap();
        let output = Command::new("fio")
            .arg("--parse-only")
            .arg(&path)
            .output()
            .unwrap();
        let told = String::from_utf8_lossy(&output.stderr);
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(
            output.status.success() && !told.contains("fio:") && !said.contains("fio:"),
            "{workload:?}\n{text}\n{told}\n{said}"
        );
        accepted += 1;
    }
    assert!(accepted >= 20, "only {accepted} were exported");
}

/// The first offsets that the installed fio draws for random reads, by its own list.
fn offsets_of_fio(seed: u64) -> Vec<u64> {
    // fio appends to a list that is there.
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let workload = Workload {
        bounds: Bounds {
            ops: Some(40),
            ..Bounds::default()
        },
        engine: EngineKind::Psync,
        cache: CacheMode::Buffered,
        data_set: DataSet::of_bytes(1 << 20),
        ..Workload::example("offsets")
    };
    let mut trial = trial(Target::Path(dir.to_owned()), workload);
    trial.seed = seed;
    let facts = facts();
    let export = FioExport {
        facts: &facts,
        files: FioFiles::Own("t"),
    };
    let done = export_trial(&trial, &export).unwrap();
    let (job, list) = (dir.join("job.fio"), dir.join("list"));
    let listed = format!("{}write_iolog={}\n", fio_job_file(&done), list.display());
    std::fs::write(&job, listed).unwrap();
    let output = Command::new("fio").arg(&job).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let list = std::fs::read_to_string(list).unwrap();
    let reads = list.lines().filter(|line| line.contains(" read "));
    let offset = |line: &str| line.split(' ').rev().nth(1)?.parse().ok();
    reads.filter_map(offset).collect()
}

#[test]
fn jobs_of_different_seeds_visit_different_blocks() {
    if Command::new("fio").arg("--version").output().is_err() {
        println!("skipped: fio is not installed");
        return;
    }
    let first = offsets_of_fio(1);
    assert_eq!(first.len(), 40, "{first:?}");
    assert_ne!(first, offsets_of_fio(2));
    assert_eq!(first, offsets_of_fio(1));
}
