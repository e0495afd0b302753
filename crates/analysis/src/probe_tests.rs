use fathom_model::conduct::{Conductor, Step};
use fathom_model::run::RunRecord;
use fathom_model::schedule::TrialRole;
use fathom_model::workload::{EngineKind, Verify};

use super::*;
use crate::test_records::{RecordBuilder, run_of};

fn row(depth: u32) -> RecordBuilder {
    RecordBuilder::reads().with(|b| b.workload.queue_depth = depth)
}

#[test]
fn a_row_whose_limiter_is_unknown_is_probed_at_twice_its_depth() {
    let record = row(32).run();
    let probe = depth_probe(&record).unwrap();
    assert_eq!(
        (probe.role, probe.row, probe.index),
        (TrialRole::Probe, 0, 1)
    );
    assert_eq!(probe.workload.queue_depth, 64);
    assert_eq!(probe.workload.bounds.time_ns, Some(15_000_000_000));
    assert_eq!(probe.target, record.trials[0].spec.target);
    let short = row(32).with(|b| b.seconds = 6).run();
    let probe = depth_probe(&short).unwrap();
    assert_eq!(probe.workload.bounds.time_ns, Some(3_000_000_000));
}

#[test]
fn nothing_is_probed_that_is_known_or_cannot_be_told() {
    let change = |change: fn(&mut RecordBuilder)| depth_probe(&row(32).with(change).run());
    assert!(change(|_| ()).is_some());
    assert_eq!(change(|b| b.seconds = 4), None, "too short");
    assert_eq!(
        change(|b| b.workload.queue_depth = 1),
        None,
        "latency rules"
    );
    assert_eq!(change(|b| b.device_share = 0.1), None, "a cache is named");
    assert_eq!(change(|b| b.workload.think_ns = 5), None, "thinking");
    assert_eq!(
        change(|b| b.workload.queue_depth = 4096),
        None,
        "deep enough"
    );
    assert_eq!(
        change(|b| b.state = RunState::Interrupted),
        None,
        "interrupted"
    );
    let verified = |b: &mut RecordBuilder| {
        b.workload.verify = Some(Verify {
            on_read: true,
            after: false,
            ..Verify::default()
        });
    };
    assert_eq!(change(verified), None, "verified");
    let synchronous = |b: &mut RecordBuilder| {
        b.workload.engine = EngineKind::Psync;
        b.workload.workers = 8;
        b.end.as_mut().unwrap().engine.used = Some(EngineKind::Psync);
    };
    assert_eq!(change(synchronous), None, "more workers need more files");
    let mut off = row(32).run();
    off.meta.schedule.depth_probe = false;
    assert_eq!(depth_probe(&off), None);
}

fn planned(builders: &[RecordBuilder], ran: usize) -> RunRecord {
    let trials = builders.iter().map(RecordBuilder::trial).collect();
    let mut record = run_of(trials, builders[0].host.clone());
    record.trials.truncate(ran);
    record
}

#[test]
fn other_trials_that_answer_make_it_needless() {
    assert_eq!(
        depth_probe(&planned(&[row(16), row(32)], 1)),
        None,
        "deeper later"
    );
    assert!(
        depth_probe(&planned(&[row(16), row(24)], 1)).is_some(),
        "not twice as deep"
    );
    let mut iterations = planned(&[row(32), row(32)], 1);
    iterations.meta.schedule.trials[1].row = 0;
    assert_eq!(depth_probe(&iterations), None, "an iteration is left");
    let mut done = planned(&[row(32), row(32).with(|b| b.seconds = 5)], 2);
    done.trials[1].spec.role = TrialRole::Probe;
    assert_eq!(depth_probe(&done), None, "after a probe");
}

#[test]
fn the_conductor_slips_the_probe_in() {
    let record = planned(&[row(32), RecordBuilder::writes()], 2);
    let schedule = &record.meta.schedule;
    let mut conductor = Probing::new(schedule, record.meta.host.clone());
    assert!(conductor.looks());
    let next = |conductor: &mut Probing, last: Option<&TrialRecord>| match conductor
        .next(last.map_or(&[], std::slice::from_ref))
    {
        Step::Run(spec) => Some((spec.row, spec.role)),
        _ => None,
    };
    assert_eq!(next(&mut conductor, None), Some((0, TrialRole::Measure)));
    let first = Some(&record.trials[0]);
    assert_eq!(next(&mut conductor, first), Some((0, TrialRole::Probe)));
    let mut probe = record.trials[0].clone();
    probe.spec.role = TrialRole::Probe;
    probe.spec.index = 2;
    // Flat, and not told from a cap: half the rate, once.
    let Step::Run(paced) = conductor.next(std::slice::from_ref(&probe)) else {
        panic!("a probe at half the rate was expected");
    };
    assert_eq!(
        (paced.row, paced.role, paced.index),
        (0, TrialRole::Probe, 3)
    );
    let rate = paced.workload.rate.unwrap().per_second;
    assert!((450.0..550.0).contains(&rate), "{rate}");
    let mut slow = record.trials[0].clone();
    slow.spec = *paced;
    assert_eq!(
        next(&mut conductor, Some(&slow)),
        Some((1, TrialRole::Measure))
    );
    let last = next(&mut conductor, Some(&record.trials[1]));
    assert_eq!(last, Some((1, TrialRole::Probe)));
    let mut probe = record.trials[1].clone();
    probe.spec.role = TrialRole::Probe;
    assert_eq!(next(&mut conductor, Some(&probe)), None);
}

/// What follows a row and its probe at twice the depth.
fn after_probe(row: RecordBuilder) -> Option<ScheduledTrial> {
    let record = planned(&[row], 1);
    let mut conductor = Probing::new(&record.meta.schedule, record.meta.host.clone());
    conductor.next(&[]);
    match conductor.next(&record.trials[..1]) {
        Step::Run(spec) if spec.workload.rate.is_some() => return Some(*spec),
        _ => {}
    }
    let mut probe = record.trials[0].clone();
    (probe.spec.role, probe.spec.index) = (TrialRole::Probe, 1);
    match conductor.next(&[probe]) {
        Step::Run(spec) => Some(*spec),
        _ => None,
    }
}

#[test]
fn only_flat_reads_are_asked_for_half_their_rate() {
    assert!(after_probe(row(32)).is_some());
    let change = |change: fn(&mut RecordBuilder)| after_probe(row(32).with(change));
    let alone = |b: &mut RecordBuilder| b.workload.queue_depth = 1;
    assert_eq!(change(alone), None, "its latency");
    let guest = row(1).with(|b| b.host.virtualization = Some("kvm".to_owned()));
    assert!(
        after_probe(guest).is_some(),
        "or a cap, where caps are usual"
    );
    assert_eq!(change(|b| b.noise = 0.1), None, "not flat");
    let ordered = |b: &mut RecordBuilder| {
        b.workload.pattern = fathom_model::workload::Pattern::Sequential;
    };
    let probe = change(ordered).expect("reads at random say what order hides");
    assert!(probe.workload.pattern.is_random());
    let writes = |b: &mut RecordBuilder| b.workload.mix = fathom_model::workload::OpMix::WRITE;
    assert_eq!(change(writes), None, "a cache takes them faster");
    assert_eq!(change(|b| b.device_share = 0.1), None, "a cache is named");
}
