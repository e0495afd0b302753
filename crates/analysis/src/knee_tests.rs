use fathom_model::judged::JudgedRun;
use fathom_model::schedule::TrialRole;
use fathom_model::verdict::FindingStatus::{Info, NotMeasured, Pass};
use fathom_model::verdict::{FindingStatus, Limiter};

use crate::test_records::{RecordBuilder, run_of};

fn row(depth: u32, ops_per_second: u64) -> RecordBuilder {
    RecordBuilder::reads().with(|b| {
        b.workload.queue_depth = depth;
        b.ops_per_second = ops_per_second;
    })
}

/// A row of a minute and a probe of five seconds at twice its depth.
fn probed(row: RecordBuilder, probe: RecordBuilder) -> JudgedRun {
    let host = row.host.clone();
    let mut probe = probe.with(|b| b.seconds = 5).trial();
    probe.spec.role = TrialRole::Probe;
    let mut record = run_of(vec![row.trial(), probe], host);
    record.trials[1].spec.row = 0;
    record.meta.schedule.trials.truncate(1);
    crate::judge(&record)
}

fn knee(judged: &JudgedRun) -> (Limiter, FindingStatus) {
    let verdict = &judged.rows[0].verdict;
    let finding = verdict.findings.iter().find(|f| f.id == "V21").unwrap();
    (verdict.limiter, finding.status)
}

#[test]
fn a_probe_that_is_faster_names_the_depth() {
    let judged = probed(row(32, 1000), row(64, 1300));
    assert_eq!(knee(&judged), (Limiter::QueueDepth, Info));
}

#[test]
fn a_probe_that_is_no_faster_names_the_device() {
    let judged = probed(row(32, 1000), row(64, 1000));
    assert_eq!(knee(&judged), (Limiter::Device, Pass));
}

#[test]
fn workers_that_waited_for_a_cpu_leave_the_limiter_open() {
    for (rate, without) in [(1300, Limiter::QueueDepth), (1000, Limiter::Device)] {
        let calm = probed(row(32, 1000), row(64, rate));
        assert_eq!(knee(&calm).0, without);
        let crowded = row(32, 1000).edit(|t| {
            t.samples
                .iter_mut()
                .for_each(|s| s.run_delay_ns = s.duration_ns / 5);
        });
        let judged = probed(crowded, row(64, rate));
        assert_eq!(knee(&judged).0, Limiter::Unknown);
        let evidence = &judged.rows[0].verdict.limiter_evidence;
        assert!(evidence.contains("V37"), "{evidence}");
    }
}

/// At 256 in flight operations take six times as long as alone. That names the device, but
/// not beside half the depth with a rate that was a sixth lower.
#[test]
fn waiting_is_no_proof_where_the_rate_still_rose() {
    let judged_at_256 = |rows: &[RecordBuilder]| {
        let host = rows[0].host.clone();
        let record = run_of(rows.iter().map(RecordBuilder::trial).collect(), host);
        let last = rows.len() - 1;
        crate::judge(&record).rows[last].verdict.limiter
    };
    let (alone, half, whole) = (row(1, 100), row(128, 3500), row(256, 4200));
    let apart = [alone.clone(), whole.clone()];
    assert_eq!(judged_at_256(&apart), Limiter::Device);
    let rising = [alone.clone(), half, whole.clone()];
    assert_eq!(judged_at_256(&rising), Limiter::Unknown);
    let level = [alone, row(128, 4200), whole];
    assert_eq!(judged_at_256(&level), Limiter::Device);
}

/// Identical rates must hardly ever be told apart, and a true rise of a third
/// must mostly be found, from three noisy seconds.
#[test]
fn three_seconds_are_enough_for_a_clear_rise_and_not_for_a_false_one() {
    let named = |growth: f64, seed: u64| {
        let mut noise = crate::statistics::noise::seeded(seed);
        let mut window = |mean: f64, seconds: usize| {
            let values: Vec<f64> = noise.ar1(0.4, seconds).iter().map(|v| 0.04 * v).collect();
            let average = values.iter().sum::<f64>() / seconds as f64;
            super::Window {
                mean: mean * (1.0 + average),
                squares: values.iter().map(|v| (v - average).powi(2)).sum(),
                seconds,
            }
        };
        let (before, after) = (window(1.0, 5), window(growth, 3));
        let rise = after.mean / before.mean;
        rise * (1.0 - after.error_with(&before)) - 1.0 > super::knee()
    };
    let share = |growth: f64| (0..2000).filter(|seed| named(growth, *seed)).count() as f64 / 2000.0;
    assert!(share(1.0) <= 0.01, "{}", share(1.0));
    assert!(share(1.05) <= 0.05, "{}", share(1.05));
    assert!(share(1.35) >= 0.9, "{}", share(1.35));
}

#[test]
fn a_probe_is_no_part_of_its_rows_result() {
    let alone = crate::judge(&row(32, 1000).run());
    let judged = probed(row(32, 1000), row(64, 1900));
    assert_eq!(judged.rows.len(), 1);
    assert_eq!(judged.rows[0].trials, [0]);
    assert_eq!(judged.rows[0].ops, alone.rows[0].ops);
    assert_eq!(
        (judged.trials.len(), judged.trials[1].role),
        (2, TrialRole::Probe)
    );
    let missing = judged
        .verdict
        .findings
        .iter()
        .find(|f| f.id == "V29")
        .unwrap();
    assert_eq!(missing.status, Pass, "{missing:?}");
}

#[test]
fn doubtful_probes_name_nothing() {
    // Within the noise of a few seconds.
    let noisy = probed(row(32, 1000), row(64, 1060).with(|b| b.noise = 0.3));
    assert_eq!(noisy.rows[0].verdict.limiter, Limiter::Unknown);
    let evidence = &noisy.rows[0].verdict.limiter_evidence;
    assert_eq!(
        evidence.matches("fathom curve depth").count(),
        1,
        "{evidence}"
    );
    // Another state of the device.
    let cliff = probed(row(32, 1000), row(64, 500));
    assert_eq!(cliff.rows[0].verdict.limiter, Limiter::Unknown);
    // The depth was not kept.
    let shallow = row(64, 1000).edit(|t| {
        t.samples.iter_mut().for_each(|s| s.in_flight_ns /= 2);
    });
    assert_eq!(
        probed(row(32, 1000), shallow).rows[0].verdict.limiter,
        Limiter::Unknown
    );
    // The generator itself had no more to give.
    let bound = row(64, 1000).edit(|t| {
        t.samples
            .iter_mut()
            .for_each(|s| s.busiest_worker_cpu_ns = 990_000_000);
    });
    assert_eq!(
        probed(row(32, 1000), bound).rows[0].verdict.limiter,
        Limiter::Unknown
    );
}

#[test]
fn a_rate_as_steady_as_a_cap_is_not_called_the_device() {
    let steady = |b: &mut RecordBuilder| {
        b.noise = 0.004;
        b.host.virtualization = Some("kvm".to_owned());
    };
    let judged = probed(row(32, 1070).with(steady), row(64, 1070).with(steady));
    assert_eq!(judged.rows[0].verdict.limiter, Limiter::DeviceOrCap);
    let evidence = &judged.rows[0].verdict.limiter_evidence;
    assert!(evidence.contains("cap"), "{evidence}");
    assert!(evidence.contains("--runtime 90s` tells"), "{evidence}");
}

/// A disk with one head does no more for a queue: then it is the device at depth 1 too.
#[test]
fn one_operation_at_a_time_is_the_device_where_more_bring_nothing() {
    let limiter = |deep: u64| {
        let rows = [row(1, 1000), row(32, deep)];
        let host = rows[0].host.clone();
        let mut trials = rows.map(|row| row.trial());
        trials[1].spec.row = 1;
        let judged = crate::judge(&run_of(trials.into(), host));
        judged.rows[0].verdict.limiter
    };
    assert_eq!(limiter(1010), Limiter::Device);
    assert_eq!(limiter(4000), Limiter::QueueDepth);
}

/// Waiting for a CPU that takes a tenth of the time leaves the rest to the target.
#[test]
fn a_little_waiting_for_a_cpu_sets_no_rate() {
    let waiting = |percent: u64| {
        row(32, 1000).edit_with(move |t| {
            for sample in &mut t.samples {
                sample.run_delay_ns = sample.duration_ns / 10;
            }
            for observation in &mut t.observations {
                let some_ns = observation.duration_ns * percent / 100;
                if let Some(pressure) = &mut observation.pressure {
                    pressure.cpu_some_ns = some_ns;
                }
            }
        })
    };
    for (rate, limiter) in [(1300, Limiter::QueueDepth), (1000, Limiter::Device)] {
        let judged = probed(waiting(12), row(64, rate));
        assert_eq!(knee(&judged).0, limiter);
        let verdict = &judged.rows[0].verdict;
        let evidence = &verdict.limiter_evidence;
        assert!(evidence.contains("at most 12 % of the time"), "{evidence}");
        let waited = verdict.findings.iter().find(|f| f.id == "V37").unwrap();
        assert_eq!(waited.status, FindingStatus::Caveat);
        // Others of the host waited more: what serves the target may be among them.
        assert_eq!(
            knee(&probed(waiting(30), row(64, rate))).0,
            Limiter::Unknown
        );
    }
}

#[test]
fn a_trial_too_short_to_show_its_scatter_is_not_called_the_device() {
    let short = |b: &mut RecordBuilder| {
        b.seconds = 2;
        b.host.virtualization = Some("kvm".to_owned());
    };
    let on_metal = |b: &mut RecordBuilder| {
        short(b);
        b.host.virtualization = None;
    };
    let limiter = |set: &dyn Fn(&mut RecordBuilder)| {
        let judged = probed(row(32, 4000).with(set), row(64, 4000).with(set));
        let verdict = judged.rows[0].verdict.clone();
        (verdict.limiter, verdict.limiter_evidence)
    };
    let (limiter_of_guest, evidence) = limiter(&short);
    assert_eq!(limiter_of_guest, Limiter::DeviceOrCap, "{evidence}");
    assert!(evidence.contains("too short"), "{evidence}");
    assert_eq!(limiter(&on_metal).0, Limiter::Device);
}

#[test]
fn without_another_depth_the_knee_is_not_measured() {
    assert_eq!(row(32, 1000).status("V21"), Some(NotMeasured));
    let open = row(32, 1000).with(|b| {
        b.workload.rate = Some(fathom_model::workload::Rate {
            per_second: 1000.0,
            unit: fathom_model::workload::RateUnit::Ops,
            arrival: fathom_model::workload::Arrival::Constant,
        });
    });
    assert_eq!(open.status("V21"), None);
}

#[test]
fn durable_writes_as_fast_as_others_are_limited_by_the_device() {
    let write = |depth: u32, every: u32, rate: u64| {
        RecordBuilder::writes().with(|b| {
            b.workload.queue_depth = depth;
            b.workload.sync.every_writes = every;
            b.ops_per_second = rate;
        })
    };
    let limiter = |deep: RecordBuilder| {
        let durable = write(1, 1, 200);
        let host = durable.host.clone();
        let judged = crate::judge(&run_of(vec![deep.trial(), durable.trial()], host));
        let verdict = &judged.rows[1].verdict;
        (verdict.limiter, verdict.limiter_evidence.clone())
    };
    let (named, evidence) = limiter(write(32, 0, 200));
    assert_eq!(named, Limiter::Device, "{evidence}");
    assert!(evidence.contains("without waits for a flush"), "{evidence}");
    // Faster without: the flush may be what they wait for. Others that wait prove nothing.
    assert_ne!(limiter(write(32, 0, 400)).0, Limiter::Device);
    assert_ne!(limiter(write(1, 0, 200)).0, Limiter::Device);
}

#[test]
fn a_probe_that_is_surely_a_little_faster_is_not_said_to_be_as_fast() {
    let said = |rate: u64| {
        let judged = probed(row(32, 1000), row(64, rate));
        assert_eq!(knee(&judged).0, Limiter::Device);
        judged.rows[0].verdict.limiter_evidence.clone()
    };
    let (same, little) = (said(1000), said(1040));
    assert!(same.contains("was no faster"), "{same}");
    assert!(little.contains("was hardly faster"), "{little}");
}
