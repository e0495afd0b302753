//! `at_io_iops` and `at_io_parallel.sh`, the benchmarks of Virtuozzo Storage.

pub mod calls;
mod iops;
mod parallel;
pub mod print;
mod rate;

pub use iops::{AtIoIops, AtIoIopsUnit};
pub use parallel::{AtIoParallel, AtIoSection, AtIoSetting, SettingError};
pub use rate::{Rate, rate};
