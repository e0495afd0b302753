//! A look at all trials of a schedule before the first one starts.

use std::fmt;

use fathom_engine::{Error, Preflight};
use fathom_model::Schedule;

use crate::agent::job_of;
use crate::coordinator::Settings;

/// Why a schedule cannot be carried out on this host.
#[derive(Debug, thiserror::Error)]
pub struct Refused {
    /// Labels of the impossible trials, in the order of the schedule.
    pub labels: Vec<String>,
    /// Number of trials in the schedule.
    pub trials: usize,
    /// Why the first of them is impossible, and what to do about it.
    pub reason: String,
    /// The target of the first of them is not there.
    pub no_such_target: bool,
}

impl Refused {
    /// Whether other trials of the schedule could run.
    pub fn is_partial(&self) -> bool {
        self.labels.len() < self.trials
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.reason)?;
        match self.labels.split_first() {
            Some((first, [])) if self.is_partial() => {
                write!(f, " (1 of {} trials: {first})", self.trials)
            }
            Some((first, _)) if self.is_partial() => {
                let (refused, all) = (self.labels.len(), self.trials);
                write!(f, " ({refused} of {all} trials, {first} first)")
            }
            _ => Ok(()),
        }
    }
}

/// Checks every trial of `schedule` against its target on this host. Nothing is
/// created, written to or sent.
///
/// # Errors
/// [`Refused`] when at least one trial cannot run.
pub fn preflight(schedule: &Schedule, settings: &Settings) -> Result<(), Refused> {
    let mut checks = Preflight::default();
    let mut refused: Option<Refused> = None;
    for trial in &schedule.trials {
        let Err(error) = checks.check(&job_of(settings, trial)) else {
            continue;
        };
        let first = refused.get_or_insert_with(|| Refused {
            labels: Vec::new(),
            trials: schedule.trials.len(),
            reason: error.to_string(),
            no_such_target: matches!(error, Error::Missing { .. }),
        });
        first.labels.push(trial.label.clone());
    }
    refused.map_or(Ok(()), Err)
}
