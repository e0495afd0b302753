//! Results whose figures cannot all be true.

use super::*;

#[test]
fn figures_that_contradict_one_another_are_not_trusted() {
    let contradictions: [(&str, Fault); 7] = [
        ("V25", |r| {
            read(r).impossible = Some("iops is negative".to_owned());
        }),
        ("V25", |r| {
            read(r).rate_spread = Some(ResultSpread {
                min: 0.99 * IOPS,
                max: 1.01 * IOPS,
                mean: 0.1 * IOPS,
                ..ResultSpread::default()
            });
        }),
        ("V25", |r| {
            let options = &mut r.jobs[0].options;
            options.insert("rw".to_owned(), "randwrite".to_owned());
        }),
        ("V25", |r| {
            let latency = read(r).completion.as_mut().unwrap();
            latency.percentiles.iter_mut().for_each(|(percent, ns)| {
                if *percent == 50.0 {
                    *ns = 1e12;
                }
            });
        }),
        ("V25", |r| {
            read(r).completion.as_mut().unwrap().min_ns = Some(-5.0);
        }),
        ("V25", |r| {
            let latency = read(r).completion.as_mut().unwrap();
            latency.min_ns = Some(1_000.0);
            latency.mean_ns = Some(10.0);
        }),
        ("V20", |r| {
            let direction = read(r);
            for latency in [&mut direction.completion, &mut direction.total] {
                let latency = latency.as_mut().unwrap();
                latency.mean_ns = latency.mean_ns.map(|ns| 100.0 * ns);
                latency.max_ns = latency.max_ns.map(|ns| 100.0 * ns);
            }
        }),
    ];
    for (number, (id, falsify)) in contradictions.into_iter().enumerate() {
        let mut result = sound();
        falsify(&mut result);
        let found = status(&result, id);
        assert_eq!(found, Some(FindingStatus::Invalid), "{number} {id}");
        assert_eq!(opinion(&result).verdict.validity, Validity::NotTrusted);
    }
}

#[test]
fn reading_back_what_was_written_contradicts_nothing() {
    let mut result = sound();
    let options = &mut result.jobs[0].options;
    options.insert("rw".to_owned(), "randwrite".to_owned());
    options.insert("verify".to_owned(), "crc32c".to_owned());
    assert_ne!(status(&result, "V25"), Some(FindingStatus::Invalid));
}

#[test]
fn devices_that_keep_nothing_are_no_storage() {
    for path in ["/dev/null", "/dev/zero", "/data/f:/dev/null"] {
        let mut result = sound();
        let options = &mut result.jobs[0].options;
        options.insert("filename".to_owned(), path.to_owned());
        assert_eq!(
            status(&result, "V06"),
            Some(FindingStatus::Caveat),
            "{path}"
        );
        assert_eq!(opinion(&result).verdict.validity, Validity::Caveats);
    }
}

#[test]
fn a_negative_figure_is_named() {
    let text = r#"{"fio version":"fio-3.36","jobs":[{"jobname":"a","read":{"io_bytes":4096,
        "io_kbytes":4,"total_ios":1,"runtime":1000,"iops":-48000,"bw":4}}]}"#;
    let Ok(crate::results::ResultFile::Results(results)) =
        crate::results::read_results("a.json", text)
    else {
        panic!("it is a result of fio");
    };
    let judged = judge_results(&results);
    assert_eq!(judged.validity, Validity::NotTrusted);
    let findings = &judged.results[0].jobs[0].verdict.findings;
    let finding = findings.iter().find(|f| f.id == "V25").unwrap();
    assert_eq!(finding.evidence, "read: iops is negative");
}

/// A contradiction, the sides that it disproves, and sides that it does not.
type Disproof = (Fault, &'static [Aspect], &'static [Aspect]);

fn disproofs() -> [Disproof; 6] {
    use Aspect::{Latency, Percentiles, QueueDepth, Throughput};
    [
        (
            // A higher percentile below a lower one.
            |r| {
                let latency = read(r).completion.as_mut().unwrap();
                let (mean, most) = (latency.mean_ns.unwrap(), latency.max_ns.unwrap());
                latency.percentiles = vec![(50.0, 0.9 * most), (99.0, mean)];
            },
            &[Percentiles],
            &[Throughput, Latency],
        ),
        (
            |r| {
                let latency = read(r).completion.as_mut().unwrap();
                let most = latency.max_ns.unwrap();
                latency.percentiles = vec![(50.0, 10.0 * most)];
            },
            &[Percentiles, Latency],
            &[Throughput],
        ),
        (
            // The smallest above the largest.
            |r| {
                let latency = read(r).total.as_mut().unwrap();
                latency.min_ns = Some(9e9);
            },
            &[Latency],
            &[Throughput, Percentiles],
        ),
        (
            // The latencies of five operations.
            |r| {
                let direction = read(r);
                for latency in [&mut direction.completion, &mut direction.total] {
                    latency.as_mut().unwrap().count = Some(5.0);
                }
            },
            &[Latency, Percentiles],
            &[Throughput],
        ),
        (
            |r| read(r).bytes_per_second = Some(IOPS * 4000.0),
            &[Throughput],
            &[Latency, Percentiles],
        ),
        (
            // More in flight than were allowed: one of rate and latency is false.
            |r| {
                let direction = read(r);
                for latency in [&mut direction.completion, &mut direction.total] {
                    let latency = latency.as_mut().unwrap();
                    latency.mean_ns = latency.mean_ns.map(|ns| 5.0 * ns);
                }
            },
            &[Throughput, Latency, QueueDepth],
            &[],
        ),
    ]
}

#[test]
fn the_side_that_is_disproved_is_the_one_that_is_not_believed() {
    for (number, (falsify, disproved, others)) in disproofs().into_iter().enumerate() {
        let mut result = sound();
        falsify(&mut result);
        assert_eq!(opinion(&result).verdict.validity, Validity::NotTrusted);
        for aspect in disproved {
            assert_eq!(holds(&result, *aspect), Holds::No, "{number}: {aspect:?}");
        }
        for aspect in others {
            assert_ne!(holds(&result, *aspect), Holds::No, "{number}: {aspect:?}");
        }
    }
}

#[test]
fn a_limiter_is_not_named_by_figures_that_cannot_be() {
    let alone = |mean_ns: f64| {
        let mut result = sound();
        set(&mut result, "iodepth", "1");
        let direction = read(&mut result);
        for latency in [&mut direction.completion, &mut direction.total] {
            let latency = latency.as_mut().unwrap();
            latency.mean_ns = Some(mean_ns);
            latency.min_ns = Some(10_000.0);
            latency.percentiles.clear();
        }
        direction.submission = None;
        result.devices.as_mut().unwrap()[0].queue_ns = Some(0.9e9 * SECONDS);
        opinion(&result).jobs[0].verdict.limiter
    };
    // 10,000 a second at 98 us are one after the other.
    assert_eq!(alone(98_000.0), Limiter::QueueDepth);
    // A tenth of the time only, and more than there is, sets no rate.
    assert_eq!(alone(10_500.0), Limiter::Unknown);
    assert_eq!(alone(9e9), Limiter::Unknown);
}

#[test]
fn writes_that_no_device_saw_are_not_durable() {
    let unseen = |key: &str, direct: bool| {
        let mut result = writing();
        result.jobs[0].options.remove("end_fsync");
        set(&mut result, key, "1");
        set(&mut result, "direct", if direct { "1" } else { "0" });
        result
    };
    for (key, direct) in [("sync", true), ("end_fsync", true), ("fdatasync", false)] {
        let sound = unseen(key, direct);
        assert_ne!(holds(&sound, Aspect::Durability), Holds::No, "{key}");
        let mut result = unseen(key, direct);
        let device = &mut result.devices.as_mut().unwrap()[0];
        (device.writes, device.write_bytes) = (60.0, Some(60.0 * 4096.0));
        assert_eq!(holds(&result, Aspect::Durability), Holds::No, "{key}");
    }
    // What is overwritten before a final flush need not reach a device.
    let mut overwritten = unseen("end_fsync", false);
    overwritten.devices.as_mut().unwrap()[0].write_bytes = Some(64e6);
    assert_ne!(holds(&overwritten, Aspect::Durability), Holds::No);
    // Faster than any device takes a write.
    let mut fast = unseen("fdatasync", false);
    fast.jobs[0].flushes = Some(latency(1_500.0, IOPS * SECONDS));
    assert_eq!(holds(&fast, Aspect::Durability), Holds::No);
}

#[test]
fn what_the_devices_did_for_others_is_seen() {
    let foreign = |target: &str| {
        let mut result = sound();
        set(&mut result, "filename", target);
        let device = &mut result.devices.as_mut().unwrap()[0];
        device.reads *= 100.0;
        device.read_bytes = device.read_bytes.map(|bytes| 100.0 * bytes);
        result
    };
    let device = foreign("/dev/sda");
    assert_eq!(status(&device, "V30"), Some(FindingStatus::Invalid));
    let limiter = opinion(&device).jobs[0].verdict.limiter;
    assert_eq!(limiter, Limiter::ForeignLoad);
    // A file system may read more than it is asked for.
    let file = foreign("/data/file");
    assert_eq!(status(&file, "V30"), Some(FindingStatus::Caveat));
    assert_eq!(opinion(&file).verdict.validity, Validity::Caveats);
    let mut written = sound();
    written.devices.as_mut().unwrap()[0].write_bytes = Some(1e9);
    assert_eq!(status(&written, "V30"), Some(FindingStatus::Caveat));
    for quiet in [sound(), writing()] {
        assert_eq!(status(&quiet, "V30"), Some(FindingStatus::Pass));
    }
}

#[test]
fn counters_of_a_device_that_contradict_one_another_show_nothing() {
    let idle: Fault = |r| r.devices.as_mut().unwrap()[0].busy = Some(0.0);
    let tiny: Fault = |r| r.devices.as_mut().unwrap()[0].reads *= 100.0;
    for falsify in [idle, tiny] {
        let mut result = sound();
        falsify(&mut result);
        assert_eq!(status(&result, "V01"), Some(FindingStatus::Caveat));
        assert_eq!(opinion(&result).verdict.validity, Validity::Caveats);
    }
}

#[test]
fn a_figure_beyond_any_counter_is_not_shown() {
    let text = r#"{"fio version":"fio-3.36","jobs":[{"jobname":"a","read":{"io_bytes":4096000,
        "io_kbytes":4000,"total_ios":1000,"runtime":1000,"iops":1e308,"bw":4000}}]}"#;
    let Ok(crate::results::ResultFile::Results(results)) =
        crate::results::read_results("a.json", text)
    else {
        panic!("it is a result of fio");
    };
    let judged = judge_results(&results);
    assert_eq!(judged.validity, Validity::NotTrusted);
    let job = &judged.results[0].jobs[0];
    let finding = job.verdict.findings.iter().find(|f| f.id == "V25").unwrap();
    assert_eq!(finding.evidence, "read: iops is larger than any counter");
    assert!(job.figures[0].ops_per_second.value.is_none_or(|v| v < 1e6));
}
