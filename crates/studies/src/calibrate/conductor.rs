//! Which closed loop or pace comes next.

use fathom_model::conduct::{Conductor, Step};
use fathom_model::fingerprint::Fingerprint;
use fathom_model::judged::ResultRow;
use fathom_model::rng::derive_seed;
use fathom_model::run::{RunRecord, TrialRecord};
use fathom_model::schedule::{Schedule, ScheduledTrial};
use fathom_model::workload::{Arrival, Rate, RateUnit};
use fathom_rules::method::calibration::{HIGHER, KEPT, PACES, THRESHOLD as PACE};

use super::judge::data;

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
        let judged = fathom_analysis::judge(&self.record);
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

fn rate(row: &ResultRow) -> f64 {
    data(&row.ops)
        .filter_map(|op| op.ops_per_second.value)
        .sum()
}
