//! What can be put around every model, descriptions in files, and any stream
//! of operations on any model.

use std::path::Path;

use fathom_model::rng::Rng;
use proptest::prelude::*;

use super::drive_tests::end_of;
use super::*;

const SECOND: u64 = 1_000_000_000;

fn read(offset: u64) -> SimOp {
    SimOp::new(OpKind::Read, offset, 4096)
}

/// One operation at a time from time 0 on; how many end in each second.
fn per_second(text: &str, seed: u64, seconds: usize) -> Vec<f64> {
    let mut drive = open_drive(text, seed).unwrap();
    let mut counts = vec![0.0; seconds];
    let mut now_ns = 0;
    loop {
        let SimAnswer::Ends(end) = drive.submit(now_ns, &read(0)) else {
            panic!("{text} answers at once");
        };
        now_ns = end.at_ns;
        match counts.get_mut((now_ns / SECOND) as usize) {
            Some(count) => *count += 1.0,
            None => return counts,
        }
    }
}

#[test]
fn drift_and_steps_change_the_speed_as_asked() {
    let drift = per_second("ideal?latency_us=1000,drift_percent=-6", 1, 300);
    for second in [0, 60, 120, 299] {
        let wanted = 1000.0 * (1.0 - 0.06 * second as f64 / 60.0);
        assert!(
            (drift[second] / wanted - 1.0).abs() < 0.005,
            "{second}: {}",
            drift[second]
        );
    }
    let step = per_second("ideal?latency_us=1000,step_at_s=10,step_factor=0.5", 1, 20);
    assert!(
        (step[5] - 1000.0).abs() < 2.0 && (step[15] - 500.0).abs() < 2.0,
        "{step:?}"
    );
}

#[test]
fn noise_has_its_spread_and_autocorrelation() {
    for (cv, phi) in [(0.05, 0.0), (0.05, 0.8), (0.2, 0.5)] {
        let text = format!("ideal?latency_us=5000,parallel=1,noise_cv={cv},noise_phi={phi}");
        let rates = per_second(&text, 3, 6000);
        let n = rates.len() as f64;
        let mean = rates.iter().sum::<f64>() / n;
        let variance = rates.iter().map(|r| (r - mean).powi(2)).sum::<f64>() / n;
        let pairs = rates.windows(2).map(|w| (w[0] - mean) * (w[1] - mean));
        let correlation = pairs.sum::<f64>() / n / variance;
        assert!((mean / 200.0 - 1.0).abs() < 0.02, "mean {mean}");
        assert!(
            (variance.sqrt() / mean / cv - 1.0).abs() < 0.1,
            "{cv}: {}",
            variance.sqrt() / mean
        );
        assert!((correlation - phi).abs() < 0.06, "{phi}: {correlation}");
    }
}

#[test]
fn hiccups_come_as_often_and_last_as_long_as_asked() {
    for random in [0, 1] {
        let text =
            format!("ideal?latency_us=1000,hiccup_every_s=2,hiccup_ms=50,hiccup_random={random}");
        let mut drive = open_drive(&text, 9).unwrap();
        let (mut now_ns, mut long) = (0, 0);
        while now_ns < 2000 * SECOND {
            let SimAnswer::Ends(end) = drive.submit(now_ns, &read(0)) else {
                panic!("it answers at once");
            };
            if end.at_ns - now_ns > 40_000_000 {
                long += 1;
            }
            now_ns = end.at_ns;
        }
        assert!((900..1100).contains(&long), "{long}");
        let truth = drive.truth();
        assert!(
            (truth.mean_speed - 0.975).abs() < 0.003,
            "{}",
            truth.mean_speed
        );
    }
}

#[test]
fn a_neighbour_takes_time_and_is_counted() {
    let alone = per_second("ideal?latency_us=1000,parallel=1", 1, 40);
    let text = "ideal?latency_us=1000,parallel=1,neighbour_iops=300,neighbour_duty=0.5,neighbour_period_s=20";
    let shared = per_second(text, 1, 40);
    assert!((alone[5] - 1000.0).abs() < 2.0);
    let mean = |range: std::ops::Range<usize>| {
        shared[range.clone()].iter().sum::<f64>() / range.len() as f64
    };
    assert!((mean(1..9) - 700.0).abs() < 30.0, "{shared:?}");
    assert!((mean(11..19) - 1000.0).abs() < 3.0, "{shared:?}");
    assert!((mean(21..29) - 700.0).abs() < 30.0, "{shared:?}");
    let mut drive = open_drive(text, 1).unwrap();
    drive.submit(0, &read(0));
    drive.submit(40 * SECOND, &read(0));
    let counters = drive.counters(40 * SECOND);
    assert!((5700..6300).contains(&counters.foreign_ops), "{counters:?}");
    assert_eq!(counters.foreign_bytes, counters.foreign_ops * 65_536);
    assert_eq!(counters.reads + counters.writes, counters.foreign_ops + 2);
    assert_eq!(drive.truth().kind(OpKind::Read).unwrap().ops, 2);
    // A disk that chooses serves both.
    let mut drive = open_drive("hdd?ncq=8,neighbour_iops=50", 1).unwrap();
    let mut known = Vec::new();
    for number in 0..200 {
        if let SimAnswer::Later(_) = drive.submit(0, &read(number << 30)) {
            known.push(());
        }
    }
    let mut ends = Vec::new();
    while let Some(at_ns) = drive.wake_ns() {
        drive.advance(at_ns, &mut ends);
    }
    assert_eq!(ends.len(), known.len());
    end_of(&mut *drive, 100 * SECOND, &read(0));
    assert!(drive.truth().foreign_ops > 20);
}

#[test]
fn places_can_fail_or_hang() {
    let text = "ssd?eio_from=1GiB,eio_to=2GiB,hang_from=3GiB,hang_to=4GiB";
    let mut drive = open_drive(text, 1).unwrap();
    let mut at = |offset| match drive.submit(0, &read(offset)) {
        SimAnswer::Ends(end) => end,
        SimAnswer::Later(_) => panic!("it answers at once"),
    };
    assert_eq!(at((1 << 30) - 4096).result, Ok(4096));
    assert_eq!(at((1 << 30) - 512).result, Err(libc::EIO));
    assert_eq!(at((2 << 30) - 512).result, Err(libc::EIO));
    assert_eq!(at(2 << 30).result, Ok(4096));
    assert_eq!(at(3 << 30).at_ns, u64::MAX);
    let truth = drive.truth();
    assert_eq!(
        (truth.hung, truth.kind(OpKind::Read).unwrap().errors),
        (1, 2)
    );
    let mut drive = open_drive("ssd?hang_to=1MiB,hang_s=7", 1).unwrap();
    let SimAnswer::Ends(end) = drive.submit(0, &read(0)) else {
        panic!("it answers at once");
    };
    assert!((7 * SECOND..8 * SECOND).contains(&end.at_ns));
}

#[test]
fn busy_time_is_that_of_a_device() {
    let mut drive = open_drive("ideal?latency_us=1000,parallel=4", 1).unwrap();
    for at_ns in [0, 500_000, 10_000_000] {
        drive.submit(at_ns, &read(0));
    }
    assert_eq!(drive.counters(1_200_000 + 10_000_000).busy_ns, 2_500_000);
    assert_eq!(drive.counters(10_400_000).busy_ns, 1_900_000);
    let counters = drive.counters(11_000_000);
    assert_eq!((counters.reads, counters.read_sectors), (3, 24));
    assert_eq!(counters.read_ns, 3_000_000);
}

#[test]
fn a_truth_is_read_back_as_it_was_written() {
    for model in models() {
        let mut drive = open_drive(model.name, 1).unwrap();
        for n in 0..50 {
            drive.submit(n * 1_000_000, &read(n << 20));
            drive.submit(n * 1_000_000, &SimOp::new(OpKind::Write, n << 20, 4096));
        }
        let truth = drive.truth();
        let text = serde_json::to_string(&truth).unwrap();
        let again = serde_json::from_str::<Truth>(&text).unwrap();
        assert_eq!((&again.done, again.seed), (&truth.done, truth.seed));
        assert_eq!(again.parameters.len(), truth.parameters.len());
        assert_eq!(again.expected.zones.len(), truth.expected.zones.len());
        assert_eq!(truth.parameters["size"], drive.capacity_bytes() as f64);
        let read = truth
            .kind(OpKind::Read)
            .map(|done| done.latency.histogram().unwrap().count());
        assert!(read.is_none_or(|n| n > 0 && n <= 50), "{}", model.name);
    }
}

#[test]
fn a_file_describes_a_drive() {
    let path = Path::new("drive.toml");
    let text =
        "model = \"slc\"\nseed = 99\ncache = \"3GiB\"\ndrain_mibs = 50.5\nhiccup_random = true\n";
    let truth = open_described(text, path, 5).unwrap().truth();
    assert_eq!((truth.model.as_str(), truth.seed), ("slc", 99));
    assert_eq!(truth.parameters["cache"], 3.0 * 1024.0 * MIB);
    assert_eq!(truth.parameters["drain_mibs"], 50.5);
    assert_eq!(truth.parameters["hiccup_random"], 1.0);
    assert_eq!(
        open_described("model='ssd'", path, 5).unwrap().truth().seed,
        5
    );
    assert_eq!(open_drive("ssd?seed=77", 5).unwrap().truth().seed, 77);
    for (text, wanted) in [
        ("cache = 3", "drive.toml:1:1: no model is named"),
        (
            "model = \"floppy\"",
            "drive.toml:1:9: there is no simulated drive 'floppy'",
        ),
        ("seed = 1\nmodel = 5", "drive.toml:2:9: the model is a text"),
        (
            "model = \"ssd\"\n  reed_us = 5",
            "drive.toml:2:3: sim:ssd has no parameter 'reed_us'",
        ),
        (
            "model = \"ssd\"\nread_us = \"µs\"",
            "drive.toml:2:11: sim:ssd cannot take 'µs'",
        ),
        (
            "model = \"ssd\"\nread_us = -5",
            "drive.toml:2:11: sim:ssd cannot take '-5'",
        ),
        (
            "model = \"ssd\"\nread_us = [5]",
            "drive.toml:2:11: read_us is a number",
        ),
        ("model = \"ssd\"\nread_us =", "drive.toml:2:10: "),
        (
            "model = \"ssd\"\nseed = -1",
            "drive.toml:2:8: sim:ssd cannot take '-1' for seed",
        ),
    ] {
        let Err(error) = open_described(text, path, 5) else {
            panic!("{text} was accepted");
        };
        assert!(error.to_string().starts_with(wanted), "{text}: {error}");
    }
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("d.toml");
    std::fs::write(&file, "model = \"hdd\"\nzones = 8\n").unwrap();
    let drive = open_drive(&format!("@{}", file.display()), 1).unwrap();
    assert_eq!(drive.truth().expected.zones.len(), 8);
    let Err(error) = open_drive("@/nowhere/d.toml", 1) else {
        panic!("there is no such file");
    };
    assert!(error.to_string().contains("/nowhere/d.toml"), "{error}");
}

/// A drive of any model whose parameters are at, or near, their limits, sizes
/// and counts kept small enough to build.
fn any_drive() -> impl Strategy<Value = (String, u64)> {
    (0..models().len(), any::<u64>()).prop_map(|(index, seed)| {
        let model = &models()[index];
        let mut rng = Rng::new(seed);
        let mut text = format!("{}?size={}", model.name, 1u64 << (20 + rng.below(12)));
        for p in model.parameters.iter().chain(common_parameters()) {
            let value = match rng.below(8) {
                0 => p.least,
                1 => p.most.min(1e12),
                2 => p.least + (p.most - p.least).min(1e6) * rng.unit(),
                _ => continue,
            };
            let value = if p.quantity == Quantity::Bytes {
                value.floor()
            } else {
                value
            };
            let costly = p.name == "neighbour_iops" && value > 1000.0;
            if p.name != "size" && !costly && (p.least..=p.most).contains(&value) {
                text.push_str(&format!(",{}={value}", p.name));
            }
        }
        (text, seed)
    })
}

/// Everything that a drive says to a stream of operations.
fn run(
    text: &str,
    seed: u64,
    ops: &[(u64, usize, u32, u32)],
) -> (Vec<SimAnswer>, Vec<(u64, SimEnd)>, Truth) {
    let mut drive = open_drive(text, seed).unwrap();
    let (mut answers, mut late) = (Vec::new(), Vec::new());
    let mut now_ns = 0;
    for (gap_ns, kind, place, bytes) in ops {
        let next_ns = now_ns + gap_ns;
        while let Some(at_ns) = drive.wake_ns().filter(|at| *at <= next_ns) {
            let before = late.len();
            let at_ns = at_ns.max(now_ns);
            drive.advance(at_ns, &mut late);
            assert!(late[before..].iter().all(|(_, end)| end.at_ns >= at_ns));
            now_ns = at_ns;
        }
        now_ns = next_ns;
        let op = SimOp {
            kind: OpKind::from_index(*kind).unwrap(),
            offset: u64::from(*place) * 512,
            bytes: *bytes,
            content: SimContent {
                fingerprint: u64::from(*place % 7),
                kept_permille: (*place % 1200) as u16,
            },
        };
        let answer = drive.submit(now_ns, &op);
        if let SimAnswer::Ends(end) = answer {
            assert!(end.at_ns >= now_ns);
        }
        answers.push(answer);
    }
    for _ in 0..10_000 {
        let Some(at_ns) = drive.wake_ns().filter(|at| *at < 1000 * SECOND) else {
            break;
        };
        now_ns = at_ns.max(now_ns);
        drive.advance(now_ns, &mut late);
    }
    assert!(drive.counters(now_ns).busy_ns <= now_ns);
    (answers, late, drive.truth())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn any_stream_on_any_drive_goes_forward_in_time_and_comes_from_the_seed(
        (text, seed) in any_drive(),
        ops in prop::collection::vec((0u64..3_000_000, 0usize..4, 0u32..3000, 0u32..2_000_000), 1..120),
    ) {
        let first = run(&text, seed, &ops);
        let again = run(&text, seed, &ops);
        prop_assert_eq!(&first.0, &again.0);
        prop_assert_eq!(&first.1, &again.1);
        prop_assert_eq!(format!("{:?}", first.2), format!("{:?}", again.2));
    }
}
