//! What a loop device lies on.

use std::fs::File;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

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
            path,
            identity: Some((decoded(device), inode)),
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
            identity: found.ok().map(|f| (number_of(f.dev()), f.ino())),
            path,
        },
    }
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
