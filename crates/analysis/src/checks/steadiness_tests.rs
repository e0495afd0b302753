use fathom_model::run::TrialRecord;
use fathom_model::verdict::FindingStatus;
use fathom_model::workload::Until;

use crate::statistics::noise::seeded;
use crate::test_records::{GIB, RecordBuilder};

const SECOND: u64 = 1_000_000_000;

fn long_writes(seconds: u32) -> RecordBuilder {
    RecordBuilder::writes().with(|b| {
        b.seconds = seconds;
        b.ops_per_second = 200;
        b.workload.bounds.time_ns = Some(u64::from(seconds) * SECOND);
    })
}

/// Scales the operations of each second.
fn shaped(trial: &mut TrialRecord, shape: impl Fn(usize) -> f64) {
    for (index, sample) in trial.samples.iter_mut().enumerate() {
        let op = &mut sample.ops[0];
        op.ops = (op.ops as f64 * shape(index)) as u64;
        op.bytes = op.ops * 4096;
    }
}

fn status(builder: &RecordBuilder, id: &str) -> FindingStatus {
    builder
        .status(id)
        .unwrap_or_else(|| panic!("{id} says nothing"))
}

#[test]
fn sound_and_short_trials_pass() {
    let sound = long_writes(320);
    for id in ["V11", "V12", "V13", "V14"] {
        assert_eq!(status(&sound, id), FindingStatus::Pass, "{id}");
    }
    let short = long_writes(10);
    for id in ["V11", "V12", "V13", "V14"] {
        assert_eq!(status(&short, id), FindingStatus::NotMeasured, "{id}");
    }
    assert_eq!(short.status("V19"), None);
}

#[test]
fn a_cliff_and_a_warm_up_are_told_apart() {
    let cliff = long_writes(120).edit(|t| shaped(t, |i| if i < 30 { 5.0 } else { 1.0 }));
    let finding = cliff.finding("V13").unwrap();
    assert_eq!(finding.status, FindingStatus::Caveat);
    assert!(
        (finding.measured.unwrap() - 0.8).abs() < 0.02,
        "{finding:?}"
    );
    assert!(
        finding.evidence.contains("IOPS for the first"),
        "{finding:?}"
    );
    let warmup = long_writes(120).edit(|t| shaped(t, |i| if i < 15 { 0.5 } else { 1.0 }));
    assert_eq!(status(&warmup, "V13"), FindingStatus::Info);
}

#[test]
fn drift_and_modes_are_caveats() {
    let drifting = long_writes(320).edit(|t| shaped(t, |i| 1.0 - i as f64 / 640.0));
    assert_eq!(status(&drifting, "V12"), FindingStatus::Caveat);
    assert_eq!(status(&drifting, "V11"), FindingStatus::Caveat);
    assert_eq!(status(&drifting, "V13"), FindingStatus::Pass);
    let modes = long_writes(120).edit(|t| shaped(t, |i| if i % 10 < 4 { 0.3 } else { 1.0 }));
    let finding = modes.finding("V14").unwrap();
    assert_eq!(finding.status, FindingStatus::Caveat);
    assert!(finding.evidence.contains("60 % of the time"), "{finding:?}");
}

#[test]
fn the_range_must_have_been_written_twice() {
    let fresh = long_writes(30);
    let finding = fresh.finding("V10").unwrap();
    assert_eq!(finding.status, FindingStatus::Info);
    assert!(
        finding.evidence.contains("fresh drive (burst)"),
        "{finding:?}"
    );
    let filled = long_writes(30).with_end(|end| end.data.prepared_bytes = 128 * GIB);
    assert_eq!(status(&filled, "V10"), FindingStatus::Pass);
    let small = long_writes(30).with_end(|end| end.data.active_bytes = 8 << 20);
    assert_eq!(status(&small, "V10"), FindingStatus::Pass);
    assert_eq!(RecordBuilder::reads().status("V10"), None);
    let disk = long_writes(30).with(|b| {
        if let Some(target) = &mut b.fingerprint {
            target.devices[0].rotational = Some(true);
        }
    });
    assert_eq!(disk.status("V10"), None);
}

#[test]
fn earlier_trials_count_as_written() {
    let trial = long_writes(30)
        .with_end(|end| end.data.active_bytes = 36 << 20)
        .trial();
    let record = crate::test_records::run_of(vec![trial.clone(), trial], long_writes(1).host);
    let judged = crate::judge(&record);
    let of = |index: usize| {
        let findings = &judged.trials[index].verdict.findings;
        findings.iter().find(|f| f.id == "V10").map(|f| f.measured)
    };
    let (first, second) = (of(0).flatten().unwrap(), of(1).flatten().unwrap());
    assert!((second / first - 2.0).abs() < 0.05, "{first} {second}");
}

#[test]
fn an_upper_bound_that_comes_first_is_said() {
    let until = |until, seconds| long_writes(seconds).with(|b| b.workload.until = Some(until));
    let never = until(Until::Steady, 120);
    let finding = never.finding("V19").unwrap();
    assert_eq!(finding.status, FindingStatus::Caveat);
    assert!(
        finding.evidence.starts_with("never steady within 2 min"),
        "{finding:?}"
    );
    let held = until(Until::Precision { percent: 2.0 }, 60)
        .with_end(|end| end.reason = Some("until precision 2 %: ± 1.2 % after 60 s".to_owned()));
    assert_eq!(status(&held, "V19"), FindingStatus::Pass);
}

/// All these checks together, on sound trials.
#[test]
fn sound_trials_are_hardly_ever_accused() {
    let (mut runs, mut accused) = (0, 0);
    for seconds in [10, 30, 60, 120, 360] {
        for phi in [0.0, 0.5, 0.8, 0.9] {
            let mut noise = seeded(u64::from(seconds) + (phi * 10.0) as u64);
            for cv in [0.02, 0.04] {
                for _ in 0..5 {
                    let mut trial = RecordBuilder::reads()
                        .with(|b| {
                            b.seconds = seconds;
                            b.ops_per_second = 2;
                            b.noise = 0.0;
                            b.observed = false;
                        })
                        .trial();
                    let series = noise.ar1(phi, seconds as usize);
                    for (sample, value) in trial.samples.iter_mut().zip(series) {
                        sample.ops[0].ops = (1e5 * (1.0 + cv * value)) as u64;
                        sample.ops[0].bytes = sample.ops[0].ops * 4096;
                    }
                    let host = RecordBuilder::reads().host;
                    let judged = crate::judge(&crate::test_records::run_of(vec![trial], host));
                    let ours = ["V10", "V11", "V12", "V13", "V14", "V18", "V19"];
                    let findings = &judged.trials[0].verdict.findings;
                    let mut own = findings.iter().filter(|f| ours.contains(&f.id.as_str()));
                    runs += 1;
                    accused += usize::from(own.any(|f| f.status >= FindingStatus::Caveat));
                }
            }
        }
    }
    assert!(
        accused * 20 <= runs,
        "{accused} of {runs} sound trials were accused"
    );
}
