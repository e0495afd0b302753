//! warp, the benchmark of object stores: its recordings, full and aggregated.

mod active;
pub(crate) mod aggregate;
mod records;
pub(crate) mod requests;
