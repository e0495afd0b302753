//! Each finding with a result that triggers it and one that does not.

use std::collections::BTreeMap;

use crate::results::{
    ResultDevice, ResultDirection, ResultDocument, ResultJob, ResultLatency, ResultSeries,
    ResultSpread, ResultSteadiness, SeriesKind,
};
use fathom_model::op::OpKind;
use fathom_model::opinion::{Aspect, Holds};
use fathom_model::verdict::{FindingStatus, Limiter, Validity};
use proptest::prelude::*;

use fathom_model::rng::Rng;
use fathom_stats::noise::Noise;

use super::*;

const SECONDS: f64 = 60.0;
const IOPS: f64 = 10_000.0;

fn options(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    let owned = |(k, v): &(&str, &str)| ((*k).to_owned(), (*v).to_owned());
    pairs.iter().map(owned).collect()
}

fn latency(mean_ns: f64, count: f64) -> ResultLatency {
    ResultLatency {
        count: Some(count),
        min_ns: Some(mean_ns / 2.0),
        max_ns: Some(mean_ns * 10.0),
        mean_ns: Some(mean_ns),
        percentiles: vec![
            (50.0, mean_ns * 0.9),
            (99.0, mean_ns * 3.0),
            (99.9, mean_ns * 5.0),
        ],
        bin_count: None,
    }
}

/// 60 s of direct random 4 KiB reads at depth 8 on a device that saw them all.
fn sound() -> ResultDocument {
    let ops = IOPS * SECONDS;
    let mut total = latency(8.0 / IOPS * 1e9 * 0.99, ops);
    total.percentiles.clear();
    let read = ResultDirection {
        kind: Some(OpKind::Read),
        bytes: Some(ops * 4096.0),
        kib: Some(ops * 4.0),
        ops: Some(ops),
        bytes_per_second: Some(IOPS * 4096.0),
        kib_per_second: Some(IOPS * 4.0),
        ops_per_second: Some(IOPS),
        duration_ns: Some(SECONDS * 1e9),
        submission: Some(ResultLatency {
            percentiles: Vec::new(),
            ..latency(3_000.0, ops)
        }),
        completion: Some(latency(8.0 / IOPS * 1e9 * 0.985, ops)),
        total: Some(total),
        ..ResultDirection::default()
    };
    let noise = seeded(7).ar1(0.1, 60);
    let job = ResultJob {
        name: "job".to_owned(),
        group: Some(0),
        options: options(&[
            ("rw", "randread"),
            ("bs", "4k"),
            ("ioengine", "libaio"),
            ("iodepth", "8"),
            ("direct", "1"),
            ("runtime", "60"),
            ("time_based", ""),
            ("filename", "/data/file"),
        ]),
        error: Some(0),
        job_time_ns: Some(SECONDS * 1e9),
        cpu_user: Some(0.1),
        cpu_system: Some(0.2),
        directions: vec![read],
        series: vec![ResultSeries {
            kind: SeriesKind::Operations,
            direction: OpKind::Read,
            interval_ns: 1_000_000_000,
            values: noise.iter().map(|n| IOPS * (1.0 + 0.01 * n)).collect(),
            logs: 1,
        }],
        ..ResultJob::default()
    };
    ResultDocument {
        source: "sound.json".to_owned(),
        tool: Some("fio-3.33".to_owned()),
        jobs: vec![job],
        devices: Some(vec![ResultDevice {
            name: "sda".to_owned(),
            reads: ops,
            read_bytes: Some(ops * 4096.0),
            write_bytes: Some(0.0),
            queue_ns: Some(SECONDS * 7.9e9),
            ..ResultDevice::default()
        }]),
        ..ResultDocument::default()
    }
}

/// The same as a write test.
fn writing() -> ResultDocument {
    let mut result = sound();
    let job = &mut result.jobs[0];
    job.directions[0].kind = Some(OpKind::Write);
    job.series[0].direction = OpKind::Write;
    job.options.insert("rw".into(), "randwrite".into());
    let device = &mut result.devices.as_mut().unwrap()[0];
    std::mem::swap(&mut device.reads, &mut device.writes);
    std::mem::swap(&mut device.read_bytes, &mut device.write_bytes);
    set(&mut result, "end_fsync", "1");
    result
}

/// The result without a flush.
fn never_flushed() -> ResultDocument {
    let mut result = writing();
    result.jobs[0].options.remove("end_fsync");
    result
}

fn set(result: &mut ResultDocument, key: &str, value: &str) {
    result.jobs[0].options.insert(key.into(), value.into());
}

fn read(result: &mut ResultDocument) -> &mut ResultDirection {
    &mut result.jobs[0].directions[0]
}

fn opinion(result: &ResultDocument) -> ResultOpinion {
    judge_results(std::slice::from_ref(result))
        .results
        .remove(0)
}

fn status(result: &ResultDocument, id: &str) -> Option<FindingStatus> {
    let findings = opinion(result).verdict.findings;
    findings.iter().find(|f| f.id == id).map(|f| f.status)
}

fn holds(result: &ResultDocument, aspect: Aspect) -> Holds {
    let stands = &opinion(result).jobs[0].stands;
    stands.iter().find(|s| s.aspect == aspect).unwrap().holds
}

#[test]
fn a_sound_result_is_trusted_and_nothing_is_said_against_it() {
    for result in [sound(), writing()] {
        let opinion = opinion(&result);
        assert_eq!(opinion.verdict.validity, Validity::Trusted);
        for finding in &opinion.verdict.findings {
            assert!(finding.status <= FindingStatus::NotMeasured, "{finding:?}");
        }
        assert!(opinion.jobs[0].stands.iter().all(|s| s.holds == Holds::Yes));
        let figures = &opinion.jobs[0].figures[0];
        assert_eq!(figures.ops_per_second.value, Some(IOPS));
        assert!(figures.ops_per_second.low.is_some(), "{figures:?}");
        assert!(figures.percentiles.iter().all(|p| p.supported));
    }
}

/// A change that makes a sound result show a finding.
type Fault = fn(&mut ResultDocument);

#[test]
fn each_fault_is_found() {
    use FindingStatus::{Caveat, Info, Invalid};
    let faults: [(&str, FindingStatus, Fault); 24] = [
        ("V01", Invalid, |r| {
            set(r, "direct", "0");
            r.devices.as_mut().unwrap()[0].read_bytes = Some(1e6);
        }),
        ("V01", Caveat, |r| {
            set(r, "direct", "0");
            r.devices = None;
        }),
        ("V06", Caveat, |r| set(r, "filename", "/dev/shm/x")),
        ("V06", Caveat, |r| set(r, "ioengine", "null")),
        ("V16", Caveat, |r| {
            let values = &mut r.jobs[0].series[0].values;
            for (i, value) in values.iter_mut().enumerate() {
                *value *= [0.2, 1.8][(i / 6) % 2];
            }
        }),
        ("V17", Info, |r| {
            read(r).completion.as_mut().unwrap().count = Some(1000.0);
        }),
        ("V20", Invalid, |r| set(r, "iodepth", "64")),
        ("V20", Invalid, |r| {
            set(r, "direct", "0");
            read(r).submission.as_mut().unwrap().mean_ns = Some(95_000.0);
        }),
        ("V20", Invalid, |r| {
            set(r, "ioengine", "psync");
            read(r).total.as_mut().unwrap().mean_ns = Some(99_000.0);
        }),
        ("V22", Caveat, |r| r.jobs[0].cpu_system = Some(0.88)),
        ("V23", Caveat, |r| set(r, "rate_iops", "12000")),
        ("V25", Invalid, |r| {
            read(r).bytes_per_second = Some(IOPS * 4000.0);
        }),
        ("V25", Invalid, |r| set(r, "bs", "8k")),
        ("V26", Invalid, |r| r.jobs[0].failures_ignored = Some(3)),
        ("V26", Invalid, |r| r.jobs[0].error = Some(5)),
        ("V60", Caveat, |r| r.damage.push("breaks off".into())),
        ("V61", Info, |r| {
            read(r).total = None;
            read(r).completion = None;
        }),
        ("V62", Caveat, |r| {
            read(r).submission.as_mut().unwrap().mean_ns = Some(80_000.0);
        }),
        ("V63", Caveat, |r| {
            read(r).duration_ns = Some(3e9);
        }),
        ("V64", Caveat, |r| set(r, "runtime", "2m")),
        ("V66", Caveat, |r| {
            read(r).completion.as_mut().unwrap().mean_ns = Some(500_000.0);
        }),
        ("V67", Caveat, |r| {
            set(r, "rate_iops", "10000");
            read(r).total.as_mut().unwrap().max_ns = Some(1e9);
        }),
        ("V69", Info, |r| set(r, "norandommap", "")),
        ("V71", Caveat, |r| set(r, "size", "1GiB")),
    ];
    for (id, expected, fault) in faults {
        let mut result = sound();
        let before = status(&result, id);
        assert!(
            before.is_none_or(|s| s <= FindingStatus::NotMeasured),
            "{id}"
        );
        fault(&mut result);
        assert_eq!(status(&result, id), Some(expected), "{id}");
    }
}

#[test]
fn direct_reads_that_the_device_never_saw_are_not_trusted() {
    let mut result = sound();
    result.devices.as_mut().unwrap()[0].read_bytes = Some(1e6);
    assert_eq!(status(&result, "V01"), Some(FindingStatus::Invalid));
    assert_eq!(opinion(&result).verdict.validity, Validity::NotTrusted);
    assert_eq!(holds(&result, Aspect::Throughput), Holds::No);
    // Some requests can be hidden by a layer on top, but not nearly all.
    let device = &mut result.devices.as_mut().unwrap()[0];
    (device.reads, device.read_bytes) = (IOPS * SECONDS / 2.0, None);
    assert_eq!(status(&result, "V01"), Some(FindingStatus::Caveat));
}

#[test]
fn what_is_listed_as_missing_is_not_believed() {
    let lacking: [(Aspect, Holds, Fault); 4] = [
        (Aspect::Throughput, Holds::Unknown, |r| {
            r.devices = None;
        }),
        (Aspect::Latency, Holds::Unknown, |r| {
            read(r).total = None;
            read(r).completion = None;
        }),
        (Aspect::Percentiles, Holds::Unknown, |r| {
            read(r).completion.as_mut().unwrap().percentiles.clear();
        }),
        (Aspect::Steadiness, Holds::Unknown, |r| {
            r.jobs[0].series.clear();
        }),
    ];
    for (aspect, expected, without) in lacking {
        let mut result = sound();
        let missing = opinion(&result).missing.len();
        assert_eq!(holds(&result, aspect), Holds::Yes, "{aspect:?}");
        without(&mut result);
        assert_eq!(holds(&result, aspect), expected, "{aspect:?}");
        assert!(opinion(&result).missing.len() > missing, "{aspect:?}");
    }
}

#[test]
fn writes_that_nobody_flushed_are_not_durable() {
    let mut result = never_flushed();
    set(&mut result, "direct", "0");
    assert_eq!(
        status(&result, "V07"),
        Some(FindingStatus::Pass),
        "all at the device"
    );
    assert_eq!(
        holds(&result, Aspect::Durability),
        Holds::No,
        "at the device by chance, and nobody flushed it"
    );
    result.devices.as_mut().unwrap()[0].write_bytes = Some(1e6);
    assert_eq!(status(&result, "V07"), Some(FindingStatus::Invalid));
    assert_eq!(holds(&result, Aspect::Durability), Holds::No);
    result.devices = None;
    assert_eq!(status(&result, "V07"), Some(FindingStatus::Caveat));
    set(&mut result, "end_fsync", "1");
    assert_eq!(status(&result, "V07"), Some(FindingStatus::Pass));
    set(&mut writing(), "direct", "1");
    for (key, value, expected) in [
        ("zero_buffers", "", Some(FindingStatus::Caveat)),
        ("dedupe_percentage", "50", Some(FindingStatus::Caveat)),
        ("zero_buffers", "0", None),
    ] {
        let mut result = writing();
        set(&mut result, key, value);
        assert_eq!(status(&result, "V68"), expected, "{key}={value}");
    }
}

#[test]
fn groups_and_steady_states_are_looked_at() {
    let mut result = sound();
    set(&mut result, "numjobs", "2");
    set(&mut result, "iodepth", "4");
    result.jobs[0].job_time_ns = Some(2.0 * SECONDS * 1e9);
    assert_eq!(status(&result, "V65"), Some(FindingStatus::Info));
    assert_eq!(status(&result, "V20"), Some(FindingStatus::Pass));
    result.jobs[0].job_time_ns = Some(1.3 * SECONDS * 1e9);
    assert_eq!(status(&result, "V65"), Some(FindingStatus::Caveat));
    let mut result = sound();
    for (attained, expected) in [(true, FindingStatus::Pass), (false, FindingStatus::Caveat)] {
        result.jobs[0].steady = Some(ResultSteadiness {
            rule: "iops_slope:0.1%".to_owned(),
            attained: Some(attained),
            reached: None,
        });
        assert_eq!(status(&result, "V70"), Some(expected));
    }
}

#[test]
fn a_cliff_is_told_apart_from_noise() {
    let mut result = sound();
    let noise = |seed, sigma: f64| -> Vec<f64> {
        let noise = seeded(seed).ar1(0.5, 120);
        noise.iter().map(|n| IOPS * (1.0 + sigma * n)).collect()
    };
    let mut falling = noise(3, 0.01);
    falling.iter_mut().skip(43).for_each(|v| *v *= 0.2);
    result.jobs[0].series[0].values = falling;
    let found = opinion(&result).verdict.findings;
    let finding = found.iter().find(|f| f.id == "V13").unwrap();
    assert_eq!(finding.status, FindingStatus::Caveat);
    // 43 s of 10,000 operations of 4 KiB.
    assert!(
        finding.evidence.contains("for the first 1.7"),
        "{finding:?}"
    );
    let drifting = seeded(4).ar1(0.0, 240);
    let fall = |i: usize| (-(i as f64) / 1500.0).exp();
    let drifting = drifting.iter().enumerate();
    let drifting = drifting.map(|(i, n)| IOPS * (1.0 + 0.01 * n) * fall(i));
    result.jobs[0].series[0].values = drifting.collect();
    assert_eq!(status(&result, "V12"), Some(FindingStatus::Caveat));
    let swinging = noise(5, 0.01);
    let swinging = swinging
        .iter()
        .enumerate()
        .map(|(i, v)| v * [1.0, 0.4][(i / 7) % 2]);
    result.jobs[0].series[0].values = swinging.collect();
    assert_eq!(status(&result, "V14"), Some(FindingStatus::Caveat));
    // Autocorrelated noise of 10 % without any cliff.
    let mut alarms = 0;
    for seed in 0..100 {
        result.jobs[0].series[0].values = noise(seed, 0.1);
        alarms += u32::from(status(&result, "V13") == Some(FindingStatus::Caveat));
    }
    assert!(alarms <= 5, "{alarms} of 100");
}

#[test]
fn counters_are_not_read_for_more_than_they_say() {
    // Requests only, random: each operation is a request or a merge.
    let mut result = sound();
    let device = &mut result.devices.as_mut().unwrap()[0];
    device.read_bytes = None;
    assert_eq!(status(&result, "V01"), Some(FindingStatus::Pass));
    // Buffered and sequential: a request carries many blocks.
    set(&mut result, "direct", "0");
    set(&mut result, "rw", "read");
    result.devices.as_mut().unwrap()[0].reads = IOPS * SECONDS / 256.0;
    assert_eq!(status(&result, "V01"), Some(FindingStatus::Caveat));
    result.devices.as_mut().unwrap()[0].reads = 20.0;
    assert_eq!(status(&result, "V01"), Some(FindingStatus::Invalid));
    // Multipath NVMe counts nothing.
    let mut result = sound();
    result.devices = Some(vec![ResultDevice {
        name: "nvme0n1".to_owned(),
        ..ResultDevice::default()
    }]);
    assert_eq!(status(&result, "V01"), Some(FindingStatus::NotMeasured));
}

#[test]
fn samples_of_single_operations_are_no_spread() {
    let mut result = sound();
    result.jobs[0].series.clear();
    assert_eq!(status(&result, "V16"), Some(FindingStatus::NotMeasured));
    let spread = ResultSpread {
        min: 1.0,
        max: 1.0,
        mean: 1.0,
        deviation: 0.0,
        samples: 600_000.0,
    };
    read(&mut result).rate_spread = Some(spread);
    assert_eq!(status(&result, "V16"), Some(FindingStatus::NotMeasured));
    read(&mut result).rate_spread = Some(ResultSpread {
        mean: IOPS,
        deviation: IOPS * 0.02,
        samples: 120.0,
        ..spread
    });
    assert_eq!(status(&result, "V16"), Some(FindingStatus::Pass));
    let missing = opinion(&result).missing;
    assert!(
        missing
            .iter()
            .any(|m| m.supplied_by.contains("write_iops_log"))
    );
}

#[test]
fn the_limiter_is_named_on_proof_only() {
    let limiter = |r: &ResultDocument| opinion(r).verdict.limiter;
    assert_eq!(limiter(&sound()), Limiter::Unknown);
    let mut rate = sound();
    set(&mut rate, "rate_iops", "10000");
    assert_eq!(limiter(&rate), Limiter::Rate);
    let mut alone = sound();
    set(&mut alone, "iodepth", "1");
    alone.devices.as_mut().unwrap()[0].queue_ns = Some(SECONDS * 0.8e9);
    let direction = read(&mut alone);
    for latency in [&mut direction.completion, &mut direction.total] {
        let latency = latency.as_mut().unwrap();
        (latency.min_ns, latency.mean_ns) = (None, Some(98_000.0));
    }
    assert_eq!(limiter(&alone), Limiter::QueueDepth);
    let mut flushed = writing();
    flushed.jobs[0].flushes = Some(latency(60_000.0, IOPS * SECONDS));
    assert_eq!(limiter(&flushed), Limiter::Flush);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn any_numbers_get_an_opinion(
        numbers in prop::collection::vec(prop::option::of(any::<f64>()), 12),
        values in prop::collection::vec(any::<f64>(), 0..50),
        words in prop::collection::vec("[0-9a-z,:%.]{0,8}", 8),
    ) {
        let mut result = sound();
        for key in ["bs", "iodepth", "numjobs", "rate_iops", "runtime", "direct", "rw", "size"] {
            let word = words[key.len() % 8].clone();
            set(&mut result, key, &word);
        }
        let job = &mut result.jobs[0];
        job.series[0].values = values;
        job.job_time_ns = numbers[0];
        job.cpu_user = numbers[1];
        let d = &mut job.directions[0];
        (d.bytes, d.ops, d.ops_per_second) = (numbers[2], numbers[3], numbers[4]);
        (d.bytes_per_second, d.duration_ns) = (numbers[5], numbers[6]);
        d.kib_per_second = numbers[7];
        d.submission.as_mut().unwrap().mean_ns = numbers[8];
        d.completion.as_mut().unwrap().count = numbers[9];
        result.devices.as_mut().unwrap()[0].read_bytes = numbers[10];
        result.devices.as_mut().unwrap()[0].queue_ns = numbers[11];
        let opinion = judge_results(std::slice::from_ref(&result));
        prop_assert_eq!(opinion.results[0].jobs.len(), 1);
        for finding in &opinion.results[0].verdict.findings {
            prop_assert!(finding.measured.is_none_or(f64::is_finite));
        }
    }
}

#[path = "answered_elsewhere_tests.rs"]
mod answered_elsewhere;

#[path = "contradiction_tests.rs"]
mod contradictions;

/// The noise of a seed.
fn seeded(seed: u64) -> Noise {
    let mut rng = Rng::new(seed);
    Noise::new(move || rng.unit())
}
