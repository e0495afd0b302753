//! Accesses in which more than offsets varies.

use std::collections::HashSet;
use std::path::PathBuf;

use fathom_model::workload::{
    Between, BlockSizes, ByKind, DataSet, Distribution, FileLayout, OpMix, Pattern, Sequencer,
    WorkerRegion, Zone, ZoneSize,
};
use proptest::prelude::*;

use super::*;

const BLOCK: u64 = 4096;

fn stream(w: &Workload, blocks: u64, worker: u32) -> AccessStream {
    let path = |n| PathBuf::from(format!("f.{n}"));
    let layout = Layout::new(TargetKind::Device, w, blocks * BLOCK, path).unwrap();
    AccessStream::new(w, &layout, worker, 42).unwrap()
}

fn mixed(change: impl FnOnce(&mut Workload)) -> Workload {
    let mut w = Workload::example("varied");
    w.mix = OpMix {
        read_percent: 60,
        write_percent: 40,
        trim_percent: 0,
    };
    change(&mut w);
    w
}

fn blocks(s: &mut AccessStream, count: usize) -> Vec<u64> {
    (0..count).map(|_| s.next().offset / BLOCK).collect()
}

#[test]
fn each_kind_has_its_own_sizes() {
    let w = mixed(|w| {
        w.block_by_kind.write = Some(BlockSizes::Fixed(16 * BLOCK));
    });
    let mut s = stream(&w, 1024, 0);
    for _ in 0..10_000 {
        let access = s.next();
        let expected = match access.kind {
            OpKind::Read => BLOCK,
            _ => 16 * BLOCK,
        };
        assert_eq!(u64::from(access.bytes), expected);
    }
}

#[test]
fn kinds_in_one_sequence_follow_one_another_and_streams_do_not() {
    let one = mixed(|w| w.pattern = Pattern::Sequential);
    assert_eq!(blocks(&mut stream(&one, 64, 0), 5), [0, 1, 2, 3, 4]);
    let each = mixed(|w| {
        w.pattern = Pattern::Sequential;
        w.sequencer.each_kind = true;
    });
    let mut s = stream(&each, 64, 0);
    let mut next = [0u64; 3];
    for _ in 0..60 {
        let access = s.next();
        let kind = access.kind.index();
        assert_eq!(access.offset / BLOCK, next[kind] % 64);
        next[kind] += 1;
    }
}

#[test]
fn between_two_draws_offsets_go_on_or_stay() {
    let runs = |between| {
        let mut w = Workload::example("runs");
        w.sequencer = Sequencer {
            draw_every_ops: 8,
            between,
            ..Sequencer::default()
        };
        blocks(&mut stream(&w, 1 << 20, 0), 8000)
    };
    for run in runs(Between::Onward).chunks(8) {
        assert!(run.windows(2).all(|w| w[1] == w[0] + 1), "{run:?}");
    }
    let again = runs(Between::Again);
    assert!(again.chunks(8).all(|run| run.iter().all(|b| *b == run[0])));
    let places: HashSet<u64> = again.into_iter().collect();
    assert_eq!(places.len(), 1000);
}

#[test]
fn the_rest_of_a_random_share_goes_on_in_sequence() {
    let w = mixed(|w| {
        w.pattern = Pattern::Random(Distribution::Uniform);
        w.sequencer.random_percent = ByKind {
            read: Some(30),
            write: Some(100),
            trim: None,
        };
    });
    let mut s = stream(&w, 1 << 24, 0);
    let mut last = [None; 3];
    let (mut onward, mut total) = ([0u32; 3], [0u32; 3]);
    for _ in 0..50_000 {
        let access = s.next();
        let kind = access.kind.index();
        onward[kind] += u32::from(last[kind] == Some(access.offset));
        total[kind] += 1;
        last[kind] = Some(access.offset + u64::from(access.bytes));
    }
    let share = f64::from(onward[0]) / f64::from(total[0]);
    // 30,000 reads: five standard deviations are 0.013.
    assert!((share - 0.7).abs() < 0.014, "{share}");
    assert!(onward[1] < 5, "{onward:?}");
}

#[test]
fn a_skip_leaves_holes_and_a_negative_one_goes_back() {
    let skipping = |skip_bytes| {
        let mut w = Workload::example("skip");
        w.pattern = Pattern::Skipping { skip_bytes };
        w
    };
    let mut s = stream(&skipping(BLOCK as i64), 7, 0);
    assert_eq!(blocks(&mut s, 9), [0, 2, 4, 6, 0, 2, 4, 6, 0]);
    let mut s = stream(&skipping(-2 * BLOCK as i64), 4, 0);
    assert_eq!(blocks(&mut s, 6), [3, 2, 1, 0, 3, 2]);
    let mut s = stream(&skipping(-3 * BLOCK as i64), 6, 0);
    assert_eq!(blocks(&mut s, 5), [5, 3, 1, 5, 3]);
    let mut s = stream(&skipping(-(BLOCK as i64)), 4, 0);
    assert_eq!(blocks(&mut s, 3), [0, 0, 0]);
}

#[test]
fn zones_get_their_shares() {
    let zone = |access_percent, percent| Zone {
        access_percent,
        size: ZoneSize::Percent(percent),
    };
    let mut w = Workload::example("zones");
    let zones = vec![
        zone(60.0, 10.0),
        zone(0.0, 20.0),
        zone(30.0, 30.0),
        zone(10.0, 40.0),
    ];
    w.pattern = Pattern::Random(Distribution::Zoned(zones));
    let mut counts = [0u32; 4];
    for block in blocks(&mut stream(&w, 1000, 0), 100_000) {
        counts[match block {
            0..100 => 0,
            100..300 => 1,
            300..600 => 2,
            _ => 3,
        }] += 1;
    }
    for (count, share) in counts.iter().zip([60_000u32, 0, 30_000, 10_000]) {
        assert!(count.abs_diff(share) < 800, "{counts:?}");
    }
}

#[test]
fn zones_in_bytes_end_where_they_say() {
    let zone = |access_percent, blocks: u64| Zone {
        access_percent,
        size: ZoneSize::Bytes(blocks * BLOCK),
    };
    let mut w = Workload::example("zones");
    w.pattern = Pattern::Random(Distribution::Zoned(vec![zone(50.0, 2), zone(50.0, 3)]));
    let seen: HashSet<u64> = blocks(&mut stream(&w, 1000, 0), 1000).into_iter().collect();
    assert_eq!(seen, (0..5).collect());
    w.pattern = Pattern::Random(Distribution::Zoned(vec![zone(50.0, 5000), zone(50.0, 3)]));
    let path = |n| PathBuf::from(format!("f.{n}"));
    let layout = Layout::new(TargetKind::Device, &w, 1000 * BLOCK, path).unwrap();
    assert!(AccessStream::new(&w, &layout, 0, 1).is_err());
}

#[test]
fn a_normal_spread_has_its_middle_where_it_was_asked_for() {
    let mut w = Workload::example("normal");
    w.pattern = Pattern::Random(Distribution::Normal {
        deviation_percent: 2.0,
        center_percent: 25.0,
    });
    let seen = blocks(&mut stream(&w, 10_000, 0), 20_000);
    let mean = seen.iter().sum::<u64>() as f64 / seen.len() as f64;
    assert!((mean - 2500.0).abs() < 10.0, "{mean}");
}

#[test]
fn regions_are_divided_whole_or_staggered() {
    let with = |region| {
        let mut w = Workload::example("region");
        w.workers = 4;
        w.pattern = Pattern::Sequential;
        w.data_set.region = region;
        w
    };
    let first = |w: &Workload, worker| blocks(&mut stream(w, 64, worker), 2);
    assert_eq!(first(&with(WorkerRegion::Split), 1), [16, 17]);
    assert_eq!(first(&with(WorkerRegion::Whole), 1), [0, 1]);
    let staggered = with(WorkerRegion::Staggered {
        step_bytes: 3 * BLOCK,
        span_bytes: Some(2 * BLOCK),
    });
    assert_eq!(blocks(&mut stream(&staggered, 64, 2), 4), [6, 7, 6, 7]);
    let beyond = with(WorkerRegion::Staggered {
        step_bytes: 30 * BLOCK,
        span_bytes: None,
    });
    let path = |n| PathBuf::from(format!("f.{n}"));
    let layout = Layout::new(TargetKind::Device, &beyond, 64 * BLOCK, path).unwrap();
    let error = AccessStream::new(&beyond, &layout, 3, 1).unwrap_err();
    assert!(error.to_string().contains("worker 3"), "{error}");
}

#[test]
fn a_trimmed_block_is_the_next_to_be_written() {
    let w = Workload {
        trim_first: true,
        mix: OpMix {
            read_percent: 0,
            write_percent: 50,
            trim_percent: 50,
        },
        ..Workload::example("pairs")
    };
    let mut s = stream(&w, 64, 0);
    let mut seen = HashSet::new();
    for _ in 0..64 {
        let (trim, write) = (s.next(), s.next());
        assert_eq!((trim.kind, write.kind), (OpKind::Trim, OpKind::Write));
        assert_eq!((trim.offset, trim.bytes), (write.offset, write.bytes));
        assert!(seen.insert(write.offset));
    }
}

fn any_sequencer() -> impl Strategy<Value = Sequencer> {
    let share = || prop::option::of(0u8..=100);
    let shares = (share(), share(), share());
    (1u32..10, any::<bool>(), shares, any::<bool>()).prop_map(
        |(draw_every_ops, again, (read, write, trim), each_kind)| Sequencer {
            draw_every_ops,
            between: if again {
                Between::Again
            } else {
                Between::Onward
            },
            random_percent: ByKind { read, write, trim },
            each_kind,
        },
    )
}

fn any_pattern() -> impl Strategy<Value = Pattern> {
    prop_oneof![
        Just(Pattern::Sequential),
        (-100_000i64..100_000).prop_map(|skip_bytes| Pattern::Skipping { skip_bytes }),
        Just(Pattern::Random(Distribution::EachOnce)),
        Just(Pattern::Random(Distribution::Uniform)),
        Just(Pattern::Random(Distribution::Zipf { theta: 1.1 })),
    ]
}

proptest! {
    #[test]
    fn never_out_of_range_and_always_aligned(
        pattern in any_pattern(),
        sequencer in any_sequencer(),
        sizes in (1u64..9, 1u64..9, 1u64..9),
        region in prop_oneof![
            Just(WorkerRegion::Split),
            Just(WorkerRegion::Whole),
            (0u64..100_000, prop::option::of(1u64..500_000)).prop_map(|(step_bytes, span_bytes)| {
                WorkerRegion::Staggered { step_bytes, span_bytes }
            }),
        ],
        workers in 1u32..4,
        files in 1u32..3,
        size in 1u64..3_000_000,
        seed in any::<u64>(),
    ) {
        let fixed = |n: u64| Some(BlockSizes::Fixed(n * 512));
        let w = Workload {
            pattern,
            sequencer,
            block_by_kind: ByKind {
                read: fixed(sizes.0),
                write: fixed(sizes.1),
                trim: fixed(sizes.2),
            },
            align_bytes: 512,
            workers,
            mix: OpMix { read_percent: 40, write_percent: 40, trim_percent: 20 },data_set: DataSet {
            region,
            files: FileLayout { count: files, shared: true },..DataSet::example()}, ..Workload::example("any")};
        let path = |n| PathBuf::from(format!("f.{n}"));
        let layout = Layout::new(TargetKind::Directory, &w, size, path).unwrap();
        for worker in 0..workers {
            let Ok(mut s) = AccessStream::new(&w, &layout, worker, seed) else { continue };
            for _ in 0..200 {
                let access = s.next();
                let file = &layout.files[access.file as usize];
                let end = access.offset + u64::from(access.bytes);
                prop_assert!(end <= file.start_bytes + file.span_bytes);
                prop_assert!(access.offset.is_multiple_of(512));
            }
        }
    }

    // Without a common bound all blocks of a worker's part are visited in as
    // many operations as a pass has.
    #[test]
    fn a_pass_visits_every_block_of_the_part_once(
        pattern in prop_oneof![
            Just(Pattern::Sequential),
            Just(Pattern::Backwards),
            Just(Pattern::Random(Distribution::EachOnce)),
        ],
        whole in any::<bool>(),
        workers in 1u32..5,
        count in 8u64..300,
    ) {
        let w = Workload {
            pattern,
            workers,data_set: DataSet {
            region: if whole { WorkerRegion::Whole } else { WorkerRegion::Split },..DataSet::example()}, ..Workload::example("pass")};
        let mut visits = vec![0u32; count as usize];
        for worker in 0..workers {
            let mut s = stream(&w, count, worker);
            for _ in 0..s.pass_bytes() / BLOCK {
                visits[(s.next().offset / BLOCK) as usize] += 1;
            }
        }
        let times = if whole { workers } else { 1 };
        prop_assert!(visits.iter().all(|n| *n == times), "{:?}", visits);
    }
}
