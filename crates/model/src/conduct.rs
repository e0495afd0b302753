//! Which trial comes next.
//!
//! Most runs carry out a fixed list. Some look at what a trial gave before
//! they choose the next: rounds until a drive is steady, a probe at twice the
//! depth, the search for the highest load that holds a target. The fleet
//! holds a conductor as a value and does not know what it computes.

use std::collections::VecDeque;

use crate::run::TrialRecord;
use crate::schedule::{Schedule, ScheduledTrial, take_set};

/// What a conductor decides.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// Carry out this trial.
    Run(Box<ScheduledTrial>),
    /// Carry out these at the same time: 1 to
    /// [`crate::schedule::MAX_TOGETHER`], each with an index of its own.
    RunTogether(Vec<ScheduledTrial>),
    /// The run is complete; why, when that is earlier than planned.
    End(Option<String>),
    /// The run cannot go on, and why: a command that the user gave failed.
    Fail(String),
}

impl Step {
    /// The step that carries out the next trial of a list, with those that run
    /// at the same time. `None` when none is left.
    pub fn take(left: &mut VecDeque<ScheduledTrial>) -> Option<Step> {
        let mut set = take_set(left);
        match set.len() {
            0 => None,
            1 => set.pop().map(|spec| Step::Run(Box::new(spec))),
            _ => Some(Step::RunTogether(set)),
        }
    }
}

/// Hands out the trials of a run one after the other, or several at a time.
pub trait Conductor: Send {
    /// The next step. `last` is what has just ended as planned, with samples
    /// and observations if [`Conductor::looks`]: one trial, or those that ran
    /// at the same time in their order; empty before the first.
    fn next(&mut self, last: &[TrialRecord]) -> Step;

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
    fn next(&mut self, _last: &[TrialRecord]) -> Step {
        Step::take(&mut self.left).unwrap_or(Step::End(None))
    }

    fn looks(&self) -> bool {
        false
    }
}
