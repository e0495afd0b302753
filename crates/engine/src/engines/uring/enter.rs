//! The one system call of the ring, with as little around it as possible.

use std::os::fd::RawFd;

use crate::engine::Broken;
use crate::engines::blocking::errno;

// From `linux/io_uring.h`.
const ENTER_GETEVENTS: u32 = 1 << 0;
const ENTER_EXT_ARG: u32 = 1 << 3;
const ENTER_REGISTERED_RING: u32 = 1 << 4;
const REGISTER_RING_FDS: u32 = 20;
const UNREGISTER_RING_FDS: u32 = 21;

/// `struct io_uring_getevents_arg`.
#[repr(C)]
struct WaitArgument {
    sigmask: u64,
    sigmask_bytes: u32,
    min_wait_usec: u32,
    timeout: u64,
}

/// `struct __kernel_timespec`.
#[repr(C)]
struct Timespec {
    seconds: i64,
    nanoseconds: i64,
}

/// `struct io_uring_rsrc_update`.
#[repr(C)]
struct RingUpdate {
    offset: u32,
    reserved: u32,
    data: u64,
}

/// How the ring is entered.
#[derive(Debug)]
pub(super) struct Enter {
    /// The ring's descriptor, or its index when it is registered.
    fd: i32,
    flags: u32,
}

impl Enter {
    /// Registers the ring with the calling thread, where the kernel can.
    pub(super) fn new(ring: RawFd) -> Enter {
        let mut update = RingUpdate {
            offset: u32::MAX,
            reserved: 0,
            data: ring as u64,
        };
        if register(ring, REGISTER_RING_FDS, &mut update) == 1 {
            Enter {
                fd: update.offset as i32,
                flags: ENTER_GETEVENTS | ENTER_REGISTERED_RING,
            }
        } else {
            Enter {
                fd: ring,
                flags: ENTER_GETEVENTS,
            }
        }
    }

    /// Takes the registration back. Must be called by the same thread.
    pub(super) fn unregister(&mut self, ring: RawFd) {
        if self.flags & ENTER_REGISTERED_RING != 0 {
            let mut update = RingUpdate {
                offset: self.fd as u32,
                reserved: 0,
                data: 0,
            };
            register(ring, UNREGISTER_RING_FDS, &mut update);
            self.fd = ring;
            self.flags = ENTER_GETEVENTS;
        }
    }

    /// Hands over `submit` entries, runs what is pending and waits until `min`
    /// completions are there or the time is up. Returns how many entries
    /// were taken; the rest must be handed over again.
    #[inline]
    pub(super) fn call(
        &self,
        submit: u32,
        min: u32,
        timeout_ns: Option<u64>,
    ) -> Result<u32, Broken> {
        let taken = match timeout_ns {
            Some(timeout_ns) if min > 0 => {
                let timeout = Timespec {
                    seconds: (timeout_ns / 1_000_000_000) as i64,
                    nanoseconds: (timeout_ns % 1_000_000_000) as i64,
                };
                let argument = WaitArgument {
                    sigmask: 0,
                    sigmask_bytes: 8,
                    min_wait_usec: 0,
                    timeout: &raw const timeout as u64,
                };
                // SAFETY: the argument and the time it points to live until the
                // call returns, and their size is passed.
                unsafe {
                    libc::syscall(
                        libc::SYS_io_uring_enter,
                        self.fd,
                        submit,
                        min,
                        self.flags | ENTER_EXT_ARG,
                        &raw const argument,
                        size_of::<WaitArgument>(),
                    )
                }
            }
            // SAFETY: plain numbers and a null pointer.
            _ => unsafe {
                libc::syscall(
                    libc::SYS_io_uring_enter,
                    self.fd,
                    submit,
                    min,
                    self.flags,
                    std::ptr::null::<u8>(),
                    0usize,
                )
            },
        };
        if taken >= 0 {
            return Ok(taken as u32);
        }
        match errno() {
            // The time is up, a signal came, or the kernel is short of memory or
            // of room for completions just now: the caller comes again.
            libc::ETIME | libc::EINTR | libc::EAGAIN | libc::EBUSY => Ok(0),
            errno => Err(Broken {
                call: "io_uring_enter",
                errno,
            }),
        }
    }
}

fn register(ring: RawFd, code: u32, update: &mut RingUpdate) -> i64 {
    // SAFETY: the kernel reads and writes one structure of this layout.
    unsafe {
        libc::syscall(
            libc::SYS_io_uring_register,
            ring,
            code,
            &raw mut *update,
            1u32,
        ) as i64
    }
}
