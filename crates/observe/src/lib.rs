//! What a host and its devices look like and what they did: readers of
//! `/proc`, `/sys` and the file system interfaces that tell whether a
//! measurement is true.
//!
//! Parsers are pure functions on text; readers are thin and take their root
//! from a [`Sysroot`], so that the recorded tree of another machine is a test.
//! A fact that cannot be read is `None` or absent, never zero and never a
//! guess: missing files, old kernels and missing permissions are ordinary.
//!
//! * [`host_fingerprint`], [`target_fingerprint`]: facts before and after.
//! * [`Observer`]: differences of counters, one observation a call.
//! * [`data_state`]: is the data set in the page cache, is it really written.
//! * [`drop_page_cache`]: take it out of the page cache.
//! * [`doctor`]: what this machine lets fathom do.
//!
//! ## Where counters count
//!
//! A target on a partition lists the partition and, below it, the whole disk;
//! the whole disk is the leaf. Foreign I/O on another partition shares the
//! same device and must show. Only when the kernel has no counters for the
//! whole disk (a Xen guest with `xvda1` and no `xvda`) is the partition the
//! leaf. The same rule holds everywhere: a device is a leaf when nothing below
//! it has counters of its own, so adding up leaves counts every request of a
//! drive once. What one write of the load becomes is not undone: RAID 1 writes
//! it twice, bcache to its backing and its cache device; the facts of the
//! devices above the leaves say so.

mod block_link;
mod cgroup;
mod cgroup_io;
mod clocks;
mod counters;
mod cpu;
mod data_file;
mod data_state;
mod device;
mod device_places;
mod device_stack;
mod doctor;
mod drop_cache;
mod error;
mod filesystem;
mod filesystem_state;
pub mod gluster;
mod host;
mod host_load;
mod io_limit;
mod kept_file;
mod kernel_calls;
pub mod machine;
mod memory;

pub mod network;
mod nvme_health;
mod nvme_logs;
mod observer;
mod page_cache;
mod power_facts;
mod pressure;
mod process;

mod similar_name;
pub mod smart;
pub mod stack;
mod sysroot;
mod target;
mod virtualization;
mod whole_disks;
mod written;

pub use clocks::{monotonic_ns, unix_now_ns};
pub use counters::{DeviceCounters, each_device, parse_diskstats, parse_stat};
pub use cpu::{CpuTicks, parse_cpu_ticks};
pub use data_file::DataFile;
pub use data_state::{
    DataState, cached_share, cached_share_of_files, data_state, state_of_files, unflushed_bytes,
};
pub use device_places::{DevicePlace, device_places};
pub use doctor::{Capability, CapabilityStatus, doctor};
pub use drop_cache::{DropReport, drop_page_cache, drop_page_cache_of_files};
pub use error::Error;
pub use fathom_deadline::{Mount, parse_mountinfo};
pub use host::host_fingerprint;
pub use host_load::{HostWatch, parse_quota};
pub use io_limit::{GroupLimit, GroupLimitError, LimitLine};
pub use kept_file::KeptFile;
pub use memory::{available_memory_bytes, parse_meminfo};
pub use nvme_health::drive_health;
pub use observer::Observer;
pub use pressure::parse_total_us;
pub use process::{ProcessLimits, StorageBytes, parse_limits, parse_process_io};
pub use similar_name::{did_you_mean_file, similar_name};
pub use sysroot::Sysroot;
pub use target::target_fingerprint;
pub use whole_disks::{DiskUse, WholeDisk, whole_disks};
