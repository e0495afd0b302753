//! The load of one trial within its set.

use std::time::Duration;

use fathom_engine::{Gathering, Group, GroupEnd};
use fathom_model::run::StuckOp;
use fathom_model::sample::Phase;
use fathom_model::workload::FailIf;
use fathom_model::{ErrorClass, Observation, Sample};

use crate::agent::fail_if;
use crate::agent::outstanding_operations::{NOTABLE_NS, OutstandingOperations};

const SECOND_NS: u64 = 1_000_000_000;
/// After this time of waiting for the end that the user wished, operations that
/// are older than the next are left behind: he waits for the end of all.
const WISH_NS: u64 = 2 * SECOND_NS;
const LEFT_FROM_NS: u64 = 3 * SECOND_NS;

/// Why a load is being ended early.
#[derive(Debug, Clone)]
pub(crate) enum Ending {
    /// Of the user, or of whoever ends the whole run.
    ByWish(String),
    ByRule(String),
    /// A trial of the set ended, and the others were to end with it.
    ByOther(String),
    /// A trial of the set could not go on.
    WithSet(String),
    /// What its workload calls a failure.
    Failed(String),
    Stuck,
}

/// One load. Times count from the opening of the set's gate.
pub(crate) struct Runner {
    /// `None` once it has ended.
    group: Option<Group>,
    simulated: bool,
    /// Its own time 0; `None` as long as nobody has opened its gate.
    pub(crate) began_ns: Option<u64>,
    /// How far the samples of a simulated load have come.
    pub(crate) reached_ns: u64,
    pub(crate) next_drain_ns: u64,
    next_stuck_ns: u64,
    outstanding: OutstandingOperations,
    pub(crate) ending: Option<Ending>,
    pub(crate) ending_since_ns: Option<u64>,
    pub(crate) ended_ns: Option<u64>,
    /// Data operations of the measure phase so far, and its length.
    measured: (u64, u64),
    /// Its last operations all took too long.
    fell_silent: bool,
    rule: FailIf,
    /// Why the trial has failed, as far as the samples tell.
    fault: Option<String>,
}

impl Runner {
    pub(crate) fn new(group: Group, rule: FailIf) -> Runner {
        Runner {
            simulated: group.is_simulated(),
            group: Some(group),
            began_ns: None,
            reached_ns: 0,
            next_drain_ns: u64::MAX,
            next_stuck_ns: 0,
            outstanding: OutstandingOperations::default(),
            ending: None,
            ending_since_ns: None,
            ended_ns: None,
            measured: (0, 0),
            fell_silent: false,
            rule,
            fault: None,
        }
    }

    /// Opens the gate, for `began_ns`. Nothing happens once it is being ended.
    pub(crate) fn release(&mut self, gathering: &Gathering, began_ns: u64) {
        let (Some(group), None) = (&mut self.group, &self.ending) else {
            return;
        };
        gathering.release(group, began_ns);
        self.began_ns = Some(began_ns);
        self.reached_ns = began_ns;
        self.next_drain_ns = began_ns.saturating_add(SECOND_NS);
    }

    /// How long after its time 0 its last worker was under way.
    pub(crate) fn start_lateness_ns(&self) -> Option<u64> {
        self.group.as_ref()?.start_lateness_ns()
    }

    pub(crate) fn is_simulated(&self) -> bool {
        self.simulated
    }

    pub(crate) fn is_released(&self) -> bool {
        self.began_ns.is_some()
    }

    /// Whether its gate was never opened.
    pub(crate) fn never_began(&self) -> bool {
        self.began_ns.is_none()
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.group.is_none()
    }

    /// Whether its workers have all ended.
    pub(crate) fn is_finished(&self) -> bool {
        self.group.as_ref().is_none_or(Group::is_finished)
    }

    /// Ends it early, for the first reason that is given.
    pub(crate) fn wind_down(&mut self, ending: Ending, now_ns: u64) {
        if let (Some(group), None) = (&self.group, &self.ending) {
            group.stop();
            self.ending = Some(ending);
            self.ending_since_ns = Some(now_ns);
        }
    }

    /// Whether it is time to look at the age of operations in flight.
    pub(crate) fn ages_are_due(&mut self, now_ns: u64, every_ns: u64) -> bool {
        let due = now_ns >= self.next_stuck_ns;
        if due {
            self.next_stuck_ns = now_ns.saturating_add(every_ns);
        }
        due
    }

    /// Whether operations are outstanding past the deadline, or past what they
    /// get after somebody asked to end.
    pub(crate) fn is_stuck(&self, deadline_ns: u64, now_ns: u64) -> bool {
        let wished_ns = match self.ending {
            Some(Ending::ByWish(_)) => self.ending_since_ns,
            _ => None,
        };
        let waited_ns = wished_ns.map_or(0, |since_ns| now_ns.saturating_sub(since_ns));
        let deadline_ns = match waited_ns >= WISH_NS {
            true => deadline_ns.min(LEFT_FROM_NS),
            false => deadline_ns,
        };
        !self.stuck(deadline_ns).is_empty()
    }

    /// The line on operations that do not come back, where one is due.
    pub(crate) fn outstanding(&mut self, now_ns: u64, place: &str) -> Option<String> {
        let old = self.stuck(NOTABLE_NS);
        self.outstanding.line(&old, now_ns, place)
    }

    pub(crate) fn stuck(&self, deadline_ns: u64) -> Vec<StuckOp> {
        let group = self.group.as_ref();
        group.map_or_else(Vec::new, |group| group.stuck(deadline_ns))
    }

    pub(crate) fn drain(&mut self) -> Vec<Sample> {
        let samples = self.group.as_mut().map_or_else(Vec::new, Group::drain);
        self.count(&samples);
        samples
    }

    /// The next sample of a simulated load.
    pub(crate) fn wait_sample(&self, patience_ns: u64) -> Option<Sample> {
        let patience = Duration::from_nanos(patience_ns);
        self.group.as_ref()?.wait_sample(patience)
    }

    /// Waits for its end, or leaves behind what hangs. `None` when it had
    /// ended before.
    pub(crate) fn finish(&mut self, now_ns: u64) -> Option<GroupEnd> {
        let group = self.group.take()?;
        let end = match self.ending {
            Some(Ending::Stuck) => group.abandon(),
            _ => group.finish(),
        };
        self.next_drain_ns = u64::MAX;
        let last_ns = end.samples.iter().map(|s| s.start_ns + s.duration_ns).max();
        self.ended_ns = Some(match (self.simulated, self.began_ns, last_ns) {
            (true, Some(began_ns), Some(last_ns)) => self.reached_ns.max(began_ns + last_ns),
            (true, _, _) => self.reached_ns,
            (false, _, _) => now_ns,
        });
        Some(end)
    }

    /// Takes note of samples.
    pub(crate) fn count(&mut self, samples: &[Sample]) {
        if self.fault.is_none() {
            self.fault = fail_if::fault(&self.rule, samples);
        }
        let began_ns = self.began_ns.unwrap_or(0);
        for sample in samples {
            let end_ns = sample.start_ns + sample.duration_ns;
            self.reached_ns = self.reached_ns.max(began_ns.saturating_add(end_ns));
            let (done, late) = (
                sample.data_ops() > 0,
                sample.errors().get(ErrorClass::Timeout) > 0,
            );
            self.fell_silent = !done && (late || self.fell_silent);
            if sample.phase == Phase::Measure {
                self.measured.0 += sample.data_ops();
                self.measured.1 += sample.duration_ns;
            }
        }
    }

    /// Whether operations took too long in the end and none came back any more.
    pub(crate) fn fell_silent(&self) -> bool {
        self.fell_silent
    }

    /// Why the trial has failed.
    pub(crate) fn fault(&self) -> Option<Ending> {
        self.fault.clone().map(Ending::Failed)
    }

    /// Data operations per second of the measure phase.
    pub(crate) fn ops_per_second(&self) -> f64 {
        let (ops, nanoseconds) = self.measured;
        ops as f64 * 1e9 / nanoseconds.max(1) as f64
    }

    /// An observation of the set as this trial sees it: its devices, its time.
    /// `None` when its load was not under way.
    pub(crate) fn seen(
        &self,
        observation: &Observation,
        devices: &[String],
    ) -> Option<Observation> {
        let began_ns = i64::try_from(self.began_ns?).ok()?;
        let length_ns = i64::try_from(observation.duration_ns).unwrap_or(i64::MAX);
        let end_ns = observation.start_ns.saturating_add(length_ns);
        let ended_ns = self.ended_ns.and_then(|ns| i64::try_from(ns).ok());
        if end_ns <= began_ns || ended_ns.is_some_and(|ended_ns| ended_ns < observation.start_ns) {
            return None;
        }
        let mut seen = observation.clone();
        seen.start_ns = observation.start_ns.saturating_sub(began_ns);
        seen.devices.retain(|device| devices.contains(&device.name));
        Some(seen)
    }
}
