//! `pread` and `pwrite`: one operation at a time, in the worker's own thread.
//!
//! An operation is carried out when it is handed over, not when it is queued,
//! so that its latency starts where the loop takes the time.

use std::os::fd::{AsRawFd, RawFd};

use fathom_model::OpKind;
use fathom_model::workload::SyncCall;

use crate::arena::BufferView;
use crate::engine::{Broken, Capabilities, Completion, Engine, Op, Queued};
use crate::engines::blocking;
use crate::open::WorkerFiles;

/// Blocking system calls.
#[derive(Debug)]
pub(crate) struct Psync {
    fds: Box<[RawFd]>,
    /// Keeps the descriptors open.
    _files: WorkerFiles,
    base: *mut u8,
    stride: usize,
    sync: SyncCall,
    waiting: Option<Op>,
}

impl Psync {
    /// An engine on `files`. `buffers` must outlive it.
    pub(crate) fn new(files: WorkerFiles, buffers: BufferView, sync: SyncCall) -> Psync {
        Psync {
            fds: files.files.iter().map(AsRawFd::as_raw_fd).collect(),
            _files: files,
            base: buffers.as_ptr(),
            stride: buffers.stride(),
            sync,
            waiting: None,
        }
    }

    #[inline]
    fn carry_out(&self, op: &Op) -> i32 {
        let fd = self.fds[op.file as usize];
        // SAFETY: slots are below the number of buffers, so this stays inside.
        let buffer = unsafe { self.base.add(op.slot as usize * self.stride) };
        loop {
            let result = match op.kind {
                // SAFETY: the buffer has `stride` >= `len` bytes and is not in use.
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

impl Engine for Psync {
    fn capabilities(&self) -> Capabilities {
        Capabilities {
            max_depth: 1,
            trim: true,
            timed_reap: false,
        }
    }

    #[inline]
    fn queue(&mut self, op: &Op) -> Queued {
        if self.waiting.is_some() {
            return Queued::Busy;
        }
        self.waiting = Some(*op);
        Queued::Yes
    }

    #[inline]
    fn submit(&mut self) -> Result<(), Broken> {
        Ok(())
    }

    #[inline]
    fn reap(
        &mut self,
        _min: u32,
        _timeout_ns: Option<u64>,
        out: &mut Vec<Completion>,
    ) -> Result<(), Broken> {
        if let Some(op) = self.waiting.take() {
            let result = self.carry_out(&op);
            out.push(Completion {
                slot: op.slot,
                result,
            });
        }
        Ok(())
    }

    fn close(&mut self) {}
}
