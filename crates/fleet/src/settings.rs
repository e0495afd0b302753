//! What a run needs besides its schedule.

use fathom_observe::Sysroot;

/// What a run needs besides its schedule.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Id of the run: under it agents hold what could not be delivered.
    pub run: String,
    /// Name of test files, without their number.
    pub file_prefix: String,
    /// The user allowed devices and foreign files to be overwritten.
    pub destructive: bool,
    /// Test files stay for later runs.
    pub keep_files: bool,
    /// How long the generator's ceiling is measured before a workload of a
    /// new shape; 0 leaves it out.
    pub ceiling_ns: u64,
    /// Where `/proc` and `/sys` are read.
    pub sysroot: Sysroot,
}

impl Settings {
    /// Stamped into every written block, and part of the names of objects.
    pub(crate) fn run_tag(&self) -> u64 {
        fathom_model::run::tag_of(&self.run)
    }
}
