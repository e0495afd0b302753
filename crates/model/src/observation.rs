//! One second of one host.
//!
//! Counters are differences over the interval, read from `/proc` and `/sys`;
//! a counter that the host does not offer is `None`, never zero.

use serde::{Deserialize, Serialize};

/// One second of one host.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Observation {
    /// Start, on the axis of the trial's samples (its load starts at 0;
    /// negative before).
    pub start_ns: i64,
    /// Length of the interval.
    pub duration_ns: u64,
    /// The leaf devices under the target and the devices between them and it.
    pub devices: Vec<DeviceActivity>,
    /// CPU of the whole host.
    pub cpu: Option<CpuActivity>,
    /// Memory at the end of the interval.
    pub memory: Option<MemoryState>,
    /// Pressure stall information.
    pub pressure: Option<Pressure>,
    /// The fathom process itself.
    pub own: Option<OwnActivity>,
}

/// Requests in flight, or their time, each counted once. The time in queue of the
/// kernel is the sum of the times of reads, writes, discards and flushes, and the
/// time of a flush is in it twice: as that of the flush, and as that of the write
/// that asked for it.
pub fn each_once(queue: f64, flushing: f64) -> f64 {
    (queue - flushing).max(0.0)
}

/// What one block device did in an interval (`/proc/diskstats`).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceActivity {
    /// Kernel name, for example `nvme0n1`.
    pub name: String,
    /// Whether it has no device below itself. Only leaves are added up.
    pub leaf: bool,
    /// Completed reads.
    pub reads: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Time spent by reads, summed over requests.
    pub read_time_ns: u64,
    /// Completed writes.
    pub writes: u64,
    /// Bytes written.
    pub write_bytes: u64,
    /// Time spent by writes, summed over requests.
    pub write_time_ns: u64,
    /// Completed discards; `None` before Linux 4.18.
    pub discards: Option<u64>,
    /// Bytes discarded.
    pub discard_bytes: Option<u64>,
    /// Completed flushes; `None` before Linux 5.5.
    pub flushes: Option<u64>,
    /// Time spent by flushes.
    pub flush_time_ns: Option<u64>,
    /// Requests in flight at the end of the interval.
    pub in_flight: u64,
    /// Requests in flight, integrated over the interval (weighted I/O time): flushes
    /// are in it twice.
    pub queue_time_ns: u64,
    /// Time in which at least one request was under way; `None` in records of
    /// older versions.
    #[serde(default)]
    pub busy_ns: Option<u64>,
    /// Reads that were merged into others; `None` likewise.
    #[serde(default)]
    pub read_merges: Option<u64>,
    /// Writes that were merged into others; `None` likewise.
    #[serde(default)]
    pub write_merges: Option<u64>,
}

impl DeviceActivity {
    /// Time in flight, summed over requests, each counted once.
    pub fn time_in_flight_ns(&self) -> f64 {
        let flushing = self.flush_time_ns.unwrap_or(0);
        each_once(self.queue_time_ns as f64, flushing as f64)
    }
}

/// CPU time of a whole host in an interval, summed over its CPUs.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CpuActivity {
    /// CPUs that were online.
    pub cpus: u32,
    /// User and nice.
    pub user_ns: u64,
    /// Kernel, without interrupts.
    pub system_ns: u64,
    /// Hard and soft interrupts.
    pub interrupt_ns: u64,
    /// Idle.
    pub idle_ns: u64,
    /// Idle with I/O outstanding.
    pub iowait_ns: u64,
    /// Taken by the hypervisor.
    pub steal_ns: u64,
    /// Busy time (all but idle and iowait) of the busiest single CPU.
    pub busiest_cpu_ns: u64,
    /// Number of that CPU.
    #[serde(default)]
    pub busiest_cpu: Option<u32>,
    /// The CPU that spent most time in hard and soft interrupts.
    #[serde(default)]
    pub interrupt_cpu: Option<InterruptCpu>,
}

/// The CPU that spent most of an interval in interrupts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct InterruptCpu {
    /// Its number.
    pub cpu: u32,
    /// Its time in hard and soft interrupts.
    pub interrupt_ns: u64,
    /// All of its time in the interval, idle included.
    pub all_ns: u64,
}

/// Memory at one instant, in bytes (`/proc/meminfo`).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryState {
    /// Usable memory of the host.
    pub total_bytes: u64,
    /// What could be given to new programs.
    pub available_bytes: u64,
    /// Page cache.
    pub cached_bytes: u64,
    /// Waiting to be written.
    pub dirty_bytes: u64,
    /// Being written.
    pub writeback_bytes: u64,
}

/// Stall time in an interval (`/proc/pressure`): some task waited.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pressure {
    /// For a CPU.
    pub cpu_some_ns: u64,
    /// For I/O.
    pub io_some_ns: u64,
    /// For I/O, with every task waiting.
    pub io_full_ns: u64,
    /// For memory.
    pub memory_some_ns: u64,
}

/// What the fathom process itself did in an interval.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnActivity {
    /// CPU time of all its threads, user.
    pub cpu_user_ns: u64,
    /// CPU time of all its threads, kernel.
    pub cpu_system_ns: u64,
    /// Bytes that it caused to be fetched from storage (`/proc/self/io`).
    pub storage_read_bytes: Option<u64>,
    /// Bytes that it caused to be sent to storage, at the time of dirtying.
    pub storage_write_bytes: Option<u64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flush_is_in_flight_once() {
        let device = |flush_time_ns| DeviceActivity {
            queue_time_ns: 1_490,
            flush_time_ns,
            ..DeviceActivity::default()
        };
        assert_eq!(device(Some(500)).time_in_flight_ns(), 990.0);
        assert_eq!(device(None).time_in_flight_ns(), 1_490.0);
        // Counters of two moments can contradict each other.
        assert_eq!(device(Some(2_000)).time_in_flight_ns(), 0.0);
    }
}
