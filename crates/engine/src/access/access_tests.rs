use std::collections::HashMap;
use std::path::PathBuf;

use fathom_model::workload::{
    BlockSizes, DataSet, Distribution, FileLayout, OpMix, Pattern, WeightedSize,
};
use proptest::prelude::*;

use super::*;

fn layout(workload: &Workload, kind: TargetKind, size: u64) -> Layout {
    Layout::new(kind, workload, size, |n| PathBuf::from(format!("f.{n}"))).unwrap()
}

fn stream(workload: &Workload, kind: TargetKind, size: u64, worker: u32) -> AccessStream {
    AccessStream::new(workload, &layout(workload, kind, size), worker, 42).unwrap()
}

fn workload(pattern: Pattern) -> Workload {
    Workload {
        pattern,
        ..Workload::example("test")
    }
}

fn offsets(stream: &mut AccessStream, count: usize) -> Vec<u64> {
    (0..count).map(|_| stream.next().offset).collect()
}

#[test]
fn sequential_ascends_and_wraps() {
    let mut s = stream(
        &workload(Pattern::Sequential),
        TargetKind::Device,
        4 * 4096 + 100,
        0,
    );
    assert_eq!(offsets(&mut s, 6), [0, 4096, 8192, 12288, 0, 4096]);
}

#[test]
fn backwards_descends_and_wraps() {
    let mut s = stream(
        &workload(Pattern::Backwards),
        TargetKind::Device,
        4 * 4096 + 100,
        0,
    );
    assert_eq!(offsets(&mut s, 6), [12288, 8192, 4096, 0, 12288, 8192]);
}

#[test]
fn laps_of_a_stride_visit_every_block() {
    let pattern = Pattern::Strided {
        stride_bytes: 3 * 4096,
    };
    let mut s = stream(&workload(pattern), TargetKind::Device, 9 * 4096, 0);
    let blocks: Vec<u64> = offsets(&mut s, 10).iter().map(|o| o / 4096).collect();
    assert_eq!(blocks, [0, 3, 6, 1, 4, 7, 2, 5, 8, 0]);
}

#[test]
fn files_follow_one_another() {
    let mut w = workload(Pattern::Sequential);
    w.data_set.files.count = 2;
    w.workers = 2;
    let mut s = stream(&w, TargetKind::Directory, 8 * 4096, 1);
    let visits: Vec<(u32, u64)> = (0..5)
        .map(|_| s.next())
        .map(|a| (a.file, a.offset))
        .collect();
    assert_eq!(visits, [(2, 0), (2, 4096), (3, 0), (3, 4096), (2, 0)]);
}

#[test]
fn workers_split_a_shared_sequence_into_regions() {
    for pattern in [Pattern::Sequential, Pattern::Backwards] {
        let mut w = workload(pattern);
        w.workers = 3;
        w.data_set.files = FileLayout {
            count: 2,
            shared: true,
        };
        let mut visits = HashMap::new();
        for worker in 0..3 {
            let mut s = stream(&w, TargetKind::Directory, 20 * 4096, worker);
            let cells = (worker as usize + 1) * 20 / 3 - worker as usize * 20 / 3;
            for _ in 0..cells {
                let access = s.next();
                *visits.entry((access.file, access.offset)).or_insert(0) += 1;
            }
        }
        assert_eq!(visits.len(), 20);
        assert!(visits.values().all(|n| *n == 1));
    }
}

#[test]
fn offset_and_working_set_bound_the_range() {
    let mut w = workload(Pattern::Random(Distribution::Uniform));
    w.data_set.offset_bytes = 10 * 4096;
    w.data_set.working_set_bytes = Some(5 * 4096);
    let mut s = stream(&w, TargetKind::Device, 100 * 4096, 0);
    let mut seen: Vec<u64> = offsets(&mut s, 500).iter().map(|o| o / 4096).collect();
    seen.sort_unstable();
    seen.dedup();
    assert_eq!(seen, [10, 11, 12, 13, 14]);
}

#[test]
fn misalignment_shifts_every_offset_and_stays_inside() {
    let mut w = workload(Pattern::Random(Distribution::EachOnce));
    w.misalign_bytes = 512;
    let mut s = stream(&w, TargetKind::Device, 8 * 4096, 0);
    let mut seen = offsets(&mut s, 7);
    seen.sort_unstable();
    let expected: Vec<u64> = (0..7).map(|n| n * 4096 + 512).collect();
    assert_eq!(seen, expected);
}

#[test]
fn what_does_not_fit_is_an_error() {
    let w = workload(Pattern::Sequential);
    let small = layout(&w, TargetKind::Device, 4095);
    assert!(AccessStream::new(&w, &small, 0, 1).is_err());
    let enough = layout(&w, TargetKind::Device, 4096);
    assert!(AccessStream::new(&w, &enough, 0, 1).is_ok());
    let mut many = w.clone();
    many.workers = 5;
    let shared = layout(&many, TargetKind::Device, 4 * 4096);
    let error = AccessStream::new(&many, &shared, 0, 1).unwrap_err();
    assert!(error.to_string().contains("fewer workers"), "{error}");
    let own = layout(&w, TargetKind::Directory, 1 << 20);
    assert!(AccessStream::new(&w, &own, 1, 1).is_err());
}

// The format: these offsets may never change.
#[test]
fn offsets_of_a_seed_are_fixed() {
    let distributions = [
        Distribution::EachOnce,
        Distribution::Uniform,
        Distribution::Zipf { theta: 1.2 },
        Distribution::Pareto { h: 0.2 },
        Distribution::Normal {
            deviation_percent: 10.0,
            center_percent: 50.0,
        },
        Distribution::HotSpot {
            access_percent: 80.0,
            size_percent: 20.0,
        },
    ];
    let firsts: Vec<[u64; 3]> = distributions
        .into_iter()
        .map(|d| {
            let w = workload(Pattern::Random(d));
            let mut s = stream(&w, TargetKind::Device, 1 << 30, 0);
            std::array::from_fn(|_| s.next().offset / 4096)
        })
        .collect();
    assert_eq!(firsts, EXPECTED_FIRSTS);
}

const EXPECTED_FIRSTS: [[u64; 3]; 6] = [
    [133508, 55521, 213820],
    [8623, 73358, 202830],
    [124207, 136165, 71904],
    [197964, 127749, 143807],
    [137978, 135427, 149959],
    [14671, 5888, 47318],
];

fn any_pattern() -> impl Strategy<Value = Pattern> {
    prop_oneof![
        Just(Pattern::Sequential),
        Just(Pattern::Backwards),
        (1u64..200_000).prop_map(|stride_bytes| Pattern::Strided { stride_bytes }),
        Just(Pattern::Random(Distribution::EachOnce)),
        Just(Pattern::Random(Distribution::Uniform)),
        (0.01f64..5.0).prop_map(|theta| Pattern::Random(Distribution::Zipf { theta })),
        (0.01f64..0.99).prop_map(|h| Pattern::Random(Distribution::Pareto { h })),
        (0.1f64..300.0).prop_map(|deviation_percent| {
            Pattern::Random(Distribution::Normal {
                deviation_percent,
                center_percent: 50.0,
            })
        }),
        (0.1f64..100.0, 0.1f64..100.0).prop_map(|(access_percent, size_percent)| {
            Pattern::Random(Distribution::HotSpot {
                access_percent,
                size_percent,
            })
        }),
    ]
}

fn any_sizes() -> impl Strategy<Value = BlockSizes> {
    prop_oneof![
        (1u64..40).prop_map(|n| BlockSizes::Fixed(n * 512)),
        (1u64..20, 0u64..20, 1u64..5).prop_map(|(min, more, step)| BlockSizes::Range {
            min_bytes: min * 512,
            max_bytes: (min + more * step) * 512,
            step_bytes: step * 512,
        }),
        prop::collection::vec((1u64..40, 1u32..10), 1..4).prop_map(|entries| {
            BlockSizes::Weighted(
                entries
                    .into_iter()
                    .map(|(n, weight)| WeightedSize {
                        bytes: n * 512,
                        weight,
                    })
                    .collect(),
            )
        }),
    ]
}

prop_compose! {
    fn any_workload()(
        pattern in any_pattern(),
        block in any_sizes(),
        align_exponent in 0u32..8,
        misalign in 0u64..3,
        workers in 1u32..5,
        count in 1u32..4,
        shared in any::<bool>(),
        offset_bytes in 0u64..100_000,
        working_set in prop::option::of(1u64..4_000_000),
        read_percent in 0u8..=100,
    ) -> Workload {
        Workload {
            pattern,
            block,
            align_bytes: 64 << align_exponent,
            misalign_bytes: misalign * 32,
            workers,
            mix: OpMix { read_percent, write_percent: 100 - read_percent, trim_percent: 0 },data_set: DataSet {
            files: FileLayout { count, shared },
            offset_bytes,
            working_set_bytes: working_set,..DataSet::example()}, ..Workload::example("any")}
    }
}

proptest! {
    #[test]
    fn never_out_of_range_and_always_aligned(
        w in any_workload(),
        device in any::<bool>(),
        size in 1u64..8_000_000,
        seed in any::<u64>(),
    ) {
        let kind = if device { TargetKind::Device } else { TargetKind::Directory };
        let layout = layout(&w, kind, size);
        let allowed = [w.block.min_bytes(), w.block.max_bytes()];
        for worker in 0..w.workers {
            let Ok(mut s) = AccessStream::new(&w, &layout, worker, seed) else { continue };
            let files = layout.files_of(worker);
            for _ in 0..300 {
                let access = s.next();
                prop_assert!(files.contains(&access.file));
                let file = &layout.files[access.file as usize];
                prop_assert!(access.offset >= file.start_bytes);
                let end = access.offset + u64::from(access.bytes);
                prop_assert!(end <= file.start_bytes + file.span_bytes);
                prop_assert!(end <= file.size_bytes);
                prop_assert_eq!((access.offset - w.misalign_bytes) % w.align_bytes, 0);
                prop_assert!((allowed[0]..=allowed[1]).contains(&u64::from(access.bytes)));
            }
        }
    }

    #[test]
    fn each_once_covers_every_cell_once_per_pass(
        w in any_workload(),
        size in 1u64..3_000_000,
        seed in any::<u64>(),
    ) {
        let mut w = w;
        w.pattern = Pattern::Random(Distribution::EachOnce);
        let layout = layout(&w, TargetKind::Directory, size);
        let cell = w.block.max_bytes().div_ceil(w.align_bytes) * w.align_bytes;
        let span = layout.files[0].span_bytes.saturating_sub(w.misalign_bytes);
        let per_file = span.checked_sub(w.block.max_bytes()).map_or(0, |s| s / cell + 1);
        let total = per_file * layout.files.len() as u64;
        let mut orders = Vec::new();
        for pass in 0..2u64 {
            let mut visits: HashMap<(u32, u64), u32> = HashMap::new();
            let mut order = Vec::new();
            for worker in 0..w.workers {
                let Ok(mut s) = AccessStream::new(&w, &layout, worker, seed) else { return Ok(()) };
                let workers = u64::from(w.workers);
                let mine = if w.data_set.files.shared {
                    (total - u64::from(worker)).div_ceil(workers)
                } else {
                    total / workers
                };
                for _ in 0..pass * mine {
                    s.next();
                }
                for _ in 0..mine {
                    let a = s.next();
                    let from = a.offset - w.misalign_bytes - layout.files[0].start_bytes;
                    *visits.entry((a.file, from / cell)).or_default() += 1;
                    order.push((a.file, from / cell));
                }
            }
            prop_assert_eq!(visits.len() as u64, total);
            prop_assert!(visits.values().all(|n| *n == 1));
            orders.push(order);
        }
        if total > 40 {
            prop_assert_ne!(&orders[0], &orders[1]);
        }
    }

    #[test]
    fn same_seed_same_accesses(w in any_workload(), size in 200_000u64..8_000_000, seed in any::<u64>()) {
        let layout = layout(&w, TargetKind::Directory, size);
        let streams = (AccessStream::new(&w, &layout, 0, seed), AccessStream::new(&w, &layout, 0, seed));
        if let (Ok(mut a), Ok(mut b)) = streams {
            for _ in 0..50 {
                prop_assert_eq!(a.next(), b.next());
            }
        }
    }
}
