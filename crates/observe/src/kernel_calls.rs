//! System calls that no library offers safely. All `unsafe` of this room is
//! here; each function is the thinnest possible shell around one call.

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::ptr;

/// `cachestat(2)`, since Linux 6.5; one number on all architectures but alpha.
const SYS_CACHESTAT: libc::c_long = 451;
/// `FS_IOC_FIEMAP` of `linux/fs.h`: `_IOWR('f', 11, struct fiemap)`.
const FS_IOC_FIEMAP: u32 = 0xC020_660B;
/// Extents asked for in one `FIEMAP` call.
pub(crate) const EXTENTS_PER_CALL: usize = 256;

/// CPU time of all threads of this process since it started.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct OwnCpu {
    pub(crate) user_ns: u64,
    pub(crate) system_ns: u64,
}

/// `getrusage(2)` of this process.
pub(crate) fn own_cpu() -> OwnCpu {
    // SAFETY: an all-zero `rusage` is a valid value, and the kernel only fills
    // the one that the valid pointer names.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_SELF, &raw mut usage);
        usage
    };
    let ns = |time: libc::timeval| {
        let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
        let micros = u64::try_from(time.tv_usec).unwrap_or(0);
        seconds
            .saturating_mul(1_000_000_000)
            .saturating_add(micros * 1000)
    };
    OwnCpu {
        user_ns: ns(usage.ru_utime),
        system_ns: ns(usage.ru_stime),
    }
}

/// Length of one tick of `/proc/stat`.
pub(crate) fn tick_ns() -> u64 {
    1_000_000_000 / rustix::param::clock_ticks_per_second().max(1)
}

/// What `cachestat(2)` counts, in pages.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct CacheStat {
    pub(crate) cached: u64,
    pub(crate) dirty: u64,
    pub(crate) writeback: u64,
    pub(crate) evicted: u64,
    pub(crate) recently_evicted: u64,
}

/// Pages of a file's range in the page cache; `length` 0 means to the end.
pub(crate) fn cachestat(file: &File, offset: u64, length: u64) -> io::Result<CacheStat> {
    let range = [offset, length];
    let mut stat = CacheStat::default();
    // SAFETY: the range has the layout of `struct cachestat_range` (two u64)
    // and `stat` that of `struct cachestat`; both outlive the call.
    let result = unsafe {
        libc::syscall(
            SYS_CACHESTAT,
            file.as_raw_fd(),
            range.as_ptr(),
            &raw mut stat,
            0_u32,
        )
    };
    if result == 0 {
        Ok(stat)
    } else {
        Err(io::Error::last_os_error())
    }
}

/// How many pages of a file's range are in memory, by `mincore(2)` on a map.
/// `offset` must be a multiple of the page size and `length` not 0.
pub(crate) fn resident_pages(file: &File, offset: u64, length: usize) -> io::Result<u64> {
    use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
    let page = rustix::param::page_size();
    let mut states = vec![0_u8; length.div_ceil(page)];
    // SAFETY: a new map at an address of the kernel's choice aliases nothing;
    // its memory is never read, so a file that shrinks meanwhile cannot fault.
    let map = unsafe {
        mmap(
            ptr::null_mut(),
            length,
            ProtFlags::READ,
            MapFlags::SHARED,
            file,
            offset,
        )?
    };
    // SAFETY: `map` spans `length` bytes and `states` has a byte for each page.
    let result = unsafe { libc::mincore(map, length, states.as_mut_ptr().cast()) };
    let failure = io::Error::last_os_error();
    // SAFETY: exactly the map that was made above, which nothing refers to.
    unsafe { munmap(map, length)? };
    if result != 0 {
        return Err(failure);
    }
    Ok(states.iter().filter(|&&state| state & 1 == 1).count() as u64)
}

/// One extent of `FIEMAP`, as the kernel lays it out.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Extent {
    pub(crate) logical: u64,
    pub(crate) physical: u64,
    pub(crate) length: u64,
    reserved64: [u64; 2],
    pub(crate) flags: u32,
    reserved: [u32; 3],
}

#[repr(C)]
struct ExtentQuery {
    start: u64,
    length: u64,
    flags: u32,
    mapped: u32,
    count: u32,
    reserved: u32,
    extents: [Extent; EXTENTS_PER_CALL],
}

const _: () = assert!(size_of::<Extent>() == 56);
const _: () = assert!(size_of::<ExtentQuery>() == 32 + 56 * EXTENTS_PER_CALL);

/// The next extents of a file from `start` on, at most [`EXTENTS_PER_CALL`].
/// The file is flushed first, so that delayed allocation does not hide.
pub(crate) fn extents(file: &File, start: u64, length: u64) -> io::Result<Vec<Extent>> {
    const FLAG_SYNC: u32 = 1;
    let mut query = Box::new(ExtentQuery {
        start,
        length,
        flags: FLAG_SYNC,
        mapped: 0,
        count: EXTENTS_PER_CALL as u32,
        reserved: 0,
        extents: [Extent::default(); EXTENTS_PER_CALL],
    });
    // SAFETY: the query has the layout of `struct fiemap` followed by `count`
    // extents, which is all that the kernel writes to.
    let result = unsafe { libc::ioctl(file.as_raw_fd(), FS_IOC_FIEMAP as _, &raw mut *query) };
    if result != 0 {
        return Err(io::Error::last_os_error());
    }
    let mapped = (query.mapped as usize).min(EXTENTS_PER_CALL);
    Ok(query.extents[..mapped].to_vec())
}

/// Makes an `io_uring` of four entries and closes it again.
pub(crate) fn try_io_uring() -> io::Result<()> {
    // `struct io_uring_params` is 120 bytes; all zero asks for the defaults.
    let mut params = [0_u64; 15];
    // SAFETY: the kernel reads and writes only the 120 bytes of `params`.
    let fd = unsafe { libc::syscall(libc::SYS_io_uring_setup, 4_u32, params.as_mut_ptr()) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the kernel just gave this descriptor to us alone.
    drop(unsafe { OwnedFd::from_raw_fd(fd as i32) });
    Ok(())
}

/// Makes a kernel AIO context of one event and destroys it again.
pub(crate) fn try_libaio() -> io::Result<()> {
    let mut context: libc::c_ulong = 0;
    // SAFETY: `context` is a valid, zeroed place for the handle, as asked for.
    let made = unsafe { libc::syscall(libc::SYS_io_setup, 1_u32, &raw mut context) };
    if made != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the handle was just made and nothing was submitted to it.
    unsafe { libc::syscall(libc::SYS_io_destroy, context) };
    Ok(())
}

/// `NVME_IOCTL_ADMIN_CMD` of `linux/nvme_ioctl.h`.
const NVME_IOCTL_ADMIN_CMD: u32 = 0xC048_4E41;

/// `struct nvme_admin_cmd`.
#[repr(C)]
#[derive(Default)]
struct AdminCommand {
    opcode: u8,
    flags: u8,
    reserved: u16,
    namespace: u32,
    word2: u32,
    word3: u32,
    metadata: u64,
    address: u64,
    metadata_length: u32,
    data_length: u32,
    words10: [u32; 6],
    timeout_ms: u32,
    result: u32,
}

const _: () = assert!(size_of::<AdminCommand>() == 72);

/// Reads the first `N` bytes (at most 4 KiB, whole words) of a log page of the
/// controller that `file` (`/dev/nvme0`) is. The time limit is the kernel's
/// own: at a shorter one it would reset the controller.
pub(crate) fn nvme_log_page<const N: usize>(
    file: &File,
    log: u8,
    namespace: u32,
) -> io::Result<[u8; N]> {
    const GET_LOG_PAGE: u8 = 2;
    const { assert!(N >= 4 && N <= 4096 && N.is_multiple_of(4)) };
    let mut page = [0_u8; N];
    let last_word = (N / 4 - 1) as u32;
    let mut command = AdminCommand {
        opcode: GET_LOG_PAGE,
        namespace,
        address: page.as_mut_ptr() as u64,
        data_length: N as u32,
        words10: [u32::from(log) | last_word << 16, 0, 0, 0, 0, 0],
        ..AdminCommand::default()
    };
    // SAFETY: the command has the layout of `struct nvme_admin_cmd`, and the
    // kernel writes at most `data_length` bytes to `address`, which is `page`;
    // both outlive the call.
    let status = unsafe {
        libc::ioctl(
            file.as_raw_fd(),
            NVME_IOCTL_ADMIN_CMD as _,
            &raw mut command,
        )
    };
    match status {
        0 => Ok(page),
        status if status > 0 => Err(io::Error::other(format!("NVMe status {status:#x}"))),
        _ => Err(io::Error::last_os_error()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_cpu_time_never_goes_back() {
        let first = own_cpu();
        let work: u64 = (0..2_000_000_u64).fold(0, |sum, n| sum ^ n.wrapping_mul(sum | 1));
        let later = own_cpu();
        assert!(std::hint::black_box(work) != 1);
        assert!(later.user_ns + later.system_ns >= first.user_ns + first.system_ns);
        assert!(tick_ns() > 0 && tick_ns() <= 1_000_000_000);
    }
}
