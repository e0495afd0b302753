//! Space and length of files instead of their contents: `fallocate` and
//! `ftruncate`, one at a time, in the worker's own thread.
//!
//! What a block stands for is that of fio's engines of these names. Falloc: a
//! write allocates its range, a read allocates without changing the length, a
//! trim punches a hole. Ftruncate: a write sets the length of the file to its
//! offset; there are no reads. No data move.

use std::os::fd::{AsRawFd, RawFd};

use fathom_model::OpKind;
use fathom_model::workload::SyncCall;
use rustix::fs::FallocateFlags;

use crate::engine::Op;
use crate::engines::blocking;
use crate::engines::synchronous::CarryOut;
use crate::open::WorkerFiles;

/// What is changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Change {
    /// Which ranges have space.
    Space,
    /// The length.
    Length,
}

/// Changes space or length.
#[derive(Debug)]
pub(crate) struct Space {
    change: Change,
    fds: Box<[RawFd]>,
    /// Keeps the descriptors open.
    _files: WorkerFiles,
    sync: SyncCall,
}

impl Space {
    /// Changes on `files`.
    pub(crate) fn new(change: Change, files: WorkerFiles, sync: SyncCall) -> Space {
        Space {
            change,
            fds: files.files.iter().map(AsRawFd::as_raw_fd).collect(),
            _files: files,
            sync,
        }
    }
}

impl CarryOut for Space {
    fn carry_out(&self, op: &Op, _: *mut u8) -> i32 {
        let fd = self.fds[op.file as usize];
        let keep = FallocateFlags::KEEP_SIZE;
        loop {
            let result = match (self.change, op.kind) {
                (_, OpKind::Sync) => return blocking::carry_out(fd, op, self.sync),
                (Change::Space, OpKind::Write) => {
                    blocking::allocate(fd, FallocateFlags::empty(), op)
                }
                (Change::Space, OpKind::Read) => blocking::allocate(fd, keep, op),
                (Change::Space, OpKind::Trim) => {
                    blocking::allocate(fd, keep | FallocateFlags::PUNCH_HOLE, op)
                }
                (Change::Length, OpKind::Write) => blocking::truncate(fd, op),
                _ => return -libc::EINVAL,
            };
            if result != -libc::EINTR {
                return result;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::MetadataExt;
    use std::sync::Arc;

    use super::*;

    fn op(kind: OpKind, offset: u64, len: u32) -> Op {
        Op {
            slot: 0,
            kind,
            file: 0,
            offset,
            len,
        }
    }

    #[test]
    fn blocks_change_space_or_length() {
        let file = tempfile::tempfile().unwrap();
        let of = |change| {
            let files = WorkerFiles {
                files: Arc::from([file.try_clone().unwrap()]),
            };
            Space::new(change, files, SyncCall::Fsync)
        };
        let (space, length) = (of(Change::Space), of(Change::Length));
        let none = std::ptr::null_mut();
        let facts = || file.metadata().unwrap();
        if space.carry_out(&op(OpKind::Write, 0, 1 << 20), none) == -libc::EOPNOTSUPP {
            return;
        }
        assert_eq!(facts().len(), 1 << 20);
        assert!(facts().blocks() * 512 >= 1 << 20);
        let before = facts().blocks();
        assert_eq!(
            space.carry_out(&op(OpKind::Trim, 0, 1 << 19), none),
            1 << 19
        );
        assert!(facts().blocks() < before);
        assert_eq!(
            space.carry_out(&op(OpKind::Read, 2 << 20, 4096), none),
            4096
        );
        assert_eq!(facts().len(), 1 << 20, "reads keep the length");
        assert_eq!(
            length.carry_out(&op(OpKind::Write, 12_345, 4096), none),
            4096
        );
        assert_eq!(facts().len(), 12_345);
        assert_eq!(
            length.carry_out(&op(OpKind::Read, 0, 4096), none),
            -libc::EINVAL
        );
        assert_eq!(length.carry_out(&op(OpKind::Sync, 0, 0), none), 0);
    }
}
