//! The warm-up and measure phases of a set: opens the gates, collects samples
//! and observations every second, and ends each load when it must end.
//!
//! Time 0 of the set is the opening of its gate. A trial with a start delay, or
//! one that follows another, has a time 0 of its own after that; its samples
//! and observations count from there. A simulated trial has virtual time: where
//! several run, the one that is furthest behind is always asked next, so that
//! their times stay within a second or two of one another.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::time::Duration;

use fathom_engine::{Gathering, Group};
use fathom_model::Sample;
use fathom_model::fleet::StartReport;
use fathom_observe::{HostWatch, Observer, monotonic_ns, unix_now_ns};

use crate::agent::conclusion::{WIND_DOWN_NS, conclude, unflushed};
use crate::agent::expected_time;
use crate::agent::member::{Member, beside};
use crate::agent::outstanding_operations::{self, NOTABLE_NS};
use crate::agent::runner::{Ending, Runner};
use crate::interrupt::{Interrupt, Urgency};
use crate::protocol::link::{Command, Link};
use crate::protocol::message::{Event, TrialInterval};

/// Longest sleep of the controlling thread: how fast it answers to Ctrl-C.
const LOOK_EVERY_NS: u64 = 50_000_000;

/// The same while the end of a trial decides about another one.
const LOOK_CLOSELY_NS: u64 = 2_000_000;

/// Observations are taken on the whole seconds of the set.
const INTERVAL_NS: u64 = 1_000_000_000;

/// A gate that is opened later than this after its time opens late; less is
/// the time that it takes to open it.
const LATE_NS: u64 = 1_000_000;

/// Every operation in flight is looked at this often for its age.
const STUCK_EVERY_NS: u64 = 500_000_000;

/// With operations of this age it may be the target that does not answer.
const SILENT_FROM_NS: u64 = 1_000_000_000;

/// Whether the mount of a target answers is found out while its operations are
/// waited for: whoever looks at it afterwards would wait once more.
fn ask_meanwhile(member: &Member) {
    let Some(path) = member.job.target.path().map(Path::to_owned) else {
        return;
    };
    let ask = move || fathom_deadline::paths::answers(&path);
    // Without a thread it is asked afterwards.
    let _ = std::thread::Builder::new().spawn(ask);
}

struct Load<'a> {
    link: &'a Link,
    interrupt: &'a Interrupt,
    members: &'a mut [Member],
    watches: Watches,
    runners: Vec<Runner>,
    gathering: Gathering,
    /// Wall clock at the opening of the set's gate.
    opened_unix_ns: u64,
    /// Places of the trials by their index.
    places: HashMap<u32, usize>,
    /// What the coordinator has not been told yet, by place.
    pending: BTreeMap<usize, TrialInterval>,
    dirty_bytes: Option<u64>,
}

/// Who looks at the host meanwhile.
pub(crate) type Watches = Option<(Observer, HostWatch)>;

/// Runs the loads of a set to their end, one group for each member. The gate
/// opens at `opening_ns` of the monotonic clock, or now. Returns who observed
/// the host.
pub(crate) fn run(
    link: &Link,
    interrupt: &Interrupt,
    members: &mut [Member],
    groups: Vec<Group>,
    mut watches: Watches,
    opening_ns: Option<u64>,
) -> Option<Observer> {
    let indexes = members.iter().map(|member| member.spec.index);
    let places: HashMap<u32, usize> = indexes.zip(0..).collect();
    expected_time::announce(link, members, &places);
    if let Some((observer, _)) = &mut watches {
        observer.sample(None);
    }
    let rules = members.iter().map(|m| m.job.workload.fail_if);
    let runners = groups.into_iter().zip(rules);
    let runners = runners
        .map(|(group, rule)| Runner::new(group, rule))
        .collect();
    let load = Load {
        link,
        interrupt,
        members,
        watches,
        runners,
        gathering: opening_ns.map_or_else(Gathering::begin, Gathering::begin_at),
        opened_unix_ns: unix_at(opening_ns),
        places,
        pending: BTreeMap::new(),
        dirty_bytes: None,
    };
    // Whoever hears of the opening too late begins late, and says so.
    let late_ns = opening_ns.map_or(0, |_| load.now_ns());
    load.run(if late_ns > LATE_NS { late_ns } else { 0 })
}

/// The wall clock at a moment of the monotonic one.
fn unix_at(monotonic: Option<u64>) -> u64 {
    let (unix_ns, now_ns) = (unix_now_ns(), monotonic_ns());
    let at_ns = monotonic.unwrap_or(now_ns);
    unix_ns
        .saturating_add(at_ns.saturating_sub(now_ns))
        .saturating_sub(now_ns.saturating_sub(at_ns))
}

impl Load<'_> {
    fn run(mut self, late_ns: u64) -> Option<Observer> {
        for place in 0..self.runners.len() {
            if self.members[place].spec.follows.is_none() {
                self.release(place, late_ns);
            }
        }
        self.until_all_ended();
        let host = self.watches.as_ref().map(|(_, host)| host.finish());
        // The last observation covers the final flush as well.
        self.observe();
        self.tell();
        for (member, runner) in self.members.iter_mut().zip(&self.runners) {
            member.end.host.clone_from(&host);
            member.ops_per_second = runner.ops_per_second();
            member.fell_silent = runner.fell_silent();
        }
        self.watches.map(|(observer, _)| observer)
    }

    /// Opens the gate of a trial at `at_ns` of the set.
    fn release(&mut self, place: usize, at_ns: u64) {
        let began_ns = at_ns.saturating_add(self.members[place].spec.start_delay_ns);
        self.runners[place].release(&self.gathering, began_ns);
        let ahead_ns = began_ns.saturating_sub(self.now_ns());
        let began_unix_ns = unix_now_ns().saturating_add(ahead_ns);
        self.members[place].end.load_started_unix_ns = Some(began_unix_ns);
    }

    fn now_ns(&self) -> u64 {
        monotonic_ns().saturating_sub(self.gathering.origin_monotonic_ns())
    }

    fn until_all_ended(&mut self) {
        let simulated = |r: &Runner| r.is_simulated();
        let some_simulated = self.runners.iter().any(simulated);
        let all_simulated = self.runners.iter().all(simulated);
        let mut next_ns = INTERVAL_NS;
        loop {
            let now_ns = self.now_ns();
            self.heed_wishes(now_ns);
            if !all_simulated && now_ns >= next_ns {
                next_ns += INTERVAL_NS * (1 + (now_ns - next_ns) / INTERVAL_NS);
                self.observe();
            }
            self.look(now_ns);
            if self.runners.iter().all(Runner::has_ended) {
                return;
            }
            self.tell();
            if some_simulated {
                let patience_ns = if all_simulated { LOOK_EVERY_NS } else { 0 };
                let before_ns = now_ns + LOOK_CLOSELY_NS;
                while self.follow_simulation(patience_ns) && self.now_ns() < before_ns {}
            }
            if !all_simulated {
                std::thread::sleep(Duration::from_nanos(self.wait_ns(now_ns, next_ns)));
            }
        }
    }

    /// How long there is nothing to do. Around time 0 the CPUs are left to the
    /// workers: a hundred hosts on one machine would otherwise start late.
    fn wait_ns(&self, now_ns: u64, next_ns: u64) -> u64 {
        let origin_ns = self.gathering.origin_monotonic_ns();
        let ahead_ns = origin_ns.saturating_sub(monotonic_ns());
        if ahead_ns > 0 {
            return (ahead_ns + LOOK_CLOSELY_NS).min(LOOK_EVERY_NS);
        }
        let running = self.runners.iter().filter(|r| !r.has_ended());
        let next_ns = running.map(|r| r.next_drain_ns).fold(next_ns, u64::min);
        let closely = self.members.len() > 1
            && self
                .members
                .iter()
                .any(|m| m.spec.follows.is_some() || m.spec.ends_others);
        let most = if closely {
            LOOK_CLOSELY_NS
        } else {
            LOOK_EVERY_NS
        };
        let wait_ns = next_ns.saturating_sub(now_ns).clamp(1_000_000, most);
        if self.lasts() {
            return wait_ns;
        }
        // A load that is over after a moment is noticed at once.
        wait_ns.min(now_ns / 8 + 1_000_000)
    }

    /// Whether nothing that runs is done before its time, which is not short.
    fn lasts(&self) -> bool {
        let members = self.members.iter().zip(&self.runners);
        let mut running = members.filter(|(_, runner)| !runner.has_ended());
        running.all(|(member, _)| {
            let bounds = &member.job.workload.bounds;
            let by_time_alone = bounds.bytes.is_none() && bounds.ops.is_none();
            by_time_alone && bounds.time_ns >= Some(2 * LOOK_EVERY_NS)
        })
    }

    /// Ends what the user or a stop rule wants ended.
    fn heed_wishes(&mut self, now_ns: u64) {
        while let Ok(command) = self.link.commands.try_recv() {
            if let Command::EndMeasure { trial, reason } = command
                && let Some(place) = self.places.get(&trial)
            {
                self.runners[*place].wind_down(Ending::ByRule(reason), now_ns);
            }
        }
        if self.interrupt.is_raised() {
            for (member, runner) in self.members.iter().zip(&mut self.runners) {
                let is_first = runner.ending.is_none();
                let why = self.interrupt.why().to_owned();
                runner.wind_down(Ending::ByWish(why), now_ns);
                if is_first && !runner.stuck(SILENT_FROM_NS).is_empty() {
                    ask_meanwhile(member);
                }
            }
        }
    }

    /// Looks after every load that is not over.
    fn look(&mut self, now_ns: u64) {
        for place in 0..self.runners.len() {
            let runner = &mut self.runners[place];
            if runner.has_ended() || (runner.is_simulated() && !runner.never_began()) {
                continue;
            }
            if runner.is_finished() {
                self.end(place, now_ns, false);
                continue;
            }
            let deadline_ns = self.members[place].job.workload.io_deadline_ns;
            let winds_down_too_long = runner.ending_since_ns.is_some_and(|since_ns| {
                self.interrupt.urgency() == Urgency::Now
                    || now_ns.saturating_sub(since_ns) > WIND_DOWN_NS
            });
            let ages_are_due = runner.ages_are_due(
                now_ns,
                match runner.ending_since_ns {
                    Some(_) => LOOK_EVERY_NS,
                    None => STUCK_EVERY_NS,
                },
            );
            if ages_are_due {
                let target = outstanding_operations::place_of(&self.members[place]);
                if let Some(line) = runner.outstanding(now_ns, &target) {
                    self.link.send(Event::Waiting(line));
                }
            }
            if winds_down_too_long || (ages_are_due && runner.is_stuck(deadline_ns, now_ns)) {
                self.end(place, now_ns, true);
                continue;
            }
            if now_ns >= runner.next_drain_ns {
                let late_ns = now_ns - runner.next_drain_ns;
                runner.next_drain_ns += INTERVAL_NS * (1 + late_ns / INTERVAL_NS);
                let samples = runner.drain();
                if let Some(ending) = runner.fault() {
                    runner.wind_down(ending, now_ns);
                }
                self.keep(place, samples);
            }
        }
    }

    /// Passes on a sample of the simulated load that is furthest behind. The
    /// coordinator has dealt with a sample before the next one is taken, so
    /// that it can end the load in time. False when there was none.
    fn follow_simulation(&mut self, patience_ns: u64) -> bool {
        let running = self.runners.iter().enumerate();
        let running =
            running.filter(|(_, r)| r.is_simulated() && !r.has_ended() && r.is_released());
        let Some((place, _)) = running.min_by_key(|(_, r)| r.reached_ns) else {
            return false;
        };
        let runner = &mut self.runners[place];
        if runner.is_finished() {
            let reached_ns = runner.reached_ns;
            self.end(place, reached_ns, false);
            return true;
        }
        let Some(sample) = runner.wait_sample(patience_ns) else {
            return false;
        };
        runner.count(std::slice::from_ref(&sample));
        if let Some(ending) = runner.fault() {
            runner.wind_down(ending, runner.reached_ns);
        }
        let interval = TrialInterval {
            trial: self.members[place].spec.index,
            samples: vec![sample],
            observations: Vec::new(),
        };
        // A sink that failed raises the interrupt.
        let _ = self.link.send_and_wait(Event::Interval(vec![interval]));
        let now_ns = self.now_ns();
        self.heed_wishes(now_ns);
        true
    }

    /// A load is over: what that means for it and for the others.
    fn end(&mut self, place: usize, now_ns: u64, stuck: bool) {
        let deadline_ns = self.members[place].job.workload.io_deadline_ns;
        let runner = &mut self.runners[place];
        let never_began = runner.never_began() || runner.began_ns > Some(now_ns);
        let stuck_ops = match stuck {
            true => runner.stuck(deadline_ns.min(NOTABLE_NS)),
            false => Vec::new(),
        };
        if stuck {
            runner.ending = Some(Ending::Stuck);
        }
        let lateness_ns = runner.start_lateness_ns();
        let Some(mut group_end) = runner.finish(now_ns) else {
            return;
        };
        let ended_ns = runner.ended_ns.unwrap_or(now_ns);
        let began_ns = runner.began_ns.filter(|_| !never_began);
        let ending = runner.ending.take();
        let samples = std::mem::take(&mut group_end.samples);
        runner.count(&samples);
        let ending = ending.or(runner.fault());
        self.keep(place, samples);
        let member = &mut self.members[place];
        member.end.load_started_ns = began_ns;
        member.end.start = lateness_ns.map(|lateness_ns| StartReport {
            lateness_ns,
            clock: None,
        });
        member.end.load_started_unix_ns =
            began_ns.map(|began_ns| self.opened_unix_ns.saturating_add(began_ns));
        member.end.dirty_bytes_at_end = self.dirty_bytes;
        if !stuck {
            member.end.own_dirty_bytes_at_end = unflushed(member, &group_end);
        }
        let concluded = conclude(ending, group_end, member);
        // What was left behind is in the report of its group, and counts once.
        if member.end.engine.stuck.is_empty() {
            member.end.engine.stuck = stuck_ops;
        }
        member.early = concluded.err();
        self.tell_others(place, ended_ns, now_ns);
    }

    /// What the end of a trial means for the others of its set.
    fn tell_others(&mut self, place: usize, ended_ns: u64, now_ns: u64) {
        let member = &self.members[place];
        let label = &member.spec.label;
        let ending = match &member.early {
            Some(_) if member.spec.spares_others => None,
            Some(early) if !self.interrupt.is_raised() => {
                Some(Ending::WithSet(beside(label, &early.reason)))
            }
            Some(_) => None,
            None if member.spec.ends_others => {
                Some(Ending::ByOther(format!("ended together with '{label}'")))
            }
            None => None,
        };
        let index = member.spec.index;
        if let Some(ending) = ending {
            for (other, runner) in self.runners.iter_mut().enumerate() {
                if other != place {
                    runner.wind_down(ending.clone(), now_ns);
                }
            }
            return;
        }
        for next in 0..self.members.len() {
            if self.members[next].spec.follows == Some(index) {
                // Host time goes on while virtual time is computed.
                let at_ns = match self.runners[next].is_simulated() {
                    true => ended_ns,
                    false => ended_ns.max(self.now_ns()),
                };
                self.release(next, at_ns);
            }
        }
    }

    /// Observes the host, once for all whose load has begun.
    fn observe(&mut self) {
        let Some((observer, host)) = &mut self.watches else {
            return;
        };
        let observation = observer.sample(Some(self.gathering.origin_monotonic_ns()));
        host.tick();
        let memory = observation.memory;
        self.dirty_bytes = memory
            .map(|m| m.dirty_bytes + m.writeback_bytes)
            .or(self.dirty_bytes);
        for place in 0..self.members.len() {
            if self.runners[place].is_simulated() {
                continue;
            }
            let devices = &self.members[place].devices;
            let seen = self.runners[place].seen(&observation, devices);
            if let Some(seen) = seen {
                self.pending_of(place).observations.push(seen);
            }
        }
    }

    fn keep(&mut self, place: usize, samples: Vec<Sample>) {
        if !samples.is_empty() {
            self.pending_of(place).samples.extend(samples);
        }
    }

    fn pending_of(&mut self, place: usize) -> &mut TrialInterval {
        let trial = self.members[place].spec.index;
        self.pending.entry(place).or_insert_with(|| TrialInterval {
            trial,
            ..TrialInterval::default()
        })
    }

    /// Tells the coordinator what has been gathered.
    fn tell(&mut self) {
        if !self.pending.is_empty() {
            let pending = std::mem::take(&mut self.pending);
            let pending = pending.into_values().collect();
            self.link.send(Event::Interval(pending));
        }
    }
}
