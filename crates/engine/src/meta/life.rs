//! A worker thread on a tree, from its birth to its report.

use std::sync::Arc;

use super::picker::Picker;
use super::work::{Done, Work};
use super::worker::{Parts, Worker};
use crate::Error;
use crate::group::spawn::{Birth, WorkerEnd};
use crate::record::Cuts;
use crate::usage::thread_use;
use crate::worker::Pace;

/// Makes the worker's parts and runs it.
pub(crate) fn live(
    birth: &Birth,
    work: &Arc<Work>,
    notes: Vec<String>,
) -> Result<WorkerEnd, Error> {
    let plan = &birth.plan;
    let (workload, seed) = (&plan.job.workload, plan.job.seed);
    let rank = work.rank_of(birth.index);
    let pace = workload
        .rate
        .as_ref()
        .map(|rate| Pace::new(rate, workload.workers, birth.index, seed, 1));
    let parts = Parts {
        hand: work.hand(rank, workload),
        picker: Picker::new(&work.meta, &work.geometry, rank, seed),
        work: Arc::clone(work),
        index: birth.index,
        rank,
        pace,
        stop_on_error: plan.stops_on_error(),
        workers: workload.workers,
        think_ns: workload.think_ns,
        may_spin: plan.may_spin,
        detailed: workload.recording.is_detailed(),
        visible: Arc::clone(&birth.visible),
        control: Arc::clone(&birth.control),
    };
    birth.ready.make(Ok(notes));
    let Some(origin_ns) = birth.gate.pass() else {
        return Ok(WorkerEnd::default());
    };
    let cuts = Cuts::new(origin_ns, workload.warmup_ns, workload.bounds.time_ns)
        .every(workload.recording.interval_ns());
    let before = thread_use();
    let done: Done = Worker::new(parts, cuts).run();
    Ok(WorkerEnd {
        threads: thread_use().since(&before),
        tree_work: Some(done),
        ..WorkerEnd::default()
    })
}
