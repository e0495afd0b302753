//! Runs: a schedule carried out here or on other hosts, kept second by second,
//! shown while it goes on, judged and printed.

pub mod calibrate;
pub mod causal;
pub mod changed_limits;
pub mod collect;
pub mod crosscheck;
pub mod digest;
pub mod distinct_files;
mod error;
pub mod fio;
pub mod gosbench_keys;
pub mod hosts;
pub mod leftovers;
pub mod listing;
pub mod metrics;
pub mod network;
pub mod output_flags;
pub mod pipeline;
pub mod plan_file;
pub mod present;
pub mod progress;
pub mod read_extent;
mod recorder;
pub mod run_identity;
pub mod shown;
pub mod signals;
mod site;
pub mod stored;
pub mod surroundings;

pub use crate::error::{EndedByUser, NothingMeasured, RequestError};
