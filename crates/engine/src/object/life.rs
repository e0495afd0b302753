//! A worker thread on a store, from its birth to its report.

use std::sync::Arc;

use fathom_s3::ConnectionPool;

use super::work::Work;
use super::worker::{Parts, Worker};
use crate::Error;
use crate::group::spawn::{Birth, WorkerEnd};
use crate::record::Cuts;
use crate::usage::thread_use;
use crate::worker::Pace;

/// Makes the worker's connections and runs it.
pub(crate) fn live(
    birth: &Birth,
    work: &Arc<Work>,
    notes: Vec<String>,
) -> Result<WorkerEnd, Error> {
    let plan = &birth.plan;
    let (workload, seed) = (&plan.job.workload, plan.job.seed);
    let lanes = plan.depth as usize * work.lanes_of_slot();
    let mut hub = ConnectionPool::new(&work.access, lanes, birth.index as usize * lanes)?;
    if !work.access.store.no_keep_alive {
        hub.connect_all(&|| birth.control.must_end())?;
    }
    let pace = workload
        .rate
        .as_ref()
        .map(|rate| Pace::new(rate, workload.workers, birth.index, seed, 1));
    let parts = Parts {
        rank: work.rank_of(birth.index),
        work: Arc::clone(work),
        hub,
        depth: plan.depth,
        pace,
        seed,
        stop_on_error: plan.stops_on_error(),
        workers: workload.workers,
        think_ns: workload.think_ns,
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
    let done = Worker::new(parts, cuts).run();
    Ok(WorkerEnd {
        threads: thread_use().since(&before),
        object_work: Some(done),
        ..WorkerEnd::default()
    })
}
