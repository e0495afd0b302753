//! Flushes, write-back and discards as blocking calls, for engines that have no other way.

use std::os::fd::{BorrowedFd, RawFd};

use fathom_model::OpKind;
use fathom_model::workload::SyncCall;
use rustix::fs::{FallocateFlags, FileType};

use crate::engine::{Completion, Op};

/// `_IO(0x12, 119)`, from `linux/fs.h`.
const BLKDISCARD: u32 = 0x1277;

/// The calling thread's errno.
#[inline]
pub(crate) fn errno() -> i32 {
    std::io::Error::last_os_error()
        .raw_os_error()
        .unwrap_or(libc::EIO)
}

/// Carries out a flush or a discard: bytes done or a negated errno.
pub(crate) fn carry_out(fd: RawFd, op: &Op, call: SyncCall) -> i32 {
    match op.kind {
        OpKind::Trim => trim(fd, op),
        OpKind::Sync => match op.range() {
            None => flush(fd, op.sync_call(call)),
            Some((start, flags)) => write_back(fd, start, op.len, flags),
        },
        _ => -libc::EINVAL,
    }
}

/// Carries out all that `waiting` holds, on the files of `fds`.
#[cold]
pub(crate) fn carry_out_all(
    waiting: &mut Vec<Op>,
    fds: &[RawFd],
    call: SyncCall,
    out: &mut Vec<Completion>,
) {
    out.extend(waiting.drain(..).map(|op| Completion {
        slot: op.slot,
        result: carry_out(fds[op.file as usize], &op, call),
    }));
}

/// The file of a descriptor that an engine keeps open.
fn file(fd: &RawFd) -> BorrowedFd<'_> {
    // SAFETY: an engine holds its files as long as it carries out operations on
    // their descriptors.
    unsafe { BorrowedFd::borrow_raw(*fd) }
}

/// `done` for a call that succeeded, or a negated errno.
fn result_of(call: rustix::io::Result<()>, done: u32) -> i32 {
    match call {
        Ok(()) => done as i32,
        Err(errno) => -errno.raw_os_error(),
    }
}

/// Allocates or frees a range of a file: its length or a negated errno.
pub(crate) fn allocate(fd: RawFd, how: FallocateFlags, op: &Op) -> i32 {
    let call = rustix::fs::fallocate(file(&fd), how, op.offset, u64::from(op.len));
    result_of(call, op.len)
}

/// Sets the length of a file to the offset of an operation: the length of that or
/// a negated errno.
pub(crate) fn truncate(fd: RawFd, op: &Op) -> i32 {
    result_of(rustix::fs::ftruncate(file(&fd), op.offset), op.len)
}

/// Flushes a file: 0 or a negated errno.
pub(crate) fn flush(fd: RawFd, call: SyncCall) -> i32 {
    let done = match call {
        SyncCall::Fsync => rustix::fs::fsync(file(&fd)),
        SyncCall::Fdatasync => rustix::fs::fdatasync(file(&fd)),
    };
    result_of(done, 0)
}

/// Starts or awaits the write-back of `len` bytes from `start` on, or up to the end
/// of the file where `len` is 0: 0 or a negated errno.
fn write_back(fd: RawFd, start: u64, len: u32, flags: u32) -> i32 {
    // SAFETY: takes plain numbers only.
    let result = unsafe { libc::sync_file_range(fd, start as i64, i64::from(len), flags) };
    if result == 0 { 0 } else { -errno() }
}

/// Punches a hole into a file, or discards a range of a device.
fn trim(fd: RawFd, op: &Op) -> i32 {
    if is_block_device(fd) {
        let range: [u64; 2] = [op.offset, u64::from(op.len)];
        // SAFETY: the request takes two 64-bit numbers at this address.
        let result = unsafe { libc::ioctl(fd, BLKDISCARD as _, range.as_ptr()) };
        return if result == 0 { op.len as i32 } else { -errno() };
    }
    let how = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
    allocate(fd, how, op)
}

fn is_block_device(fd: RawFd) -> bool {
    let stat = rustix::fs::fstat(file(&fd));
    stat.is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode).is_block_device())
}
