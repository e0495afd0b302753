//! One case: what is set up, and what is then true.

use fathom_lab::Wire;
use fathom_lab::application::Application;
use fathom_model::diagnosis::{Answer, Shortage};

/// Stands for the device, file or mount of the case in a description.
pub(super) const TARGET: &str = "TARGET";

/// A host with one known trouble, or with none.
#[derive(Debug, Clone)]
pub struct DiagnosisCase {
    /// What kind of trouble.
    pub family: &'static str,
    /// The figures that were drawn, in words.
    pub figures: String,
    /// What is set up.
    pub(super) setting: Setting,
    /// What must be said.
    pub truth: Truth,
}

/// What a right diagnosis says.
#[derive(Debug, Clone)]
pub struct Truth {
    /// The answer.
    pub answer: Answer,
    /// What it may be called; several where they cannot be told apart from the
    /// host.
    pub limiters: &'static [Shortage],
    /// The evidence must name the process of this application, by its place.
    pub(super) names: Option<usize>,
    /// The evidence must name a process of this name.
    pub(super) names_program: Option<&'static str>,
}

impl Truth {
    pub(super) fn of(answer: Answer, limiters: &'static [Shortage]) -> Truth {
        Truth {
            answer,
            limiters,
            names: None,
            names_program: None,
        }
    }
}

/// What the applications use.
#[derive(Debug, Clone)]
pub(super) enum CaseStorage {
    /// Nothing of the laboratory.
    Nowhere,
    /// A simulated drive as a block device.
    Drive {
        /// `cloud?iops=300`.
        model: String,
        /// The operations per second that it must have given at least for the
        /// case to be what it says.
        gives: f64,
    },
    /// The same below a control group that holds its processes at so many reads
    /// and writes per second each.
    Throttled {
        /// The drive.
        model: String,
        /// The limit.
        iops: u64,
    },
    /// A folder for files.
    Folder,
    /// A folder for files on a file system in memory.
    Memory,
    /// A folder for files on a simulated drive, in ext4.
    Volume {
        /// The drive.
        model: String,
    },
    /// A file on a network mount whose server is behind this link.
    Mount(Wire),
    /// A swap file of so many bytes.
    Swap(u64),
}

/// What is set up.
#[derive(Debug, Clone)]
pub(super) struct Setting {
    pub(super) place: CaseStorage,
    pub(super) applications: Vec<Application>,
    /// Of `fathom diagnose`, beside `--for` and `--format`.
    pub(super) options: Vec<String>,
}
