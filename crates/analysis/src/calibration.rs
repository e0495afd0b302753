//! What a volume gives with the mix and block size of a load: first the cap, in
//! closed loops, then the time of an operation at a pace below it.
//!
//! The two are apart because limits of volumes answer too much load by holding
//! operations back: at the cap an operation takes as long as the queue is, and
//! only below it as long as the storage needs.

use fathom_model::conduct::{Conductor, Step};
use fathom_model::diagnosis::Calibration;
use fathom_model::fingerprint::Fingerprint;
use fathom_model::judged::{OpSummary, ResultRow};
use fathom_model::op::OpKind;
use fathom_model::rng::derive_seed;
use fathom_model::run::{RunRecord, RunState, TrialRecord};
use fathom_model::schedule::{Schedule, ScheduledTrial};
use fathom_model::verdict::{FindingStatus, Validity};
use fathom_model::workload::{Arrival, Rate, RateUnit};
use fathom_model::{JudgedRun, JudgedTrial};
use fathom_rules::method::calibration::{
    HIGHER, KEPT, OTHERS, PACES, THRESHOLD as PACE, WHOLE_BYTES,
};

/// Name of the plan, by which a stored run is known to be a calibration.
pub const CALIBRATION: &str = "calibrate";

/// Operations in flight with which the cap is looked for, in turn.
const DEPTHS: [u32; 3] = [32, 128, 512];

/// Hands out the trials of a calibration.
pub struct CalibrationConductor {
    base: ScheduledTrial,
    record: RunRecord,
    /// Rate of each closed loop that ended.
    caps: Vec<f64>,
    /// The pace that was asked for last, and what was done.
    paces: Vec<(f64, f64)>,
    index: u32,
}

impl CalibrationConductor {
    /// The conductor and the schedule that is expected, from one with the
    /// workload as its first trial. `None` without any.
    pub fn new(schedule: &Schedule, host: Fingerprint) -> Option<CalibrationConductor> {
        let base = schedule.trials.first()?.clone();
        Some(CalibrationConductor {
            base,
            record: RunRecord::unstored(
                Schedule {
                    trials: Vec::new(),
                    ..schedule.clone()
                },
                host,
            ),
            caps: Vec::new(),
            paces: Vec::new(),
            index: 0,
        })
    }

    /// The trials of a volume that keeps its cap: two closed loops and a pace.
    pub fn expected(&self) -> Vec<ScheduledTrial> {
        let mut trials = vec![self.closed(DEPTHS[0]), self.closed(DEPTHS[1])];
        trials.push(self.closed(DEPTHS[0]));
        for (trial, index) in trials.iter_mut().zip(0..) {
            (trial.index, trial.row) = (index, index);
        }
        trials
    }

    fn trial(&self, label: String) -> ScheduledTrial {
        ScheduledTrial {
            index: self.index,
            row: self.index,
            iteration: 0,
            label,
            seed: derive_seed(self.base.seed, u64::from(self.index)),
            ..self.base.clone()
        }
    }

    fn closed(&self, depth: u32) -> ScheduledTrial {
        let mut trial = self.trial(format!("cap, {depth} in flight"));
        trial.workload.queue_depth = depth;
        trial.workload.rate = None;
        trial
    }

    fn paced(&self, per_second: f64) -> ScheduledTrial {
        let mut trial = self.trial(format!("paced at {per_second:.0}/s"));
        // Room for what is late; the pace is set by due times.
        trial.workload.queue_depth = DEPTHS[1];
        trial.workload.rate = Some(Rate {
            per_second,
            unit: RateUnit::Ops,
            arrival: Arrival::Constant,
        });
        trial
    }

    fn take(&mut self, trial: &TrialRecord) {
        self.record.trials = vec![trial.clone()];
        self.record.meta.schedule.trials = vec![trial.spec.clone()];
        let judged = crate::judge(&self.record);
        let done = judged.rows.first().map_or(0.0, rate);
        match trial.spec.workload.rate {
            Some(asked) => self.paces.push((asked.per_second, done)),
            None => self.caps.push(done),
        }
    }

    fn choose(&self) -> Option<ScheduledTrial> {
        let best = self.caps.iter().copied().fold(0.0, f64::max);
        if self.paces.is_empty() {
            let higher = match self.caps.as_slice() {
                [.., before, last] => *last > HIGHER * before,
                _ => true,
            };
            let next = DEPTHS.get(self.caps.len());
            if let Some(depth) = next.filter(|_| higher) {
                return Some(self.closed(*depth));
            }
            return (best > 0.0).then(|| self.paced(PACE * best));
        }
        let (asked, done) = *self.paces.last()?;
        let again = done < KEPT * asked && done > 0.0 && self.paces.len() < PACES as usize;
        again.then(|| self.paced(PACE * done))
    }
}

impl Conductor for CalibrationConductor {
    fn next(&mut self, last: &[TrialRecord]) -> Step {
        if let [last] = last {
            self.take(last);
        }
        match self.choose() {
            Some(trial) => {
                self.index += 1;
                Step::Run(Box::new(trial))
            }
            None => Step::End(None),
        }
    }
}

/// What a judged run says of its volume. `record` is the same run with what was
/// observed beside it; without, others on the device are not known.
///
/// # Errors
/// It is no calibration, or not a whole one, or nothing of it can be believed;
/// in words.
pub fn calibration_of(run: &JudgedRun, record: Option<&RunRecord>) -> Result<Calibration, String> {
    let id = &run.run.id;
    if run.run.name != CALIBRATION {
        return Err(format!("run {id} is no calibration"));
    }
    let complete = |trial: &&JudgedTrial| trial.state == RunState::Complete;
    let mut paced = run.trials.iter().filter(complete);
    let paced = paced.rfind(|trial| trial.workload.rate.is_some());
    let Some(paced) = paced.filter(|_| run.run.state == RunState::Complete) else {
        let why = run.run.reason.as_deref().unwrap_or("it ended early");
        return Err(format!("run {id} did not measure all: {why}"));
    };
    let closed = run.trials.iter().filter(complete);
    let closed = closed.filter(|trial| trial.workload.rate.is_none());
    let believed = closed.filter(|t| t.verdict.validity != Validity::NotTrusted);
    let found = believed.max_by(|a, b| trial_rate(a).total_cmp(&trial_rate(b)));
    let Some(cap) = found.filter(|trial| trial_rate(trial) > 0.0) else {
        let invalid = run.verdict.findings.iter();
        let invalid = invalid.filter(|f| f.status == FindingStatus::Invalid);
        let reasons = invalid.map(|f| f.id.as_str());
        return Err(format!(
            "nothing of run {id} can be believed ({}); `fathom runs show {id}` says why",
            reasons.collect::<Vec<_>>().join(", ")
        ));
    };
    let asked = paced.workload.rate.map_or(0.0, |rate| rate.per_second);
    let pace_kept = trial_rate(paced) >= KEPT * asked;
    // A pace that was not kept is a cap by itself: what the volume gives in the
    // long run, once its credit is used up.
    let own = match pace_kept && asked < 0.9 * PACE * trial_rate(cap) {
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

fn data(ops: &[OpSummary]) -> impl Iterator<Item = &OpSummary> {
    let is_data = |op: &&OpSummary| matches!(op.kind, OpKind::Read | OpKind::Write);
    ops.iter().filter(is_data)
}

fn rate(row: &ResultRow) -> f64 {
    data(&row.ops)
        .filter_map(|op| op.ops_per_second.value)
        .sum()
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

#[cfg(test)]
#[path = "calibration_tests.rs"]
mod tests;
