//! Keeping a block device that holds somebody's data from being overwritten.

use std::path::{Path, PathBuf};

use crate::Error;

/// What is known about a block device before anything is written to it.
#[derive(Debug)]
pub struct DeviceGuard {
    /// The device.
    pub path: PathBuf,
    /// Its size.
    pub size_bytes: u64,
    /// Smallest addressable unit.
    pub logical_block_bytes: u32,
    /// Why it must not be written to: what was found on it, who uses it.
    pub reasons: Vec<String>,
}

/// Looks at a block device without changing it.
///
/// # Errors
/// [`Error::Io`] when it cannot be read, [`Error::Target`] when it is no
/// block device.
pub fn inspect_device(path: &Path) -> Result<DeviceGuard, Error> {
    Err(Error::target(path, "is not a block device"))
}
