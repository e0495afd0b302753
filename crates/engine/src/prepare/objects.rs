//! Making the bucket of a workload on objects ready.

use std::path::PathBuf;
use std::sync::Arc;

use fathom_model::Job;

use super::beside::Contents;
use super::hooks::PrepareHooks;
use super::ready::Ready;
use super::{Data, Prepared, Task};
use crate::Error;
use crate::access::{Layout, LayoutFile, TargetKind};
use crate::object;
use crate::verify::Ledger;

/// Size of a file whose blocks are objects, unless told.
const DEFAULT_BYTES: u64 = 1 << 30;

/// Makes the bucket of `job` ready.
pub(super) fn prepare(job: &Job, hooks: &mut dyn PrepareHooks) -> Result<Prepared, Error> {
    let ready = object::prepare(job, hooks)?;
    let bytes = job.workload.requests().map_or(0, |object| {
        let objects = object.objects as f64 * f64::from(job.workload.workers);
        (object.sizes.mean_bytes() * objects) as u64
    });
    let data = Data {
        writable: true,
        reused: ready.made_objects == 0,
        prepared_bytes: ready.made_bytes,
        notes: ready.notes,
        ..Data::default()
    };
    let layout = Layout {
        kind: TargetKind::Null,
        files: vec![LayoutFile {
            path: PathBuf::from(job.target.to_string()),
            file: None,
            size_bytes: bytes,
            start_bytes: 0,
            span_bytes: bytes,
        }],
        shared: true,
        files_per_worker: 1,
    };
    let mut prepared = Prepared::assemble(layout, data, None, None, Vec::new(), Contents::of(job));
    prepared.ready = Ready::Objects(Arc::new(ready.work));
    Ok(prepared)
}

/// Makes a store ready whose objects are blocks.
pub(super) fn prepare_blocks(task: Task<'_>) -> Result<Prepared, Error> {
    let job = task.job;
    let workload = &job.workload;
    let Some(store) = workload.store() else {
        return Err(Error::Workload(format!(
            "{}: the workload does not say how the store is reached; add --endpoint",
            job.target
        )));
    };
    let names: Vec<PathBuf> = match &workload.data_set.named {
        Some(named) => named.paths.clone(),
        None => vec![PathBuf::from(job.target.to_string().replace("s3:/", ""))],
    };
    if workload.verify.is_some() && workload.min_block_bytes() != workload.max_block_bytes() {
        return Err(Error::Workload(
            "objects can be verified when all blocks have one size".to_owned(),
        ));
    }
    let first = names.first().cloned().unwrap_or_default();
    let name = |n: u32| names.get(n as usize).unwrap_or(&first).clone();
    let bytes = workload.data_set.size_bytes.unwrap_or(DEFAULT_BYTES);
    let layout = Layout::new(TargetKind::Null, workload, bytes, name)?;
    super::check_fit(task, &layout)?;
    let ledger = match workload.verify {
        Some(_) => Some(Arc::new(Ledger::new(job, &layout)?)),
        None => None,
    };
    let access = object::find(store, "", job.run_tag)?;
    let files = layout
        .files
        .iter()
        .map(|file| file.path.display().to_string());
    let blocks = object::BlockStore::new(access, files);
    let data = Data {
        writable: true,
        reused: true,
        ..Data::default()
    };
    let mut prepared =
        Prepared::assemble(layout, data, ledger, None, Vec::new(), Contents::of(job));
    prepared.ready = Ready::BlocksAsObjects(Arc::new(blocks));
    Ok(prepared)
}
