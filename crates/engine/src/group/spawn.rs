//! One worker thread, from its birth to its report.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::mpsc::Sender;

use fathom_model::recording::{DepthCounts, ThreadUse};
use fathom_model::workload::EngineKind;
use fathom_model::{OpKind, Workload};

use super::gate::Gate;
use super::plan::GroupPlan;
use crate::Error;
use crate::access::AccessStream;
use crate::arena::{Buffers, Pages};
use crate::clock::HostClock;
use crate::engine::{Broken, Engine};
use crate::engines::{self, Materials, Visitor};
use crate::payload::PayloadPool;
use crate::record::Cuts;
use crate::replay::ReplaySource;
use crate::usage::{ThreadMeter, thread_use};
use crate::verify::Verifier;
use crate::worker::{
    self, Control, DepthSearch, EndReason, Failure, FirstDone, FlowStep, LoadParts, OwnBudget,
    Pace, Parts, Rhythm, Think, Visible, Worker,
};

/// What a worker says before the gate.
pub(crate) type Readiness = Result<Vec<String>, Error>;

/// What a worker leaves behind.
#[derive(Debug, Default)]
pub(crate) struct WorkerEnd {
    pub(crate) final_flush_ns: Option<u64>,
    pub(crate) threads: ThreadUse,
    pub(crate) depths: Option<DepthCounts>,
    pub(crate) depth_found: Option<u32>,
    /// How far it came with its part of a tree of files.
    pub(crate) tree_work: Option<crate::meta::TreeProgress>,
    /// How far it came with its part of an object store.
    pub(crate) object_work: Option<crate::object::StoreProgress>,
}

/// Depths and batches of all workers, if they were recorded.
pub(crate) fn merged_depths(ends: &[WorkerEnd]) -> Option<DepthCounts> {
    ends.iter()
        .filter_map(|end| end.depths)
        .reduce(|mut all, one| {
            all.merge(&one);
            all
        })
}

/// The one time that a worker says whether it is ready. When a worker dies
/// before, its end of the channel goes with it and the group hears of it.
pub(crate) struct Announcement(Cell<Option<Sender<Readiness>>>);

impl Announcement {
    pub(crate) fn new(sender: Sender<Readiness>) -> Announcement {
        Announcement(Cell::new(Some(sender)))
    }

    pub(crate) fn make(&self, readiness: Readiness) {
        if let Some(sender) = self.0.take() {
            let _ = sender.send(readiness);
        }
    }
}

/// Everything that a worker thread is born with.
pub(crate) struct Birth {
    pub(crate) plan: Arc<GroupPlan>,
    pub(crate) index: u32,
    pub(crate) visible: Arc<Visible>,
    pub(crate) control: Arc<Control>,
    pub(crate) gate: Arc<Gate>,
    pub(crate) ready: Announcement,
}

/// The parts of worker `index`, made by its own thread so that memory is near.
pub(crate) fn parts(
    plan: &GroupPlan,
    index: u32,
    visible: Arc<Visible>,
    control: Arc<Control>,
    notes: &mut Vec<String>,
) -> Result<Parts, Error> {
    let workload = &plan.job.workload;
    let slots = Worker::slots(plan.depth);
    let block_bytes = plan.max_block_bytes();
    // Neither has a place to keep what is written, so nothing can be verified.
    let keeps_data = plan.engine.keeps_data();
    let fills = writes(plan) && plan.engine != EngineKind::Sim;
    if plan.ledger.is_some() && !keeps_data {
        notes.push(format!(
            "engine {} keeps no data: contents are not verified",
            plan.engine.name()
        ));
    }
    let reads_back = keeps_data && workload.verify.is_some_and(|v| v.read_back.is_some());
    // What is due, or read back, is known only when it is about to be begun.
    let known_ahead = plan.recorded.is_none() && workload.rate_by_kind.is_empty() && !reads_back;
    let spare = if fills && known_ahead && plan.engine.traits().goes_on {
        worker::spare_buffers(plan.depth, block_bytes, workload.workers)
    } else {
        0
    };
    let used_bytes = if keeps_data || fills { block_bytes } else { 1 };
    let buffers = buffers(plan, plan.depth + spare, used_bytes, notes)?;
    let files = plan.layout.files_of(index);
    let mut stream = AccessStream::new(workload, &plan.layout, index, plan.job.seed)?;
    if let Some(recorded) = &plan.recorded {
        let source = ReplaySource::new(Arc::clone(recorded), workload, &plan.layout, index);
        stream.replay(source);
    }
    Ok(Parts {
        depth: plan.depth,
        batch: batch(workload, plan.engine, plan.depth),
        think_ns: workload.think_ns,
        think: Think::new(workload),
        pairs: workload.trim_first,
        step: workload.flow.map(FlowStep::new),
        depth_search: workload
            .latency_target
            .map(|target| DepthSearch::new(target, plan.depth)),
        reads_back,
        ends_when_full: workload.data_set.ends_when_full,
        replays: plan.recorded.is_some(),
        first_file: files.start,
        files: files.end - files.start,
        final_flush: workload.sync.final_flush,
        flush_every: Rhythm::of(&workload.sync),
        writes: writes(plan),
        stop_on_error: plan.stops_on_error(),
        workers: workload.workers,
        max_block_bytes: block_bytes,
        own_budget: OwnBudget::new(&workload.each_worker, stream.pass_bytes()),
        stream,
        payload: fills.then(|| PayloadPool::new(&workload.payload, plan.job.seed, index)),
        verifier: plan
            .ledger
            .as_ref()
            .filter(|_| keeps_data)
            .map(|ledger| Verifier::new(ledger, slots as usize, block_bytes)),
        pace: pace(plan, index, block_bytes),
        buffers,
        visible,
        control,
    })
}

/// The memory of a worker's blocks.
fn buffers(
    plan: &GroupPlan,
    count: u32,
    bytes: u64,
    notes: &mut Vec<String>,
) -> Result<Buffers, Error> {
    let huge_pages = plan.job.workload.huge_pages;
    let made = Buffers::new(count, bytes, huge_pages);
    let (buffers, pages) = made.map_err(|error| {
        Error::Workload(format!(
            "no memory for {} buffers of {bytes} bytes per worker ({error}): \
             lower the queue depth, block size or number of workers",
            plan.depth
        ))
    })?;
    if huge_pages && pages != Pages::Huge {
        notes.push("no huge pages are reserved: transparent or ordinary ones are used".to_owned());
    }
    Ok(buffers)
}

/// When operations are due, where that was asked for or recorded.
fn pace(plan: &GroupPlan, index: u32, block_bytes: u64) -> Option<Pace> {
    let workload = &plan.job.workload;
    if plan.recorded.is_some() {
        return workload.is_open_loop().then(Pace::told);
    }
    if !workload.rate_by_kind.is_empty() {
        return Some(Pace::told());
    }
    let rate = workload.rate.as_ref()?;
    let seed = plan.job.seed;
    Some(Pace::new(rate, workload.workers, index, seed, block_bytes))
}

fn writes(plan: &GroupPlan) -> bool {
    plan.does(OpKind::Write)
}

/// The whole life of a worker thread.
pub(crate) fn live(birth: Birth) -> WorkerEnd {
    let plan = &birth.plan;
    let notes = Vec::new();
    if let Some(cpu) = cpu_of(&plan.job.workload.cpus, birth.index)
        && let Err(why) = crate::affinity::pin_to(cpu)
    {
        birth.ready.make(Err(Error::Workload(why.to_string())));
        return WorkerEnd::default();
    }
    crate::affinity::ask_for_exact_timers();
    let built = match (&plan.tree_work, &plan.object_work) {
        (Some(work), _) => crate::meta::live(&birth, work, notes),
        (None, Some(work)) => crate::object::live(&birth, work, notes),
        (None, None) => birth.build(notes),
    };
    built.unwrap_or_else(|error| {
        birth.ready.make(Err(error));
        WorkerEnd::default()
    })
}

fn cpu_of(cpus: &[u32], index: u32) -> Option<u32> {
    if cpus.is_empty() {
        return None;
    }
    cpus.get(index as usize % cpus.len()).copied()
}

impl Birth {
    /// The state of a worker's load whose operations are no blocks.
    pub(crate) fn load_parts(
        &self,
        first_done: &Arc<FirstDone>,
        stops_with_first: bool,
    ) -> LoadParts {
        let plan = &self.plan;
        let workload = &plan.job.workload;
        LoadParts {
            depth: plan.depth,
            pace: pace(plan, self.index, 1),
            think_ns: workload.think_ns,
            stop_on_error: plan.stops_on_error(),
            workers: workload.workers,
            own_budget: OwnBudget::new(&workload.each_worker, u64::MAX),
            first_done: Arc::clone(first_done),
            stops_with_first,
            visible: Arc::clone(&self.visible),
            control: Arc::clone(&self.control),
        }
    }

    /// Waits for the start of the load: where its intervals are cut. `None` when it
    /// never starts.
    pub(crate) fn pass_gate(&self) -> Option<Cuts> {
        let origin_ns = self.gate.pass()?;
        let workload = &self.plan.job.workload;
        let cuts = Cuts::new(origin_ns, workload.warmup_ns, workload.bounds.time_ns);
        Some(cuts.every(workload.recording.interval_ns()))
    }

    /// Makes the worker's parts and engine, and runs it.
    fn build(&self, mut notes: Vec<String>) -> Result<WorkerEnd, Error> {
        let plan = Arc::clone(&self.plan);
        let parts = parts(
            &plan,
            self.index,
            Arc::clone(&self.visible),
            Arc::clone(&self.control),
            &mut notes,
        )?;
        let own = plan.layout.files_of(self.index);
        let own = own.start as usize..own.end as usize;
        let sizes = plan.layout.files.get(own).unwrap_or_default();
        // The buffers stay where they are when the parts move into the worker.
        let view = parts.buffers.view();
        let materials = Materials {
            kind: plan.engine,
            worker: self.index,
            files: plan.opener.open_for(&plan.layout, self.index)?,
            sizes: sizes.iter().map(|file| file.size_bytes).collect(),
            buffers: view,
            slots: Worker::slots(plan.depth),
            workload: &plan.job.workload,
            mode: plan.mode,
            blocks: plan.blocks.as_ref().map(|store| {
                let first = plan.layout.files_of(self.index).start as usize;
                (Arc::clone(store), first)
            }),
        };
        engines::enter(materials, notes, WorkerRun { birth: self, parts }).map_err(|error| {
            Error::Workload(format!(
                "engine {} could not be set up ({error}): {}",
                plan.engine.name(),
                engines::remedy(plan.engine)
            ))
        })
    }
}

/// A worker that has all but its engine.
struct WorkerRun<'a> {
    birth: &'a Birth,
    parts: Parts,
}

impl Visitor for WorkerRun<'_> {
    type Output = WorkerEnd;

    fn visit<E: Engine>(self, mut engine: E, notes: Vec<String>) -> WorkerEnd {
        let parts = self.parts;
        let Birth {
            plan,
            control,
            ready,
            ..
        } = self.birth;
        ready.make(Ok(notes));
        let Some(cuts) = self.birth.pass_gate() else {
            engine.close();
            return WorkerEnd::default();
        };
        let before = thread_use();
        let mut worker = Worker::new(parts, cuts, Some(ThreadMeter::start()));
        let clock = HostClock::new();
        worker.join();
        let driven = worker::drive(&mut worker, &mut engine, &clock, plan.may_spin);
        let buffers = worker.finish();
        match driven {
            Ok(()) => engine.close(),
            Err(broken) => {
                report_broken(control, broken);
                // The kernel may still write to them.
                std::mem::forget(buffers);
            }
        }
        WorkerEnd {
            final_flush_ns: worker.final_flush_ns(),
            threads: thread_use().since(&before),
            depths: worker.depths(),
            depth_found: worker.depth_found(),
            tree_work: None,
            object_work: None,
        }
    }
}

fn report_broken(control: &Control, broken: Broken) {
    control.end(EndReason::Error);
    control.note_failure(|| Failure::of_engine(OpKind::Read, broken));
}

/// Operations that are handed over together. Left to the engine, an
/// asynchronous queue is refilled in small steps: one that is refilled in lumps
/// costs less CPU and leaves the device idle in between (decision 0007).
pub(crate) fn batch(workload: &Workload, engine: EngineKind, depth: u32) -> u32 {
    match (workload.batch, engine) {
        (0, EngineKind::Uring | EngineKind::Libaio) => (depth / 32).clamp(1, 16),
        (asked_for, _) => asked_for,
    }
}
