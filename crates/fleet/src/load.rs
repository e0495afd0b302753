//! The warm-up and measure phases: opens the gate, collects samples and
//! observations every second, and ends the load when it must end.

use std::time::Duration;

use fathom_engine::{EndReason, Group, GroupEnd};
use fathom_model::run::{EngineReport, TrialEnd};
use fathom_model::sample::Phase;
use fathom_model::{Job, Observation, Sample};
use fathom_observe::{HostWatch, Observer, monotonic_ns};

use crate::agent::Early;
use crate::fail_if;
use crate::interrupt::{Interrupt, Urgency};
use crate::local::{Command, Link};
use crate::message::Event;

/// Longest sleep of the controlling thread: how fast it answers to Ctrl-C.
const LOOK_EVERY_NS: u64 = 50_000_000;

/// Observations are taken on the whole seconds of the load.
const INTERVAL_NS: u64 = 1_000_000_000;

/// Every operation in flight is looked at this often for its age.
const STUCK_EVERY_NS: u64 = 500_000_000;

/// How long operations in flight may take to come back after the user asked
/// to end, before they are called stuck.
const WIND_DOWN_NS: u64 = 30_000_000_000;

pub(crate) struct Load<'a> {
    pub(crate) link: &'a Link,
    pub(crate) interrupt: &'a Interrupt,
    pub(crate) job: &'a Job,
    pub(crate) observer: Option<Observer>,
    pub(crate) host: Option<HostWatch>,
    /// Data operations of the measure phase so far, and its length.
    pub(crate) measured: (u64, u64),
    /// Why the trial has failed, as far as the samples tell.
    pub(crate) fault: Option<String>,
}

/// What is left of a load.
pub(crate) struct Loaded {
    pub(crate) result: Result<(), Early>,
    pub(crate) observer: Option<Observer>,
    /// Data operations per second of the measure phase.
    pub(crate) ops_per_second: f64,
}

/// Why the load is being ended early.
enum Ending {
    ByUser,
    ByRule(String),
    Failed(String),
    Stuck,
}

impl Load<'_> {
    /// Runs the load to its end.
    pub(crate) fn run(mut self, mut group: Group, end: &mut TrialEnd) -> Loaded {
        let workload = &self.job.workload;
        let phase = if workload.warmup_ns > 0 {
            Phase::Warmup
        } else {
            Phase::Measure
        };
        let expected_ns = workload
            .bounds
            .time_ns
            .map(|time_ns| time_ns + workload.warmup_ns);
        self.link.send(Event::PhaseStarted { phase, expected_ns });
        if let Some(observer) = &mut self.observer {
            observer.sample(None);
        }
        group.go();
        let (ending, memory) = if group.is_simulated() {
            (self.follow_simulation(&group), None)
        } else {
            self.until_finished(&mut group)
        };
        end.dirty_bytes_at_end = memory;
        end.host = self.host.as_ref().map(HostWatch::finish);
        let stuck = match ending {
            Some(Ending::Stuck) => group.stuck(self.job.workload.io_deadline_ns),
            _ => Vec::new(),
        };
        let origin_ns = group.origin_monotonic_ns();
        let group_end = if matches!(ending, Some(Ending::Stuck)) {
            group.abandon()
        } else {
            group.finish()
        };
        // The last observation covers the final flush as well.
        let observations: Vec<Observation> = self
            .observer
            .iter_mut()
            .map(|o| o.sample(Some(origin_ns)))
            .collect();
        self.send(group_end.samples.clone(), observations);
        let result = self.conclude(ending, group_end, end);
        end.engine.stuck.extend(stuck);
        let (ops, nanoseconds) = self.measured;
        Loaded {
            result,
            observer: self.observer,
            ops_per_second: ops as f64 * 1e9 / nanoseconds.max(1) as f64,
        }
    }

    fn count(&mut self, samples: &[Sample]) {
        if self.fault.is_none() {
            self.fault = fail_if::fault(&self.job.workload.fail_if, samples);
        }
        let measured = samples.iter().filter(|s| s.phase == Phase::Measure);
        for sample in measured {
            self.measured.0 += sample.data_ops();
            self.measured.1 += sample.duration_ns;
        }
    }

    fn send(&mut self, samples: Vec<Sample>, observations: Vec<Observation>) {
        self.count(&samples);
        self.link.send(Event::Interval {
            samples,
            observations,
        });
    }

    /// Polls until every worker has ended or the load has to be abandoned.
    /// Returns why it was ended early and the dirty memory right before.
    fn until_finished(&mut self, group: &mut Group) -> (Option<Ending>, Option<u64>) {
        let origin_ns = group.origin_monotonic_ns();
        let mut next_ns = INTERVAL_NS;
        let mut next_stuck_ns = STUCK_EVERY_NS;
        let mut ending = None;
        let mut ending_since_ns = 0;
        let mut dirty_bytes = None;
        while !group.is_finished() {
            let now_ns = monotonic_ns().saturating_sub(origin_ns);
            if now_ns >= next_ns {
                next_ns += INTERVAL_NS * (1 + (now_ns - next_ns) / INTERVAL_NS);
                dirty_bytes = self.report(group, origin_ns).or(dirty_bytes);
            }
            if ending.is_none() {
                ending = self.wish_to_end();
                if ending.is_some() {
                    ending_since_ns = now_ns;
                    group.stop();
                }
            } else if self.interrupt.urgency() == Urgency::Now
                || now_ns - ending_since_ns > WIND_DOWN_NS
            {
                return (Some(Ending::Stuck), dirty_bytes);
            }
            if now_ns >= next_stuck_ns {
                next_stuck_ns = now_ns + STUCK_EVERY_NS;
                if !group.stuck(self.job.workload.io_deadline_ns).is_empty() {
                    return (Some(Ending::Stuck), dirty_bytes);
                }
            }
            let wait_ns = next_ns
                .saturating_sub(now_ns)
                .clamp(1_000_000, LOOK_EVERY_NS);
            // A load that is over after a moment is noticed at once.
            let wait_ns = wait_ns.min(now_ns / 8 + 1_000_000);
            std::thread::sleep(Duration::from_nanos(wait_ns));
        }
        (ending, dirty_bytes)
    }

    /// Passes on the samples of a simulated load one by one. The coordinator
    /// has dealt with a sample before the next one is taken, so that it can
    /// end the load in time.
    fn follow_simulation(&mut self, group: &Group) -> Option<Ending> {
        let mut ending = None;
        while !group.is_finished() {
            if let Some(sample) = group.wait_sample(Duration::from_nanos(LOOK_EVERY_NS)) {
                self.count(std::slice::from_ref(&sample));
                // A sink that failed raises the interrupt.
                let _ = self.link.send_and_wait(Event::Interval {
                    samples: vec![sample],
                    observations: Vec::new(),
                });
            }
            if ending.is_none() {
                ending = self.wish_to_end();
                if ending.is_some() {
                    group.stop();
                }
            }
        }
        ending
    }

    /// Sends what was measured since the last time. Returns dirty memory.
    fn report(&mut self, group: &mut Group, origin_ns: u64) -> Option<u64> {
        let observations: Vec<Observation> = self
            .observer
            .iter_mut()
            .map(|o| o.sample(Some(origin_ns)))
            .collect();
        if let Some(host) = &mut self.host {
            host.tick();
        }
        let memory = observations.last().and_then(|o| o.memory);
        self.send(group.drain(), observations);
        memory.map(|m| m.dirty_bytes + m.writeback_bytes)
    }

    fn wish_to_end(&self) -> Option<Ending> {
        if self.interrupt.is_raised() {
            return Some(Ending::ByUser);
        }
        if let Some(fault) = &self.fault {
            return Some(Ending::Failed(fault.clone()));
        }
        match self.link.commands.try_recv() {
            Ok(Command::EndMeasure(reason)) => Some(Ending::ByRule(reason)),
            _ => None,
        }
    }

    /// Turns the end of the group into the end of the trial.
    fn conclude(
        &self,
        ending: Option<Ending>,
        group_end: GroupEnd,
        end: &mut TrialEnd,
    ) -> Result<(), Early> {
        end.engine = group_end.report;
        end.final_flush_ns = group_end.final_flush_ns;
        match (ending, group_end.end_reason) {
            (Some(Ending::Stuck), _) => Err(Early::interrupted(format!(
                "operations were still outstanding after {}; they are listed with their age",
                fathom_model::unit::span(self.job.workload.io_deadline_ns.min(WIND_DOWN_NS)),
            ))),
            (_, EndReason::Error) => Err(Early::failed(first_error(&end.engine))),
            (Some(Ending::Failed(fault)), _) => Err(Early::failed(fault)),
            (None, _) if self.fault.is_some() => {
                Err(Early::failed(self.fault.clone().unwrap_or_default()))
            }
            (Some(Ending::ByUser), _) => Err(Early::interrupted("ended by the user")),
            (Some(Ending::ByRule(reason)), _) => {
                end.reason = Some(reason);
                Ok(())
            }
            (None, _) => Ok(()),
        }
    }
}

fn first_error(report: &EngineReport) -> String {
    match report.errors.first() {
        Some(error) => format!("an operation failed: {}", error.message),
        None => "the engine failed without naming an operation".to_owned(),
    }
}
