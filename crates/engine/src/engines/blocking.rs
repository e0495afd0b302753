//! Flushes, write-back and discards as blocking calls, for engines that have no other way.

use std::os::fd::RawFd;

use fathom_model::OpKind;
use fathom_model::workload::SyncCall;

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

/// Flushes a file: 0 or a negated errno.
pub(crate) fn flush(fd: RawFd, call: SyncCall) -> i32 {
    // SAFETY: both calls take any number as a descriptor.
    let result = unsafe {
        match call {
            SyncCall::Fsync => libc::fsync(fd),
            SyncCall::Fdatasync => libc::fdatasync(fd),
        }
    };
    if result == 0 { 0 } else { -errno() }
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
    let mode = libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE;
    // SAFETY: takes plain numbers only.
    let result = unsafe { libc::fallocate64(fd, mode, op.offset as i64, i64::from(op.len)) };
    if result == 0 { op.len as i32 } else { -errno() }
}

fn is_block_device(fd: RawFd) -> bool {
    // SAFETY: zero is a valid value of every field of the C struct.
    let mut stat: libc::stat = unsafe { std::mem::zeroed() };
    // SAFETY: `stat` is a valid place for the kernel to write to.
    let known = unsafe { libc::fstat(fd, &mut stat) } == 0;
    known && stat.st_mode & libc::S_IFMT == libc::S_IFBLK
}
