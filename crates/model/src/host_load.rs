//! What happened on a host over the whole load of a trial, from counters that
//! are read once before and once after: too dear, or of too little use, for
//! every second.

use serde::{Deserialize, Serialize};

/// Growth of a host's counters over the load of one trial (warm-up included).
/// A counter that the host does not offer is `None`, never zero.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct HostLoad {
    /// Time between the two readings.
    pub duration_ns: u64,
    /// Bytes that came back from swap (`pswpin` of `/proc/vmstat`).
    pub swap_in_bytes: Option<u64>,
    /// Bytes that went to swap (`pswpout`).
    pub swap_out_bytes: Option<u64>,
    /// What the CPU quota of the tightest control group did.
    pub cpu_quota: Option<QuotaUse>,
    /// Times that a core or package throttled itself for heat
    /// (`thermal_throttle` of sysfs), over all CPUs.
    pub core_throttles: Option<u64>,
    /// Interrupts of the leaf devices' queues, where their lines can be told.
    pub interrupts: Vec<DeviceInterrupts>,
    /// The worker thread that computed most.
    pub busiest_thread: Option<BusiestThread>,
    /// Traffic of the links that have an address, all programs together.
    pub links: Vec<LinkLoad>,
}

/// What went over one link.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct LinkLoad {
    /// Name of the interface.
    pub interface: String,
    /// Rated speed, bits per second, each way; `None` where it is not known,
    /// and for links without hardware.
    pub speed_bits: Option<u64>,
    /// Bytes received.
    pub received_bytes: u64,
    /// Bytes sent.
    pub sent_bytes: u64,
    /// Frames that were damaged or thrown away, both ways.
    pub lost_frames: u64,
}

/// What a CPU quota (`cpu.max`, `cpu.cfs_quota_us`) did.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuotaUse {
    /// The control group.
    pub group: String,
    /// Periods in which the group could run.
    pub periods: u64,
    /// Periods in which it had to stop.
    pub throttled_periods: u64,
    /// Time stopped, added up over its CPUs.
    pub throttled_ns: u64,
}

/// Interrupts of one device.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceInterrupts {
    /// Kernel name of the device.
    pub device: String,
    /// Interrupts on all CPUs.
    pub total: u64,
    /// The CPU that handled most of them.
    pub busiest_cpu: u32,
    /// How many that were.
    pub on_busiest_cpu: u64,
}

/// One thread of the load.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BusiestThread {
    /// Name of the thread, for example `fathom-w3`.
    pub name: String,
    /// CPU that it ran on last.
    pub cpu: Option<u32>,
    /// CPU time, user and kernel, between the first and the last reading.
    pub cpu_ns: u64,
    /// Time between the two readings.
    pub duration_ns: u64,
}
