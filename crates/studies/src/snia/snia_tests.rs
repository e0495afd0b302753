use fathom_analysis::test_records::RecordBuilder;
use fathom_model::conduct::{Conductor, Step};
use fathom_model::fingerprint::{DeviceFacts, TargetFingerprint};
use fathom_model::op::OpKind;
use fathom_model::run::{DataReport, EngineReport, RunRecord, RunState, TrialEnd, TrialRecord};
use fathom_model::sample::{OpSample, Phase, Sample};
use fathom_model::schedule::{Purpose, ScheduledTrial, TrialRole};
use fathom_model::snia::{SniaReport, SniaSettings, SniaTarget, SniaTest};
use fathom_model::target::Target;
use fathom_model::workload::{EngineKind, Workload};
use fathom_rules::method::snia::{PASSES, ROUND_NS, ROUNDS_MAX, WSAT_ROUNDS};

use super::*;

const SECOND: u64 = 1_000_000_000;
const GIB: u64 = 1 << 30;

fn settings(test: SniaTest) -> SniaSettings {
    let (threads, outstanding) = match test {
        SniaTest::Latency => (1, 1),
        _ => (2, 16),
    };
    SniaSettings {
        capacity_bytes: GIB + 4096,
        active_bytes: GIB,
        round_ns: 4 * SECOND,
        rounds_max: match test {
            SniaTest::Wsat => WSAT_ROUNDS,
            _ => ROUNDS_MAX,
        },
        passes: PASSES,
        threads,
        outstanding,
        on: SniaTarget::Device,
        discards: true,
        skipped_blocks: Vec::new(),
        skipped_because: String::new(),
    }
}

fn options(test: SniaTest, settings: SniaSettings) -> SniaOptions {
    SniaOptions {
        test,
        target: Target::Path("/dev/nvme0n1".into()),
        base: Workload::example("snia"),
        seed: 1,
        settings,
    }
}

/// Operations per second of a trial; the rate of a tracked cell by its round.
type Drive<'a> = &'a dyn Fn(&ScheduledTrial) -> u64;

/// A trial that ran at a rate, with a mean latency of what one worker in 32
/// makes of it.
fn trial(spec: &ScheduledTrial, ops_per_second: u64) -> TrialRecord {
    let workload = &spec.workload;
    let block = workload.block.max_bytes();
    let seconds = match (workload.bounds.time_ns, workload.bounds.bytes) {
        (Some(time), None) => time / SECOND,
        (time, Some(bytes)) => {
            let by_bytes = bytes.div_ceil(ops_per_second * block);
            time.map_or(by_bytes, |time| by_bytes.min(time / SECOND))
        }
        (None, None) => 1,
    };
    let mix = workload.mix;
    let sample = |index: u64| {
        let mut sample = Sample::new(Phase::Measure, index as u32, index * SECOND);
        let kinds = [
            (OpKind::Read, mix.read_percent),
            (OpKind::Write, mix.write_percent),
            (OpKind::Trim, mix.trim_percent),
        ];
        for (kind, percent) in kinds.into_iter().filter(|k| k.1 > 0) {
            let ops = ops_per_second * u64::from(percent) / 100;
            let mut op = OpSample::new(kind, false);
            op.ops = ops;
            op.bytes = ops * block;
            for _ in 0..ops {
                op.service
                    .record(workload.total_depth() * SECOND / ops_per_second);
            }
            sample.ops.push(op);
        }
        sample.duration_ns = SECOND;
        sample.workers = workload.workers;
        sample.in_flight_ns = u128::from(workload.total_depth() * SECOND);
        sample
    };
    TrialRecord {
        spec: spec.clone(),
        started_unix_ns: 0,
        state: RunState::Complete,
        samples: (0..seconds).map(sample).collect(),
        observations: Vec::new(),
        target_before: Some(TargetFingerprint {
            target: "/dev/nvme0n1".to_owned(),
            filesystem: None,
            devices: vec![DeviceFacts {
                name: "nvme0n1".to_owned(),
                kind: "nvme".to_owned(),
                model: Some("Example 960".to_owned()),
                firmware: Some("1.0".to_owned()),
                write_cache: Some("write back".to_owned()),
                size_bytes: GIB + 4096,
                ..DeviceFacts::default()
            }],
        }),
        end: Some(TrialEnd {
            engine: EngineReport {
                used: Some(EngineKind::Uring),
                direct: true,
                ..EngineReport::default()
            },
            data: DataReport {
                active_bytes: GIB,
                reused: true,
                ..DataReport::default()
            },
            ..TrialEnd::default()
        }),
    }
}

/// Plays a test on a drive.
fn play(test: SniaTest, settings: SniaSettings, drive: Drive<'_>) -> RunRecord {
    let mut rounds = SniaRounds::new(options(test, settings.clone()));
    let mut record = RecordBuilder::reads().run();
    record.trials.clear();
    record.meta.schedule.trials = rounds.expected(5);
    record.meta.schedule.purpose = Purpose::Snia {
        test: test.name().to_owned(),
        settings,
    };
    record.meta.state = RunState::Complete;
    let mut last: Option<TrialRecord> = None;
    loop {
        match rounds.next(last.as_slice()) {
            Step::Run(spec) => {
                let ran = trial(&spec, drive(&spec));
                last = Some(ran.clone());
                record.trials.push(ran);
            }
            Step::RunTogether(_) => panic!("cells run alone"),
            Step::Fail(reason) => panic!("{reason}"),
            Step::End(reason) => {
                record.meta.reason = reason;
                return record;
            }
        }
    }
}

fn report(record: &RunRecord) -> SniaReport {
    crate::judge(record).snia.expect("the run is a test")
}

fn is_tracked(spec: &ScheduledTrial) -> bool {
    spec.role == TrialRole::Measure && spec.label == "R/W 0/100, 4 KiB"
}

/// 5 % faster in each of the first rounds, then flat.
fn settling(spec: &ScheduledTrial) -> u64 {
    match spec.role {
        TrialRole::Precondition => 8192,
        _ => 100 - 5 * u64::from(spec.iteration.min(3)),
    }
}

#[test]
fn rounds_go_on_until_the_window_is_steady() {
    let record = play(SniaTest::Iops, settings(SniaTest::Iops), &settling);
    // 100, 95, 90, 85, 85, 85, 85: the line through the last five falls by 4.
    let tracked = record.trials.iter().filter(|t| is_tracked(&t.spec));
    assert_eq!(tracked.count(), 7);
    assert_eq!(record.meta.reason.as_deref(), Some("steady after 7 rounds"));
    let report = report(&record);
    let part = &report.parts[0];
    assert_eq!((part.rounds(), part.window_from), (7, Some(3)));
    let window = part.window.as_ref().unwrap();
    assert!(part.steady && window.steady);
    assert_eq!(window.rounds, [90.0, 85.0, 85.0, 85.0, 85.0]);
    assert!((window.range - 5.0 / 86.0).abs() < 1e-9);
    assert!((window.excursion - 4.0 / 86.0).abs() < 1e-9);
    assert_eq!(part.formula(1.0).unwrap(), "y = -1.000·R + 91.0");
    assert_eq!(part.series.len(), 8);
    assert_eq!(part.series[0].label, "4 KiB");
    assert_eq!(part.cells.len(), 56, "the matrix is complete");
    let cell = part.cell(0, 4096).unwrap();
    assert_eq!(cell.rounds, 5);
    assert!((cell.ops_per_second - 86.0).abs() < 1e-6);
    assert!((cell.bytes_per_second - 86.0 * 4096.0).abs() < 1e-3);
}

#[test]
fn only_the_window_is_the_result() {
    let judged = crate::judge(&play(SniaTest::Iops, settings(SniaTest::Iops), &settling));
    for trial in &judged.trials {
        let measured = trial.role == TrialRole::Measure;
        let purge_or_wipc = trial.label.starts_with("purge") || trial.label == "WIPC";
        assert_eq!(measured, !purge_or_wipc && trial.iteration >= 2);
    }
    let row = judged
        .rows
        .iter()
        .find(|r| r.label == "R/W 0/100, 4 KiB")
        .unwrap();
    assert_eq!(row.trials.len(), 5);
    let rate = row.ops[0].ops_per_second.value.unwrap();
    assert!((rate - 86.0).abs() < 1e-6);
}

#[test]
fn what_never_settles_is_not_achieved_after_25_rounds() {
    let wild = |spec: &ScheduledTrial| 50 * (1 + u64::from(spec.iteration % 2));
    let record = play(SniaTest::Latency, settings(SniaTest::Latency), &wild);
    let report = report(&record);
    let part = &report.parts[0];
    assert_eq!(part.rounds(), 25);
    assert!(!part.steady && part.window.is_some());
    assert!(!report.conforming);
    let steady = report
        .requirements
        .iter()
        .find(|r| r.name == "steady state");
    assert_eq!(
        steady.unwrap().evidence,
        "not achieved in 25 rounds of at most 25"
    );
    // Latency is tracked, with one operation in flight.
    assert_eq!(part.series[0].values[0], Some(2e7));
    assert_eq!(part.cells.len(), 9);
}

#[test]
fn every_block_size_of_throughput_is_purged_and_settles_by_itself() {
    let drive = |spec: &ScheduledTrial| match spec.workload.block.max_bytes() {
        bytes if bytes >= 1 << 20 => 100,
        _ => 200 - 20 * u64::from(spec.iteration.min(2)),
    };
    let record = play(SniaTest::Throughput, settings(SniaTest::Throughput), &drive);
    let labels: Vec<&str> = record
        .trials
        .iter()
        .map(|t| t.spec.label.as_str())
        .collect();
    assert_eq!(
        labels[..4],
        [
            "purge before SEQ 1 MiB",
            "purge of the end before SEQ 1 MiB",
            "WIPC before SEQ 1 MiB",
            "SEQ 1 MiB read",
        ]
    );
    let report = report(&record);
    let names: Vec<&str> = report.parts.iter().map(|p| p.name.as_str()).collect();
    assert_eq!(names, ["SEQ 1 MiB", "SEQ 128 KiB"]);
    assert_eq!(report.parts[0].rounds(), 5);
    assert!(report.parts[1].rounds() > 5);
    assert!(report.parts.iter().all(|p| p.steady && p.cells.len() == 2));
}

#[test]
fn a_conforming_run_is_called_so_and_nothing_less_is() {
    let steady = |spec: &ScheduledTrial| match spec.role {
        TrialRole::Precondition => 8192,
        _ => 400,
    };
    let claim = |settings: SniaSettings| report(&play(SniaTest::Latency, settings, &steady));
    let minutes = || SniaSettings {
        round_ns: ROUND_NS,
        ..settings(SniaTest::Latency)
    };
    let whole = claim(minutes());
    let missed: Vec<_> = whole.requirements.iter().filter(|r| !r.kept).collect();
    assert!(whole.conforming, "{missed:?}");
    let broken: [fn(&mut SniaSettings); 6] = [
        |s| s.on = SniaTarget::File,
        |s| s.on = SniaTarget::Simulated,
        |s| s.discards = false,
        |s| s.round_ns = 2 * SECOND,
        |s| s.passes = 0,
        |s| s.active_bytes = GIB / 2,
    ];
    for (i, change) in broken.iter().enumerate() {
        let mut settings = minutes();
        change(&mut settings);
        let report = claim(settings);
        assert!(!report.conforming, "case {i}");
        assert!(
            report.claim.contains("not conforming: "),
            "{}",
            report.claim
        );
    }
}

#[test]
fn half_a_run_is_told_as_far_as_it_came() {
    let mut record = play(SniaTest::Iops, settings(SniaTest::Iops), &settling);
    record.meta.state = RunState::Interrupted;
    // 3 before the rounds, two rounds and a bit.
    record.trials.truncate(3 + 2 * 56 + 10);
    let report = report(&record);
    assert_eq!(report.parts[0].rounds(), 2);
    assert!(report.parts[0].window.is_none() && !report.conforming);
    assert_eq!(report.parts[0].cells.len(), 56);
    record.trials.truncate(2);
    assert!(crate::judge(&record).snia.unwrap().parts.is_empty());
}

#[test]
fn write_saturation_ends_at_four_capacities_and_is_cut_into_rounds() {
    let drive = |spec: &ScheduledTrial| match spec.role {
        TrialRole::Precondition => 100,
        _ => 2000,
    };
    let minutes = SniaSettings {
        round_ns: ROUND_NS,
        ..settings(SniaTest::Wsat)
    };
    let record = play(SniaTest::Wsat, minutes, &drive);
    let report = report(&record);
    let part = &report.parts[0];
    // 4 GiB at 2000 × 4 KiB a second are 525 s: 8 whole minutes.
    assert_eq!(part.rounds(), 8);
    assert_eq!(part.written_bytes[7], 8 * 60 * 2000 * 4096);
    assert_eq!((part.window_from, part.steady), (Some(4), true));
    assert_eq!(part.series[0].values, vec![Some(2000.0); 8]);
    assert_eq!(part.cells[0].rounds, 5);
    let kept = |name: &str| report.requirements.iter().any(|r| r.name == name && r.kept);
    assert!(kept("four capacities or 24 hours") && kept("purge"));
}

/// A day at 12 operations a second on a drive that is too large to be written
/// four times in it.
#[test]
fn write_saturation_ends_after_a_day() {
    let a_day = SniaSettings {
        round_ns: ROUND_NS,
        capacity_bytes: 64 * GIB,
        active_bytes: 64 * GIB,
        ..settings(SniaTest::Wsat)
    };
    let mut rounds = SniaRounds::new(options(SniaTest::Wsat, a_day.clone()));
    let spec = loop {
        match rounds.next(&[]) {
            Step::Run(spec) if spec.role == TrialRole::Measure => break spec,
            Step::Run(_) | Step::RunTogether(_) => {}
            end => panic!("{end:?} without a load"),
        }
    };
    assert_eq!(spec.workload.bounds.time_ns, Some(86_400 * SECOND));
    assert_eq!(spec.workload.bounds.bytes, Some(256 * GIB));
    assert_eq!(rounds.next(&[]), Step::End(None));
    let mut record = play(SniaTest::Wsat, settings(SniaTest::Wsat), &|_| 8192);
    record.meta.schedule.purpose = Purpose::Snia {
        test: "wsat".to_owned(),
        settings: a_day,
    };
    let mut load = trial(&spec, 12);
    // A minute for each second keeps the test small.
    load.samples.truncate(1440);
    for (sample, minute) in load.samples.iter_mut().zip(0..) {
        sample.start_ns = minute * ROUND_NS;
        sample.duration_ns = ROUND_NS;
    }
    record.trials = vec![load];
    let report = report(&record);
    assert_eq!(report.parts[0].rounds(), 1440);
    let enough = report
        .requirements
        .iter()
        .find(|r| r.name == "four capacities or 24 hours")
        .unwrap();
    assert!(enough.kept, "{}", enough.evidence);
}
