//! A group of threads on the host's time.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use fathom_model::Sample;
use fathom_model::recording::ThreadUse;
use fathom_model::run::{EngineReport, Finishers, StuckOp, WorkerPart};
use fathom_model::workload::EndpointReport;

use super::gate::Gate;
use super::plan::GroupPlan;
use super::spawn::{self, Announcement, Birth, Readiness, WorkerEnd};
use super::watch::Watch;
use super::{EndReason, GroupEnd};
use crate::Error;
use crate::clock::{Clock, HostClock};
use crate::in_flight::{InFlight, Outstanding};
use crate::record::{Collector, Exchange, Stalls};
use crate::worker::{Control, Visible, Worker};

/// Enough for a worker's deepest call, and small enough for a thousand of them.
const STACK_BYTES: usize = 256 << 10;

/// Operations that one call of `stuck` lists at most.
const MAX_STUCK: usize = 1024;

/// How long a finished worker may take to leave when hung ones are abandoned.
const LEAVE_NS: u64 = 200_000_000;

/// Threads, and what they share with their controlling thread.
pub(crate) struct Live {
    plan: Arc<GroupPlan>,
    control: Arc<Control>,
    gate: Arc<Gate>,
    visible: Vec<Arc<Visible>>,
    threads: Vec<Option<JoinHandle<WorkerEnd>>>,
    ends: Vec<WorkerEnd>,
    collector: Collector,
    stalls: Arc<Stalls>,
    watch: Option<Arc<Watch>>,
    notes: BTreeSet<String>,
    origin_ns: u64,
}

impl Live {
    pub(crate) fn start(plan: GroupPlan) -> Result<Live, Error> {
        // Calibrated before there is any load.
        let _ = HostClock::new();
        let workers = plan.job.workload.workers;
        let shape = plan.shape();
        let visible: Result<Vec<Arc<Visible>>, Error> = (0..workers)
            .map(|worker| {
                let exchange = Exchange::new(shape.clone(), worker).map_err(|error| {
                    Error::Workload(format!(
                        "no memory to record {workers} workers ({error}): use fewer"
                    ))
                })?;
                Ok(Arc::new(Visible {
                    in_flight: InFlight::new(Worker::slots(plan.depth)),
                    exchange: Arc::new(exchange),
                }))
            })
            .collect();
        let visible = visible?;
        let stalls = Arc::new(Stalls::default());
        let exchanges = visible.iter().map(|v| Arc::clone(&v.exchange));
        let mut live = Live {
            control: Arc::new(Control::new(&plan.job.workload, plan.depth)),
            gate: Arc::new(Gate::new()),
            collector: Collector::new(shape, exchanges, Arc::clone(&stalls)),
            threads: Vec::with_capacity(workers as usize),
            ends: Vec::new(),
            notes: BTreeSet::new(),
            plan: Arc::new(plan),
            visible,
            stalls,
            watch: None,
            origin_ns: 0,
        };
        live.spawn_all()?;
        Ok(live)
    }

    fn spawn_all(&mut self) -> Result<(), Error> {
        let (ready, readiness) = mpsc::channel();
        for (index, visible) in self.visible.iter().enumerate() {
            let birth = Birth {
                plan: Arc::clone(&self.plan),
                index: index as u32,
                visible: Arc::clone(visible),
                control: Arc::clone(&self.control),
                gate: Arc::clone(&self.gate),
                ready: Announcement::new(ready.clone()),
            };
            let spawned = std::thread::Builder::new()
                .name(format!("fathom-w{index}"))
                .stack_size(STACK_BYTES)
                .spawn(move || spawn::live(birth));
            match spawned {
                Ok(thread) => self.threads.push(Some(thread)),
                Err(error) => {
                    return Err(self.cancel(Error::Workload(format!(
                        "thread {index} could not be started ({error}): use fewer workers \
                         or raise the limit of processes"
                    ))));
                }
            }
        }
        drop(ready);
        self.await_readiness(&readiness)
    }

    fn await_readiness(&mut self, readiness: &Receiver<Readiness>) -> Result<(), Error> {
        for _ in 0..self.threads.len() {
            match readiness.recv() {
                Ok(Ok(notes)) => self.notes.extend(notes),
                Ok(Err(error)) => return Err(self.cancel(error)),
                Err(_) => {
                    let text = "a worker ended before it was ready".to_owned();
                    return Err(self.cancel(Error::Workload(text)));
                }
            }
        }
        Ok(())
    }

    /// Sends all workers home and waits for them.
    fn cancel(&mut self, error: Error) -> Error {
        self.gate.cancel();
        for thread in self.threads.drain(..).flatten() {
            let _ = thread.join();
        }
        error
    }

    pub(crate) fn go(&mut self) {
        if self.origin_ns != 0 {
            return;
        }
        self.go_at(HostClock::new().now(), &Arc::new(Watch::start()));
    }

    /// Opens the gate for a moment that may lie ahead.
    pub(crate) fn go_at(&mut self, origin_ns: u64, watch: &Arc<Watch>) {
        if self.origin_ns != 0 {
            return;
        }
        self.origin_ns = origin_ns.max(1);
        watch.tell(self.origin_ns, &self.stalls);
        self.watch = Some(Arc::clone(watch));
        self.gate.open(self.origin_ns);
    }

    pub(crate) fn origin_ns(&self) -> u64 {
        self.origin_ns
    }

    pub(crate) fn start_lateness_ns(&self) -> u64 {
        self.gate.lateness_ns()
    }

    pub(crate) fn stop(&self) {
        self.control.end(EndReason::Stopped);
        self.gate.cancel();
    }

    pub(crate) fn is_finished(&self) -> bool {
        self.threads.iter().flatten().all(JoinHandle::is_finished)
    }

    pub(crate) fn drain(&mut self) -> Vec<Sample> {
        self.collector.drain()
    }

    pub(crate) fn stuck(&self, older_than_ns: u64) -> Vec<StuckOp> {
        let now_ns = HostClock::new().now();
        let before_ns = now_ns.saturating_sub(older_than_ns);
        let mut stuck = Vec::new();
        for (worker, visible) in self.visible.iter().enumerate() {
            for op in visible.in_flight.older_than(before_ns) {
                if stuck.len() == MAX_STUCK {
                    return stuck;
                }
                stuck.push(self.describe(worker, &op, now_ns));
            }
        }
        stuck
    }

    fn describe(&self, worker: usize, stuck: &Outstanding, now_ns: u64) -> StuckOp {
        let op = &stuck.op;
        if let Some(work) = &self.plan.tree_work {
            return StuckOp {
                message: format!(
                    "{} of number {} of rank {} by worker {worker}",
                    op.kind.name(),
                    op.offset,
                    work.rank_of(worker as u32)
                ),
                age_ns: now_ns.saturating_sub(stuck.started_ns),
            };
        }
        if self.plan.object_work.is_some() {
            return StuckOp {
                message: format!(
                    "{} of object {} by worker {worker}",
                    op.kind.name(),
                    op.offset
                ),
                age_ns: now_ns.saturating_sub(stuck.started_ns),
            };
        }
        let layout = &self.plan.layout;
        let file = layout.files_of(worker as u32).start + op.file;
        let path = layout.files.get(file as usize).map(|f| f.path.display());
        let path = path.map_or_else(|| format!("file {file}"), |path| path.to_string());
        StuckOp {
            message: format!(
                "{} of {} bytes at offset {} of {path} by worker {worker}",
                op.kind.name(),
                op.len,
                op.offset
            ),
            age_ns: now_ns.saturating_sub(stuck.started_ns),
        }
    }

    pub(crate) fn finish(mut self) -> GroupEnd {
        // A group that was never let go has nothing to wait for.
        self.gate.cancel();
        let threads: Vec<_> = self.threads.drain(..).flatten().collect();
        for thread in threads {
            self.join(thread);
        }
        self.end(Vec::new())
    }

    pub(crate) fn abandon(mut self) -> GroupEnd {
        self.control.end(EndReason::Abandoned);
        self.gate.cancel();
        let deadline = Instant::now() + Duration::from_nanos(LEAVE_NS);
        while !self.is_finished() && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(5));
        }
        let threads: Vec<_> = self.threads.drain(..).flatten().collect();
        for thread in threads.into_iter().filter(JoinHandle::is_finished) {
            self.join(thread);
        }
        let stuck = self.stuck(0);
        self.end(stuck)
    }

    fn join(&mut self, thread: JoinHandle<WorkerEnd>) {
        match thread.join() {
            Ok(end) => self.ends.push(end),
            Err(_) => {
                self.notes
                    .insert("a worker panicked; this is a fault of fathom".to_owned());
                self.control.end(EndReason::Error);
            }
        }
    }

    /// Notes what is in the tree now. First and last finisher, if the load was
    /// on one.
    fn leave_tree(&self, notes: &mut Vec<String>) -> Option<Finishers> {
        let work = self.plan.tree_work.as_ref()?;
        if let Some(tree) = &work.tree
            && let Err(error) = tree.note_closed()
        {
            notes.push(error.to_string());
        }
        let done = self.ends.iter().filter_map(|end| end.tree_work);
        let done: Vec<_> = done.collect();
        crate::meta::finishers(work, &done, self.origin_ns)
    }

    /// First and last finisher of work on an object store, and what each of
    /// its endpoints did.
    fn leave_store(&self) -> (Option<Finishers>, Vec<EndpointReport>) {
        let Some(work) = &self.plan.object_work else {
            return (None, Vec::new());
        };
        let done: Vec<_> = self
            .ends
            .iter()
            .filter_map(|e| e.object_work.as_ref())
            .collect();
        crate::object::results(work, &done, self.origin_ns)
    }

    /// How far each worker came on a tree.
    fn parts_done(&self) -> Vec<WorkerPart> {
        let done = self.ends.iter().filter_map(|end| end.tree_work);
        done.map(|done| done.part(self.origin_ns)).collect()
    }

    /// What the workers asked of a tree.
    fn calls_made(&self) -> Vec<(String, u64)> {
        let mut all = crate::meta::Calls::default();
        for done in self.ends.iter().filter_map(|end| end.tree_work) {
            all.add(&done.calls);
        }
        all.named()
    }

    fn threads_used(&self) -> ThreadUse {
        let mut all = ThreadUse::default();
        for end in &self.ends {
            all.add(&end.threads);
        }
        all
    }

    fn end(mut self, stuck: Vec<StuckOp>) -> GroupEnd {
        // The last one who holds the watch ends it.
        drop(self.watch.take());
        let now_ns = HostClock::new().now().saturating_sub(self.origin_ns);
        let samples = self.collector.drain_all(now_ns);
        let plan = &self.plan;
        let mut fallbacks = plan.fallbacks.clone();
        let (of_store, endpoints) = self.leave_store();
        let finishers = self.leave_tree(&mut fallbacks).or(of_store);
        fallbacks.extend(self.notes.iter().cloned());
        let failures = self.control.take_failures();
        GroupEnd {
            report: EngineReport {
                requested: Some(plan.job.workload.engine),
                used: Some(plan.engine),
                direct: plan.mode.direct,
                fallbacks,
                errors: failures.iter().map(|f| f.detail(&plan.layout)).collect(),
                stuck,
                impossible_latencies: self.collector.impossible(),
                workers: plan.job.workload.workers,
                threads: Some(self.threads_used()),
                depths: spawn::merged_depths(&self.ends),
                unlogged_ops: self.collector.unlogged(),
                depth_found: self.ends.iter().filter_map(|end| end.depth_found).min(),
                finishers,
                endpoints,
                parts: self.parts_done(),
                calls: self.calls_made(),
            },
            samples,
            final_flush_ns: self.ends.iter().filter_map(|e| e.final_flush_ns).max(),
            end_reason: self.control.reason().unwrap_or(EndReason::Stopped),
            simulated: None,
        }
    }
}

impl Drop for Live {
    /// Workers that nobody waits for any more end by themselves.
    fn drop(&mut self) {
        self.control.end(EndReason::Stopped);
        self.gate.cancel();
    }
}
