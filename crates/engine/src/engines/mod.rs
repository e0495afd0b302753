//! The engines, one file (or folder) each.

pub(crate) mod blocking;
pub(crate) mod door;
mod libaio;
mod mmap;
mod null;
mod peer;
mod psync;
mod simulated;
mod space;
mod synchronous;
mod uring;

pub(crate) use libaio::Libaio;
pub(crate) use mmap::Mmap;
pub(crate) use null::Null;
pub(crate) use peer::PeerEngine;
pub(crate) use psync::Psync;
pub(crate) use simulated::{SIM_ORIGIN_NS, SharedDrive, Simulated};
pub(crate) use space::{Change, Space};
pub(crate) use synchronous::Synchronous;
pub(crate) use uring::Uring;
#[cfg(test)]
pub(crate) use uring::probe as uring_probe;
