//! Making a ring with all that this kernel gives.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt};

use fathom_model::Workload;
use io_uring::{IoUring, squeue};

use super::{Enter, Uring};
use crate::arena::BufferView;
use crate::open::{OpenMode, WorkerFiles};

/// Longest region that the kernel registers as one buffer.
const MAX_REGION_BYTES: usize = 1 << 30;

/// Why io_uring cannot be used here.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NoUring {
    #[error("this kernel's io_uring cannot wait with a timeout (before 5.11)")]
    NoTimeout,
    #[error("this kernel has no io_uring")]
    Missing,
    #[error("io_uring is forbidden here (sysctl kernel.io_uring_disabled, or a seccomp filter)")]
    Forbidden,
    #[error("io_uring does not work here ({0})")]
    Broken(io::Error),
}

/// Whether io_uring can be used here.
pub(crate) fn probe() -> Result<(), NoUring> {
    match IoUring::new(2) {
        Ok(ring) if ring.params().is_feature_ext_arg() => Ok(()),
        Ok(_) => Err(NoUring::NoTimeout),
        Err(error) => Err(match error.raw_os_error() {
            Some(libc::ENOSYS) => NoUring::Missing,
            Some(libc::EPERM | libc::EACCES) => NoUring::Forbidden,
            _ => NoUring::Broken(error),
        }),
    }
}

/// The modes of a ring, best first: each is tried until the kernel takes one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// Completions are run when asked for; no indirection of entries (6.6).
    DeferredDirect,
    /// Completions are run when asked for (6.1).
    Deferred,
    /// Completions do not interrupt the thread (5.19).
    Cooperative,
    /// As of old.
    Plain,
}

const MODES: [Mode; 4] = [
    Mode::DeferredDirect,
    Mode::Deferred,
    Mode::Cooperative,
    Mode::Plain,
];

fn build(depth: u32, polled: bool, mode: Mode) -> io::Result<IoUring> {
    let mut builder = IoUring::builder();
    builder.dontfork().setup_clamp();
    if polled {
        builder.setup_iopoll();
    }
    match mode {
        Mode::DeferredDirect | Mode::Deferred => {
            builder
                .setup_single_issuer()
                .setup_defer_taskrun()
                .setup_taskrun_flag()
                .setup_submit_all();
            if mode == Mode::DeferredDirect {
                builder.setup_no_sqarray();
            }
        }
        Mode::Cooperative => {
            builder
                .setup_coop_taskrun()
                .setup_taskrun_flag()
                .setup_submit_all();
        }
        Mode::Plain => {}
    }
    builder.build(depth.next_power_of_two())
}

fn build_best(depth: u32, polled: bool) -> io::Result<(IoUring, Mode)> {
    let mut last = io::Error::from_raw_os_error(libc::EINVAL);
    for mode in MODES {
        match build(depth, polled, mode) {
            Ok(ring) => return Ok((ring, mode)),
            Err(error) if error.raw_os_error() == Some(libc::EINVAL) => last = error,
            Err(error) => return Err(error),
        }
    }
    Err(last)
}

impl Uring {
    /// A ring for `depth` operations on `files`. `buffers` must outlive it.
    /// What had to be left out is said in `notes`.
    ///
    /// # Errors
    /// When the kernel makes no ring at all.
    pub(crate) fn new(
        files: WorkerFiles,
        buffers: BufferView,
        depth: u32,
        workload: &Workload,
        mode: OpenMode,
        notes: &mut Vec<String>,
    ) -> io::Result<Uring> {
        let polled = workload.poll && may_poll(&files, mode, notes);
        let (ring, ring_mode) = build_best(depth, polled)?;
        if matches!(ring_mode, Mode::Cooperative | Mode::Plain) {
            notes.push(
                "this kernel has no deferred completions in io_uring (before 6.1): \
                 each operation costs more CPU time"
                    .to_owned(),
            );
        }
        let fds: Box<[_]> = files.files.iter().map(AsRawFd::as_raw_fd).collect();
        let (handles, entry_flags) = match ring.submitter().register_files(&fds) {
            Ok(()) => ((0..fds.len() as i32).collect(), squeue::Flags::FIXED_FILE),
            Err(error) => {
                notes.push(format!("files are not registered with io_uring ({error})"));
                (fds.clone(), squeue::Flags::empty())
            }
        };
        let buffers_per_region = (MAX_REGION_BYTES / buffers.stride().max(1)).max(1) as u32;
        let registered_buffers = register_buffers(&ring, buffers, buffers_per_region, notes);
        let is_device = |file: &File| {
            file.metadata()
                .is_ok_and(|m| m.file_type().is_block_device())
        };
        Ok(Uring {
            enter: Enter::new(ring.as_raw_fd()),
            ring,
            fds,
            handles,
            entry_flags,
            trims_block: files.files.iter().any(is_device),
            _files: files,
            buffers,
            registered_buffers,
            buffers_per_region,
            sync: workload.sync.call,
            polled,
            queued: 0,
            blocking: Vec::with_capacity(depth as usize),
        })
    }
}

/// Registers the first buffers: all, or as many as the limit of locked memory
/// allows. Returns how many.
fn register_buffers(
    ring: &IoUring,
    buffers: BufferView,
    buffers_per_region: u32,
    notes: &mut Vec<String>,
) -> u32 {
    let wanted = buffers.count();
    let mut registered = wanted;
    let mut refusal = None;
    while registered > 0 {
        let regions: Vec<libc::iovec> = (0..registered)
            .step_by(buffers_per_region as usize)
            .map(|first| {
                let count = buffers_per_region.min(registered - first) as usize;
                let offset = first as usize * buffers.stride();
                libc::iovec {
                    iov_base: buffers.as_ptr().wrapping_add(offset).cast(),
                    iov_len: count * buffers.stride(),
                }
            })
            .collect();
        // SAFETY: the regions lie within the worker's buffers, which outlive the ring.
        match unsafe { ring.submitter().register_buffers(&regions) } {
            Ok(()) => break,
            Err(error) => refusal = Some(error),
        }
        registered /= 2;
    }
    if let Some(error) = refusal {
        notes.push(format!(
            "io_uring took {registered} of {wanted} buffers per worker as registered ones ({error}): \
             raise the limit of locked memory (ulimit -l) for the least CPU time"
        ));
    }
    registered
}

/// Whether completions can be polled for.
fn may_poll(files: &WorkerFiles, mode: OpenMode, notes: &mut Vec<String>) -> bool {
    let refusal = if !mode.direct {
        Some("polling needs direct I/O")
    } else if files.files.iter().any(|file| polls(file) == Some(false)) {
        Some("the device has no queues for polling (for NVMe: nvme.poll_queues)")
    } else {
        None
    };
    if let Some(text) = refusal {
        notes.push(format!("{text}: completions raise interrupts"));
    }
    refusal.is_none()
}

/// Whether the device under a file has queues for polling.
fn polls(file: &File) -> Option<bool> {
    let metadata = file.metadata().ok()?;
    let device = if metadata.file_type().is_block_device() {
        metadata.rdev()
    } else {
        metadata.dev()
    };
    let (major, minor) = (libc::major(device), libc::minor(device));
    let base = format!("/sys/dev/block/{major}:{minor}");
    // A partition has no queue of its own.
    ["queue/io_poll", "../queue/io_poll"]
        .iter()
        .find_map(|name| std::fs::read_to_string(format!("{base}/{name}")).ok())
        .map(|text| text.trim() == "1")
}

// The crate's entry is the kernel's: copied into the ring as it is.
const _: () = assert!(size_of::<squeue::Entry>() == 64);
