//! One interval of a host as `fathom watch --json` prints it: one object a line.
//!
//! Base units: bytes, nanoseconds, operations per second; shares are 0 to 1. What was
//! not read is absent.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::diagnosis::{Answer, Shortage};

/// Format of a line.
pub const WATCH_SCHEMA: &str = "fathom.watch/1";

/// One interval of a host.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WatchLine {
    /// [`WATCH_SCHEMA`].
    pub schema: String,
    /// Name of the host.
    pub host: String,
    /// End of the interval in UTC, RFC 3339; null where a recording has no clock.
    pub at_utc: Option<String>,
    /// Length of the interval in seconds; null where it is not known.
    pub interval_s: Option<f64>,
    /// Is the storage the bottleneck, over the last 30 intervals.
    pub verdict: WatchVerdict,
    /// Mounts that did not respond.
    pub not_responding: Vec<String>,
    /// CPUs and tasks.
    pub cpu: WatchCpu,
    /// Time in which tasks waited (pressure stall).
    pub pressure: WatchPressure,
    /// Memory at the end of the interval; null where it was not read.
    pub memory: Option<WatchMemory>,
    /// Block devices, in the order of --sort.
    pub devices: Vec<WatchDevice>,
    /// Processes that did most, in the order of --sort.
    pub processes: Vec<WatchUser>,
    /// Control groups that did most, in the order of --sort.
    pub groups: Vec<WatchUser>,
    /// Network interfaces.
    pub interfaces: Vec<WatchInterface>,
    /// NFS mounts.
    pub nfs_mounts: Vec<WatchMount>,
}

/// The verdict of `fathom diagnose` over the last intervals.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WatchVerdict {
    /// Is the storage the bottleneck?
    pub answer: Answer,
    /// What it is.
    pub limiter: Shortage,
    /// What shows it.
    pub evidence: Vec<String>,
    /// Intervals that it is for.
    pub intervals: u32,
    /// Their length together, in seconds.
    pub window_s: f64,
}

/// CPUs and tasks. Shares are of the time of all CPUs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WatchCpu {
    /// Logical CPUs.
    pub cpus: Option<u32>,
    /// Programs.
    pub user_share: Option<f64>,
    /// The kernel.
    pub system_share: Option<f64>,
    /// Idle while a task waited for I/O.
    pub iowait_share: Option<f64>,
    /// Taken by the hypervisor.
    pub steal_share: Option<f64>,
    /// Idle.
    pub idle_share: Option<f64>,
    /// Load average of one minute.
    pub load_1m: Option<f64>,
    /// Tasks that run or wait for a CPU.
    pub runnable_tasks: Option<f64>,
    /// Tasks in uninterruptible sleep.
    pub blocked_tasks: Option<f64>,
}

/// Shares of the time, 0 to 1.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WatchPressure {
    /// Some task waited for I/O.
    pub io_some_share: Option<f64>,
    /// All tasks that could run waited for I/O.
    pub io_full_share: Option<f64>,
    /// Some task waited for a CPU.
    pub cpu_some_share: Option<f64>,
    /// Some task waited for memory.
    pub memory_some_share: Option<f64>,
}

/// Memory in bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WatchMemory {
    /// All of it.
    pub total_bytes: u64,
    /// What programs can have without swapping.
    pub available_bytes: u64,
    /// Written and not yet on its way to a device.
    pub dirty_bytes: u64,
    /// On its way to a device.
    pub writeback_bytes: u64,
    /// Read from swap.
    pub swap_in_bytes_per_s: Option<f64>,
    /// Written to swap.
    pub swap_out_bytes_per_s: Option<f64>,
}

/// A block device.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WatchDevice {
    /// Kernel name.
    pub name: String,
    /// `idle`, `not_judged`, `ok` (the verdict is that there is room), `warning` (a rule
    /// of the diagnosis is reached), `critical` (the verdict names it).
    pub severity: String,
    /// Over this interval.
    pub now: WatchDeviceFigures,
    /// Over the time of the verdict; null where it did nothing.
    pub window: Option<WatchDeviceWindow>,
    /// Where it is mounted, also by its partitions and by devices that lie on it.
    pub mounts: Vec<String>,
    /// Devices that it lies on, each with its kind.
    pub lies_on: Vec<String>,
}

/// What a device did in one interval.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WatchDeviceFigures {
    /// Reads completed per second.
    pub reads_per_s: f64,
    /// Writes completed per second.
    pub writes_per_s: f64,
    /// Flushes completed per second.
    pub flushes_per_s: f64,
    /// Discards completed per second.
    pub discards_per_s: f64,
    /// Bytes read per second.
    pub read_bytes_per_s: f64,
    /// Bytes written per second.
    pub write_bytes_per_s: f64,
    /// Mean time of a read, queueing included; null where none was completed.
    pub read_latency_ns: Option<f64>,
    /// Mean time of a write; null where none was completed.
    pub write_latency_ns: Option<f64>,
    /// Mean time of a flush; null where none was completed or the kernel has no count.
    pub flush_latency_ns: Option<f64>,
    /// Operations in flight, mean.
    pub in_flight: Option<f64>,
    /// Operations in flight at the end of the interval.
    pub in_flight_at_end: Option<f64>,
}

/// What a device did in the time of the verdict.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WatchDeviceWindow {
    /// Reads and writes per second, mean.
    pub operations_per_s: f64,
    /// Bytes read and written per second, mean.
    pub bytes_per_s: f64,
    /// Mean time of a read or write, queueing included.
    pub latency_ns: Option<f64>,
    /// The longest mean time of one interval.
    pub latency_peak_ns: Option<f64>,
    /// Operations in flight, mean.
    pub in_flight: Option<f64>,
}

/// A process or control group, over all devices.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WatchUser {
    /// Number and command of a process; path of a group.
    pub name: String,
    /// Bytes per second that it caused devices to read.
    pub read_bytes_per_s: f64,
    /// Bytes per second that it made to be written.
    pub write_bytes_per_s: f64,
    /// Share of the time in which it waited for I/O, where the kernel counts it.
    pub iowait_share: Option<f64>,
    /// CPUs that it kept busy.
    pub cpus: f64,
}

/// A network interface.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WatchInterface {
    /// Its name.
    pub name: String,
    /// Bytes received per second.
    pub received_bytes_per_s: f64,
    /// Bytes sent per second.
    pub sent_bytes_per_s: f64,
    /// Share of the rated speed that the fuller direction used.
    pub used_share: Option<f64>,
    /// Errors per second.
    pub errors_per_s: f64,
    /// Dropped packets per second.
    pub drops_per_s: f64,
}

/// An NFS mount.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WatchMount {
    /// `server:/export on /mnt`.
    pub name: String,
    /// Operations per second.
    pub operations_per_s: f64,
    /// Bytes received and sent per second.
    pub bytes_per_s: f64,
    /// Mean time of an operation, queueing at the client included.
    pub latency_ns: Option<f64>,
    /// Mean time between transmission and reply.
    pub reply_latency_ns: Option<f64>,
    /// Operations in flight, mean.
    pub in_flight: f64,
}
