//! What an engine is handed: one workload on one target, with its seed.

use serde::{Deserialize, Serialize};

use crate::target::Target;
use crate::workload::Workload;

/// One trial's work on one host, complete and free of plan terms.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Job {
    /// What is done.
    pub workload: Workload,
    /// To what.
    pub target: Target,
    /// All randomness of the trial comes from this.
    pub seed: u64,
    /// Stamped into every written block, so that blocks of another run are
    /// recognised. Derived from the run's id.
    pub run_tag: u64,
    /// The user allowed this run to overwrite a device or a file that fathom
    /// did not create.
    pub destructive: bool,
    /// Keep the test files for later runs instead of deleting them at the end.
    pub keep_files: bool,
    /// Name of the test files in a directory target, without number. Files
    /// with this name that fathom created earlier are reused when they match.
    pub file_prefix: String,
}
