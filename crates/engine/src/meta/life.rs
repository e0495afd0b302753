//! A worker thread on a tree, from its birth to its report.

use std::sync::Arc;

use super::picker::Picker;
use super::work::TreeWork;
use super::worker::{Parts, Worker};
use crate::Error;
use crate::group::spawn::{Birth, WorkerEnd};
use crate::usage::thread_use;
use crate::worker::LoadState;

/// Makes the worker's parts and runs it.
pub(crate) fn live(
    birth: &Birth,
    work: &Arc<TreeWork>,
    notes: Vec<String>,
) -> Result<WorkerEnd, Error> {
    let plan = &birth.plan;
    let workload = &plan.job.workload;
    let rank = work.rank_of(birth.index);
    let parts = Parts {
        hand: work.hand(rank, workload),
        picker: Picker::new(&work.meta, &work.geometry, rank, plan.job.seed),
        work: Arc::clone(work),
        index: birth.index,
        rank,
        may_spin: plan.may_spin,
        detailed: workload.recording.is_detailed(),
    };
    let load = birth.load_parts(&work.first_done, work.meta.stop_with_first);
    birth.ready.make(Ok(notes));
    let Some(cuts) = birth.pass_gate() else {
        return Ok(WorkerEnd::default());
    };
    let before = thread_use();
    let done = Worker::new(parts).run(LoadState::new(load, cuts));
    Ok(WorkerEnd {
        threads: thread_use().since(&before),
        tree_work: Some(done),
        ..WorkerEnd::default()
    })
}
