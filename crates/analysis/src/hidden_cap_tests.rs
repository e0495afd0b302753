use fathom_model::Histogram;
use fathom_model::judged::JudgedRun;
use fathom_model::run::TrialRecord;
use fathom_model::schedule::TrialRole;
use fathom_model::verdict::{FindingStatus, Limiter};
use fathom_model::workload::{Arrival, BlockSizes, Distribution, OpMix, Pattern, Rate, RateUnit};

use crate::test_records::{RecordBuilder, run_of};

/// Ten seconds of a row of `quick`.
fn row(mix: OpMix, block: u64, depth: u32, ops: u64, noise: f64) -> RecordBuilder {
    RecordBuilder::reads().with(|b| {
        b.workload.name = format!("{} of {block} at {depth}", mix.read_percent);
        b.workload.mix = mix;
        b.workload.block = BlockSizes::Fixed(block);
        b.workload.queue_depth = depth;
        b.ops_per_second = ops;
        b.seconds = 10;
        b.noise = noise;
    })
}

fn reads(depth: u32, ops: u64, noise: f64) -> RecordBuilder {
    row(OpMix::READ, 4096, depth, ops, noise)
}

fn guest(builder: RecordBuilder) -> RecordBuilder {
    builder.with(|b| b.host.virtualization = Some("kvm".to_owned()))
}

/// Half the rate for three seconds, each operation taking so long.
fn paced(of: &RecordBuilder, latency_ns: u64) -> TrialRecord {
    let rate = of.ops_per_second / 2;
    let probe = of.clone().with(|b| {
        b.seconds = 3;
        b.noise = 0.0;
        b.ops_per_second = rate;
        b.workload.rate = Some(Rate {
            per_second: rate as f64,
            unit: RateUnit::Ops,
            arrival: Arrival::Constant,
        });
    });
    let mut trial = probe.trial();
    for op in trial.samples.iter_mut().flat_map(|s| &mut s.ops) {
        let mut service = Histogram::new();
        (0..op.ops).for_each(|_| service.record(latency_ns));
        op.service = service;
    }
    trial.spec.role = TrialRole::Probe;
    trial
}

fn judged(rows: &[RecordBuilder], probe: Option<TrialRecord>) -> JudgedRun {
    let mut trials: Vec<TrialRecord> = rows.iter().map(RecordBuilder::trial).collect();
    trials.extend(probe);
    let mut record = run_of(trials, rows[0].host.clone());
    if record.trials.len() > rows.len() {
        record.trials[rows.len()].spec.row = 0;
        record.meta.schedule.trials.truncate(rows.len());
    }
    crate::judge(&record)
}

fn limiters(judged: &JudgedRun) -> Vec<Limiter> {
    judged.rows.iter().map(|r| r.verdict.limiter).collect()
}

fn words(judged: &JudgedRun, row: usize) -> &str {
    &judged.rows[row].verdict.limiter_evidence
}

#[test]
fn a_rate_below_what_one_at_a_time_would_make_is_a_cap() {
    // 780 ± 19 ops/s at depth 32, and 0.31 ms for an operation that nothing holds back.
    let rows = [reads(32, 780, 0.024), reads(1, 780, 0.024)];
    let run = judged(&rows, Some(paced(&rows[0], 310_000)));
    assert_eq!(limiters(&run), [Limiter::Cap, Limiter::Cap]);
    assert!(words(&run, 0).contains("310 µs"), "{}", words(&run, 0));
    assert!(words(&run, 0).contains("tells which"), "{}", words(&run, 0));
    assert!(
        words(&run, 1).contains("the figure of"),
        "{}",
        words(&run, 1)
    );
}

#[test]
fn a_device_that_is_busy_at_half_its_rate_is_not_capped() {
    // A disk: 8 ms each, one at a time, whatever the depth.
    let rows = [reads(8, 125, 0.024), reads(1, 124, 0.024)];
    let run = judged(&rows, Some(paced(&rows[0], 8_000_000)));
    assert_eq!(limiters(&run)[0], Limiter::Device, "{}", words(&run, 0));
    // Eight units of a flash drive.
    let rows = [reads(32, 10_000, 0.01), reads(1, 2_500, 0.01)];
    let run = judged(&rows, Some(paced(&rows[0], 400_000)));
    let expected = [Limiter::Device, Limiter::QueueDepth];
    assert_eq!(limiters(&run), expected, "{}", words(&run, 0));
}

#[test]
fn as_many_bytes_in_any_blocks_are_a_cap_of_bytes_in_a_single_second() {
    let second = |mix, block, depth, ops| {
        guest(row(mix, block, depth, ops, 0.0)).with(|b| {
            b.seconds = 1;
            if block == 1 << 20 {
                b.workload.pattern = Pattern::Sequential;
            }
        })
    };
    let (read, write, large) = (OpMix::READ, OpMix::WRITE, 1 << 20);
    // 30 MB/s; a block of 1 MiB more or less of a second.
    let small = [
        second(read, 4096, 32, 7_324),
        second(write, 4096, 32, 7_320),
    ];
    let sequential = [second(read, large, 8, 30), second(write, large, 8, 29)];
    let held = judged(&[small.clone(), sequential.clone()].concat(), None);
    assert_eq!(limiters(&held), [Limiter::Cap; 4], "{}", words(&held, 0));
    assert!(words(&held, 0).contains("in 4 rows"), "{}", words(&held, 0));
    assert!(words(&held, 3).contains("of bytes"), "{}", words(&held, 3));
    // Two rows may be alike by chance, and a host without caps has none.
    let two = judged(&[small[0].clone(), sequential[0].clone()], None);
    assert!(
        !limiters(&two).contains(&Limiter::Cap),
        "{}",
        words(&two, 0)
    );
    let bare = [small, sequential].concat();
    let bare: Vec<_> = bare
        .into_iter()
        .map(|row| row.with(|b| b.host.virtualization = Some("none".to_owned())))
        .collect();
    let bare = judged(&bare, None);
    assert!(
        !limiters(&bare).contains(&Limiter::Cap),
        "{}",
        words(&bare, 0)
    );
}

#[test]
fn as_many_large_operations_as_small_ones_are_a_cap_of_operations() {
    let large = |depth| {
        row(OpMix::READ, 1 << 20, depth, 1_502, 0.01)
            .with(|b| b.workload.pattern = Pattern::Sequential)
    };
    let rows = [
        reads(32, 1_500, 0.01),
        reads(1, 1_400, 0.01),
        large(8),
        large(1),
    ];
    let run = judged(&rows, None);
    assert_eq!(limiters(&run)[0], Limiter::Cap, "{}", words(&run, 0));
    assert_eq!(limiters(&run)[2], Limiter::Cap, "{}", words(&run, 2));
    assert!(
        words(&run, 0).ends_with("of operations"),
        "{}",
        words(&run, 0)
    );
}

#[test]
fn reads_and_writes_at_one_rate_are_a_cap_where_caps_are_usual() {
    let rows = |read: u64, write: u64| {
        [
            guest(reads(32, read, 0.01)),
            guest(reads(1, 2_000, 0.01)),
            guest(row(OpMix::WRITE, 4096, 32, write, 0.01)),
            guest(row(OpMix::WRITE, 4096, 1, 2_000, 0.01)),
        ]
    };
    let run = judged(&rows(5_130, 5_125), None);
    let deep = [limiters(&run)[0], limiters(&run)[2]];
    assert_eq!(deep, [Limiter::Cap, Limiter::Cap], "{}", words(&run, 0));
    let other = judged(&rows(5_130, 4_600), None);
    assert_eq!(limiters(&other)[0], Limiter::Device, "{}", words(&other, 0));
    let bare = rows(5_130, 5_125).map(|b| b.with(|b| b.host.virtualization = None));
    assert_eq!(limiters(&judged(&bare, None))[0], Limiter::Device);
}

#[test]
fn three_hundred_without_any_scatter_are_a_cap_and_a_fixed_latency_is_not() {
    let still = |depth, ops| guest(reads(depth, ops, 0.0));
    let run = judged(&[still(32, 300), still(64, 300)], None);
    assert_eq!(limiters(&run)[0], Limiter::Cap, "{}", words(&run, 0));
    // A delay on the way: twice the depth gives twice the rate.
    let run = judged(&[still(32, 3_170), still(64, 6_340)], None);
    assert_eq!(limiters(&run)[0], Limiter::QueueDepth, "{}", words(&run, 0));
    // One at a time at its service time, with nothing beside it.
    let run = judged(&[still(1, 300)], None);
    assert_eq!(limiters(&run), [Limiter::QueueDepth]);
}

#[test]
fn blocks_of_another_size_tell_what_is_counted() {
    let sequential = |block, depth, ops| {
        row(OpMix::READ, block, depth, ops, 0.0).with(|b| b.workload.pattern = Pattern::Sequential)
    };
    // 125 MiB/s, and more operations of small blocks than of large ones.
    let rows = [
        guest(sequential(1 << 20, 8, 125)),
        guest(sequential(1 << 20, 1, 125)),
        guest(
            row(OpMix::WRITE, 1 << 20, 8, 125, 0.0)
                .with(|b| b.workload.pattern = Pattern::Sequential),
        ),
        guest(
            row(OpMix::WRITE, 1 << 20, 1, 125, 0.0)
                .with(|b| b.workload.pattern = Pattern::Sequential),
        ),
        guest(reads(32, 9_000, 0.01)),
        guest(reads(1, 2_000, 0.01)),
    ];
    let run = judged(&rows, None);
    assert_eq!(limiters(&run)[0], Limiter::Cap, "{}", words(&run, 0));
    assert!(words(&run, 0).ends_with("of bytes"), "{}", words(&run, 0));
    assert_eq!(limiters(&run)[4], Limiter::Device, "{}", words(&run, 4));
}

#[test]
fn one_at_a_time_at_a_cap_is_not_the_depth() {
    let row = guest(reads(1, 300, 0.01));
    let run = judged(std::slice::from_ref(&row), Some(paced(&row, 200_000)));
    assert_eq!(limiters(&run), [Limiter::Cap], "{}", words(&run, 0));
    let run = judged(std::slice::from_ref(&row), Some(paced(&row, 3_300_000)));
    assert_eq!(limiters(&run), [Limiter::QueueDepth], "{}", words(&run, 0));
}

/// As QEMU's throttle was seen to do below FUSE: released in batches, and a third of
/// the depth waits for the kernel to submit it.
#[test]
fn a_throttle_that_releases_batches_is_a_cap() {
    let batches = reads(32, 300, 0.0).edit(|t| {
        for (second, sample) in t.samples.iter_mut().enumerate() {
            sample.in_flight_ns = sample.in_flight_ns * 65 / 100;
            for op in &mut sample.ops {
                op.ops = [330, 312, 288, 312, 288][second.min(1 + second % 4)];
                op.bytes = op.ops * 4096;
                let mut service = Histogram::new();
                (0..op.ops).for_each(|_| service.record(70_000_000));
                op.service = service;
            }
        }
    });
    let probe = paced(&reads(32, 300, 0.0), 320_000);
    let run = judged(&[batches], Some(probe));
    assert_eq!(limiters(&run), [Limiter::Cap], "{}", words(&run, 0));
}

#[test]
fn reads_in_order_are_held_against_reads_at_random() {
    // 85 MiB/s in blocks of 1 MiB, and 3 ms for one at random that nothing holds back.
    let in_order =
        row(OpMix::READ, 1 << 20, 8, 85, 0.001).with(|b| b.workload.pattern = Pattern::Sequential);
    let at_random = in_order
        .clone()
        .with(|b| b.workload.pattern = Pattern::Random(Distribution::EachOnce));
    let run = judged(
        std::slice::from_ref(&in_order),
        Some(paced(&at_random, 3_000_000)),
    );
    assert_eq!(limiters(&run), [Limiter::Cap]);
    assert!(
        words(&run, 0).contains("read at random"),
        "{}",
        words(&run, 0)
    );
    // A disk that has to move its head for each of them needs as long as it has.
    let disk = judged(
        std::slice::from_ref(&in_order),
        Some(paced(&at_random, 12_000_000)),
    );
    assert_ne!(limiters(&disk), [Limiter::Cap]);
    // Reads in order at half the rate may have been fetched ahead.
    let ahead = judged(
        std::slice::from_ref(&in_order),
        Some(paced(&in_order, 3_000_000)),
    );
    assert_ne!(limiters(&ahead), [Limiter::Cap]);
}

#[test]
fn zeros_of_a_device_at_a_cap_change_nothing() {
    let blank = |row: RecordBuilder| {
        row.with(|b| b.fingerprint.as_mut().unwrap().filesystem = None)
            .with_end(|end| {
                end.data.unwritten_share = Some(1.0);
                end.data.prepared_bytes = 0;
            })
    };
    let status = |run: &JudgedRun| {
        let mut findings = run.trials[0].verdict.findings.iter();
        findings.find(|f| f.id == "V04").unwrap().status
    };
    let rows = [blank(reads(32, 780, 0.024)), blank(reads(1, 780, 0.024))];
    let capped = judged(&rows, Some(paced(&rows[0], 310_000)));
    assert_eq!(status(&capped), FindingStatus::Info);
    // Nothing holds this one back but itself.
    let slow = judged(&rows, Some(paced(&rows[0], 8_000_000)));
    assert_eq!(status(&slow), FindingStatus::Caveat);
}
