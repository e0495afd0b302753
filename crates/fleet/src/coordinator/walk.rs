//! The way through a schedule: step by step, on one agent or on many.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use fathom_model::conduct::{Conductor, Step};
use fathom_model::run::TrialRecord;
use fathom_model::{RunState, ScheduledTrial, seconds};

use crate::coordinator::agents::Agents;
use crate::coordinator::fleet_step::FleetStep;
use crate::coordinator::silence::{Remedy, Silence};
use crate::coordinator::sink::{Outcome, Sink, SinkError};
use crate::coordinator::stop_rules::{self, Rules, StopRules};
use crate::error::Error;
use crate::interrupt::{Interrupt, Urgency};
use crate::protocol::link::{Command, Message};
use crate::protocol::message::Event;
use crate::protocol::reason::Reason;
use crate::protocol::refusal::{self, ScheduleRefusal};
use crate::session::spool;

/// Why a run ended between two trials.
const BETWEEN: &str = "interrupted (Ctrl-C or SIGTERM)";

/// How often the user's wish to end is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// A run that is under way.
pub(crate) struct Walk<'a> {
    pub(crate) agents: Agents,
    sink: &'a mut dyn Sink,
    interrupt: &'a Interrupt,
    /// The first failure of the sink. The agents are still wound down in
    /// order.
    sink_error: Option<SinkError>,
    /// Whether the conductor looks at samples and observations, and they are
    /// kept in memory for it.
    looks: bool,
    /// Whether it looks at them, and the sink gives them back.
    recalls: bool,
    /// How many hosts may fail or get lost.
    allow_missing: usize,
    /// Hosts that were lost or failed, and why.
    out: BTreeMap<usize, String>,
    /// Why the rest is being ended: for the run, and for the other hosts.
    cancelled: Option<(String, String)>,
    /// What hosts said that they cannot carry out.
    refused: Vec<(usize, ScheduleRefusal)>,
}

impl<'a> Walk<'a> {
    pub(crate) fn new(
        agents: Agents,
        allow_missing: usize,
        sink: &'a mut dyn Sink,
        interrupt: &'a Interrupt,
        looks: bool,
    ) -> Walk<'a> {
        let recalls = looks && sink.recalls();
        Walk {
            looks: looks && !recalls,
            recalls,
            agents,
            sink,
            interrupt,
            sink_error: None,
            allow_missing,
            out: BTreeMap::new(),
            cancelled: None,
            refused: Vec::new(),
        }
    }

    /// All trials, then the end of the agents.
    pub(crate) fn carry_out(
        mut self,
        planned: &[ScheduledTrial],
        conductor: &mut dyn Conductor,
        rules: StopRules<'_>,
    ) -> Result<Outcome, Error> {
        let outcome = match self.check(planned) {
            Ok(None) => self.all_trials(conductor, rules),
            Ok(Some(refused)) => Ok(refused),
            Err(error) => Err(error),
        };
        if self.tell_all(&Command::Finish, 0).is_ok() {
            self.agents.join();
        }
        match self.sink_error.take() {
            Some(error) => Err(Error::Sink(error)),
            None => outcome,
        }
    }

    /// Has each host check what it is going to do before any of them begins. How
    /// the run ends, where more hosts refuse than may be missing.
    fn check(&mut self, planned: &[ScheduledTrial]) -> Result<Option<Outcome>, Error> {
        let mut by_place: BTreeMap<usize, Vec<ScheduledTrial>> = BTreeMap::new();
        for spec in planned {
            let place = spec.host.map_or(0, |host| host as usize);
            by_place.entry(place).or_default().push(spec.clone());
        }
        let present = self.agents.present();
        by_place.retain(|place, _| present.contains(place));
        let commands = by_place.into_iter();
        let commands = commands.map(|(place, specs)| (place, Command::Check(specs)));
        self.command_and_listen(commands.collect(), 0, Rules::new())?;
        if let Some((reason, _)) = self.cancelled.take() {
            return Ok(Some(failed(reason)));
        }
        let refused = std::mem::take(&mut self.refused).into_iter();
        let refused: Vec<(String, ScheduleRefusal)> = refused
            .map(|(place, refused)| {
                let name = self.agents.name(place).unwrap_or_default().to_owned();
                self.out.insert(place, format!("{name}: {refused}"));
                (name, refused)
            })
            .collect();
        if refused.is_empty() {
            return Ok(None);
        }
        let words = refusal::in_words(&refused);
        if self.out.len() > self.allow_missing {
            return Ok(Some(Outcome {
                no_such_target: refused.iter().all(|(_, refused)| refused.no_such_target),
                ..failed(words)
            }));
        }
        let _ = self.handle(Event::Note(format!("going on without {words}")));
        Ok(None)
    }

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
                    if let Some(reason) = &reason {
                        let _ = self.handle(Event::Note(format!("no further trials: {reason}")));
                    }
                    return Ok(spared.unwrap_or(Outcome {
                        state: RunState::Complete,
                        reason,
                        no_such_target: false,
                    }));
                }
                // Ctrl-C reaches a command of the user's as well.
                Step::Fail(_) if self.interrupt.is_raised() => return Ok(interrupted(BETWEEN)),
                Step::Fail(reason) => return Ok(failed(reason)),
            };
            if let Some(last) = std::mem::take(&mut last).pop() {
                self.tell_all(&Command::Pause(last.spec.pause), last.spec.index)?;
            }
            if self.interrupt.is_raised() {
                return Ok(interrupted(BETWEEN));
            }
            let first = set.first().map_or(0, |spec| spec.index);
            last = self.set(set, rules)?;
            if let Some((reason, _)) = self.cancelled.take() {
                return Ok(failed(reason));
            }
            if last.iter().any(|record| record.state == RunState::Running) {
                return Err(Error::AgentLost { trial: first });
            }
            if let Some(outcome) = self.early_end(&last) {
                return Ok(outcome);
            }
            spared = spared.or_else(|| self.spared_failure(&last));
            // A conductor is told of what ended as planned.
            last.retain(|record| record.state == RunState::Complete);
            if self.recalls {
                last.iter_mut().for_each(|record| self.recall(record));
            }
        }
    }

    /// Brings back what a trial measured, in seconds.
    fn recall(&mut self, record: &mut TrialRecord) {
        if self.sink.recall(record) && record.spec.workload.recording.interval_ns.is_some() {
            record.samples = seconds::seconds(&record.samples);
        }
    }

    /// Carries out a set, each trial on its host.
    fn set(
        &mut self,
        set: Vec<ScheduledTrial>,
        rules: StopRules<'_>,
    ) -> Result<Vec<TrialRecord>, Error> {
        let first = set.first().map_or(0, |spec| spec.index);
        let rules = stop_rules::of_set(&set, rules);
        let mut by_place: BTreeMap<usize, Vec<ScheduledTrial>> = BTreeMap::new();
        for spec in set {
            let place = spec.host.map_or(0, |host| host as usize);
            by_place.entry(place).or_default().push(spec);
        }
        // Whoever failed once, or is gone, takes no further part.
        let present = self.agents.present();
        by_place.retain(|place, _| present.contains(place) && !self.out.contains_key(place));
        let commands = by_place.into_iter();
        let commands = commands.map(|(place, specs)| (place, Command::Set(specs)));
        self.command_and_listen(commands.collect(), first, rules)
    }

    fn tell_all(&mut self, command: &Command, trial: u32) -> Result<(), Error> {
        let present = self.agents.present().into_iter();
        let commands = present.map(|place| (place, command.clone())).collect();
        self.command_and_listen(commands, trial, Rules::new())
            .map(drop)
    }

    /// Sends commands and handles events until all have been carried out.
    /// Returns the trials that ended meanwhile, in their order.
    fn command_and_listen(
        &mut self,
        commands: Vec<(usize, Command)>,
        trial: u32,
        mut rules: Rules,
    ) -> Result<Vec<TrialRecord>, Error> {
        let mut pending = BTreeSet::new();
        for (place, command) in commands {
            if !self.agents.command(place, command) && self.agents.name(place).is_none() {
                return Err(Error::AgentLost { trial });
            }
            // That a connection broke is told by whoever reads from it.
            pending.insert(place);
        }
        pending.retain(|place| self.agents.present().contains(place));
        let mut together = FleetStep::new(pending, self.looks);
        let mut silence = Silence::default();
        while !together.is_over() {
            self.pass_on_wishes();
            let Some((place, message)) = self.agents.next(LOOK_EVERY) else {
                self.heed_silence(&mut silence, trial)?;
                continue;
            };
            silence.broken();
            match message {
                Message::Done => together.done(place),
                Message::Ready => together.ready(place),
                Message::Lost(_) if self.agents.name(place).is_none() => {
                    return Err(Error::AgentLost { trial });
                }
                Message::Lost(reason) => self.lost(place, &reason, &mut together),
                Message::Refused(refused) => self.refused.push((place, *refused)),
                // Nobody asked for it during a run.
                Message::Held(_) | Message::NetworkServed(_) => {}
                Message::Event { event, ack } => {
                    for (trial, reason) in stop_rules::stop_reasons(&mut rules, &event) {
                        self.agents
                            .command(place, Command::EndMeasure { trial, reason });
                    }
                    let counts = spool::counts(&event);
                    let handled = self.take_in(place, event, &mut together);
                    if counts {
                        self.agents.handled(place);
                    }
                    if let Some(ack) = ack {
                        ack.answer(handled);
                    }
                }
            }
            self.pass(&mut together);
        }
        self.pass(&mut together);
        Ok(together.into_records())
    }

    /// Leaves behind an agent of this process that hangs in its target, once the
    /// run is to end. Those elsewhere are lost with their connection.
    fn heed_silence(&mut self, silence: &mut Silence, trial: u32) -> Result<(), Error> {
        let mut present = self.agents.present().into_iter();
        if present.any(|place| self.agents.name(place).is_some()) {
            return Ok(());
        }
        match silence.goes_on(self.interrupt.urgency(), Instant::now()) {
            Remedy::Wait => Ok(()),
            Remedy::Tell => {
                let note = "an operation on the target does not return; Ctrl-C again leaves it";
                let _ = self.handle(Event::Note(note.to_owned()));
                Ok(())
            }
            Remedy::LeaveBehind => Err(Error::AgentHangs { trial }),
        }
    }

    /// Handles what is due, and opens the gate when all are ready.
    fn pass(&mut self, together: &mut FleetStep) {
        for event in together.due() {
            // The first failure of the sink is kept.
            let _ = self.handle(event);
        }
        if together.is_ready() && self.cancelled.is_none() {
            together.open(&self.agents);
        }
    }

    fn take_in(
        &mut self,
        place: usize,
        event: Event,
        together: &mut FleetStep,
    ) -> Result<(), Reason> {
        if let Event::TrialsEnded(endings) = &event
            && self.agents.name(place).is_some()
            && let Some(ending) = endings.iter().find(|e| e.state == RunState::Failed)
        {
            let reason = ending.end.reason.clone().unwrap_or_default();
            self.leave_out(place, &reason);
        }
        let (name, clock) = (self.agents.name(place), self.agents.clock(place));
        match together.take_in(place, event, name, clock) {
            Some(event) => self.handle(event),
            None => Ok(()),
        }
    }

    /// The connection to a host has ended.
    fn lost(&mut self, place: usize, reason: &str, together: &mut FleetStep) {
        let name = self.agents.name(place).unwrap_or_default().to_owned();
        self.agents.forget(place);
        let reason = format!("the agent was lost: {reason}");
        let mut note = format!("{name}: {reason}");
        if together.may_leave_files(place) {
            note.push_str("; files that it made may still lie there");
        }
        let _ = self.handle(Event::Note(note));
        together.lost(place, &format!("{name}: {reason}"));
        self.out.remove(&place);
        let for_others = format!("ended because host {name} was lost");
        self.leave_out_named(place, format!("{name}: {reason}"), for_others);
    }

    fn leave_out(&mut self, place: usize, reason: &str) {
        let name = self.agents.name(place).unwrap_or_default().to_owned();
        let for_others = format!("ended because a trial failed on host {name}");
        self.leave_out_named(place, format!("{name}: {reason}"), for_others);
    }

    /// A host takes no further part. When too many do not, the rest ends.
    fn leave_out_named(&mut self, place: usize, reason: String, for_others: String) {
        self.out.insert(place, reason);
        if self.out.len() <= self.allow_missing || self.cancelled.is_some() {
            return;
        }
        let list: Vec<&str> = self.out.values().map(String::as_str).collect();
        self.cancelled = Some((list.join("; "), for_others));
    }

    /// Tells agents elsewhere when the run is to end early.
    fn pass_on_wishes(&mut self) {
        let (level, why) = match (self.interrupt.urgency(), &self.cancelled) {
            (Urgency::None, None) => (0, None),
            (Urgency::None, Some((_, why))) => (1, Some(why.as_str())),
            (Urgency::Soon, _) => (1, None),
            (Urgency::Now, _) => (2, None),
        };
        self.agents.interrupt(level, why);
    }

    fn handle(&mut self, event: Event) -> Result<(), Reason> {
        if let Event::FileFound { path, identity } = &event {
            return match self.sink.made(path, identity) {
                true => Ok(()),
                false => Err(Reason::of("fathom did not make it")),
            };
        }
        let result = self.sink.event(event);
        if let Err(error) = &result
            && self.sink_error.is_none()
        {
            self.sink_error = Some(error.clone());
            self.interrupt.raise();
        }
        result.map_err(Reason::of)
    }

    /// Whether the loss of a trial's host is allowed.
    fn excused(&self, record: &TrialRecord) -> bool {
        let place = record.spec.host.map(|host| host as usize);
        place.is_some_and(|place| self.out.contains_key(&place))
    }

    /// Why trials that have just ended end the run: the first that failed, or
    /// else the first that was interrupted. Hosts that may be missing do not,
    /// nor do failures that spare the others.
    fn early_end(&self, ended: &[TrialRecord]) -> Option<Outcome> {
        let spares = |r: &TrialRecord| r.state == RunState::Failed && r.spec.spares_others;
        let of = |state| {
            let mut of_state = ended.iter().filter(|record| record.state == state);
            of_state.find(|record| !self.excused(record) && !spares(record))
        };
        of(RunState::Failed)
            .or_else(|| of(RunState::Interrupted))
            .map(outcome_of)
    }

    /// A failure among trials that have just ended, after which the run goes on.
    fn spared_failure(&self, ended: &[TrialRecord]) -> Option<Outcome> {
        let mut failed = ended.iter().filter(|r| r.state == RunState::Failed);
        failed.find(|record| !self.excused(record)).map(outcome_of)
    }
}

fn outcome_of(record: &TrialRecord) -> Outcome {
    Outcome {
        state: record.state,
        reason: record.end.as_ref().and_then(|end| end.reason.clone()),
        no_such_target: false,
    }
}

fn failed(reason: String) -> Outcome {
    Outcome {
        state: RunState::Failed,
        reason: Some(reason),
        no_such_target: false,
    }
}

fn interrupted(reason: &str) -> Outcome {
    Outcome {
        state: RunState::Interrupted,
        reason: Some(reason.to_owned()),
        no_such_target: false,
    }
}
