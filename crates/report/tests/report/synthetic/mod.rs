//! Synthetic judged runs: what reports are tested with and what the demo
//! shows. Everything is derived from a seed; no clock, no I/O.

mod base;
mod fleet;
mod latency;
mod runs;
mod trial;

pub(crate) use fleet::fleet;
pub(crate) use runs::*;
