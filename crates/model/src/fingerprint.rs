//! The facts of a host and a target, taken before and after a run.
//!
//! A fact that could not be read is `None` or absent, never a guess.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Name of a host's fact that is the same for all that runs on one kernel since
/// it started, and for nothing else.
pub const BOOT_ID: &str = "boot_id";

/// Facts of one host.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Fingerprint {
    /// Host name.
    pub hostname: String,
    /// Distribution, for example `Debian GNU/Linux 12 (bookworm)`.
    pub os: Option<String>,
    /// Kernel release.
    pub kernel: String,
    /// CPU architecture.
    pub architecture: String,
    /// CPU model.
    pub cpu_model: Option<String>,
    /// CPUs that fathom may run on.
    pub cpus: u32,
    /// Usable memory.
    pub memory_bytes: u64,
    /// Current clock source, for example `tsc`.
    pub clocksource: Option<String>,
    /// Mean cost of reading the clock once.
    pub clock_read_ns: Option<f64>,
    /// Hypervisor, container or none, as far as it shows.
    pub virtualization: Option<String>,
    /// CPU frequency governor.
    pub cpu_governor: Option<String>,
    /// Locked memory limit; `None` is unlimited.
    pub memlock_bytes: Option<u64>,
    /// Open file limit.
    pub open_files_limit: u64,
    /// Whether fathom ran as root.
    pub root: bool,
    /// Further facts by name.
    pub facts: BTreeMap<String, String>,
}

/// Facts of one target on one host.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TargetFingerprint {
    /// The target as text.
    pub target: String,
    /// The file system, when the target lies on one.
    pub filesystem: Option<FilesystemFacts>,
    /// Everything under the target, top first; leaves have no `below`.
    pub devices: Vec<DeviceFacts>,
}

/// Facts of a file system.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FilesystemFacts {
    /// Type, for example `ext4`.
    pub kind: String,
    /// Where it is mounted.
    pub mount_point: String,
    /// What is mounted.
    pub source: String,
    /// Mount options as the kernel shows them.
    pub options: Vec<String>,
    /// Size.
    pub total_bytes: u64,
    /// Free for this user.
    pub available_bytes: u64,
    /// Whether the data are not on a local block device (tmpfs, FUSE, overlay,
    /// network): the kind explains which.
    pub virtual_kind: bool,
    /// Further facts by name: why the kind is virtual, what the upper layer of
    /// an overlay lies on, ….
    #[serde(default)]
    pub facts: BTreeMap<String, String>,
}

/// Facts of one block device.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DeviceFacts {
    /// Kernel name, for example `dm-0`.
    pub name: String,
    /// `disk`, `partition`, `loop`, `dm`, `md`, `nvme`, `zram`, ….
    pub kind: String,
    /// Names of the devices directly below.
    pub below: Vec<String>,
    /// Size.
    pub size_bytes: u64,
    /// Vendor and model.
    pub model: Option<String>,
    /// Serial number.
    pub serial: Option<String>,
    /// Firmware revision.
    pub firmware: Option<String>,
    /// Whether the kernel calls it rotational. Hypervisors often lie.
    pub rotational: Option<bool>,
    /// I/O scheduler in use.
    pub scheduler: Option<String>,
    /// Length of the request queue.
    pub queue_requests: Option<u64>,
    /// Read-ahead.
    pub read_ahead_bytes: Option<u64>,
    /// `write back` or `write through`.
    pub write_cache: Option<String>,
    /// Smallest addressable unit.
    pub logical_block_bytes: Option<u64>,
    /// Unit that is written without a read.
    pub physical_block_bytes: Option<u64>,
    /// Preferred unit of I/O; 0 when the device names none.
    pub optimal_io_bytes: Option<u64>,
    /// Largest discard; 0 when it cannot discard.
    pub discard_max_bytes: Option<u64>,
    /// Further facts by name (NVMe link, md level, loop backing file, …).
    pub facts: BTreeMap<String, String>,
}
