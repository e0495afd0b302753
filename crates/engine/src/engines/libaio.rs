//! Linux native asynchronous I/O, by its system calls.
//!
//! Asynchronous only with direct I/O on files and devices that support it;
//! otherwise handing over blocks. Completions are read from the ring that the
//! kernel shares with user space; the call is made only when it is empty.

use std::io;
use std::os::fd::{AsRawFd, RawFd};
use std::sync::atomic::{AtomicU32, Ordering};

use fathom_model::OpKind;
use fathom_model::workload::SyncCall;

use crate::arena::BufferView;
use crate::engine::{Broken, Capabilities, Completion, Engine, MAX_DEPTH, Op, Queued};
use crate::engines::blocking;
use crate::open::WorkerFiles;

// From `linux/aio_abi.h`.
const PREAD: u16 = 0;
const PWRITE: u16 = 1;
const FSYNC: u16 = 2;
const FDSYNC: u16 = 3;

/// `struct iocb`. The two 32-bit fields after `data` are swapped on big-endian
/// machines; both are 0 here.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
struct ControlBlock {
    data: u64,
    key: u32,
    rw_flags: u32,
    opcode: u16,
    priority: i16,
    fd: u32,
    buffer: u64,
    bytes: u64,
    offset: i64,
    reserved: u64,
    flags: u32,
    event_fd: u32,
}

/// `struct io_event`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
struct Event {
    data: u64,
    control_block: u64,
    result: i64,
    result2: i64,
}

/// `struct aio_ring` of `fs/aio.c`: what a context's address points to.
#[repr(C)]
struct Ring {
    id: u32,
    entries: u32,
    head: AtomicU32,
    tail: AtomicU32,
    magic: u32,
    compatible: u32,
    incompatible: u32,
    header_bytes: u32,
}

const RING_MAGIC: u32 = 0xa10a_10a1;

const _: () = assert!(size_of::<ControlBlock>() == 64 && size_of::<Event>() == 32);

/// A context and its control blocks.
pub(crate) struct Libaio {
    context: usize,
    fds: Box<[RawFd]>,
    /// Keeps the descriptors open.
    _files: WorkerFiles,
    buffers: BufferView,
    sync: SyncCall,
    blocks: Box<[ControlBlock]>,
    /// Addresses of the blocks that are queued and not handed over yet.
    queued: Vec<*mut ControlBlock>,
    blocking: Vec<Op>,
    /// Operations that ended at hand-over.
    refused: Vec<Completion>,
    events: Box<[Event]>,
    /// The ring can be read from user space.
    readable: bool,
    /// Completions are taken one at a time, and none together with a flush.
    one_by_one: bool,
}

impl Libaio {
    /// A context for `slots` operations on `files`. `buffers` must outlive it.
    /// `one_by_one` takes completions one at a time from the first on.
    ///
    /// # Errors
    /// When the kernel makes no context (`fs.aio-max-nr` is reached, or it has
    /// no asynchronous I/O).
    pub(crate) fn new(
        files: WorkerFiles,
        buffers: BufferView,
        slots: u32,
        sync: SyncCall,
        one_by_one: bool,
    ) -> io::Result<Libaio> {
        let mut context = 0usize;
        // SAFETY: the kernel writes one address to `context`, which must be 0.
        let made = unsafe { libc::syscall(libc::SYS_io_setup, slots, &raw mut context) };
        if made != 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the address of a context is that of its mapped ring.
        let ring = unsafe { &*(context as *const Ring) };
        let readable = ring.magic == RING_MAGIC
            && ring.incompatible == 0
            && ring.header_bytes as usize == size_of::<Ring>();
        Ok(Libaio {
            context,
            fds: files.files.iter().map(AsRawFd::as_raw_fd).collect(),
            _files: files,
            buffers,
            sync,
            blocks: vec![ControlBlock::default(); slots as usize].into_boxed_slice(),
            queued: Vec::with_capacity(slots as usize),
            blocking: Vec::with_capacity(slots as usize),
            refused: Vec::with_capacity(slots as usize),
            events: vec![Event::default(); slots as usize].into_boxed_slice(),
            readable,
            one_by_one,
        })
    }

    fn hand_over(&mut self) -> Result<(), Broken> {
        let mut first = 0;
        while first < self.queued.len() {
            let rest = &mut self.queued[first..];
            // SAFETY: the addresses are those of this engine's control blocks.
            let taken = unsafe {
                libc::syscall(
                    libc::SYS_io_submit,
                    self.context,
                    rest.len(),
                    rest.as_mut_ptr(),
                )
            };
            if taken > 0 {
                first += taken as usize;
                continue;
            }
            match blocking::errno() {
                libc::EINTR => {}
                // No resources now: the rest goes with the next call.
                libc::EAGAIN => break,
                // The first of the rest is at fault; the others are not.
                errno => {
                    self.refuse(first, errno)?;
                    first += 1;
                }
            }
        }
        self.queued.drain(..first);
        Ok(())
    }

    /// An operation that the kernel does not even take has failed; a flush that
    /// it does not know as an asynchronous one is carried out by a blocking call.
    #[cold]
    fn refuse(&mut self, index: usize, errno: i32) -> Result<(), Broken> {
        if errno == libc::EFAULT || errno == libc::ENOSYS {
            return Err(Broken {
                call: "io_submit",
                errno,
            });
        }
        // SAFETY: the address is that of one of this engine's control blocks.
        let block = unsafe { &*self.queued[index] };
        let slot = block.data as u32;
        match block.opcode {
            FSYNC | FDSYNC => {
                let result = blocking::flush(block.fd as RawFd, self.sync);
                self.refused.push(Completion { slot, result });
            }
            _ => self.refused.push(Completion {
                slot,
                result: -errno,
            }),
        }
        Ok(())
    }

    /// Reads completions from the shared ring.
    #[inline]
    fn collect(&mut self, out: &mut Vec<Completion>) {
        if !self.readable {
            return;
        }
        // SAFETY: the context lives as long as this engine.
        let ring = unsafe { &*(self.context as *const Ring) };
        let tail = ring.tail.load(Ordering::Acquire);
        let mut head = ring.head.load(Ordering::Relaxed);
        // The ring is the kernel's: what makes no sense is left to the system call.
        if head >= ring.entries || tail >= ring.entries {
            return;
        }
        // SAFETY: the events follow the header; there are `entries` of them.
        let events = unsafe { (self.context as *const Ring).add(1).cast::<Event>() };
        while head != tail && (out.is_empty() || !self.one_by_one) {
            // SAFETY: `head` is below `entries`, and the kernel has written it.
            let event = unsafe { events.add(head as usize).read() };
            out.push(Completion {
                slot: event.data as u32,
                result: event.result as i32,
            });
            head = if head + 1 == ring.entries {
                0
            } else {
                head + 1
            };
        }
        ring.head.store(head, Ordering::Release);
    }

    fn wait(
        &mut self,
        min: u32,
        timeout_ns: Option<u64>,
        out: &mut Vec<Completion>,
    ) -> Result<(), Broken> {
        let timeout = timeout_ns.map(|ns| libc::timespec {
            tv_sec: (ns / 1_000_000_000) as _,
            tv_nsec: (ns % 1_000_000_000) as _,
        });
        let timeout = timeout
            .as_ref()
            .map_or(std::ptr::null(), std::ptr::from_ref);
        // SAFETY: room for as many events as are passed, and a time that lives on.
        let count = unsafe {
            libc::syscall(
                libc::SYS_io_getevents,
                self.context,
                libc::c_long::from(min as i32),
                if self.one_by_one {
                    1
                } else {
                    self.events.len()
                },
                self.events.as_mut_ptr(),
                timeout,
            )
        };
        if count < 0 {
            return match blocking::errno() {
                libc::EINTR => Ok(()),
                errno => Err(Broken {
                    call: "io_getevents",
                    errno,
                }),
            };
        }
        out.extend(self.events[..count as usize].iter().map(|e| Completion {
            slot: e.data as u32,
            result: e.result as i32,
        }));
        Ok(())
    }
}

impl Engine for Libaio {
    fn capabilities(&self) -> Capabilities {
        Capabilities {
            max_depth: MAX_DEPTH,
            trim: true,
            timed_reap: true,
        }
    }

    #[inline]
    fn queue(&mut self, op: &Op, buffer: u32) -> Queued {
        if self.one_by_one && !self.blocking.is_empty() {
            // What comes after a flush is handed over after it.
            return Queued::Busy;
        }
        let opcode = match (op.kind, op.sync_call(self.sync)) {
            // As fio does it: what is queued is handed over, then the thread
            // itself flushes while the rest is in flight. What ends meanwhile
            // is looked at when there is no room for more, one by one.
            (OpKind::Sync, _) if op.offset & Op::UNDRAINED != 0 => {
                self.one_by_one = true;
                self.blocking.push(*op);
                return Queued::Yes;
            }
            (OpKind::Read, _) => PREAD,
            (OpKind::Write, _) => PWRITE,
            (OpKind::Sync, SyncCall::Fsync) => FSYNC,
            (OpKind::Sync, SyncCall::Fdatasync) => FDSYNC,
            _ => {
                self.blocking.push(*op);
                return Queued::Yes;
            }
        };
        let block = &mut self.blocks[op.slot as usize];
        *block = ControlBlock {
            data: u64::from(op.slot),
            opcode,
            fd: self.fds[op.file as usize] as u32,
            ..ControlBlock::default()
        };
        if op.kind != OpKind::Sync {
            block.buffer = self.buffers.at(buffer) as u64;
            block.bytes = u64::from(op.len);
            block.offset = op.offset as i64;
        }
        self.queued.push(block);
        Queued::Yes
    }

    #[inline]
    fn submit(&mut self) -> Result<(), Broken> {
        if self.queued.is_empty() {
            return Ok(());
        }
        self.hand_over()
    }

    #[inline]
    fn reap(
        &mut self,
        min: u32,
        timeout_ns: Option<u64>,
        out: &mut Vec<Completion>,
    ) -> Result<(), Broken> {
        self.submit()?;
        if !self.blocking.is_empty() {
            blocking::carry_out_all(&mut self.blocking, &self.fds, self.sync, out);
            if self.one_by_one {
                return Ok(());
            }
        }
        out.append(&mut self.refused);
        self.collect(out);
        if out.is_empty() && (min > 0 || !self.readable) {
            self.wait(min, timeout_ns, out)?;
        }
        Ok(())
    }

    fn close(&mut self) {}
}

impl Drop for Libaio {
    fn drop(&mut self) {
        // SAFETY: made by `new`. Waits for what is in flight.
        unsafe { libc::syscall(libc::SYS_io_destroy, self.context) };
    }
}
