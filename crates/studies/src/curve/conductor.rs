//! Hands out the trials of a curve.

use std::collections::BTreeMap;

use fathom_model::conduct::{Conductor, Step};
use fathom_model::curve::CurvePoint;
use fathom_model::fingerprint::Fingerprint;
use fathom_model::run::{RunRecord, TrialRecord};
use fathom_model::schedule::{Schedule, ScheduledTrial};

use super::arrange::{CurveOptions, Setting};
use super::point;
use super::sweep::{self, Plan};

/// Chooses the trials of a curve, where need be from what the earlier ones
/// gave. Judges each point as the stored run will be judged.
pub struct CurveConductor {
    options: CurveOptions,
    host: Fingerprint,
    plan: Box<dyn Plan>,
    /// Rows in order of appearance: label and what was measured.
    rows: Vec<(String, RunRecord)>,
    points: BTreeMap<u32, CurvePoint>,
    index: u32,
}

impl CurveConductor {
    /// A curve on a host, whose facts some checks need.
    pub fn new(options: CurveOptions, host: Fingerprint) -> CurveConductor {
        CurveConductor {
            plan: sweep::plan(&options),
            options,
            host,
            rows: Vec::new(),
            points: BTreeMap::new(),
            index: 0,
        }
    }

    /// The trials that are expected: all of them where they are known
    /// beforehand, else a guess at their number and length.
    pub fn expected(&self) -> Vec<ScheduledTrial> {
        let mut labels: Vec<String> = Vec::new();
        let mut counts: Vec<u32> = Vec::new();
        let mut trials = Vec::new();
        for setting in self.plan.expected() {
            let row = labels.iter().position(|label| *label == setting.label);
            let row = row.unwrap_or_else(|| {
                labels.push(setting.label.clone());
                counts.push(0);
                labels.len() - 1
            });
            let index = trials.len() as u32;
            trials.push(self.scheduled(setting, index, row as u32, counts[row]));
            counts[row] += 1;
        }
        trials
    }

    fn scheduled(&self, setting: Setting, index: u32, row: u32, iteration: u32) -> ScheduledTrial {
        let target = self.options.target.clone();
        let trial = ScheduledTrial {
            index,
            pause: self.options.pause,
            role: setting.role,
            ..ScheduledTrial::new(setting.label, target, setting.workload)
        };
        trial.in_row(row, iteration, self.options.seed)
    }

    /// Takes note of a trial that has ended.
    fn take(&mut self, trial: &TrialRecord) {
        let row = trial.spec.row;
        let Some((_, record)) = self.rows.get_mut(row as usize) else {
            return;
        };
        if self.plan.looks() {
            record.trials.push(trial.clone());
            let judged = fathom_analysis::judge(record);
            let point = judged.rows.first().and_then(|r| point::of(&judged, r));
            if let Some(point) = point {
                self.points.insert(row, point);
            }
        }
    }

    fn hand_out(&mut self, setting: Setting) -> ScheduledTrial {
        let known = self
            .rows
            .iter()
            .position(|(label, _)| *label == setting.label);
        let row = known.unwrap_or_else(|| {
            let record = RunRecord::unstored(Schedule::nothing(""), self.host.clone());
            self.rows.push((setting.label.clone(), record));
            self.rows.len() - 1
        });
        let record = &mut self.rows[row].1;
        let iteration = record.meta.schedule.trials.len() as u32;
        let trial = self.scheduled(setting, self.index, row as u32, iteration);
        self.rows[row].1.meta.schedule.trials.push(trial.clone());
        self.index += 1;
        trial
    }
}

impl Conductor for CurveConductor {
    fn next(&mut self, last: &[TrialRecord]) -> Step {
        if let [last] = last {
            self.take(last);
        }
        let points: Vec<CurvePoint> = self.points.values().cloned().collect();
        match self.plan.next(&points) {
            Some(setting) => Step::Run(Box::new(self.hand_out(setting))),
            None => Step::End(self.plan.reason()),
        }
    }

    fn looks(&self) -> bool {
        self.plan.looks()
    }
}
