//! How often is the judgement right?
//!
//! A scenario is a system whose truth is known: a simulated drive under the
//! virtual clock, on a simulated host that is seen as a real one is (device
//! counters, CPU, page cache, mount table), with or without a fault. The load
//! is carried out by the engine's own loop; what it gives becomes a record like
//! that of any run; the record is judged; and the verdict is compared with the
//! truth. Parameters are drawn from ranges by a seed, so that nothing can be
//! tuned to a fixed case.
//!
//! A sound system must pass clean: trusted, and with no wrong limiter. A faulty
//! one must carry the right finding, and no wrong limiter.

mod bench;
pub mod blind;
mod case;
pub mod diagnosis;
pub mod document;
pub mod fio_view;
mod grade;
mod host;
mod json;
mod meter;
pub mod real;
mod scenarios;
mod table;
pub mod truth;

pub use case::{Case, Edit, Expected, Scenario, Trial};
pub use grade::{Grade, GradedCase, Paper, sit, sit_some};
pub use host::Host;
pub use scenarios::all;
