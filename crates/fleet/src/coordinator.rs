//! Carries out the trials that a conductor hands out, and passes everything
//! that happens to a [`Sink`].

use fathom_model::conduct::{Conductor, Step};
use fathom_model::run::TrialRecord;
use fathom_model::sample::Phase;
use fathom_model::seconds::{self, BySecond};
use fathom_model::stop::{Decision, StopRule};
use fathom_model::{RunState, ScheduledTrial};

use fathom_observe::Sysroot;

use crate::error::Error;
use crate::interrupt::Interrupt;
use crate::local::{Command, LocalAgent, Message};
use crate::message::Event;

/// What a run needs besides its schedule.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Stamped into every written block.
    pub run_tag: u64,
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

/// Where everything that happens goes: the store, the progress line.
pub trait Sink {
    /// Handles one event. An error ends the run; what was measured is kept.
    fn event(&mut self, event: Event) -> Result<(), String>;
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// How far it came.
    pub state: RunState,
    /// Why it ended early.
    pub reason: Option<String>,
}

/// Makes the stop rule of a trial, if it has one.
pub type StopRules<'a> = &'a dyn Fn(&ScheduledTrial) -> Option<Box<dyn StopRule>>;

/// Runs the trials that `conductor` hands out, one after the other.
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
    let agent = LocalAgent::start(settings, interrupt)?;
    let mut walk = Walk {
        agent: &agent,
        sink,
        interrupt,
        sink_error: None,
        looks: conductor.looks(),
    };
    let outcome = walk.all_trials(conductor, stop_rules);
    let finished = walk.command_and_listen(Command::Finish, 0, None);
    let sink_error = walk.sink_error.take();
    if finished.is_ok() {
        agent.join();
    }
    match sink_error {
        Some(message) => Err(Error::Sink(message)),
        None => outcome,
    }
}

/// Why a run ended between two trials.
const BETWEEN: &str = "ended by the user between two trials";

struct Walk<'a> {
    agent: &'a LocalAgent,
    sink: &'a mut dyn Sink,
    interrupt: &'a Interrupt,
    /// The first failure of the sink. The agent is still wound down in order.
    sink_error: Option<String>,
    /// Whether the conductor looks at samples and observations.
    looks: bool,
}

impl Walk<'_> {
    fn all_trials(
        &mut self,
        conductor: &mut dyn Conductor,
        rules: StopRules<'_>,
    ) -> Result<Outcome, Error> {
        let mut last: Option<TrialRecord> = None;
        loop {
            let spec = match conductor.next(last.as_ref()) {
                Step::Run(spec) => spec,
                Step::End(reason) => {
                    return Ok(Outcome {
                        state: RunState::Complete,
                        reason,
                    });
                }
                // Ctrl-C reaches a command of the user's as well.
                Step::Fail(_) if self.interrupt.is_raised() => return Ok(interrupted(BETWEEN)),
                Step::Fail(reason) => {
                    return Ok(Outcome {
                        state: RunState::Failed,
                        reason: Some(reason),
                    });
                }
            };
            if let Some(last) = last.take() {
                let pause = Command::Pause(last.spec.pause);
                self.command_and_listen(pause, last.spec.index, None)?;
            }
            if self.interrupt.is_raised() {
                return Ok(interrupted(BETWEEN));
            }
            let index = spec.index;
            // A rule sees seconds, however finely they are recorded.
            let rule = rules(&spec).map(|rule| match spec.workload.recording.interval_ns {
                Some(_) => Box::new(BySecond::new(rule)),
                None => rule,
            });
            let ended = self.command_and_listen(Command::Trial(spec), index, rule)?;
            let record = ended.ok_or(Error::AgentLost { trial: index })?;
            if record.state != RunState::Complete {
                return Ok(Outcome {
                    state: record.state,
                    reason: record.end.and_then(|end| end.reason),
                });
            }
            last = Some(record);
        }
    }

    /// Sends a command and handles events until it has been carried out.
    /// Returns the trial that ended meanwhile.
    fn command_and_listen(
        &mut self,
        command: Command,
        trial: u32,
        mut rule: Option<Box<dyn StopRule>>,
    ) -> Result<Option<TrialRecord>, Error> {
        let lost = || Error::AgentLost { trial };
        if !self.agent.command(command) {
            return Err(lost());
        }
        let mut record = None;
        loop {
            let (event, ack) = match self.agent.next().ok_or_else(lost)? {
                Message::Done => return Ok(record),
                Message::Event { event, ack } => (event, ack),
            };
            if let Some(reason) = stop_reason(&mut rule, &event) {
                rule = None;
                self.agent.command(Command::EndMeasure(reason));
            }
            remember(&mut record, &event, self.looks);
            let handled = self.handle(event);
            if let Some(ack) = ack {
                // The agent waits for the answer; if it died, `next` says so.
                let _ = ack.send(handled);
            }
        }
    }

    fn handle(&mut self, event: Event) -> Result<(), String> {
        let result = self.sink.event(event);
        if let Err(message) = &result
            && self.sink_error.is_none()
        {
            self.sink_error = Some(message.clone());
            self.interrupt.raise();
        }
        result
    }
}

fn stop_reason(rule: &mut Option<Box<dyn StopRule>>, event: &Event) -> Option<String> {
    let (Some(rule), Event::Interval { samples, .. }) = (rule, event) else {
        return None;
    };
    samples
        .iter()
        .filter(|s| s.phase == Phase::Measure)
        .find_map(|s| match rule.observe(s) {
            Decision::Stop(reason) => Some(reason),
            Decision::Continue => None,
        })
}

/// Keeps what a conductor may look at.
fn remember(record: &mut Option<TrialRecord>, event: &Event, looks: bool) {
    match (event, record) {
        (Event::TrialStarted(start), record) => {
            *record = Some(TrialRecord {
                spec: start.spec.clone(),
                started_unix_ns: start.started_unix_ns,
                state: RunState::Running,
                samples: Vec::new(),
                observations: Vec::new(),
                target_before: start.target_before.clone(),
                end: None,
            });
        }
        (
            Event::Interval {
                samples,
                observations,
            },
            Some(record),
        ) if looks => {
            record.samples.extend_from_slice(samples);
            record.observations.extend_from_slice(observations);
        }
        (Event::TrialEnded { state, end }, Some(record)) => {
            record.state = *state;
            record.end = Some((**end).clone());
            if record.spec.workload.recording.interval_ns.is_some() {
                record.samples = seconds::seconds(&record.samples);
            }
        }
        _ => {}
    }
}

fn interrupted(reason: &str) -> Outcome {
    Outcome {
        state: RunState::Interrupted,
        reason: Some(reason.to_owned()),
    }
}
