//! What a loop device lies on.

use std::fs::{File, Metadata};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use fathom_deadline::{Mount, mount_of, parse_mountinfo, paths};

use super::usage::{DeviceNumber, number_of};

/// What a loop device lies on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Backing {
    /// A block device.
    Device(DeviceNumber),
    /// A file: where it is, and what tells it from others.
    File {
        path: PathBuf,
        /// Device and inode; `None` where they cannot be found out.
        identity: Option<(DeviceNumber, u64)>,
    },
}

impl Backing {
    /// Whether both are the same file or device. A file that cannot be examined
    /// is known by its path.
    pub(crate) fn is_same(&self, other: &Backing) -> bool {
        match (self, other) {
            (Backing::Device(one), Backing::Device(other)) => one == other,
            (
                Backing::File { path, identity },
                Backing::File {
                    path: other_path,
                    identity: other_identity,
                },
            ) => match (identity, other_identity) {
                (Some(one), Some(other)) => one == other,
                _ => path == other_path,
            },
            _ => false,
        }
    }
}

/// `struct loop_info64` of the kernel's `linux/loop.h`.
#[repr(C)]
struct LoopInfo {
    device: u64,
    inode: u64,
    rdevice: u64,
    offset: u64,
    size_limit: u64,
    number: u32,
    encrypt_type: u32,
    encrypt_key_size: u32,
    flags: u32,
    file_name: [u8; 64],
    crypt_name: [u8; 64],
    encrypt_key: [u8; 32],
    init: [u64; 2],
}

const LOOP_GET_STATUS64: libc::c_ulong = 0x4C05;

/// What the loop device with this folder in sysfs lies on. `None` when it is no
/// loop device, or nothing is attached to it.
///
/// The driver knows it best; it is asked first, since it answers also where the
/// path means something else here, or nothing any more.
pub(crate) fn backing_of(dir: &Path) -> Option<Backing> {
    let text = std::fs::read_to_string(dir.join("loop/backing_file")).ok()?;
    let path = PathBuf::from(text.trim_end_matches('\n'));
    let name = dir.file_name()?;
    Some(match asked(&Path::new("/dev").join(name)) {
        Some(LoopInfo { rdevice, .. }) if rdevice != 0 => Backing::Device(decoded(rdevice)),
        Some(LoopInfo { device, inode, .. }) => Backing::File {
            identity: below_overlay(&path).or(Some((decoded(device), inode))),
            path,
        },
        None => looked_at(path),
    })
}

/// Asks the driver.
fn asked(device: &Path) -> Option<LoopInfo> {
    let file = File::open(device).ok()?;
    let mut info = LoopInfo {
        device: 0,
        inode: 0,
        rdevice: 0,
        offset: 0,
        size_limit: 0,
        number: 0,
        encrypt_type: 0,
        encrypt_key_size: 0,
        flags: 0,
        file_name: [0; 64],
        crypt_name: [0; 64],
        encrypt_key: [0; 32],
        init: [0; 2],
    };
    // SAFETY: the file is open for the whole call, and `info` is a writable
    // structure of the layout that this request fills in.
    let result = unsafe { libc::ioctl(file.as_raw_fd(), LOOP_GET_STATUS64 as _, &raw mut info) };
    (result == 0).then_some(info)
}

/// The kernel's form of a device number.
fn decoded(number: u64) -> DeviceNumber {
    let major = (number >> 8) & 0xFFF;
    let minor = (number & 0xFF) | ((number >> 12) & 0xF_FF00);
    (major as u32, minor as u32)
}

/// Examines the path. The only place that does so: a file below a mount that
/// hangs would make the caller wait.
fn looked_at(path: PathBuf) -> Backing {
    match path.metadata() {
        Ok(facts) if facts.file_type().is_block_device() => {
            Backing::Device(number_of(facts.rdev()))
        }
        found => Backing::File {
            identity: below_overlay(&path).or(found.ok().map(|f| identity_of(&f))),
            path,
        },
    }
}

fn identity_of(facts: &Metadata) -> (DeviceNumber, u64) {
    (number_of(facts.dev()), facts.ino())
}

/// Device and inode of the file that holds the data of a file on an overlay: there
/// the overlay's own device and inode differ, and both names lead to one file.
/// `None` where the path lies on something else, or the layers are out of reach.
pub(super) fn below_overlay(path: &Path) -> Option<(DeviceNumber, u64)> {
    let table = std::fs::read_to_string("/proc/self/mountinfo").ok()?;
    let mounts = parse_mountinfo(&table);
    if mounts.iter().all(|mount| mount.kind != OVERLAY) {
        return None;
    }
    // With a deadline: the file below a loop device may lie on a mount that hangs.
    let mut path = paths::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let mut found = None;
    // An upper folder may lie on an overlay in turn.
    for _ in 0..OVERLAYS_MAX {
        let Some((below, identity)) = layer_below(&mounts, &path) else {
            break;
        };
        (path, found) = (below, Some(identity));
    }
    found
}

const OVERLAY: &str = "overlay";

/// More overlays than the kernel stacks on one another.
const OVERLAYS_MAX: usize = 4;

/// The file in the topmost layer that has it.
fn layer_below(mounts: &[Mount], path: &Path) -> Option<(PathBuf, (DeviceNumber, u64))> {
    let mount = mount_of(mounts, path).filter(|mount| mount.kind == OVERLAY)?;
    let below_root = path.strip_prefix(&mount.mount_point).ok()?;
    let inside = Path::new(&mount.root)
        .strip_prefix("/")
        .ok()?
        .join(below_root);
    let upper = mount.option("upperdir").into_iter();
    let lower = mount.option("lowerdir").unwrap_or_default().split(':');
    let plus = mount
        .options
        .iter()
        .filter_map(|o| o.strip_prefix("lowerdir+="));
    let mut layers = upper
        .chain(lower)
        .chain(plus)
        .filter(|layer| !layer.is_empty());
    layers.find_map(|layer| {
        let file = Path::new(layer).join(&inside);
        let facts = paths::symlink_metadata(&file).ok()?;
        facts.is_file().then(|| (file, identity_of(&facts)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_decoded_as_the_kernel_encodes_them() {
        assert_eq!(decoded(0x0801), (8, 1));
        assert_eq!(decoded(0xFE00), (254, 0));
        // Minor 256 and 1,048,575.
        assert_eq!(decoded(0x0010_0700), (7, 256));
        assert_eq!(decoded(0xFFF0_07FF), (7, 0xF_FFFF));
    }
}
