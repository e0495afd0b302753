//! `pread` and `pwrite`: one operation at a time, in the worker's own thread.

use std::os::fd::{AsRawFd, RawFd};

use fathom_model::OpKind;
use fathom_model::workload::SyncCall;

use crate::engine::Op;
use crate::engines::blocking;
use crate::engines::synchronous::CarryOut;
use crate::open::WorkerFiles;

/// Blocking system calls.
#[derive(Debug)]
pub(crate) struct Psync {
    fds: Box<[RawFd]>,
    /// Keeps the descriptors open.
    _files: WorkerFiles,
    sync: SyncCall,
}

impl Psync {
    /// Calls on `files`.
    pub(crate) fn new(files: WorkerFiles, sync: SyncCall) -> Psync {
        Psync {
            fds: files.files.iter().map(AsRawFd::as_raw_fd).collect(),
            _files: files,
            sync,
        }
    }
}

impl CarryOut for Psync {
    #[inline]
    fn carry_out(&self, op: &Op, buffer: *mut u8) -> i32 {
        let fd = self.fds[op.file as usize];
        loop {
            let result = match op.kind {
                // SAFETY: the caller's buffer has `len` bytes and is not in use.
                OpKind::Read => unsafe {
                    libc::pread64(fd, buffer.cast(), op.len as usize, op.offset as i64)
                },
                // SAFETY: as for the read.
                OpKind::Write => unsafe {
                    libc::pwrite64(fd, buffer.cast(), op.len as usize, op.offset as i64)
                },
                _ => return blocking::carry_out(fd, op, self.sync),
            };
            if result >= 0 {
                return result as i32;
            }
            let errno = blocking::errno();
            if errno != libc::EINTR {
                return -errno;
            }
        }
    }
}
