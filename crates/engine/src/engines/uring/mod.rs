//! io_uring.
//!
//! One ring per worker, made by the worker's own thread. Operations are handed
//! over and reaped in one system call wherever possible; files, the ring
//! itself and the buffers (one region) are registered. What this kernel, file or
//! memory limit does not allow is left out, with a remark.
//!
//! Trims of block devices have no ring operation on most kernels and are blocking
//! calls at hand-over, as are flushes and trims on a polled ring.

mod enter;
mod setup;

pub(crate) use setup::{NoUring, probe};

use std::os::fd::{AsRawFd, RawFd};

use fathom_model::OpKind;
use fathom_model::workload::SyncCall;
use io_uring::types::{Fd, FsyncFlags};
use io_uring::{IoUring, opcode, squeue};

use crate::arena::BufferView;
use crate::clock::monotonic_ns;
use crate::engine::{Broken, Capabilities, Completion, Engine, MAX_DEPTH, Op, Queued};
use crate::engines::blocking;
use crate::open::WorkerFiles;
use enter::Enter;

/// A ring and what is registered with it.
pub(crate) struct Uring {
    ring: IoUring,
    enter: Enter,
    fds: Box<[RawFd]>,
    /// What names the files to the ring: indexes of registered files, or the
    /// descriptors.
    handles: Box<[i32]>,
    entry_flags: squeue::Flags,
    /// Keeps the descriptors open.
    _files: WorkerFiles,
    buffers: BufferView,
    /// Buffers below this one are registered.
    registered_buffers: u32,
    buffers_per_region: u32,
    sync: SyncCall,
    polled: bool,
    trims_block: bool,
    /// Entries in the submission queue that the kernel has not taken yet.
    queued: u32,
    /// Operations that are carried out by blocking calls at hand-over.
    blocking: Vec<Op>,
}

impl Uring {
    /// The entry for an operation, or `None` if it must be a blocking call.
    #[inline]
    fn entry(&self, op: &Op, index: u32) -> Option<squeue::Entry> {
        let file = Fd(self.handles[op.file as usize]);
        let buffer = self.buffers.at(index);
        let registered = index < self.registered_buffers;
        let entry = match op.kind {
            OpKind::Read if registered => {
                opcode::ReadFixed::new(file, buffer, op.len, self.region(index))
                    .offset(op.offset)
                    .build()
            }
            OpKind::Read => opcode::Read::new(file, buffer, op.len)
                .offset(op.offset)
                .build(),
            OpKind::Write if registered => {
                opcode::WriteFixed::new(file, buffer, op.len, self.region(index))
                    .offset(op.offset)
                    .build()
            }
            OpKind::Write => opcode::Write::new(file, buffer, op.len)
                .offset(op.offset)
                .build(),
            OpKind::Sync if !self.polled => self.sync_entry(op, file),
            OpKind::Trim if !self.polled && !self.trims_block => {
                let mode = libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE;
                opcode::Fallocate::new(file, u64::from(op.len))
                    .offset(op.offset)
                    .mode(mode)
                    .build()
            }
            _ => return None,
        };
        Some(entry.flags(self.entry_flags))
    }

    #[cold]
    fn sync_entry(&self, op: &Op, file: Fd) -> squeue::Entry {
        if let Some((start, flags)) = op.range() {
            let range = opcode::SyncFileRange::new(file, op.len);
            return range.offset(start).flags(flags).build();
        }
        let flags = match op.sync_call(self.sync) {
            SyncCall::Fsync => FsyncFlags::empty(),
            SyncCall::Fdatasync => FsyncFlags::DATASYNC,
        };
        opcode::Fsync::new(file).flags(flags).build()
    }

    /// Index of the registered region in which a buffer lies.
    #[inline]
    fn region(&self, buffer: u32) -> u16 {
        if buffer < self.buffers_per_region {
            0
        } else {
            let region = buffer / self.buffers_per_region;
            debug_assert!(u16::try_from(region).is_ok(), "region {region}");
            region as u16
        }
    }

    /// One system call: hands over what is queued and waits for `min`.
    #[inline]
    fn enter(&mut self, min: u32, timeout_ns: Option<u64>) -> Result<(), Broken> {
        let taken = self.enter.call(self.queued, min, timeout_ns)?;
        debug_assert!(
            taken <= self.queued,
            "the kernel took {taken} entries of {}",
            self.queued
        );
        self.queued -= taken;
        Ok(())
    }

    /// Whether a call would bring completions that do not come by themselves.
    #[inline]
    fn has_work(&mut self) -> bool {
        self.polled || self.ring.submission().taskrun()
    }

    /// Moves what has ended to `out`. Returns whether there was anything.
    #[inline]
    fn collect(&mut self, out: &mut Vec<Completion>) -> bool {
        let before = out.len();
        for entry in self.ring.completion() {
            let op = entry.user_data();
            out.push(Completion {
                slot: op as u32,
                // Success of calls that return no count is their full length.
                result: match entry.result() {
                    0 if op >> 63 != 0 => (op >> 32) as i32 & i32::MAX,
                    result => result,
                },
            });
        }
        out.len() > before
    }

    /// Looks for completions on a polled ring until there is one or the time is up.
    fn poll(&mut self, timeout_ns: Option<u64>, out: &mut Vec<Completion>) -> Result<(), Broken> {
        let end_ns = timeout_ns.map(|ns| monotonic_ns().saturating_add(ns));
        loop {
            self.enter(0, None)?;
            if self.collect(out) || end_ns.is_some_and(|end| monotonic_ns() >= end) {
                return Ok(());
            }
        }
    }
}

/// What identifies an operation in its completion: the slot, and for calls that
/// return 0 on success the length that this stands for.
#[inline]
fn user_data(op: &Op) -> u64 {
    // A completion has 31 bits for a count, and the top one marks it.
    debug_assert!(
        op.kind != OpKind::Trim || op.len <= i32::MAX as u32,
        "{} bytes at once",
        op.len
    );
    match op.kind {
        OpKind::Trim => 1 << 63 | u64::from(op.len & i32::MAX as u32) << 32 | u64::from(op.slot),
        _ => u64::from(op.slot),
    }
}

impl Engine for Uring {
    fn capabilities(&self) -> Capabilities {
        Capabilities {
            max_depth: MAX_DEPTH,
            trim: true,
            timed_reap: true,
        }
    }

    #[inline]
    fn queue(&mut self, op: &Op, buffer: u32) -> Queued {
        let Some(entry) = self.entry(op, buffer) else {
            self.blocking.push(*op);
            return Queued::Yes;
        };
        let entry = entry.user_data(user_data(op));
        // SAFETY: the buffer and the file stay valid until the operation has been
        // reaped; the worker sees to it.
        let pushed = unsafe { self.ring.submission().push(&entry) };
        if pushed.is_err() {
            return Queued::Busy;
        }
        self.queued += 1;
        Queued::Yes
    }

    #[inline]
    fn submit(&mut self) -> Result<(), Broken> {
        if self.queued > 0 {
            self.enter(0, None)?;
        }
        Ok(())
    }

    #[inline]
    fn reap(
        &mut self,
        min: u32,
        timeout_ns: Option<u64>,
        out: &mut Vec<Completion>,
    ) -> Result<(), Broken> {
        if !self.blocking.is_empty() {
            self.submit()?;
            blocking::carry_out_all(&mut self.blocking, &self.fds, self.sync, out);
        }
        let min = if out.is_empty() { min } else { 0 };
        if self.polled && min > 0 {
            return self.poll(timeout_ns, out);
        }
        // Completions that are there already are taken without a call, unless
        // there is something to hand over.
        if self.queued > 0 || (!self.collect(out) && (min > 0 || self.has_work())) {
            self.enter(min, timeout_ns)?;
            self.collect(out);
        }
        Ok(())
    }

    fn close(&mut self) {
        let _ = self.ring.submitter().unregister_files();
    }
}

impl Drop for Uring {
    fn drop(&mut self) {
        self.enter.unregister(self.ring.as_raw_fd());
    }
}
