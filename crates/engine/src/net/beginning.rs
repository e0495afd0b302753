//! Connections that are begun and not waited for.

use std::io;
use std::net::{SocketAddr, TcpStream};
use std::os::fd::AsRawFd;

use super::socket::{SocketOptions, c_address, new_socket, prepare_tcp};

/// Begins a connection without waiting for it. The stream does not block; it
/// is connected once it can be written to and has no error.
///
/// # Errors
/// What the kernel knows at once.
pub(crate) fn begin_tcp(address: SocketAddr, options: &SocketOptions) -> io::Result<TcpStream> {
    let fd = new_socket(address.ip(), libc::SOCK_STREAM | libc::SOCK_NONBLOCK)?;
    prepare_tcp(&fd, options)?;
    let stream = TcpStream::from(fd);
    let (storage, length) = c_address(address);
    // SAFETY: `storage` holds an address of `length` bytes.
    let result = unsafe { libc::connect(stream.as_raw_fd(), (&raw const storage).cast(), length) };
    if result == 0 {
        return Ok(stream);
    }
    let error = io::Error::last_os_error();
    match error.raw_os_error() {
        Some(libc::EINPROGRESS) => Ok(stream),
        _ => Err(error),
    }
}
