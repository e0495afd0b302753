//! Calibrations of volumes whose truth is known.

use fathom_analysis::test_records::{RecordBuilder, run_of};
use fathom_model::conduct::{Conductor, Step};
use fathom_model::diagnosis::Calibration;
use fathom_model::run::{RunRecord, RunState, TrialRecord};
use fathom_model::workload::OpMix;

use super::{CALIBRATION, CalibrationConductor, NoCalibration, calibration_of};

/// A volume as it answers: operations per second for a depth and a pace, in the
/// trial with this number.
type Volume = fn(depth: u32, asked: Option<f64>, trial: usize) -> f64;

/// Calibrates it, and gives the run as it would be stored.
fn calibrate(volume: Volume) -> RunRecord {
    let base = RecordBuilder::reads().with(|b| {
        b.workload.mix = OpMix {
            read_percent: 70,
            write_percent: 30,
            trim_percent: 0,
        };
        b.seconds = 10;
    });
    let planned = base.run();
    let host = planned.meta.host.clone();
    let mut conductor = CalibrationConductor::new(&planned.meta.schedule, host).unwrap();
    assert_eq!(conductor.expected().len(), 3);
    let mut trials: Vec<TrialRecord> = Vec::new();
    while let Step::Run(spec) = conductor.next(&trials[trials.len().saturating_sub(1)..]) {
        assert!(trials.len() < 10, "it never ends");
        let asked = spec.workload.rate.map(|rate| rate.per_second);
        let done = volume(spec.workload.queue_depth, asked, trials.len());
        let mut ended = base
            .clone()
            .with(|b| {
                b.workload = spec.workload.clone();
                b.ops_per_second = done as u64;
            })
            .trial();
        ended.spec = *spec;
        trials.push(ended);
    }
    let mut record = run_of(trials, planned.meta.host);
    record.meta.schedule.name = CALIBRATION.to_owned();
    record
}

fn found(record: &RunRecord) -> Result<Calibration, NoCalibration> {
    calibration_of(&crate::judge(record), Some(record))
}

fn near(value: f64, truth: f64) -> bool {
    (value / truth - 1.0).abs() < 0.02
}

#[test]
fn the_cap_is_found_and_the_pace_lies_below_it() {
    let record =
        calibrate(|depth, asked, _| asked.unwrap_or(f64::from(depth) * 100.0).min(1_000.0));
    let labels: Vec<&str> = record
        .trials
        .iter()
        .map(|t| t.spec.label.as_str())
        .collect();
    assert_eq!(labels[..2], ["cap, 32 in flight", "cap, 128 in flight"]);
    assert_eq!(labels.len(), 3);
    let found = found(&record).unwrap();
    assert!(near(found.operations, 1_000.0), "{found:?}");
    assert!(near(found.paced, 850.0) && found.pace_kept, "{found:?}");
    assert!((found.block_bytes, found.read_share) == (4096, 0.7));
    assert!(found.wait_ms.is_some() && found.others == 0.0);
}

#[test]
fn deeper_queues_are_tried_as_long_as_they_bring_more() {
    let record = calibrate(|depth, asked, _| asked.unwrap_or(f64::from(depth) * 10.0));
    let found = found(&record).unwrap();
    assert_eq!(found.depth, 512);
    assert!(near(found.operations, 5_120.0), "{found:?}");
}

#[test]
fn what_a_volume_gives_on_credit_is_not_its_cap() {
    // 3,000 until the credit is used up after two trials, then 1,000.
    let record = calibrate(|_, asked, trial| {
        let gives = if trial < 2 { 3_000.0 } else { 1_000.0 };
        asked.map_or(gives, |asked| asked.min(gives))
    });
    let found = found(&record).unwrap();
    assert!(near(found.operations, 1_000.0), "{found:?}");
    assert!(near(found.paced, 850.0) && found.pace_kept, "{found:?}");
}

#[test]
fn a_pace_that_is_never_kept_ends_and_gives_no_time() {
    let record = calibrate(|_, asked, _| asked.map_or(1_000.0, |asked| 0.8 * asked));
    let found = found(&record).unwrap();
    assert!(!found.pace_kept && found.wait_ms.is_none(), "{found:?}");
    assert!(found.operations < 800.0, "{found:?}");
}

#[test]
fn what_others_did_meanwhile_is_part_of_what_the_volume_gives() {
    let volume: Volume = |_, asked, _| asked.unwrap_or(800.0);
    let with = |requests: fn(u64) -> u64| {
        let mut record = calibrate(volume);
        for trial in &mut record.trials {
            for observation in &mut trial.observations {
                let device = &mut observation.devices[0];
                let own = (device.read_bytes + device.write_bytes) / 4096;
                device.reads = requests(own);
            }
        }
        found(&record).unwrap()
    };
    // 200 requests a second of others, however large.
    let beside = with(|own| own + 200);
    assert!((beside.others / 200.0 - 1.0).abs() < 0.1, "{beside:?}");
    assert!(near(beside.operations, 1_000.0), "{beside:?}");
    // The file system's own bookkeeping, and requests that were merged.
    assert_eq!(with(|own| own + own / 20).others, 0.0);
    assert_eq!(with(|own| own / 2).others, 0.0);
}

#[test]
fn what_ended_early_or_is_something_else_is_no_calibration() {
    let mut record = calibrate(|_, asked, _| asked.unwrap_or(1_000.0));
    record.meta.state = RunState::Interrupted;
    assert!(matches!(
        found(&record),
        Err(NoCalibration::Incomplete { .. })
    ));
    record.meta.schedule.name = "quick".to_owned();
    assert!(matches!(found(&record), Err(NoCalibration::OtherRun(_))));
    // A volume that does nothing.
    let idle = calibrate(|_, _, _| 0.0);
    assert!(found(&idle).is_err());
}
