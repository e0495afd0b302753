//! The engines, one file each.

pub(crate) mod blocking;
pub(crate) mod door;
pub(crate) mod null;
pub(crate) mod psync;

pub(crate) use null::Null;
pub(crate) use psync::Psync;
