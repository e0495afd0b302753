//! Carries out a case: the engine's own loop on the drive under the virtual
//! clock, and a record as a real run would leave it.

use std::time::Duration;

use fathom_drives::{PersistentDrive, Truth, open_drive};
use fathom_engine::prepare::NoHooks;
use fathom_engine::{Group, prepare};
use fathom_model::rng::Rng;
use fathom_model::run::{RunMeta, RunRecord, RunState, TrialEnd, TrialRecord};
use fathom_model::schedule::{Pause, Schedule, ScheduledTrial};
use fathom_model::workload::{CacheMode, EngineKind, Workload};
use fathom_model::{Job, Observation, Sample, Target};

use crate::case::{Case, Trial};
use crate::meter::{BIN_NS, Meter, Metered};

const SECOND_NS: u64 = 1_000_000_000;
/// Bins per observation.
const BINS: u64 = SECOND_NS / BIN_NS;
/// How long to wait for a sample before looking whether the load has ended.
const LOOK: Duration = Duration::from_millis(20);
/// Virtual rest of the drive between two trials.
const REST_NS: u64 = SECOND_NS;

/// Why a case could not be carried out.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CaseError {
    #[error("{0}")]
    Drive(#[from] fathom_drives::Error),
    #[error("{0}")]
    Load(#[from] fathom_engine::Error),
}

/// Runs the case and returns its record, or why it could not be carried out:
/// a fault of the scenario.
pub(crate) fn run(case: &Case, seed: u64) -> Result<RunRecord, CaseError> {
    run_and_ask(case, seed).map(|(record, _)| record)
}

/// The same, and what the drive says of itself afterwards.
pub(crate) fn run_and_ask(case: &Case, seed: u64) -> Result<(RunRecord, Truth), CaseError> {
    let drive = open_drive(&case.drive, seed)?;
    let (metered, meter) = Metered::new(drive);
    let drive = PersistentDrive::new(Box::new(metered));
    let mut rng = Rng::new(seed ^ 0x0B5E);
    let mut trials = Vec::new();
    for (index, trial) in case.trials.iter().enumerate() {
        let record = run_trial(case, trial, index as u32, seed, &drive, &meter, &mut rng)?;
        trials.push(record);
        drive.rest(REST_NS);
    }
    let mut record = RunRecord {
        meta: meta(case, &trials, seed),
        trials,
    };
    for edit in &case.run_edits {
        edit(&mut record);
    }
    Ok((record, drive.with(|drive| drive.truth())))
}

fn run_trial(
    case: &Case,
    trial: &Trial,
    index: u32,
    seed: u64,
    drive: &PersistentDrive,
    meter: &Meter,
    rng: &mut Rng,
) -> Result<TrialRecord, CaseError> {
    let born_ns = drive.age_ns();
    let (mut samples, mut end) = load(case, trial, seed + u64::from(index), drive)?;
    let busiest = samples.iter_mut().map(|sample| add_cpu(case, sample));
    let own_cpu_ns: Vec<u64> = busiest.collect();
    let host = &case.host;
    end.ceiling = Some(host.ceiling());
    end.engine.requested = Some(EngineKind::Uring);
    end.engine.used = Some(EngineKind::Uring);
    end.engine.direct = host.direct && trial.workload.cache == CacheMode::Direct;
    end.engine.fallbacks.extend(host.fallbacks.iter().cloned());
    let active_bytes = end.data.active_bytes;
    end.data = host.data.clone();
    end.data.active_bytes = active_bytes;
    let written = |s: &Sample| s.ops.iter().map(|op| op.bytes).sum::<u64>();
    let moved: u64 = samples.iter().map(written).sum();
    end.dirty_bytes_at_end = host.dirty_share.map(|share| (share * moved as f64) as u64);
    end.final_flush_ns = host.final_flush_ns.or(end.final_flush_ns);
    end.target_after = Some(host.target_after());
    end.host = Some(host.load.clone());
    let mut record = TrialRecord {
        spec: spec(case, trial, index, seed),
        started_unix_ns: u64::from(index) * 3_600 * SECOND_NS,
        state: RunState::Complete,
        observations: observe(case, &samples, &own_cpu_ns, born_ns, meter, rng),
        samples,
        target_before: Some(host.target()),
        end: Some(end),
    };
    for edit in &case.edits {
        edit(&mut record);
    }
    Ok(record)
}

/// The load itself.
fn load(
    case: &Case,
    trial: &Trial,
    seed: u64,
    drive: &PersistentDrive,
) -> Result<(Vec<Sample>, TrialEnd), CaseError> {
    let job = Job {
        workload: Workload {
            engine: EngineKind::Sim,
            ..trial.workload.clone()
        },
        target: Target::Sim(case.drive.clone()),
        seed,
        run_tag: 1,
        destructive: false,
        keep_files: false,
        file_prefix: "fathom-test".to_owned(),
    };
    let mut prepared = prepare(&job, &mut NoHooks)?;
    prepared.drive = Some(drive.clone());
    let mut group = Group::start(&job, &prepared)?;
    group.go();
    let mut samples = Vec::new();
    while !group.is_finished() {
        samples.extend(group.wait_sample(LOOK));
    }
    let ended = group.finish();
    samples.extend(ended.samples);
    let end = TrialEnd {
        engine: ended.report,
        data: prepared.data.clone(),
        final_flush_ns: ended.final_flush_ns,
        ..TrialEnd::default()
    };
    Ok((samples, end))
}

/// A simulation costs no CPU; the host says what a real load would have.
fn add_cpu(case: &Case, sample: &mut Sample) -> u64 {
    let workers = u64::from(sample.workers.max(1));
    let room_ns = sample.duration_ns.saturating_mul(workers);
    let cpu_ns = (sample.data_ops() * case.host.cpu_ns_per_op).min(room_ns);
    sample.cpu_user_ns = cpu_ns / 3;
    sample.cpu_system_ns = cpu_ns - cpu_ns / 3;
    sample.busiest_worker_cpu_ns = cpu_ns / workers;
    sample.run_delay_ns = (room_ns as f64 * case.host.run_delay_share) as u64;
    cpu_ns
}

/// The host, second by second, on an axis that is shifted against that of the
/// samples as it is on a real host.
fn observe(
    case: &Case,
    samples: &[Sample],
    own_cpu_ns: &[u64],
    born_ns: u64,
    meter: &Meter,
    rng: &mut Rng,
) -> Vec<Observation> {
    let born = (born_ns / BIN_NS) as i64;
    let shift = rng.below(BINS) as i64;
    let length_ns = samples.last().map_or(0, |s| s.start_ns + s.duration_ns);
    let seconds = length_ns.div_ceil(SECOND_NS) + 1;
    (0..seconds)
        .map(|second| {
            let bin = (second * BINS) as i64 - shift;
            let device = meter.activity(&case.host.device.name, born + bin, BINS);
            let own_ns = own_cpu_ns.get(second as usize).copied().unwrap_or(0);
            let foreign = meter.foreign_read_bytes(born + bin, BINS);
            case.host
                .observe(bin * BIN_NS as i64, own_ns, device, foreign)
        })
        .collect()
}

fn spec(case: &Case, trial: &Trial, index: u32, seed: u64) -> ScheduledTrial {
    let mut workload = trial.workload.clone();
    workload.engine = EngineKind::Uring;
    workload.queue_depth = trial.claimed_depth.unwrap_or(workload.queue_depth);
    let target = match &case.host.filesystem {
        Some(_) => "/data".into(),
        None => format!("/dev/{}", case.host.device.name).into(),
    };
    ScheduledTrial {
        index,
        iteration: trial.iteration,
        row: trial.row,
        seed,
        pause: Pause {
            floor_ns: REST_NS,
            ceiling_ns: REST_NS,
            until_quiet: false,
        },
        ..ScheduledTrial::new(workload.name.clone(), Target::Path(target), workload)
    }
}

fn meta(case: &Case, trials: &[TrialRecord], seed: u64) -> RunMeta {
    RunMeta {
        id: "20261121-120000-exam".to_owned(),
        started_unix_ns: 1,
        ended_unix_ns: Some(2),
        state: RunState::Complete,
        reason: None,
        tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        command_line: Vec::new(),
        plan_yaml: String::new(),
        label: None,
        schedule: Schedule {
            seed,
            ..Schedule::new("exam", trials.iter().map(|t| t.spec.clone()).collect())
        },
        host: case.host.fingerprint(),
        hosts: Vec::new(),
        matrix_figures: None,
    }
}

#[cfg(test)]
mod tests {
    use fathom_analysis::judge;
    use fathom_model::verdict::FindingStatus;
    use fathom_model::workload::{Arrival, Rate, RateUnit};

    use super::*;
    use crate::scenarios::random_reads;

    /// A drive that stops for 0.6 s under 200 operations a second makes them late:
    /// by itself, whatever the depth, and also across the end of a second.
    #[test]
    fn a_drive_that_stops_is_not_blamed_on_the_generator() {
        for (depth, at_s) in [(1, "5.1"), (1, "5.7"), (4, "6.0"), (32, "5.5")] {
            let drive = format!("ideal?latency_us=900,parallel=32,stall_at_s={at_s},stall_s=0.6");
            let mut workload = random_reads(depth, 10);
            workload.rate = Some(Rate {
                per_second: 200.0,
                unit: RateUnit::Ops,
                arrival: Arrival::Constant,
            });
            let record = run(&Case::new(drive, workload), 7).unwrap();
            let lateness = record.trials[0]
                .samples
                .iter()
                .filter_map(|s| s.lateness.as_ref());
            let latest_ns = lateness.filter_map(fathom_model::Histogram::max).max();
            let least_ns = if depth < 32 { 500_000_000 } else { 300_000_000 };
            assert!(latest_ns > Some(least_ns), "depth {depth}: {latest_ns:?}");
            let judged = judge(&record);
            let findings = &judged.trials[0].verdict.findings;
            let of = |id: &str| findings.iter().find(|f| f.id == id).unwrap();
            assert_eq!(of("V27").status, FindingStatus::Pass, "{:?}", of("V27"));
            let blames = |f: &&fathom_model::Finding| f.evidence.contains("fathom had room");
            assert_eq!(findings.iter().find(blames), None, "depth {depth}");
        }
    }
}
