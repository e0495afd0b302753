//! A group on virtual time: all workers in one thread, each taking its turn
//! when its time has come. The loop is the one of real engines; only the waiting
//! differs. A day of a drive's life takes as long as its operations take to count.

use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::thread::JoinHandle;
use std::time::Duration;

use fathom_drives::{Counters, PersistentDrive};
use fathom_model::Sample;
use fathom_model::recording::DepthCounts;
use fathom_model::run::EngineReport;
use fathom_model::workload::SyncOpen;

use super::plan::GroupPlan;
use super::{EndReason, GroupEnd, SIMULATED_SECONDS_MAX, SimulatedEnd, spawn};
use crate::Error;
use crate::clock::{Clock, HostClock, VirtualClock};
use crate::engine::{Completion, Engine};
use crate::engines::{SIM_ORIGIN_NS, SharedDrive, Simulated as SimEngine};
use crate::in_flight::InFlight;
use crate::payload::PayloadFacts;
use crate::prepare::Prepared;
use crate::record::{Collector, Cuts, Exchange, Stalls};
use crate::worker::{Control, Visible, Wait, Worker};

/// Samples that the simulation may be ahead of whoever takes them: few, so
/// that a load that is ended early ends soon.
const AHEAD: usize = 1;
/// Virtual time between two looks at the interval buffers.
const DRAIN_NS: u64 = 500_000_000;
const SECOND_NS: u64 = 1_000_000_000;

/// What the thread is given when the gate opens.
struct SimulatedLoad {
    drive: PersistentDrive,
    workers: Vec<Worker>,
    /// What the writes of each worker carry.
    payloads: Vec<PayloadFacts>,
    depth: u32,
    opened: SyncOpen,
    collector: Collector,
    samples: SyncSender<Sample>,
}

/// What it leaves behind.
#[derive(Debug, Default)]
struct LoadEnd {
    final_flush_ns: Option<u64>,
    impossible_latencies: u64,
    depths: Option<DepthCounts>,
    unlogged_ops: u64,
    depth_found: Option<u32>,
    simulated: Option<Box<SimulatedEnd>>,
}

/// A simulated group.
pub(crate) struct SimulatedGroup {
    plan: GroupPlan,
    control: Arc<Control>,
    load: Option<SimulatedLoad>,
    samples: Receiver<Sample>,
    thread: Option<JoinHandle<LoadEnd>>,
    origin_ns: u64,
    notes: Vec<String>,
}

impl SimulatedGroup {
    pub(crate) fn start(plan: GroupPlan, prepared: &Prepared) -> Result<SimulatedGroup, Error> {
        let workload = &plan.job.workload;
        let drive = prepared.drive.clone().ok_or_else(Error::no_drive)?;
        let control = Arc::new(Control::new(workload, plan.depth));
        let shape = plan.shape();
        let cuts = Cuts::new(SIM_ORIGIN_NS, workload.warmup_ns, workload.bounds.time_ns)
            .every(workload.recording.interval_ns());
        let (mut workers, mut exchanges, mut notes) = (Vec::new(), Vec::new(), Vec::new());
        for index in 0..workload.workers {
            let exchange = Exchange::new(shape.clone(), index).map_err(|error| {
                Error::Workload(format!("no memory to record the workers ({error})"))
            })?;
            let visible = Arc::new(Visible {
                in_flight: InFlight::new(Worker::slots(plan.depth)),
                exchange: Arc::new(exchange),
            });
            exchanges.push(Arc::clone(&visible.exchange));
            let parts = spawn::parts(&plan, index, visible, Arc::clone(&control), &mut notes)?;
            let mut worker = Worker::new(parts, cuts, None);
            worker.join();
            workers.push(worker);
        }
        let payloads = (0..workload.workers)
            .map(|index| PayloadFacts::new(&workload.payload, plan.job.seed, index))
            .collect();
        let (sender, samples) = mpsc::sync_channel(AHEAD);
        notes.dedup();
        Ok(SimulatedGroup {
            load: Some(SimulatedLoad {
                drive,
                workers,
                payloads,
                depth: plan.depth,
                opened: workload.sync.open,
                collector: Collector::new(shape, exchanges, Arc::new(Stalls::default())),
                samples: sender,
            }),
            plan,
            control,
            samples,
            thread: None,
            origin_ns: 0,
            notes,
        })
    }

    pub(crate) fn go(&mut self) {
        let Some(load) = self.load.take() else {
            return;
        };
        self.origin_ns = HostClock::new().now().max(1);
        let spawned = std::thread::Builder::new()
            .name("fathom-sim".to_owned())
            .spawn(move || load.run());
        match spawned {
            Ok(thread) => self.thread = Some(thread),
            Err(error) => {
                self.notes
                    .push(format!("the simulation could not be started ({error})"));
                self.control.end(EndReason::Error);
            }
        }
    }

    pub(crate) fn origin_ns(&self) -> u64 {
        self.origin_ns
    }

    pub(crate) fn stop(&self) {
        self.control.end(EndReason::Stopped);
    }

    pub(crate) fn is_finished(&self) -> bool {
        let ended = self.thread.as_ref().is_none_or(JoinHandle::is_finished);
        ended && (self.load.is_none() || self.control.must_end())
    }

    pub(crate) fn drain(&mut self) -> Vec<Sample> {
        self.samples.try_iter().collect()
    }

    /// The next sample; `None` when there is none within `timeout`.
    pub(crate) fn wait(&self, timeout: Duration) -> Option<Sample> {
        self.samples.recv_timeout(timeout).ok()
    }

    pub(crate) fn finish(mut self) -> GroupEnd {
        // A group that was never let go has nothing to wait for.
        drop(self.load.take());
        let samples: Vec<Sample> = self.samples.iter().collect();
        let ended = self.thread.take().map(JoinHandle::join);
        let end = match ended {
            None => LoadEnd::default(),
            Some(Ok(end)) => end,
            Some(Err(_)) => {
                self.notes
                    .push("the simulation panicked; this is a fault of fathom".to_owned());
                self.control.end(EndReason::Error);
                LoadEnd::default()
            }
        };
        let mut fallbacks = self.plan.fallbacks.clone();
        fallbacks.append(&mut self.notes);
        let failures = self.control.take_failures();
        let layout = &self.plan.layout;
        GroupEnd {
            report: EngineReport {
                requested: Some(self.plan.job.workload.engine),
                used: Some(self.plan.engine),
                direct: false,
                fallbacks,
                errors: failures.iter().map(|f| f.detail(layout)).collect(),
                stuck: Vec::new(),
                impossible_latencies: end.impossible_latencies,
                workers: self.plan.job.workload.workers,
                threads: None,
                depths: end.depths,
                unlogged_ops: end.unlogged_ops,
                depth_found: end.depth_found,
                finishers: None,
                endpoints: Vec::new(),
                parts: Vec::new(),
                calls: Vec::new(),
            },
            samples,
            final_flush_ns: end.final_flush_ns,
            end_reason: self.control.reason().unwrap_or(EndReason::Stopped),
            simulated: end.simulated,
        }
    }

    pub(crate) fn abandon(self) -> GroupEnd {
        self.control.end(EndReason::Abandoned);
        self.finish()
    }
}

impl SimulatedLoad {
    fn run(mut self) -> LoadEnd {
        let clock = VirtualClock::new(SIM_ORIGIN_NS);
        let drive = self.drive.clone();
        let shared = SharedDrive::new(self.drive, self.workers.len());
        let shared = Rc::new(RefCell::new(shared));
        let payloads = self.payloads.into_iter().enumerate();
        let mut engines: Vec<SimEngine> = payloads
            .map(|(index, payload)| {
                let shared = Rc::clone(&shared);
                SimEngine::new(shared, index, clock.clone(), payload, self.depth + 1)
                    .opened(self.opened)
            })
            .collect();
        let mut turns: BinaryHeap<Reverse<(u64, usize)>> = (0..self.workers.len())
            .map(|worker| Reverse((SIM_ORIGIN_NS, worker)))
            .collect();
        let mut ended: Vec<Completion> = Vec::with_capacity(self.depth as usize + 1);
        let mut end = LoadEnd::default();
        let mut drain_at_ns = SIM_ORIGIN_NS + DRAIN_NS;
        let start = drive.lock().counters(0);
        let mut seconds = Vec::new();
        while let Some(Reverse((at_ns, index))) = turns.pop() {
            clock.advance_to(at_ns);
            count_seconds(&mut seconds, &drive, at_ns);
            if at_ns >= drain_at_ns {
                drain_at_ns = at_ns + DRAIN_NS;
                if !send(&self.samples, self.collector.drain()) {
                    break;
                }
            }
            let (worker, engine) = (&mut self.workers[index], &mut engines[index]);
            match turn(worker, engine, &clock, &mut ended) {
                Some(next_ns) => turns.push(Reverse((next_ns, index))),
                None => {
                    end.final_flush_ns = end.final_flush_ns.max(worker.final_flush_ns());
                    if let Some(depths) = worker.depths() {
                        end.depths.get_or_insert_default().merge(&depths);
                    }
                    end.depth_found = end
                        .depth_found
                        .into_iter()
                        .chain(worker.depth_found())
                        .min();
                    worker.finish();
                }
            }
        }
        let now_ns = clock.now() - SIM_ORIGIN_NS;
        drive.lock().load_ended(now_ns);
        send(&self.samples, self.collector.drain_all(now_ns));
        end.impossible_latencies = self.collector.impossible();
        end.unlogged_ops = self.collector.unlogged();
        let truth = drive.with(|drive| drive.truth());
        end.simulated = Some(Box::new(SimulatedEnd {
            truth,
            start,
            seconds,
        }));
        end
    }
}

/// Reads the drive's statistics at the end of each second before `at_ns`.
#[inline]
fn count_seconds(seconds: &mut Vec<Counters>, drive: &PersistentDrive, at_ns: u64) {
    let past = ((at_ns - SIM_ORIGIN_NS) / SECOND_NS).min(SIMULATED_SECONDS_MAX as u64);
    while (seconds.len() as u64) < past {
        let end_ns = (seconds.len() as u64 + 1) * SECOND_NS;
        seconds.push(drive.lock().counters(end_ns));
    }
}

/// Gives out samples. `false` when nobody takes them any more.
fn send(samples: &SyncSender<Sample>, ready: Vec<Sample>) -> bool {
    ready.into_iter().all(|sample| samples.send(sample).is_ok())
}

/// One turn of one worker at the clock's time. Returns when its next one is.
fn turn(
    worker: &mut Worker,
    engine: &mut SimEngine,
    clock: &VirtualClock,
    ended: &mut Vec<Completion>,
) -> Option<u64> {
    ended.clear();
    engine.reap(0, None, ended).ok()?;
    worker.settle(clock.now(), ended);
    let wait = worker.issue(engine, clock).ok()?;
    engine.submit().ok()?;
    match wait {
        Wait::Reap { until_ns, .. } => {
            let event_ns = engine.next_event_ns().unwrap_or(until_ns);
            Some(until_ns.min(event_ns).max(clock.now()))
        }
        Wait::Sleep { until_ns, .. } => Some(until_ns.max(clock.now())),
        Wait::Done => None,
    }
}
