//! What a target is, as a test of the standard wants to know it.

use std::os::unix::fs::FileTypeExt;
use std::path::PathBuf;

use fathom_model::Target;
use fathom_model::snia::SniaTarget;
use fathom_observe::Sysroot;
use fathom_studies::snia::SniaPlace;

use crate::command::curve::least_block;
use crate::surroundings::test_file_bytes;

/// Why a target cannot be tested.
#[derive(Debug, thiserror::Error)]
pub(super) enum PlaceError {
    #[error("{0} stores nothing\nhelp: name a drive, a file or a directory")]
    StoresNothing(Target),
    #[error("{}", .0.in_lines())]
    Drive(#[from] fathom_drives::Error),
    #[error(
        "cannot examine {}: {error}\nhelp: name a device, directory or file that is there",
        .path.display()
    )]
    NotExamined {
        path: PathBuf,
        error: std::io::Error,
    },
    #[error("{} is neither a device nor a directory nor a file", .0.display())]
    Other(PathBuf),
    #[error("--size: {0} has a size already; choose a part of it with --active-range")]
    Sized(Target),
}

/// Finds out what the target is.
pub(super) fn place(target: &Target, size: Option<u64>) -> Result<SniaPlace, PlaceError> {
    let least = || least_block(target);
    let place = match target {
        Target::Null | Target::Peer(_) | Target::Bucket(_) => {
            return Err(PlaceError::StoresNothing(target.clone()));
        }
        Target::Sim(model) => {
            let drive = fathom_drives::open_drive(model, 0)?;
            SniaPlace::simulated(drive.capacity_bytes(), least())
        }
        Target::Path(path) => {
            let metadata = fathom_deadline::paths::metadata(path);
            let metadata = metadata.map_err(|error| PlaceError::NotExamined {
                path: path.clone(),
                error,
            })?;
            let kind = metadata.file_type();
            if kind.is_dir() {
                let bytes = size.unwrap_or_else(|| test_file_bytes(Some(path), false));
                return Ok(SniaPlace::test_file(bytes, least()));
            }
            if kind.is_block_device() {
                let devices = fathom_observe::target_fingerprint(&Sysroot::host(), path).devices;
                let top = devices.first();
                let capacity = top.map_or(0, |d| d.size_bytes);
                SniaPlace {
                    can_discard: top.is_some_and(|d| d.discard_max_bytes.unwrap_or(0) > 0),
                    ..SniaPlace::fixed(SniaTarget::Device, capacity, least())
                }
            } else if kind.is_file() {
                SniaPlace::fixed(SniaTarget::File, metadata.len(), least())
            } else {
                return Err(PlaceError::Other(path.clone()));
            }
        }
    };
    match size {
        Some(_) => Err(PlaceError::Sized(target.clone())),
        None => Ok(place),
    }
}
