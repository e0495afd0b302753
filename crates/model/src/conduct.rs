//! Which trial comes next.
//!
//! Most runs carry out a fixed list. Some look at what a trial gave before
//! they choose the next: rounds until a drive is steady, a probe at twice the
//! depth, the search for the highest load that holds a target. The fleet
//! holds a conductor as a value and does not know what it computes.

use std::collections::VecDeque;

use crate::run::TrialRecord;
use crate::schedule::{Schedule, ScheduledTrial};

/// What a conductor decides.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// Carry out this trial.
    Run(Box<ScheduledTrial>),
    /// The run is complete; why, when that is earlier than planned.
    End(Option<String>),
    /// The run cannot go on, and why: a command that the user gave failed.
    Fail(String),
}

/// Hands out the trials of a run one at a time.
pub trait Conductor: Send {
    /// The next step. `last` is the trial that has just ended as planned, with
    /// its samples and observations if [`Conductor::looks`]; `None` before the
    /// first.
    fn next(&mut self, last: Option<&TrialRecord>) -> Step;

    /// Whether it looks at samples and observations. If not, they are not
    /// kept in memory for it.
    fn looks(&self) -> bool {
        true
    }
}

/// The trials of a schedule in order, whatever they give.
#[derive(Debug, Clone)]
pub struct InOrder {
    left: VecDeque<ScheduledTrial>,
}

impl InOrder {
    /// Walks this schedule.
    pub fn new(schedule: &Schedule) -> InOrder {
        InOrder {
            left: schedule.trials.iter().cloned().collect(),
        }
    }
}

impl Conductor for InOrder {
    fn next(&mut self, _last: Option<&TrialRecord>) -> Step {
        match self.left.pop_front() {
            Some(spec) => Step::Run(Box::new(spec)),
            None => Step::End(None),
        }
    }

    fn looks(&self) -> bool {
        false
    }
}
