//! Other tools' formats: the entrance and the exit of what is not fathom's own.
//!
//! Their job files and command lines become plans and schedules, their results
//! and recordings facts to judge. Nothing below this crate knows of them. One
//! folder for each tool:
//!
//! - [`fio`]: job files, command lines and their options, to a schedule and
//!   back to a job file;
//! - [`gosbench`]: its configurations;
//! - [`smallfile`]: its command line and YAML;
//! - [`at_io`]: the command line of `at_io_iops`, the settings of
//!   `at_io_parallel.sh`.
//!
//! A file says whose it is, so it is read in one place, whichever tool wrote it:
//!
//! - [`results`]: of fio and warp, and what can be said of them ([`judge`]);
//! - [`recordings`]: of iostat, sar, vmstat, top and uptime.
//!
//! Out go runs in the formats of fio, GOSBench, smallfile and `at_io_*` (in their
//! folders), of [`iperf3`] and [`mdtest`].

pub mod at_io;
pub mod fio;
pub mod gosbench;
mod iostat;
pub mod iperf3;
pub mod judge;
pub mod mdtest;
pub mod recordings;
pub mod results;
mod sar;
pub mod smallfile;
mod top;
mod vmstat;
mod warp;
