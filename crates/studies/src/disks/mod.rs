//! What does each disk of a machine do alone, and while all of them work?

mod plan;
mod schedule;

pub use plan::{DiskKind, DiskLoad, DiskMachine, DiskWorkload, disk_plan};
pub use schedule::{DiskOrder, DisksOptions, LoadedDisk, PlannedDisks, length_ns, plan_disks};
