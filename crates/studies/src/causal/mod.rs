//! A test with a smaller volume: does the application slow down with it?
//!
//! A limit at a share below what the volume can give is put on and taken off in
//! blocks of four parts, ABBA or BAAB by chance: a drift that is straight over a
//! block hits both sides alike, and nothing periodic keeps in step. Each block
//! gives one difference; their mean is the effect, with a t interval over the
//! blocks, which are far enough apart to be taken as independent (the tests hold
//! that against noise that is not).
//!
//! The limit is below the *ceiling*, never below what the application happens to
//! do: a limit below its use holds back any application, also one that the
//! storage did not.

mod conductor;
mod judge;
mod part;
mod plan;

pub use conductor::{Experiment, ExperimentError, experiment};
pub use judge::{CausalEffect, CausalSubject, causal_test, with_causal};
pub use part::CausalDesign;
pub use plan::{LimitsApart, SmallerVolume};

#[cfg(test)]
mod causal_tests;
