//! Is the storage the bottleneck: yes, no or not proven, with evidence.
//!
//! - [`recording`]: what a host did over time, whoever wrote it down;
//! - [`join`]: recordings of one host in the same time, made into one;
//! - [`Ceiling`]: what a volume can give;
//! - [`diagnose`]: from a recording to an answer. The article's method: record
//!   under the real load, record under a known test load, compare, and look at
//!   the CPUs.

pub mod alarm;
mod anonymous;
mod answers_alike;
mod asynchronous_reads;
mod ceiling;
mod closed_loop;
pub mod cluster;
mod cpu_queue;
mod decide;
mod flushes;
mod full_path;
mod held_back;
mod hung_device;
mod join;
mod little;
mod load;
mod memory;
mod network_mounts;
mod overload;
mod plateau;
pub mod recording;
mod second;
mod series;
mod silent_mounts;
mod slow_operations;
mod slower_than_quiet;
mod stack;
mod stalled;
mod standstills;
mod stuck_tasks;
mod unseen_stall;
mod use_table;
mod util_says;
mod who;

pub use anonymous::{GroupWords, anonymised, without_file_names};
pub use ceiling::Ceiling;
pub use decide::diagnose;
pub use held_back::only_limits_of;
pub use hung_device::is_stuck;
pub use join::join;
pub use second::{no_test_load, same_host, same_time};
pub use stack::{Landing, judge_stack, landings};
pub use use_table::use_table;
