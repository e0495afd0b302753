//! `pread` in a loop.

use std::io;
use std::os::fd::AsRawFd;

use crate::Load;

/// Reads as often as asked for.
pub(crate) fn run(load: &Load) -> io::Result<()> {
    let mut buffer = vec![0u8; load.block as usize];
    let fd = load.file.as_raw_fd();
    for n in 0..load.ops {
        let offset = load.offset(n) as i64;
        // SAFETY: the buffer has room for a block.
        let read = unsafe { libc::pread64(fd, buffer.as_mut_ptr().cast(), buffer.len(), offset) };
        if read != buffer.len() as isize {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(())
}
