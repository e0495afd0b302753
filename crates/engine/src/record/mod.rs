//! Recording: from one latency in a worker to merged samples.
//!
//! Each worker counts into an interval buffer that it alone writes. At the end
//! of an interval it marks the buffer full and takes a free one; the collector
//! reads full ones, merges them over the workers and frees them. No locks, no
//! allocation, and since every cell is an atomic that is written by plain stores,
//! the collector may even read the buffer of a worker that hangs in the kernel.

mod collect;
mod cost;
mod details;
mod interval;
mod recorder;
mod shape;

pub(crate) use collect::{Collector, Stalls};
pub use cost::{RecordingCost, measure_recording};
pub(crate) use details::{Detail, Used};
pub(crate) use interval::Exchange;
pub(crate) use recorder::{Cuts, Recorder};
pub(crate) use shape::Shape;

#[cfg(test)]
#[path = "record_tests.rs"]
mod tests;
