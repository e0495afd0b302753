//! Studies: questions that take several trials.
//!
//! Each has a folder with up to four parts, so that reading or
//! adding one study needs no other:
//!
//! - `plan`: what was typed, as a plan and its trials
//! - `conductor`: which trial comes next, where that depends on the earlier ones
//! - `judge`: the answer, from the judged run
//! - `view`: the answer as charts, tables and sentences, for every format of a report
//!
//! [`judge()`] judges a run and then lets the study that the run belongs to answer
//! its question. Nothing here starts a load, opens the store or prints.

pub mod calibrate;
pub mod curve;
pub mod disks;
pub mod enumerate;
pub mod quick;
mod scale;
pub mod snia;

mod judge;
mod study;

pub use judge::judge;
