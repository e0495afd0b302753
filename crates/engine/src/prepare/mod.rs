//! Making the target ready: files that exist, are ours and were written.

pub(crate) mod aligned;
pub(crate) mod crew;
pub(crate) mod direct;
mod hooks;

pub use hooks::{NoHooks, PrepareHooks, PrepareProgress};

use std::path::PathBuf;
use std::sync::Arc;

use fathom_model::run::DataReport;
use fathom_model::{Job, Target};

use crate::Error;
use crate::access::{Layout, TargetKind};
use crate::verify::Ledger;

/// What matters when the files of a layout are opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenFacts {
    /// `O_DIRECT` was tried and works on this target.
    pub direct_works: bool,
    /// Offsets and lengths of direct I/O must be multiples of this.
    pub direct_align_bytes: u32,
    /// The target may be opened for writing.
    pub writable: bool,
}

/// A target that is ready for a trial.
#[derive(Debug)]
pub struct Prepared {
    /// Where the data lie.
    pub layout: Layout,
    /// Facts about the data.
    pub data: DataReport,
    /// How the files can be opened.
    pub open: OpenFacts,
    /// What the workers share when contents are verified.
    pub ledger: Option<Arc<Ledger>>,
    /// Remarks for the user, in words.
    pub notes: Vec<String>,
}

/// Makes the target of `job` ready.
///
/// # Errors
/// Every reason why the trial cannot run on this target, in words.
pub fn prepare(job: &Job, hooks: &mut dyn PrepareHooks) -> Result<Prepared, Error> {
    let _ = hooks;
    let workload = &job.workload;
    let size = workload.size_bytes.unwrap_or(1 << 30);
    let layout = match &job.target {
        Target::Null => Layout::new(TargetKind::Null, workload, size, |n| {
            PathBuf::from(format!("null:{n}"))
        })?,
        Target::Sim(model) => Layout::new(TargetKind::Sim, workload, size, |_| {
            PathBuf::from(format!("sim:{model}"))
        })?,
        Target::Path(path) => Layout::new(TargetKind::File, workload, size, |_| path.clone())?,
    };
    let ledger = match workload.verify {
        Some(_) => Some(Arc::new(Ledger::new(job, &layout)?)),
        None => None,
    };
    Ok(Prepared {
        data: DataReport {
            active_bytes: layout.active_bytes(),
            ..DataReport::default()
        },
        layout,
        open: OpenFacts {
            direct_works: false,
            direct_align_bytes: 512,
            writable: true,
        },
        ledger,
        notes: Vec::new(),
    })
}

/// Deletes the files that [`prepare`] created, unless `keep`; nothing else.
///
/// # Errors
/// [`Error::Io`] when a file could not be removed.
pub fn cleanup(prepared: &Prepared, keep: bool, hooks: &mut dyn PrepareHooks) -> Result<(), Error> {
    let _ = (prepared, keep, hooks);
    Ok(())
}
