//! `at_io_iops` and `at_io_parallel.sh`, the benchmarks of Virtuozzo Storage.

mod iops;
mod parallel;

pub use iops::{AtIoIops, AtIoIopsUnit};
pub use parallel::{AtIoParallel, AtIoSection, AtIoSetting};
