//! Statistics of plain numbers, each in one place.
//!
//! Functions of slices and numbers: no records, no I/O, no clock, no randomness
//! of their own (a simulation or a bootstrap takes its random numbers from the
//! caller). What the numbers mean, and from which value on they matter, is decided
//! in the crates that use them.
//!
//! Storage series are autocorrelated: neighbouring seconds share caches, garbage
//! collection and queue state. An interval that treats them as independent is wrong
//! far more often than it says (60 s of AR(1) noise with φ 0.8: a nominal 95 %
//! interval holds the truth in 48 % of runs), so errors of means come from
//! [`effective_size`].

pub mod autocorrelation;
pub mod bootstrap;
pub mod change_point;
pub mod clustered_share;
pub mod drift;
pub mod effective_size;
pub mod log_rates;
pub mod long_run_variance;
pub mod mad;
pub mod median;
pub mod modes;
pub mod moments;
pub mod noise;
pub mod order_statistics;
pub mod proportion;
pub mod quantile;
pub mod regression;
pub mod sign_flip;
pub mod student;
pub mod trend;
pub mod warmup;
