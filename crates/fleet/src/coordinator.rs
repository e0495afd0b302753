//! Carries out the trials that a conductor hands out, and passes everything
//! that happens to a [`Sink`].

use std::collections::HashMap;

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
use crate::message::{Event, TrialStart};

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
    let agent = LocalAgent::start(settings, interrupt)?;
    let mut walk = Walk {
        agent: &agent,
        sink,
        interrupt,
        sink_error: None,
        looks: conductor.looks(),
    };
    let outcome = walk.all_trials(conductor, stop_rules);
    let finished = walk.command_and_listen(Command::Finish, 0, Rules::new());
    let sink_error = walk.sink_error.take();
    if finished.is_ok() {
        agent.join();
    }
    match sink_error {
        Some(message) => Err(Error::Sink(message)),
        None => outcome,
    }
}

/// The stop rules of trials that are under way, by their index.
type Rules = HashMap<u32, Box<dyn StopRule>>;

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
        let mut last: Vec<TrialRecord> = Vec::new();
        // A failure that let the run go on.
        let mut spared: Option<Outcome> = None;
        loop {
            let set = match conductor.next(&last) {
                Step::Run(spec) => vec![*spec],
                Step::RunTogether(set) => set,
                Step::End(reason) => {
                    return Ok(spared.unwrap_or(Outcome {
                        state: RunState::Complete,
                        reason,
                    }));
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
            if let Some(last) = std::mem::take(&mut last).pop() {
                let pause = Command::Pause(last.spec.pause);
                self.command_and_listen(pause, last.spec.index, Rules::new())?;
            }
            if self.interrupt.is_raised() {
                return Ok(interrupted(BETWEEN));
            }
            let first = set.first().map_or(0, |spec| spec.index);
            let of_set = set.iter();
            let of_set =
                of_set.filter_map(|spec| Some((spec.index, by_second(spec, rules(spec)?))));
            let of_set: Rules = of_set.collect();
            last = self.command_and_listen(Command::Set(set), first, of_set)?;
            if last.iter().any(|record| record.state == RunState::Running) {
                return Err(Error::AgentLost { trial: first });
            }
            if let Some(outcome) = early_end(&last) {
                return Ok(outcome);
            }
            spared = spared.or_else(|| spared_failure(&last));
        }
    }

    /// Sends a command and handles events until it has been carried out.
    /// Returns the trials that ended meanwhile, in their order.
    fn command_and_listen(
        &mut self,
        command: Command,
        trial: u32,
        mut rules: Rules,
    ) -> Result<Vec<TrialRecord>, Error> {
        let lost = || Error::AgentLost { trial };
        if !self.agent.command(command) {
            return Err(lost());
        }
        let mut remembered = Remembered::default();
        loop {
            let (event, ack) = match self.agent.next().ok_or_else(lost)? {
                Message::Done => return Ok(remembered.records),
                Message::Event { event, ack } => (event, ack),
            };
            for (trial, reason) in stop_reasons(&mut rules, &event) {
                self.agent.command(Command::EndMeasure { trial, reason });
            }
            remembered.take_note(&event, self.looks);
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

/// A rule sees seconds, however finely they are recorded.
fn by_second(spec: &ScheduledTrial, rule: Box<dyn StopRule>) -> Box<dyn StopRule> {
    match spec.workload.recording.interval_ns {
        Some(_) => Box::new(BySecond::new(rule)),
        None => rule,
    }
}

/// The trials that their stop rules end now, and why. A rule speaks once.
fn stop_reasons(rules: &mut Rules, event: &Event) -> Vec<(u32, String)> {
    let Event::Interval(intervals) = event else {
        return Vec::new();
    };
    let mut reasons = Vec::new();
    for interval in intervals {
        let Some(rule) = rules.get_mut(&interval.trial) else {
            continue;
        };
        let mut measured = interval
            .samples
            .iter()
            .filter(|s| s.phase == Phase::Measure);
        let reason = measured.find_map(|sample| match rule.observe(sample) {
            Decision::Stop(reason) => Some(reason),
            Decision::Continue => None,
        });
        if let Some(reason) = reason {
            rules.remove(&interval.trial);
            reasons.push((interval.trial, reason));
        }
    }
    reasons
}

/// Why trials that have just ended end the run: the first that failed, or else
/// the first that was interrupted.
fn early_end(ended: &[TrialRecord]) -> Option<Outcome> {
    let ends =
        |record: &&TrialRecord| !(record.state == RunState::Failed && record.spec.spares_others);
    let of = |state| ended.iter().filter(ends).find(|r| r.state == state);
    of(RunState::Failed)
        .or_else(|| of(RunState::Interrupted))
        .map(outcome_of)
}

/// A failure among trials that have just ended, after which the run goes on.
fn spared_failure(ended: &[TrialRecord]) -> Option<Outcome> {
    let failed = ended.iter().find(|record| record.state == RunState::Failed);
    failed.map(outcome_of)
}

fn outcome_of(record: &TrialRecord) -> Outcome {
    Outcome {
        state: record.state,
        reason: record.end.as_ref().and_then(|end| end.reason.clone()),
    }
}

/// What a conductor may look at.
#[derive(Default)]
struct Remembered {
    records: Vec<TrialRecord>,
    /// Places of the trials by their index.
    places: HashMap<u32, usize>,
}

impl Remembered {
    fn take_note(&mut self, event: &Event, looks: bool) {
        match event {
            Event::TrialsStarted(starts) => starts.iter().for_each(|start| self.begin(start)),
            Event::Interval(intervals) if looks => {
                for interval in intervals {
                    if let Some(record) = self.record(interval.trial) {
                        record.samples.extend_from_slice(&interval.samples);
                        record
                            .observations
                            .extend_from_slice(&interval.observations);
                    }
                }
            }
            Event::TrialsEnded(endings) => {
                for ending in endings {
                    if let Some(record) = self.record(ending.trial) {
                        record.state = ending.state;
                        record.end = Some(ending.end.clone());
                        if record.spec.workload.recording.interval_ns.is_some() {
                            record.samples = seconds::seconds(&record.samples);
                        }
                    }
                }
            }
            _ => {}
        }
    }

    fn begin(&mut self, start: &TrialStart) {
        self.places.insert(start.spec.index, self.records.len());
        self.records.push(TrialRecord {
            spec: start.spec.clone(),
            started_unix_ns: start.started_unix_ns,
            state: RunState::Running,
            samples: Vec::new(),
            observations: Vec::new(),
            target_before: start.target_before.clone(),
            end: None,
        });
    }

    fn record(&mut self, trial: u32) -> Option<&mut TrialRecord> {
        self.records.get_mut(*self.places.get(&trial)?)
    }
}

fn interrupted(reason: &str) -> Outcome {
    Outcome {
        state: RunState::Interrupted,
        reason: Some(reason.to_owned()),
    }
}
