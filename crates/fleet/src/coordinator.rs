//! Carries out the trials that a conductor hands out, and passes everything
//! that happens to a [`Sink`].

use std::path::Path;

use fathom_engine::FileIdentity;
use fathom_model::conduct::Conductor;
use fathom_model::run::TrialRecord;
use fathom_model::{RunState, Schedule};
use fathom_observe::Sysroot;

use crate::agents::Agents;
use crate::error::Error;
use crate::fleet::Fleet;
use crate::interrupt::Interrupt;
use crate::message::Event;
use crate::rules::StopRules;
use crate::walk::Walk;

/// What a run needs besides its schedule.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Id of the run: under it agents hold what could not be delivered.
    pub run: String,
    /// Name of test files, without their number.
    pub file_prefix: String,
    /// The user allowed devices and foreign files to be overwritten.
    pub destructive: bool,
    /// Test files stay for later runs.
    pub keep_files: bool,
    /// How long the generator's ceiling is measured before a workload of a
    /// new shape; 0 leaves it out.
    pub ceiling_ns: u64,
    /// Where `/proc` and `/sys` are read.
    pub sysroot: Sysroot,
}

impl Settings {
    /// Stamped into every written block, and part of the names of objects.
    pub(crate) fn run_tag(&self) -> u64 {
        fathom_model::run::tag_of(&self.run)
    }
}

/// Where everything that happens goes: the store, the progress line.
pub trait Sink {
    /// Handles one event. An error ends the run; what was measured is kept.
    fn event(&mut self, event: Event) -> Result<(), String>;

    /// Whether an earlier run made this very file, by a name that the user
    /// chose.
    fn made(&mut self, _path: &Path, _identity: &FileIdentity) -> bool {
        false
    }

    /// Gives back the series of a trial that has just ended, for a conductor that
    /// looks at them. False where they are not kept here: then they are kept in
    /// memory while the trial runs.
    fn recall(&mut self, _trial: &mut TrialRecord) -> bool {
        false
    }

    /// Whether [`Sink::recall`] gives series back.
    fn recalls(&self) -> bool {
        false
    }
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// How far it came.
    pub state: RunState,
    /// Why it ended early.
    pub reason: Option<String>,
}

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
