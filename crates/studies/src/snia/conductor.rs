//! Hands out the trials of a test: purge, preconditioning, then rounds until
//! the tracked variable is steady or the rounds are used up.

use fathom_analysis::judgement::{Trial, steady_window};
use fathom_model::conduct::{Conductor, Step};
use fathom_model::fingerprint::Fingerprint;
use fathom_model::run::TrialRecord;
use fathom_model::schedule::{ScheduledTrial, TrialRole};
use fathom_model::snia::{SniaTest, WINDOW_ROUNDS};

use super::plan::{self, SniaCell, SniaOptions, SniaPart};
use super::tracked;

/// The next trial of a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum At {
    /// Of what comes before the rounds.
    Before(usize),
    /// Round, from 0, and cell.
    Round(u32, usize),
}

/// The rounds of a test of the standard.
#[derive(Debug, Clone)]
pub struct SniaRounds {
    options: SniaOptions,
    parts: Vec<SniaPart>,
    part: usize,
    at: At,
    /// The tracked variable of each round of this part.
    tracked: Vec<Option<f64>>,
    /// How each part ended.
    ended: Vec<String>,
    /// Labels of rows in order of appearance.
    rows: Vec<String>,
    index: u32,
}

impl SniaRounds {
    /// A test from its beginning.
    pub fn new(options: SniaOptions) -> SniaRounds {
        SniaRounds {
            parts: plan::parts(&options),
            options,
            part: 0,
            at: At::Before(0),
            tracked: Vec::new(),
            ended: Vec::new(),
            rows: Vec::new(),
            index: 0,
        }
    }

    /// The trials with so many rounds: at least five are needed.
    pub fn expected(&self, rounds: u32) -> Vec<ScheduledTrial> {
        let mut walk = SniaRounds::new(self.options.clone());
        let rounds = rounds.min(walk.rounds_max());
        let mut trials = Vec::new();
        for part in walk.parts.clone() {
            for cell in &part.before {
                trials.push(walk.scheduled(cell, 0, TrialRole::Precondition));
            }
            for round in 0..rounds {
                for cell in &part.cells {
                    trials.push(walk.scheduled(cell, round, TrialRole::Measure));
                }
            }
        }
        trials
    }

    /// A write saturation test is one trial.
    fn rounds_max(&self) -> u32 {
        match self.options.test {
            SniaTest::Wsat => 1,
            _ => self.options.settings.rounds_max.max(1),
        }
    }

    fn scheduled(&mut self, cell: &SniaCell, round: u32, role: TrialRole) -> ScheduledTrial {
        let row = self.rows.iter().position(|label| *label == cell.label);
        let row = row.unwrap_or_else(|| {
            self.rows.push(cell.label.clone());
            self.rows.len() - 1
        });
        // Nothing rests between two cells: the standard wants no idle time.
        let trial = ScheduledTrial {
            index: self.index,
            role,
            ..ScheduledTrial::new(
                cell.label.clone(),
                self.options.target.clone(),
                cell.workload.clone(),
            )
        };
        let trial = trial.in_row(row as u32, round, self.options.seed);
        self.index += 1;
        trial
    }

    fn take(&mut self, last: &TrialRecord) {
        let Some(part) = self.parts.get(self.part) else {
            return;
        };
        let tracked = part.cells.get(part.tracked);
        if last.spec.role == TrialRole::Measure
            && tracked.is_some_and(|cell| cell.label == last.spec.label)
        {
            let nowhere = Fingerprint::default();
            let trial = Trial::new(last, &nowhere);
            self.tracked
                .push(tracked::of_trial(self.options.test, &trial));
        }
    }

    /// Whether the last five rounds are steady.
    fn steady(&self) -> bool {
        let Some(from) = self.tracked.len().checked_sub(WINDOW_ROUNDS) else {
            return false;
        };
        let window: Option<Vec<f64>> = self.tracked[from..].iter().copied().collect();
        let window = window.and_then(|w| steady_window(w, self.options.settings.round_ns));
        window.is_some_and(|window| window.steady)
    }

    /// Goes on to the next round or part, where one has ended.
    fn turn(&mut self) {
        let At::Round(round, cell) = self.at else {
            return;
        };
        if cell < self.parts[self.part].cells.len() {
            return;
        }
        let done = round + 1;
        let steady = self.steady();
        if !steady && done < self.rounds_max() {
            self.at = At::Round(done, 0);
            return;
        }
        if self.options.test != SniaTest::Wsat {
            self.ended.push(match steady {
                true => format!("steady after {done} rounds"),
                false => format!("steady state was not achieved in {done} rounds"),
            });
        }
        self.part += 1;
        self.at = At::Before(0);
        self.tracked.clear();
    }
}

impl Conductor for SniaRounds {
    fn next(&mut self, last: &[TrialRecord]) -> Step {
        if let [last] = last {
            self.take(last);
        }
        if self.part < self.parts.len() {
            self.turn();
        }
        let Some(part) = self.parts.get(self.part) else {
            let reason = self.ended.join("; ");
            return Step::End((!reason.is_empty()).then_some(reason));
        };
        if let At::Before(position) = self.at {
            if let Some(cell) = part.before.get(position).cloned() {
                self.at = At::Before(position + 1);
                let trial = self.scheduled(&cell, 0, TrialRole::Precondition);
                return Step::Run(Box::new(trial));
            }
            self.at = At::Round(0, 0);
        }
        let At::Round(round, position) = self.at else {
            return Step::End(None);
        };
        let Some(cell) = self.parts[self.part].cells.get(position).cloned() else {
            return Step::End(Some("the test has no cell".to_owned()));
        };
        self.at = At::Round(round, position + 1);
        Step::Run(Box::new(self.scheduled(&cell, round, TrialRole::Measure)))
    }

    /// The one trial of a write saturation test is not looked at.
    fn looks(&self) -> bool {
        self.options.test != SniaTest::Wsat
    }
}
