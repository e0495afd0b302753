//! One trial of a set while it is carried out.

use fathom_engine::Prepared;
use fathom_model::run::TrialEnd;
use fathom_model::{Job, RunState, ScheduledTrial};

use crate::agent::EarlyEnd;
use crate::protocol::message::TrialEnding;

/// One trial of a set. A trial that runs alone is a set of one.
pub(crate) struct Member {
    pub(crate) spec: ScheduledTrial,
    pub(crate) job: Job,
    pub(crate) prepared: Option<Prepared>,
    pub(crate) end: TrialEnd,
    /// Why it did not come to its planned end.
    pub(crate) early: Option<EarlyEnd>,
    /// Names of the devices under its target.
    pub(crate) devices: Vec<String>,
    /// Data operations per second of its measure phase.
    pub(crate) ops_per_second: f64,
    /// Its operations took too long in the end, and none came back any more.
    pub(crate) fell_silent: bool,
}

impl Member {
    pub(crate) fn new(spec: ScheduledTrial, job: Job) -> Member {
        let mut end = TrialEnd::default();
        end.engine.requested = Some(job.workload.engine);
        Member {
            spec,
            job,
            prepared: None,
            end,
            early: None,
            devices: Vec::new(),
            ops_per_second: 0.0,
            fell_silent: false,
        }
    }

    /// What the coordinator is told at the end.
    pub(crate) fn ending(self) -> TrialEnding {
        let mut end = self.end;
        let state = match self.early {
            None => RunState::Complete,
            Some(early) => {
                end.reason = Some(early.reason);
                early.state
            }
        };
        TrialEnding {
            trial: self.spec.index,
            state,
            end,
        }
    }
}

/// Ends a set because one of its trials could not go on.
pub(crate) fn end_all(members: &mut [Member], culprit: usize, early: EarlyEnd) {
    let label = members[culprit].spec.label.clone();
    for (place, member) in members.iter_mut().enumerate() {
        if member.early.is_some() {
            continue;
        }
        member.early = Some(
            if place == culprit || early.state == RunState::Interrupted {
                early.clone()
            } else {
                EarlyEnd::interrupted(beside(&label, &early.reason))
            },
        );
    }
}

/// Why a trial ends with another one of its set.
pub(crate) fn beside(label: &str, reason: &str) -> String {
    format!("'{label}', which runs at the same time, could not go on: {reason}")
}
