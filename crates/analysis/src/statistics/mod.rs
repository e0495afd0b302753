//! From one value per second to a number with an honest interval.
//!
//! Storage series are autocorrelated: neighbouring seconds share caches,
//! garbage collection and queue state. An interval that treats them as
//! independent is wrong far more often than it says (60 s of AR(1) noise with
//! φ 0.8: a nominal 95 % interval holds the truth in 48 % of runs). Everything
//! here therefore works on an effective sample size.

pub(crate) mod cells;
pub(crate) mod noise;
pub(crate) mod percentile;
pub(crate) mod quantiles;
pub(crate) mod ratio;
pub(crate) mod series;

#[cfg(test)]
mod coverage_tests;
