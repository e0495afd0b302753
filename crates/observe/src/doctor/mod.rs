//! What this machine lets fathom do: each capability tried where it can be, and
//! read from the kernel's settings where not.

mod input_output;
mod machine;
mod observing;

use std::path::Path;

use serde::Serialize;

use crate::Sysroot;

/// How much of a capability there is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CapabilityStatus {
    /// All of it.
    Ok,
    /// Some of it, or with a cost to the measurement.
    Limited,
    /// None of it.
    Missing,
}

/// One thing that fathom would like to use.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Capability {
    /// Short name, for example `io_uring`.
    pub name: String,
    /// How much of it there is.
    pub status: CapabilityStatus,
    /// What was found.
    pub found: String,
    /// What it means for a measurement.
    pub meaning: String,
    /// What would help; `None` when nothing is needed or nothing can be done.
    pub remedy: Option<String>,
}

impl Capability {
    pub(crate) fn new(
        name: &str,
        status: CapabilityStatus,
        found: impl Into<String>,
        meaning: &str,
    ) -> Self {
        Capability {
            name: name.to_owned(),
            status,
            found: found.into(),
            meaning: meaning.to_owned(),
            remedy: None,
        }
    }

    pub(crate) fn remedy(mut self, remedy: &str) -> Self {
        if self.status != CapabilityStatus::Ok {
            self.remedy = Some(remedy.to_owned());
        }
        self
    }
}

/// Examines the machine, and the file system of `directory` where one is given.
/// In `directory` a file of 64 KiB is made and removed again. On a recorded
/// tree nothing is tried and only what its files tell is listed.
pub fn doctor(sys: &Sysroot, directory: Option<&Path>) -> Vec<Capability> {
    let mut capabilities = Vec::new();
    if sys.is_host() {
        capabilities.push(input_output::io_uring(sys));
        capabilities.push(input_output::libaio(sys));
        if let Some(directory) = directory {
            capabilities.extend(input_output::in_directory(directory));
        }
        capabilities.push(observing::cachestat());
    }
    capabilities.extend(machine::examine(sys));
    capabilities.extend(observing::examine(sys, directory));
    capabilities
}
