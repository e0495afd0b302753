//! A trial's hot loop and what it stands on.
//!
//! [`prepare`] makes a target ready, [`Group`] loads it and gives out a sample
//! a second, [`measure_ceiling`] says what the generator itself could do at
//! most. Between the start of a group and its end there is no allocation, no
//! lock and no log in any worker; nothing here is asynchronous in Rust's sense.

mod affinity;
mod arena;
mod ceiling;
mod clock;
#[cfg(test)]
mod conformance;
mod engine;
mod engines;
mod file_attributes;
mod group;
mod in_flight;
mod meta;
pub mod object;
mod one_by_one;
mod open;
pub mod ping;
mod record;
mod replay;
mod target_file;
mod usage;
mod worker;

pub mod access;
pub mod error;
pub mod guard;
pub mod net;
pub mod payload;
pub mod prepare;
pub mod verify;

pub use ceiling::measure_ceiling;
pub use clock::calibrate_clock;
pub use error::Error;
pub use group::{EndReason, Gathering, Group, GroupEnd, SIMULATED_SECONDS_MAX, SimulatedEnd};
pub use one_by_one::{OneByOne, OneByOneFacts, Single};
pub use prepare::{Preflight, Prepared, prepare, prepare_beside};
pub use record::{RecordingCost, measure_recording};
pub use replay::{ListedFiles, listed_files};
pub use target_file::{FileIdentity, TargetFile};
