//! A network interface whose frames this process reads and writes.
//! Linux, `Documentation/networking/tuntap.rst`.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use crate::Error;

const DOOR: &str = "/dev/net/tun";

/// `struct ifreq`, of which the kernel reads the name and the flags.
#[repr(C)]
struct InterfaceRequest {
    name: [u8; libc::IFNAMSIZ],
    flags: libc::c_short,
    rest: [u8; 22],
}

/// Makes the interface `name`, which is gone when the file is closed.
/// Reads and writes do not wait.
///
/// # Errors
/// [`Error::Absent`] where this machine or user has no such interfaces,
/// [`Error::Description`] for a name that cannot be one.
pub(super) fn make(name: &str) -> Result<File, Error> {
    let fits = (1..libc::IFNAMSIZ).contains(&name.len());
    if !fits || !name.bytes().all(|b| b.is_ascii_graphic() && b != b'/') {
        return Err(Error::Description(format!(
            "'{name}' cannot be the name of an interface: 1 to {} letters, digits or signs",
            libc::IFNAMSIZ - 1
        )));
    }
    let opened = OpenOptions::new()
        .read(true)
        .write(true)
        .custom_flags(libc::O_NONBLOCK | libc::O_CLOEXEC)
        .open(DOOR);
    let file = opened.map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => Error::Absent(format!(
            "there is no {DOOR}: load the module tun, or pass it into the container"
        )),
        _ => Error::io("open", Path::new(DOOR))(error),
    })?;
    let mut request = InterfaceRequest {
        name: [0; libc::IFNAMSIZ],
        flags: (libc::IFF_TAP | libc::IFF_NO_PI | libc::IFF_TUN_EXCL) as libc::c_short,
        rest: [0; 22],
    };
    request.name[..name.len()].copy_from_slice(name.as_bytes());
    // SAFETY: the descriptor is open, and the kernel reads and writes within
    // the 40 bytes of a `struct ifreq`, which `request` has.
    let done = unsafe { libc::ioctl(file.as_raw_fd(), libc::TUNSETIFF as _, &raw mut request) };
    if done == 0 {
        return Ok(file);
    }
    let error = io::Error::last_os_error();
    Err(match error.raw_os_error() {
        Some(libc::EPERM | libc::EACCES) => Error::Absent(format!(
            "making the interface {name} is not permitted: it takes root (CAP_NET_ADMIN)"
        )),
        Some(libc::EBUSY | libc::EEXIST) => Error::Description(format!(
            "there is an interface {name} already; choose another name"
        )),
        _ => Error::io("make an interface with", Path::new(DOOR))(error),
    })
}
