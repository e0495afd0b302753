//! What the trials of a calibration say of the volume.

use fathom_model::diagnosis::Calibration;
use fathom_model::judged::OpSummary;
use fathom_model::op::OpKind;
use fathom_model::run::{RunRecord, RunState};
use fathom_model::verdict::{FindingStatus, Validity};
use fathom_model::{JudgedRun, JudgedTrial};
use fathom_rules::method::calibration::{
    KEPT, OTHERS, SURELY_LOWER, THRESHOLD as PACE, WHOLE_BYTES,
};

/// Name of the plan, by which a stored run is known to be a calibration.
pub const CALIBRATION: &str = "calibrate";

/// Why a run says nothing of its volume.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoCalibration {
    /// It measured something else.
    #[error("run {0} is not a calibration")]
    OtherRun(String),
    /// It ended before all was measured.
    #[error("run {run} did not measure all: {why}")]
    Incomplete {
        /// Its id.
        run: String,
        /// Why it ended.
        why: String,
    },
    /// Findings speak against every trial.
    #[error(
        "nothing of run {run} can be believed ({}); `fathom runs show {run}` says why",
        .findings.join(", ")
    )]
    NotTrusted {
        /// Its id.
        run: String,
        /// Ids of the findings.
        findings: Vec<String>,
    },
}

/// What a judged run says of its volume. `record` is the same run with what was
/// observed beside it; without, others on the device are not known.
///
/// # Errors
/// It is no calibration, or not a whole one, or nothing of it can be believed.
pub fn calibration_of(
    run: &JudgedRun,
    record: Option<&RunRecord>,
) -> Result<Calibration, NoCalibration> {
    let id = &run.run.id;
    if run.run.name != CALIBRATION {
        return Err(NoCalibration::OtherRun(id.clone()));
    }
    let complete = |trial: &&JudgedTrial| trial.state == RunState::Complete;
    let mut paced = run.trials.iter().filter(complete);
    let paced = paced.rfind(|trial| trial.workload.rate.is_some());
    let Some(paced) = paced.filter(|_| run.run.state == RunState::Complete) else {
        let why = run.run.reason.as_deref().unwrap_or("it ended early");
        return Err(NoCalibration::Incomplete {
            run: id.clone(),
            why: why.to_owned(),
        });
    };
    let closed = run.trials.iter().filter(complete);
    let closed = closed.filter(|trial| trial.workload.rate.is_none());
    let believed = closed.filter(|t| t.verdict.validity != Validity::NotTrusted);
    let found = believed.max_by(|a, b| trial_rate(a).total_cmp(&trial_rate(b)));
    let Some(cap) = found.filter(|trial| trial_rate(trial) > 0.0) else {
        let invalid = run.verdict.findings.iter();
        let invalid = invalid.filter(|f| f.status == FindingStatus::Invalid);
        return Err(NoCalibration::NotTrusted {
            run: id.clone(),
            findings: invalid.map(|f| f.id.clone()).collect(),
        });
    };
    let asked = paced.workload.rate.map_or(0.0, |rate| rate.per_second);
    let pace_kept = trial_rate(paced) >= KEPT * asked;
    // A pace that was not kept is a cap by itself: what the volume gives in the
    // long run, once its credit is used up.
    let own = match pace_kept && asked < SURELY_LOWER * PACE * trial_rate(cap) {
        true => asked / PACE,
        false if !pace_kept => trial_rate(paced),
        false => trial_rate(cap),
    };
    let others = record.map_or(0.0, |record| others(record, cap));
    let devices = cap.target_before.iter().flat_map(|t| &t.devices);
    Ok(Calibration {
        run: id.clone(),
        target: cap.target.to_string(),
        devices: devices.map(|device| device.name.clone()).collect(),
        started_unix_ns: run.run.started_unix_ns,
        block_bytes: cap.workload.block.max_bytes(),
        read_share: f64::from(cap.workload.mix.read_percent) / 100.0,
        operations: own + others,
        others,
        depth: u64::from(cap.workload.queue_depth) * u64::from(cap.workload.workers),
        wait_at_cap_ms: wait_ms(cap),
        paced: asked,
        pace_kept,
        wait_ms: wait_ms(paced).filter(|_| pace_kept),
        wait_p99_ms: p99_ms(paced).filter(|_| pace_kept),
    })
}

/// What reads and writes did.
pub(super) fn data(ops: &[OpSummary]) -> impl Iterator<Item = &OpSummary> {
    let is_data = |op: &&OpSummary| matches!(op.kind, OpKind::Read | OpKind::Write);
    ops.iter().filter(is_data)
}

fn trial_rate(trial: &JudgedTrial) -> f64 {
    let ops = data(&trial.summary.ops);
    ops.filter_map(|op| op.ops_per_second.value).sum()
}

/// Mean over all operations, from submission: what the device counters know.
fn wait_ms(trial: &JudgedTrial) -> Option<f64> {
    let (mut sum_ns, mut ops) = (0.0, 0.0);
    for op in data(&trial.summary.ops).filter(|op| op.ops > 0) {
        sum_ns += op.service.mean_ns.value? * op.ops as f64;
        ops += op.ops as f64;
    }
    (ops > 0.0).then(|| sum_ns / ops / 1e6)
}

/// The worst of the kinds: percentiles are not averaged.
fn p99_ms(trial: &JudgedTrial) -> Option<f64> {
    let of = |op: &OpSummary| {
        let found = op.service.percentiles.iter().find(|p| p.percent == 99.0);
        found.and_then(|p| p.latency_ns.value)
    };
    let all = data(&trial.summary.ops).filter_map(of);
    all.reduce(f64::max).map(|ns| ns / 1e6)
}

/// Operations per second of others on the device: what its counters have beyond
/// this load's own. Only of one device, and of blocks that are not split.
fn others(record: &RunRecord, cap: &JudgedTrial) -> f64 {
    let of_cap = record.trials.iter().find(|t| t.spec.index == cap.index);
    let target = cap.target_before.as_ref();
    let leaves = target.map_or(0, |t| {
        t.devices.iter().filter(|d| d.below.is_empty()).count()
    });
    let Some(trial) = of_cap.filter(|_| leaves == 1) else {
        return 0.0;
    };
    if cap.workload.block.max_bytes() > WHOLE_BYTES {
        return 0.0;
    }
    let end = trial.samples.iter().map(|s| s.start_ns + s.duration_ns);
    let end = i64::try_from(end.max().unwrap_or(0)).unwrap_or(i64::MAX);
    // Counters are read out of step with the load: its edges are left out.
    let inner = trial.observations.iter().filter(|o| {
        let ends = o
            .start_ns
            .saturating_add(i64::try_from(o.duration_ns).unwrap_or(i64::MAX));
        o.start_ns >= 0 && ends <= end
    });
    let (mut done, mut seconds) = (0.0, 0.0);
    for observation in inner {
        let leaf = observation.devices.iter().filter(|device| device.leaf);
        done += leaf.map(|d| (d.reads + d.writes) as f64).sum::<f64>();
        seconds += observation.duration_ns as f64 / 1e9;
    }
    let own = trial_rate(cap);
    let beyond = done / seconds - own;
    match seconds > 0.0 && beyond > OTHERS * own {
        true => beyond,
        false => 0.0,
    }
}
