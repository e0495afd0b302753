//! Carries out the trials that a conductor hands out, and passes everything
//! that happens to a [`Sink`].

mod agents;
pub(crate) mod clean_hosts;
mod clock;
pub(crate) mod error;
pub(crate) mod fleet;
mod fleet_step;
pub(crate) mod gathering;
pub(crate) mod remote;
mod silence;
pub(crate) mod sink;
pub(crate) mod stop_rules;

mod trial_records;
mod walk;

use fathom_model::Schedule;
use fathom_model::conduct::Conductor;

use crate::coordinator::agents::Agents;
use crate::coordinator::fleet::Fleet;
use crate::coordinator::sink::{Outcome, Sink};
use crate::coordinator::stop_rules::StopRules;
use crate::coordinator::walk::Walk;
use crate::error::Error;
use crate::interrupt::Interrupt;
use crate::settings::Settings;

/// Runs the trials that `conductor` hands out, one after the other or in sets
/// at the same time.
///
/// A trial that fails or is interrupted ends the run; the files that the run
/// created are removed in any case (unless they are to be kept).
pub fn run_schedule(
    conductor: &mut dyn Conductor,
    settings: &Settings,
    stop_rules: StopRules<'_>,
    interrupt: &Interrupt,
    sink: &mut dyn Sink,
) -> Result<Outcome, Error> {
    let agents = Agents::local(settings, interrupt)?;
    Walk::new(agents, 0, sink, interrupt, conductor.looks()).carry_out(&[], conductor, stop_rules)
}

/// The same on the hosts of a fleet: each carries out the trials of its place,
/// those of a set begin on all of them at the same moment. As many hosts as
/// the fleet allows may be lost on the way.
///
/// All hosts check the trials of `planned` before the first of them begins: what
/// cannot work on one of them is found before it costs time on all.
pub fn run_on_fleet(
    fleet: Fleet,
    planned: &Schedule,
    conductor: &mut dyn Conductor,
    settings: &Settings,
    stop_rules: StopRules<'_>,
    interrupt: &Interrupt,
    sink: &mut dyn Sink,
) -> Result<Outcome, Error> {
    let allow_missing = fleet.may_still_miss();
    let (agents, events) = fleet.into_agents();
    let agents = Agents::remote(agents, events, settings);
    Walk::new(agents, allow_missing, sink, interrupt, conductor.looks()).carry_out(
        &planned.trials,
        conductor,
        stop_rules,
    )
}
