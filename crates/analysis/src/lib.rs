//! From stored samples and observations to estimates, findings and verdicts.
//!
//! Pure functions over [`fathom_model::RunRecord`]: no files, no clock, no
//! randomness beyond a fixed seed, so that the same record gives the same
//! judgement everywhere, whether it comes from a live run, the store or an
//! import.
//!
//! [`judge`] answers three separate questions about every trial, row and run:
//! what was measured and how surely (estimates with intervals corrected for
//! autocorrelation), whether it is true (checks with thresholds from
//! [`fathom_rules::check`]), and what set it (the limiter, named only on proof).

mod above_the_device;
mod accuracy;
mod across;
mod activity;
mod charts;
mod checks;
mod company;
mod comparison;
mod coverage;
pub mod disk_measurement;
mod filling_queue;
mod fitness;
mod fleet;
mod fold;
mod hidden_cap;
mod intervals;
mod judge;
pub mod judgement;
mod knee;
mod latencies;
mod limiter;
mod named_limiter;
pub mod network;
mod outcome;
mod pace_probe;
pub mod pairs;
mod payload;
mod plateau;
mod probe;
mod rate_range;
mod repeat;
mod repeatability;
mod schedule_lag;
mod series;
mod set_sum;
pub mod sizing;
mod statistics;
mod steadiness;
mod summary;
mod telling_command;
mod trial;
mod two_ends;
mod unknown;

#[cfg(test)]
mod judge_properties;
#[cfg(test)]
mod judge_tests;
#[cfg(any(test, feature = "test-records"))]
pub mod test_records;

pub use accuracy::{AccuracyRow, steadiness_accuracy};
pub use comparison::{
    CompareOptions, Rates, Simulated, compare_runs, declared as declared_differences, simulate,
};
pub use coverage::{CoverageRow, interval_coverage};
pub use judge::judge;
pub use latencies::summarize_latencies;
pub use probe::{Probing, depth_probe};
pub use steadiness::{stop_rule, zone_profile};
