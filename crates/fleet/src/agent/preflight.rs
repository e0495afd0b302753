//! A look at all trials of a schedule before the first one starts.

use std::collections::BTreeSet;
use std::path::Path;

use fathom_deadline::ChangeWatch;
use fathom_engine::Preflight;
use fathom_model::{Schedule, ScheduledTrial, Target};

use crate::admission;
use crate::agent::host_part;
use crate::agent::refusal::TrialRefusal;
use crate::agent::{Agent, job_of};
use crate::protocol::message::Event;
use crate::protocol::refusal::ScheduleRefusal;
use crate::settings::Settings;

/// Targets whose file systems are watched.
const WATCHED_MAX: usize = 8;

/// Checks every trial of `schedule` against its target on this host. Nothing is
/// created or written to; a store is asked once whether it lets these keys in.
///
/// # Errors
/// [`ScheduleRefusal`] when at least one trial cannot run.
pub fn preflight(schedule: &Schedule, settings: &Settings) -> Result<(), ScheduleRefusal> {
    let tell = || fathom_deadline::tell_of_waiting;
    check_all(schedule.trials.clone(), settings, |_| Ok(()), tell)
}

/// Tells while the file systems of targets are held up, until it is dropped.
fn watch_changes<'t, T: Fn(&str) + Send + 'static>(
    targets: impl Iterator<Item = &'t Target>,
    tell: impl Fn() -> T,
) -> Vec<ChangeWatch> {
    let paths: BTreeSet<&Path> = targets.filter_map(Target::path).collect();
    let some = paths.into_iter().take(WATCHED_MAX);
    some.map(|path| ChangeWatch::start(path, tell())).collect()
}

impl Agent {
    /// Checks trials that a coordinator is going to ask for, and tells it of those
    /// that cannot run.
    pub(crate) fn check_planned(&self, specs: Vec<ScheduledTrial>) {
        let (settings, tell) = (&self.settings, || self.tell_of_waiting());
        let checked = check_all(specs, settings, |spec| self.admit(spec), tell);
        if let Err(refused) = checked {
            self.link.refuse(refused);
        }
    }

    /// Tells the coordinator while the file systems of targets are held up that may be
    /// touched here.
    pub(crate) fn watch_changes<'t>(
        &self,
        targets: impl Iterator<Item = &'t Target>,
    ) -> Vec<ChangeWatch> {
        watch_changes(targets, || self.tell_of_waiting())
    }

    fn tell_of_waiting(&self) -> impl Fn(&str) + Send + 'static {
        let teller = self.link.teller();
        move |text| teller(Event::Waiting(text.to_owned()))
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

/// Checks trials one after the other; `admit` has the first word on each. Whoever
/// `tell` makes is told of file systems that are held up.
fn check_all<T: Fn(&str) + Send + 'static>(
    specs: Vec<ScheduledTrial>,
    settings: &Settings,
    admit: impl Fn(&mut ScheduledTrial) -> Result<(), TrialRefusal>,
    tell: impl Fn() -> T,
) -> Result<(), ScheduleRefusal> {
    let mut checks = Preflight::default();
    let mut refused: Option<ScheduleRefusal> = None;
    let trials = specs.len();
    for mut spec in specs {
        let checked = match admit(&mut spec) {
            Err(refusal) => Err((refusal.to_string(), false)),
            // The host that makes the files looks whether it can.
            Ok(()) if host_part::of_another(&spec) => Ok(()),
            Ok(()) => {
                let _held_up = watch_changes([&spec.target].into_iter(), &tell);
                checks
                    .check(&job_of(settings, &spec))
                    .map_err(|error| (error.in_lines(), error.is_wrong_name()))
            }
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
