//! One ring with everything registered, refilled with whatever has completed.

use std::io;
use std::os::fd::AsRawFd;

use io_uring::types::Fixed;
use io_uring::{IoUring, opcode};

use crate::Load;

const ENTER_GETEVENTS: u32 = 1 << 0;
const ENTER_REGISTERED_RING: u32 = 1 << 4;
const REGISTER_RING_FDS: u32 = 20;

/// Reads as often as asked for.
pub(crate) fn run(load: &Load) -> io::Result<()> {
    let mut ring: IoUring = IoUring::builder()
        .setup_single_issuer()
        .setup_defer_taskrun()
        .setup_submit_all()
        .setup_no_sqarray()
        .build(load.depth.next_power_of_two())?;
    let stride = load.block as usize;
    let mut memory = vec![0u8; stride * load.depth as usize + 4096];
    let start = memory.as_mut_ptr().align_offset(4096);
    // SAFETY: within the memory, which has a page to spare.
    let base = unsafe { memory.as_mut_ptr().add(start) };
    let region = [libc::iovec {
        iov_base: base.cast(),
        iov_len: stride * load.depth as usize,
    }];
    // SAFETY: the memory outlives the ring's use.
    unsafe { ring.submitter().register_buffers(&region)? };
    ring.submitter().register_files(&[load.file.as_raw_fd()])?;
    let ring_index = register_ring(ring.as_raw_fd())?;

    let mut free: Vec<u32> = (0..load.depth).collect();
    let (mut issued, mut ended) = (0, 0);
    while ended < load.ops {
        let mut queued = 0;
        while issued < load.ops
            && let Some(slot) = free.pop()
        {
            // SAFETY: slots are below the depth.
            let buffer = unsafe { base.add(slot as usize * stride) };
            let entry = opcode::ReadFixed::new(Fixed(0), buffer, load.block as u32, 0)
                .offset(load.offset(issued))
                .build()
                .user_data(u64::from(slot));
            // SAFETY: buffer and file stay valid.
            unsafe { ring.submission().push(&entry) }
                .map_err(|_| io::Error::other("the ring is full"))?;
            issued += 1;
            queued += 1;
        }
        enter(ring_index, queued)?;
        for entry in ring.completion() {
            if entry.result() != load.block as i32 {
                return Err(io::Error::from_raw_os_error(-entry.result()));
            }
            free.push(entry.user_data() as u32);
            ended += 1;
        }
    }
    Ok(())
}

fn enter(ring_index: u32, queued: u32) -> io::Result<()> {
    // SAFETY: plain numbers and a null pointer.
    let done = unsafe {
        libc::syscall(
            libc::SYS_io_uring_enter,
            ring_index,
            queued,
            1u32,
            ENTER_GETEVENTS | ENTER_REGISTERED_RING,
            std::ptr::null::<u8>(),
            0usize,
        )
    };
    if done < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

fn register_ring(fd: i32) -> io::Result<u32> {
    // `struct io_uring_rsrc_update`: offset, reserved, data.
    let mut update = (u32::MAX, 0u32, fd as u64);
    // SAFETY: a structure of this layout at this address.
    let done = unsafe {
        libc::syscall(
            libc::SYS_io_uring_register,
            fd,
            REGISTER_RING_FDS,
            &raw mut update,
            1u32,
        )
    };
    if done != 1 {
        return Err(io::Error::last_os_error());
    }
    Ok(update.0)
}
