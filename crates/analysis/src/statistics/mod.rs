//! From samples to numbers with honest intervals: totals over totals, percentiles
//! of merged histograms. The statistics of plain numbers are in `fathom_stats`.

pub(crate) mod cells;
pub(crate) mod noise;
pub(crate) mod percentile;
pub(crate) mod ratio;

#[cfg(test)]
mod coverage_tests;
