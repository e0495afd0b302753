//! A worker thread on a store, from its birth to its report.

use std::sync::Arc;

use fathom_s3::ConnectionPool;

use super::work::StoreWork;
use super::worker::{Parts, Worker};
use crate::Error;
use crate::group::spawn::{Birth, WorkerEnd};
use crate::usage::thread_use;
use crate::worker::LoadState;

/// Makes the worker's connections and runs it.
pub(crate) fn live(
    birth: &Birth,
    work: &Arc<StoreWork>,
    notes: Vec<String>,
) -> Result<WorkerEnd, Error> {
    let plan = &birth.plan;
    let lanes = plan.depth as usize * work.lanes_of_slot();
    let mut pool = ConnectionPool::new(&work.access, lanes, birth.index as usize * lanes)?;
    if !work.access.store.no_keep_alive {
        pool.connect_all(&|| birth.control.must_end())?;
    }
    let parts = Parts {
        rank: work.rank_of(birth.index),
        work: Arc::clone(work),
        pool,
        depth: plan.depth,
        seed: plan.job.seed,
    };
    let load = birth.load_parts(&work.first_done, false);
    birth.ready.make(Ok(notes));
    let Some(cuts) = birth.pass_gate() else {
        return Ok(WorkerEnd::default());
    };
    let before = thread_use();
    let done = Worker::new(parts).run(LoadState::new(load, cuts));
    Ok(WorkerEnd {
        threads: thread_use().since(&before),
        object_work: Some(done),
        ..WorkerEnd::default()
    })
}
