//! Loads and stores on a memory map; `msync` is the flush.
//!
//! What is measured is the page cache and the page-fault path. A load or store
//! that the kernel cannot satisfy (the device failed, the file was cut short)
//! raises SIGBUS, which would kill the process; see [`fault`].

mod fault;

use std::os::fd::{AsRawFd, RawFd};
use std::{io, ptr};

use fathom_model::OpKind;
use fathom_model::workload::SyncCall;
use rustix::mm::{MapFlags, MsyncFlags, ProtFlags};

use crate::engine::Op;
use crate::engines::blocking;
use crate::engines::synchronous::CarryOut;
use crate::open::WorkerFiles;

/// One mapped file.
#[derive(Debug)]
struct Map {
    start: *mut u8,
    bytes: u64,
    fd: RawFd,
    write: bool,
}

/// Maps of a worker's files.
#[derive(Debug)]
pub(crate) struct Mmap {
    maps: Box<[Map]>,
    /// Keeps the descriptors open.
    _files: WorkerFiles,
    sync: SyncCall,
}

impl Map {
    fn new(fd: RawFd, bytes: u64, write: bool) -> io::Result<Map> {
        let len = usize::try_from(bytes).map_err(|_| io::Error::from_raw_os_error(libc::ENOMEM))?;
        let start = if len == 0 {
            ptr::null_mut()
        } else {
            // SAFETY: a new map at an address of the kernel's choice; the
            // descriptor is open.
            unsafe {
                rustix::mm::mmap(
                    ptr::null_mut(),
                    len,
                    Map::protection(write),
                    MapFlags::SHARED,
                    std::os::fd::BorrowedFd::borrow_raw(fd),
                    0,
                )
            }?
            .cast()
        };
        Ok(Map {
            start,
            bytes,
            fd,
            write,
        })
    }

    fn protection(write: bool) -> ProtFlags {
        if write {
            ProtFlags::READ | ProtFlags::WRITE
        } else {
            ProtFlags::READ
        }
    }

    /// Bytes of the range that lie within the map.
    fn within(&self, op: &Op) -> usize {
        self.bytes.saturating_sub(op.offset).min(u64::from(op.len)) as usize
    }

    /// Maps the pages of a range anew after a fault put others in their place.
    fn restore(&self, op: &Op, bytes: usize) {
        let page = fault::page_bytes() as u64;
        let first = op.offset / page * page;
        let len = (op.offset - first) as usize + bytes;
        // SAFETY: replaces a part of this map by the same part of the same file.
        let _ = unsafe {
            libc::mmap64(
                self.start.add(first as usize).cast(),
                len,
                Map::protection(self.write).bits() as i32,
                libc::MAP_SHARED | libc::MAP_FIXED,
                self.fd,
                first as i64,
            )
        };
    }
}

impl Drop for Map {
    fn drop(&mut self) {
        if !self.start.is_null() {
            // SAFETY: made by `new`; nothing refers to it any more.
            let _ = unsafe { rustix::mm::munmap(self.start.cast(), self.bytes as usize) };
        }
    }
}

impl Mmap {
    /// Maps `files`, which are `sizes` bytes long.
    ///
    /// # Errors
    /// When a file cannot be mapped.
    pub(crate) fn new(
        files: WorkerFiles,
        sizes: impl Iterator<Item = u64>,
        write: bool,
        sync: SyncCall,
    ) -> io::Result<Mmap> {
        fault::install()?;
        let maps: io::Result<Box<[Map]>> = files
            .files
            .iter()
            .zip(sizes)
            .map(|(file, bytes)| Map::new(file.as_raw_fd(), bytes, write))
            .collect();
        Ok(Mmap {
            maps: maps?,
            _files: files,
            sync,
        })
    }

    fn copy(map: &Map, op: &Op, buffer: *mut u8) -> i32 {
        let bytes = map.within(op);
        if bytes == 0 {
            return 0;
        }
        // SAFETY: `within` says that the range lies in the map.
        let mapped = unsafe { map.start.add(op.offset as usize) };
        let faulted = fault::guarded(mapped, bytes, || {
            // SAFETY: both ranges are valid for `bytes` and are different maps. Other
            // processes may change the file meanwhile; the bytes are only data.
            unsafe {
                if op.kind == OpKind::Read {
                    ptr::copy_nonoverlapping(mapped, buffer, bytes);
                } else {
                    ptr::copy_nonoverlapping(buffer, mapped, bytes);
                }
            }
        });
        if faulted {
            map.restore(op, bytes);
            return -libc::EIO;
        }
        bytes as i32
    }

    fn flush(map: &Map, call: SyncCall) -> i32 {
        if map.start.is_null() {
            return 0;
        }
        // SAFETY: the whole of a map of this engine.
        let synced =
            unsafe { rustix::mm::msync(map.start.cast(), map.bytes as usize, MsyncFlags::SYNC) };
        match (synced, call) {
            (Err(errno), _) => -errno.raw_os_error(),
            // `msync` is the data's flush; metadata need the file's own.
            (Ok(()), SyncCall::Fsync) => blocking::flush(map.fd, call),
            (Ok(()), SyncCall::Fdatasync) => 0,
        }
    }
}

impl CarryOut for Mmap {
    fn carry_out(&self, op: &Op, buffer: *mut u8) -> i32 {
        let map = &self.maps[op.file as usize];
        match op.kind {
            OpKind::Read | OpKind::Write => Self::copy(map, op, buffer),
            OpKind::Sync if op.range().is_none() => Self::flush(map, op.sync_call(self.sync)),
            _ => blocking::carry_out(map.fd, op, self.sync),
        }
    }
}
