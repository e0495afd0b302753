//! Facts of a target: its file system and the devices under it.

use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;

use fathom_model::fingerprint::TargetFingerprint;

use crate::Sysroot;
use crate::cgroup_io::add_io_limits;
use crate::device_stack::{device_by_number, device_by_path, device_stack};
use crate::filesystem::{devices_under_path, filesystem_facts, mount_under_path, nearest_existing};
use crate::filesystem_state::add_state_facts;
use fathom_deadline::{Mount, parse_mountinfo};

/// Facts of what lies under `path`: a file, a folder, one that is yet to be
/// made (the nearest folder above it counts) or a block device. A block device
/// has no file system here, even when one is on it.
pub fn target_fingerprint(sys: &Sysroot, path: &Path) -> TargetFingerprint {
    let target = path.display().to_string();
    // Mount points and links are known by absolute paths.
    let absolute = match sys.is_host() {
        true => std::path::absolute(path).unwrap_or_else(|_| path.to_owned()),
        false => path.to_owned(),
    };
    let path = absolute.as_path();
    let mounts = mounts(sys);
    if let Some(name) = block_device(sys, path) {
        let mut devices = device_stack(sys, &mounts, &[name], 0);
        add_io_limits(sys, &mounts, &mut devices);
        return TargetFingerprint {
            target,
            filesystem: None,
            devices,
        };
    }
    let existing = nearest_existing(sys, path);
    let mount = mount_under_path(sys, &mounts, &existing);
    let tops = devices_under_path(sys, &mounts, &existing, 0);
    let mut devices = device_stack(sys, &mounts, &tops, 0);
    add_io_limits(sys, &mounts, &mut devices);
    let mut filesystem = mount.map(|mount| filesystem_facts(sys, &mounts, mount, &existing));
    if let Some(facts) = &mut filesystem {
        add_state_facts(sys, facts, &devices);
    }
    TargetFingerprint {
        target,
        filesystem,
        devices,
    }
}

/// The mount table of this process.
pub(crate) fn mounts(sys: &Sysroot) -> Vec<Mount> {
    parse_mountinfo(&sys.text("/proc/self/mountinfo").unwrap_or_default())
}

/// The kernel's name of the block device that `path` is.
pub(crate) fn block_device(sys: &Sysroot, path: &Path) -> Option<String> {
    if !sys.is_host() {
        return device_by_path(sys, path);
    }
    let metadata = fathom_deadline::paths::metadata(path).ok()?;
    if !metadata.file_type().is_block_device() {
        return None;
    }
    let number = metadata.rdev();
    device_by_number(sys, (rustix::fs::major(number), rustix::fs::minor(number)))
}
