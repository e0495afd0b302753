//! One step of a run on several hosts: what each has said so far, in the order
//! in which it can be passed on.
//!
//! Hosts say that trials begin at slightly different moments. The sink hears it
//! once, of all trials in the order of the schedule, and only then what followed.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use fathom_model::RunState;
use fathom_model::fleet::HostClock;
use fathom_model::run::{TrialEnd, TrialRecord};
use fathom_model::sample::Phase;
use fathom_observe::{monotonic_ns, unix_now_ns};

use crate::coordinator::agents::Agents;
use crate::coordinator::clock::there_ns;
use crate::coordinator::trial_records::TrialRecords;
use crate::protocol::link::Command;
use crate::protocol::message::{Event, TrialEnding, TrialStart};

/// Questions for the time right before a gate is opened.
const QUESTIONS: usize = 8;

/// Time for their answers, and to tell all hosts when to open the gate.
const ANSWERS: Duration = Duration::from_millis(20);
const AHEAD_NS: u64 = 20_000_000;
/// The same for each host.
const AHEAD_EACH_NS: u64 = 500_000;

/// Who is how far.
pub(crate) struct FleetStep {
    /// Have not carried out their command.
    pending: BTreeSet<usize>,
    /// Of those, the ones that are ready for the gate.
    ready: BTreeSet<usize>,
    opened: Option<GateOpening>,
    /// Have said which trials begin.
    started: BTreeMap<usize, Vec<TrialStart>>,
    start_passed: bool,
    held: Vec<Event>,
    due: Vec<Event>,
    announced: BTreeSet<Phase>,
    records: TrialRecords,
    looks: bool,
}

/// When the gate was opened.
struct GateOpening {
    unix_ns: u64,
    /// By which clock, for each host.
    clocks: BTreeMap<usize, HostClock>,
}

impl FleetStep {
    pub(crate) fn new(pending: BTreeSet<usize>, looks: bool) -> FleetStep {
        FleetStep {
            pending,
            ready: BTreeSet::new(),
            opened: None,
            started: BTreeMap::new(),
            start_passed: false,
            held: Vec::new(),
            due: Vec::new(),
            announced: BTreeSet::new(),
            records: TrialRecords::default(),
            looks,
        }
    }

    pub(crate) fn is_over(&self) -> bool {
        self.pending.is_empty()
    }

    pub(crate) fn done(&mut self, place: usize) {
        self.pending.remove(&place);
        self.ready.remove(&place);
        self.release_held();
    }

    pub(crate) fn ready(&mut self, place: usize) {
        self.ready.insert(place);
    }

    /// Whether all that are left wait for the gate.
    pub(crate) fn is_ready(&self) -> bool {
        self.opened.is_none() && !self.ready.is_empty() && self.ready.is_superset(&self.pending)
    }

    /// What can be passed on now.
    pub(crate) fn due(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.due)
    }

    pub(crate) fn into_records(self) -> Vec<TrialRecord> {
        self.records.records
    }

    /// Whether a host that is lost may have made files.
    pub(crate) fn may_leave_files(&self, place: usize) -> bool {
        let starts = self.started.get(&place).into_iter().flatten();
        starts
            .into_iter()
            .any(|start| start.spec.target.path().is_some())
    }

    /// Opens the gate on all hosts at one moment.
    pub(crate) fn open(&mut self, agents: &Agents) {
        for _ in 0..QUESTIONS {
            for place in &self.ready {
                agents.ask_time(*place);
            }
        }
        std::thread::sleep(ANSWERS);
        let clocks: BTreeMap<usize, HostClock> = self
            .ready
            .iter()
            .map(|place| (*place, agents.clock(*place).unwrap_or_default()))
            .collect();
        let way_ns = clocks.values().map(|clock| clock.uncertainty_ns).max();
        let ahead_ns = AHEAD_NS
            .saturating_add(AHEAD_EACH_NS.saturating_mul(self.ready.len() as u64))
            .saturating_add(way_ns.unwrap_or(0).saturating_mul(4));
        let at_ns = monotonic_ns().saturating_add(ahead_ns);
        let unix_ns = unix_now_ns().saturating_add(ahead_ns);
        for (place, clock) in &clocks {
            let at_monotonic_ns = there_ns(at_ns, *clock);
            agents.command(*place, Command::Open { at_monotonic_ns });
        }
        self.opened = Some(GateOpening { unix_ns, clocks });
    }

    /// Takes in what a host said. Returns what is to be handled at once.
    pub(crate) fn take_in(
        &mut self,
        place: usize,
        event: Event,
        name: Option<&str>,
        clock: Option<HostClock>,
    ) -> Option<Event> {
        let event = match event {
            Event::TrialsStarted(mut starts) => {
                for start in &mut starts {
                    start.started_unix_ns = here_unix_ns(start.started_unix_ns, clock);
                }
                self.started.insert(place, starts);
                self.release_held();
                return None;
            }
            Event::TrialsEnded(mut endings) => {
                for ending in &mut endings {
                    self.place_in_time(place, &mut ending.end);
                }
                Event::TrialsEnded(endings)
            }
            // What all hosts do at the same time is said once.
            Event::PhaseStarted {
                trial: None, phase, ..
            } if !self.announced.insert(phase) => return None,
            Event::Note(text) => Event::Note(named(name, text)),
            Event::Waiting(text) => Event::Waiting(named(name, text)),
            Event::LeftBehind(text) => Event::LeftBehind(named(name, text)),
            Event::Progress {
                what,
                done_bytes,
                total_bytes,
            } => Event::Progress {
                what: named(name, what),
                done_bytes,
                total_bytes,
            },
            other => other,
        };
        let of_trials = matches!(event, Event::Interval(_) | Event::TrialsEnded(_));
        if of_trials && !self.start_passed {
            self.held.push(event);
            return None;
        }
        self.records.take_note(&event, self.looks);
        Some(event)
    }

    /// A host is gone: so are its trials.
    pub(crate) fn lost(&mut self, place: usize, reason: &str) {
        self.pending.remove(&place);
        self.ready.remove(&place);
        let starts = self.started.get(&place).into_iter().flatten();
        let endings = starts.map(|start| TrialEnding {
            trial: start.spec.index,
            state: RunState::Interrupted,
            end: TrialEnd {
                reason: Some(reason.to_owned()),
                load_started_unix_ns: self.opened.as_ref().map(|opened| opened.unix_ns),
                load_started_ns: self.opened.as_ref().map(|_| 0),
                ..TrialEnd::default()
            },
        });
        let endings: Vec<TrialEnding> = endings.filter(|e| !self.has_ended(e.trial)).collect();
        if !endings.is_empty() {
            self.held.push(Event::TrialsEnded(endings));
        }
        self.release_held();
    }

    fn has_ended(&self, trial: u32) -> bool {
        let mut records = self.records.records.iter();
        records.any(|record| record.spec.index == trial && record.end.is_some())
    }

    /// Once all hosts have said which trials begin, that is passed on, and
    /// what was held back after it.
    fn release_held(&mut self) {
        let missing = |place: &usize| !self.started.contains_key(place);
        if !self.start_passed && (self.started.is_empty() || self.pending.iter().any(missing)) {
            return;
        }
        if !self.start_passed {
            self.start_passed = true;
            let starts = self.started.values().flatten().cloned();
            let mut starts: Vec<TrialStart> = starts.collect();
            starts.sort_by_key(|start| start.spec.index);
            self.due.push(Event::TrialsStarted(starts));
            if let Some(event) = self.due.last() {
                self.records.take_note(event, self.looks);
            }
        }
        for event in std::mem::take(&mut self.held) {
            self.records.take_note(&event, self.looks);
            self.due.push(event);
        }
    }

    /// Puts the end of a trial on the clock of this host.
    fn place_in_time(&self, place: usize, end: &mut TrialEnd) {
        let Some(opened) = &self.opened else {
            return;
        };
        if let Some(start) = &mut end.start {
            start.clock = opened.clocks.get(&place).copied();
        }
        end.load_started_unix_ns = end
            .load_started_ns
            .map(|started_ns| opened.unix_ns.saturating_add(started_ns));
    }
}

fn named(name: Option<&str>, text: String) -> String {
    match name {
        Some(name) => format!("{name}: {text}"),
        None => text,
    }
}

/// A moment of another host's wall clock on the one here.
fn here_unix_ns(there_unix_ns: u64, clock: Option<HostClock>) -> u64 {
    let offset_ns = clock.map_or(0, |clock| clock.wall_offset_ns);
    there_unix_ns.saturating_add_signed(offset_ns.saturating_neg())
}
