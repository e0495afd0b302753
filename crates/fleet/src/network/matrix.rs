//! All pairs of several servers, driven from a host that moves no data.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::ScopedJoinHandle;

use fathom_model::fleet::FleetHost;
use fathom_model::network::{LoadResult, LoadSpec, MatrixMode, PairPlan, PairReport, PlannedLoad};
use fathom_model::pair_trials::{failed_trial, network_host, pair_trials, planned_trials};
use fathom_model::{RunState, ScheduledTrial, TrialRecord};

use super::data::LoadControl;
use super::driver::{Remote, StartTime};
use super::error::{NetError, no_thread};
use super::session;
use super::turns::{LOOKS_AGAIN, Look, MatrixTurn, again, host_number, slow_ways, turns};

/// Time from the order to the common start; servers meet meanwhile.
const LEAD_NS: u64 = 500_000_000;
/// Round trips without load, where pairs run alone.
const IDLE_NS: u64 = 200_000_000;

/// What is measured among several servers.
#[derive(Debug, Clone, PartialEq)]
pub struct MatrixPlan {
    /// Kinds of rounds.
    pub modes: Vec<MatrixMode>,
    /// The load of each pair, sent forward.
    pub load: LoadSpec,
}

/// Several servers that have been reached, and what is to be measured among them.
#[derive(Debug)]
pub struct Matrix<'m> {
    hosts: &'m [(String, SocketAddr)],
    plan: &'m MatrixPlan,
    remotes: Vec<Remote>,
    /// For each kind of rounds its rounds.
    turns: Vec<(MatrixMode, Vec<MatrixTurn>)>,
    load_control: LoadControl,
}

impl<'m> Matrix<'m> {
    /// Reaches `hosts` (name and address of each).
    ///
    /// # Errors
    /// When any of the servers cannot be reached; all of them are named.
    pub fn meet(
        hosts: &'m [(String, SocketAddr)],
        plan: &'m MatrixPlan,
        load_control: &LoadControl,
    ) -> Result<Matrix<'m>, Vec<NetError>> {
        let remotes = meet_all(hosts, load_control)?;
        let turns = turns(&plan.modes, hosts.len());
        Ok(Matrix {
            hosts,
            plan,
            remotes,
            turns,
            load_control: load_control.clone(),
        })
    }

    /// The hosts as the user named them, with what each says of itself.
    pub fn hosts(&self) -> Vec<FleetHost> {
        let named = self.hosts.iter().zip(&self.remotes);
        named
            .map(|((name, _), remote)| network_host(name, &remote.facts))
            .collect()
    }

    /// The trials in the order in which they will run. Ways that stand out are
    /// measured again, which nobody knows before.
    pub fn schedule(&self) -> Vec<ScheduledTrial> {
        let turns = self.turns.iter().flat_map(|(_, turns)| turns);
        let trials = turns.flat_map(|turn| {
            let planned = turn.looks.iter().flat_map(|look| {
                let address = self.remotes[look.to].address.to_string();
                planned_trials(&self.plan_of(turn, look), turn.place(look), &address)
            });
            in_turn(planned.collect(), |trial: &ScheduledTrial| trial.together)
        });
        let mut trials: Vec<ScheduledTrial> = trials.collect();
        for (index, trial) in (0..).zip(&mut trials) {
            trial.index = index;
        }
        trials
    }

    /// Measures, until it is done or is to end early. `keep` is handed the trials
    /// of each set when they have ended; what fails is a trial that failed.
    ///
    /// # Errors
    /// The host that does not respond any more: it ended the measurement, once for
    /// all rounds that were still to come.
    pub fn measure(
        &self,
        tell: &mut dyn FnMut(&str),
        keep: &mut dyn FnMut(Vec<TrialRecord>),
    ) -> Result<(), Unresponsive> {
        let stop = &self.load_control.stop;
        let mut numbers = Numbers::of(&self.schedule());
        let sets: usize = self.turns.iter().map(|(_, turns)| turns.len()).sum();
        let mut next_set = host_number(sets);
        for (mode, turns) in &self.turns {
            let mut looks: Vec<Look> = Vec::new();
            for (number, turn) in turns.iter().enumerate() {
                if stop.load(Ordering::Relaxed) {
                    return Ok(());
                }
                tell(&format!(
                    "{}: round {} of {}",
                    mode.words(),
                    number + 1,
                    turns.len()
                ));
                let (seen, trials) = self.take(turn);
                let failed = failed(&trials);
                keep(numbers.give(trials));
                self.still_there(failed)?;
                looks.extend(seen);
            }
            if *mode != MatrixMode::Alone {
                continue;
            }
            // A host that stood still for a moment looks like a slow way.
            for turn in again(slow_ways(self.remotes.len(), looks), &mut next_set) {
                if stop.load(Ordering::Relaxed) {
                    return Ok(());
                }
                let number = turn.iteration;
                tell(&format!(
                    "again what stood out: look {number} of {LOOKS_AGAIN}"
                ));
                let trials = self.take(&turn).1;
                let failed = failed(&trials);
                keep(numbers.give(trials));
                self.still_there(failed)?;
            }
        }
        Ok(())
    }

    /// After a trial that failed, whether all hosts still answer.
    fn still_there(&self, failed: bool) -> Result<(), Unresponsive> {
        let interrupted = self.load_control.stop.load(Ordering::Relaxed);
        if !failed || interrupted {
            return Ok(());
        }
        let quiet = LoadControl {
            stop: Arc::clone(&self.load_control.stop),
            ..LoadControl::default()
        };
        let quiet = &quiet;
        let dead = std::thread::scope(|scope| {
            let ask = |remote: &Remote| {
                let address = remote.address;
                let ask = move || session::answers(address, quiet);
                std::thread::Builder::new().spawn_scoped(scope, ask)
            };
            let threads: Vec<_> = self.remotes.iter().map(ask).collect();
            let mut answers = threads.into_iter().map(|begun| match begun {
                Ok(thread) => thread.join().unwrap_or(true),
                // Without a thread nobody was asked.
                Err(_) => true,
            });
            answers.position(|answers| !answers)
        });
        match dead {
            Some(host) if !self.load_control.stop.load(Ordering::Relaxed) => {
                Err(Unresponsive(self.hosts[host].0.clone()))
            }
            _ => Ok(()),
        }
    }

    /// What a look measures.
    fn plan_of(&self, turn: &MatrixTurn, look: &Look) -> PairPlan {
        let name = |host: usize| self.hosts[host].0.as_str();
        PairPlan {
            path: false,
            idle_ns: match turn.mode {
                MatrixMode::Alone => IDLE_NS,
                _ => 0,
            },
            loads: vec![PlannedLoad {
                name: format!(
                    "{}: {} to {}",
                    turn.mode.words(),
                    name(look.from),
                    name(look.to)
                ),
                spec: self.plan.load.clone(),
                round_trips: true,
            }],
        }
    }

    /// Measures ways at the same time.
    fn take(&self, turn: &MatrixTurn) -> (Vec<Look>, Vec<TrialRecord>) {
        let plans: Vec<PairPlan> = turn
            .looks
            .iter()
            .map(|look| self.plan_of(turn, look))
            .collect();
        let measured = one_round(&self.remotes, &turn.looks, &plans, &self.load_control);
        let mut looks = turn.looks.clone();
        let mut trials = Vec::new();
        for ((look, plan), done) in looks.iter_mut().zip(&plans).zip(measured) {
            let place = turn.place(look);
            match done {
                Ok(report) => {
                    let load = report.loads.first();
                    look.bits = load.and_then(LoadResult::bits_per_second);
                    trials.extend(pair_trials(&report, place));
                }
                Err(error) => {
                    let reason = error.to_string();
                    let address = self.remotes[look.to].address.to_string();
                    let place = place.after(usize::from(plan.idle_ns > 0));
                    let failed = plan.loads.iter().map(|load| {
                        failed_trial(&load.name, &load.spec, place, &address, reason.clone())
                    });
                    trials.extend(failed);
                }
            }
        }
        let trials = in_turn(trials, |trial: &TrialRecord| trial.spec.together);
        (looks, trials)
    }
}

/// A host that answered at first and does not any more.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0} is not responding any more; that ended the measurement")]
pub struct Unresponsive(pub String);

/// Whether one of them failed.
fn failed(trials: &[TrialRecord]) -> bool {
    trials.iter().any(|trial| trial.state == RunState::Failed)
}

/// The positions of trials in the run: those of the schedule, then further ones.
struct Numbers {
    planned: HashMap<u32, u32>,
    next: u32,
}

impl Numbers {
    fn of(schedule: &[ScheduledTrial]) -> Numbers {
        debug_assert!(
            schedule.is_sorted_by(|a, b| a.index < b.index),
            "further trials are numbered behind the planned ones"
        );
        Numbers {
            planned: schedule
                .iter()
                .map(|trial| (trial.row, trial.index))
                .collect(),
            next: host_number(schedule.len()),
        }
    }

    fn give(&mut self, mut trials: Vec<TrialRecord>) -> Vec<TrialRecord> {
        for trial in &mut trials {
            let spec = &mut trial.spec;
            spec.index = match self.planned.get(&spec.row).filter(|_| spec.iteration == 0) {
                Some(index) => *index,
                None => {
                    self.next += 1;
                    self.next - 1
                }
            };
        }
        trials
    }
}

/// Small requests without load come before any load of a round.
fn in_turn<T>(trials: Vec<T>, set: impl Fn(&T) -> Option<u32>) -> Vec<T> {
    let (mut alone, together): (Vec<T>, Vec<T>) =
        trials.into_iter().partition(|trial| set(trial).is_none());
    alone.extend(together);
    alone
}

fn meet_all(
    hosts: &[(String, SocketAddr)],
    load_control: &LoadControl,
) -> Result<Vec<Remote>, Vec<NetError>> {
    let met: Vec<_> = std::thread::scope(|scope| {
        let meet = |(_, address): &(String, SocketAddr)| {
            let address = *address;
            std::thread::Builder::new()
                .spawn_scoped(scope, move || Remote::meet(address, load_control))
        };
        let threads: Vec<_> = hosts.iter().map(meet).collect();
        threads
            .into_iter()
            .filter_map(|begun| match begun {
                Ok(thread) => thread.join().ok(),
                Err(source) => Some(Err(NetError::unstarted(source))),
            })
            .collect()
    });
    let (mut remotes, mut errors) = (Vec::new(), Vec::new());
    for one in met {
        match one {
            Ok(remote) => remotes.push(remote),
            Err(error) => errors.push(error),
        }
    }
    if errors.is_empty() && remotes.len() == hosts.len() {
        Ok(remotes)
    } else {
        Err(errors)
    }
}

/// Why a way was not measured.
#[derive(Debug, thiserror::Error)]
enum WayError {
    #[error("{0}")]
    Measured(NetError),
    #[error("its thread failed")]
    Thread,
    /// The system gives none.
    #[error("{0}")]
    NoThread(String),
}

/// Measures ways at the same time. What comes of each, or why nothing.
fn one_round(
    remotes: &[Remote],
    looks: &[Look],
    plans: &[PairPlan],
    load_control: &LoadControl,
) -> Vec<Result<PairReport, WayError>> {
    let idle_ns = plans.iter().map(|plan| plan.idle_ns).max().unwrap_or(0);
    let cue = StartTime::after_ns(LEAD_NS + idle_ns);
    std::thread::scope(|scope| {
        let mut threads = Vec::with_capacity(looks.len());
        for (look, plan) in looks.iter().zip(plans) {
            let (from, to) = (look.from, look.to);
            let measure =
                move || remotes[from].measure(remotes[to].address, plan, cue, load_control);
            threads.push(std::thread::Builder::new().spawn_scoped(scope, measure));
        }
        threads
            .into_iter()
            .map(|begun| match begun.map(ScopedJoinHandle::join) {
                Ok(Ok(done)) => done.map_err(WayError::Measured),
                Ok(Err(_)) => Err(WayError::Thread),
                Err(error) => Err(WayError::NoThread(no_thread(&error))),
            })
            .collect()
    })
}
