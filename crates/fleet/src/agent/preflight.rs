//! A look at all trials of a schedule before the first one starts.

use fathom_engine::{Error, Preflight};
use fathom_model::{Schedule, ScheduledTrial};

use crate::admission;
use crate::agent::host_part;
use crate::agent::refusal::TrialRefusal;
use crate::agent::{Agent, job_of};
use crate::protocol::refusal::ScheduleRefusal;
use crate::settings::Settings;

/// Checks every trial of `schedule` against its target on this host. Nothing is
/// created or written to; a store is asked once whether it lets these keys in.
///
/// # Errors
/// [`ScheduleRefusal`] when at least one trial cannot run.
pub fn preflight(schedule: &Schedule, settings: &Settings) -> Result<(), ScheduleRefusal> {
    check_all(schedule.trials.clone(), settings, |_| Ok(()))
}

impl Agent {
    /// Checks trials that a coordinator is going to ask for, and tells it of those
    /// that cannot run.
    pub(crate) fn check_planned(&self, specs: Vec<ScheduledTrial>) {
        let checked = check_all(specs, &self.settings, |spec| self.admit(spec));
        if let Err(refused) = checked {
            self.link.refuse(refused);
        }
    }

    /// Whether a trial may be carried out here. It becomes that of this host's
    /// part of the data.
    pub(crate) fn admit(&self, spec: &mut ScheduledTrial) -> Result<(), TrialRefusal> {
        if let Some(policy) = &self.policy {
            // In a local run the plan has been checked in the same process.
            admission::check_set(std::slice::from_ref(spec))
                .map_err(|refused| TrialRefusal::Inadmissible(refused.error))?;
            policy.check(spec, self.settings.destructive)?;
            if let Some(peer) = spec.workload.peer() {
                policy.check_peer(peer, self.peers.as_deref())?;
            }
        }
        Ok(host_part::take(spec)?)
    }
}

/// Checks trials one after the other; `admit` has the first word on each.
fn check_all(
    specs: Vec<ScheduledTrial>,
    settings: &Settings,
    admit: impl Fn(&mut ScheduledTrial) -> Result<(), TrialRefusal>,
) -> Result<(), ScheduleRefusal> {
    let mut checks = Preflight::default();
    let mut refused: Option<ScheduleRefusal> = None;
    let trials = specs.len();
    for mut spec in specs {
        let checked = match admit(&mut spec) {
            Err(refusal) => Err((refusal.to_string(), false)),
            // The host that makes the files looks whether it can.
            Ok(()) if host_part::of_another(&spec) => Ok(()),
            Ok(()) => checks
                .check(&job_of(settings, &spec))
                .map_err(|error| (error.to_string(), matches!(error, Error::Missing { .. }))),
        };
        let Err((reason, no_such_target)) = checked else {
            continue;
        };
        let first = refused.get_or_insert_with(|| ScheduleRefusal {
            labels: Vec::new(),
            trials,
            reason,
            no_such_target,
        });
        first.labels.push(spec.label);
    }
    refused.map_or(Ok(()), Err)
}
