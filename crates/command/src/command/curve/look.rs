//! What this host knows of the target of a curve.

use fathom_model::Target;
use fathom_observe::Sysroot;
use fathom_studies::curve::DataRoom;

use crate::surroundings::test_file_bytes;

/// How much data there is, or room for it.
pub(super) fn room(target: &Target) -> DataRoom {
    let drive = match target {
        Target::Sim(model) => fathom_drives::open_drive(model, 0).ok(),
        _ => None,
    };
    // A test file is made in a directory only.
    let directory = target
        .path()
        .filter(|path| fathom_deadline::paths::is_dir(path));
    DataRoom {
        drive_bytes: drive.map(|drive| drive.capacity_bytes()),
        file_bytes: directory.map(|path| test_file_bytes(Some(path), false)),
    }
}

/// The smallest block that the target is known to take.
pub(crate) fn least_block(target: &Target) -> u64 {
    let Some(path) = target.path() else {
        return 512;
    };
    let devices = fathom_observe::target_fingerprint(&Sysroot::host(), path).devices;
    let leaves = devices.iter().filter(|d| d.below.is_empty());
    let sectors: Option<Vec<u64>> = leaves.map(|d| d.logical_block_bytes).collect();
    let largest = sectors.and_then(|sectors| sectors.into_iter().max());
    largest.unwrap_or(4096)
}
