//! Headings under which the reference shows the keys of a workload.

pub(super) const WHAT: &str = "What is done";
pub(super) const LOAD: &str = "Load";
pub(super) const RATE: &str = "Rate";
pub(super) const DATA: &str = "Data set";
pub(super) const FILES: &str = "Many files (engine meta)";
pub(super) const OBJECTS: &str = "Object stores (engine s3)";
pub(super) const DURABILITY: &str = "Cache and durability";
pub(super) const BOUNDS: &str = "Beginning and end";
pub(super) const CONTENT: &str = "Contents";
pub(super) const MACHINE: &str = "Machine";
pub(super) const FITNESS: &str = "Fitness";
