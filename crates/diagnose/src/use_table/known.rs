//! The figures of each kind of resource: in which column they stand, in which
//! unit, and how they are read.

/// Columns of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Column {
    Utilisation,
    Saturation,
    Errors,
}

use Column::{Errors, Saturation, Utilisation};

/// Quantity, column, title, unit, how it is read.
pub(super) type Known = (
    &'static str,
    Column,
    &'static str,
    &'static str,
    &'static str,
);

pub(super) const CPU: &[Known] = &[
    (
        "cpu_busy",
        Utilisation,
        "busy",
        "ratio",
        "/proc/stat, all CPUs, neither idle nor iowait",
    ),
    (
        "run_queue_per_core",
        Saturation,
        "runnable per CPU",
        "tasks",
        "procs_running of /proc/stat",
    ),
    (
        "cpu_pressure",
        Saturation,
        "stalled",
        "ratio",
        "/proc/pressure/cpu, some",
    ),
    (
        "cpu_steal",
        Saturation,
        "stolen",
        "ratio",
        "/proc/stat, steal",
    ),
];
pub(super) const CORE: &[Known] = &[
    (
        "core_busy",
        Utilisation,
        "busy",
        "ratio",
        "/proc/stat, the busiest core",
    ),
    (
        "core_interrupt",
        Saturation,
        "interrupts",
        "ratio",
        "/proc/stat, irq and softirq",
    ),
];
pub(super) const MEMORY: &[Known] = &[
    (
        "memory_used",
        Utilisation,
        "used",
        "ratio",
        "/proc/meminfo, 1 - MemAvailable / MemTotal",
    ),
    (
        "memory_pressure",
        Saturation,
        "stalled",
        "ratio",
        "/proc/pressure/memory, some",
    ),
    (
        "swap_bytes",
        Saturation,
        "swapping",
        "bytes/s",
        "/proc/vmstat, pswpin and pswpout",
    ),
    (
        "oom_kills",
        Errors,
        "killed",
        "1/s",
        "/proc/vmstat, oom_kill",
    ),
];
pub(super) const STORAGE: &[Known] = &[
    (
        "io_pressure",
        Saturation,
        "stalled",
        "ratio",
        "/proc/pressure/io, some",
    ),
    (
        "io_pressure_full",
        Saturation,
        "all stalled",
        "ratio",
        "/proc/pressure/io, full",
    ),
];
/// Adds up until a request completes, so the longest counts and not the mean.
pub(super) const SILENT: &str = "disk_silent";
pub(super) const DISK: &[Known] = &[
    (
        "disk_operations",
        Utilisation,
        "operations",
        "1/s",
        "sysfs stat, reads and writes",
    ),
    (
        "disk_bytes",
        Utilisation,
        "bytes",
        "bytes/s",
        "sysfs stat, sectors",
    ),
    (
        "disk_in_use",
        Utilisation,
        "time in use",
        "ratio",
        "sysfs stat, what iostat calls %util: no measure of how full a disk is",
    ),
    (
        "disk_queue",
        Saturation,
        "queue",
        "requests",
        "sysfs stat, time in flight / time, flushes once",
    ),
    (
        "disk_wait",
        Saturation,
        "wait",
        "s",
        "sysfs stat, mean time of reads and writes",
    ),
    (
        "disk_flush_wait",
        Saturation,
        "flush",
        "s",
        "sysfs stat, mean time of flushes",
    ),
    (
        "disk_queue_share",
        Saturation,
        "of queue",
        "ratio",
        "queue / nr_requests",
    ),
    (
        SILENT,
        Saturation,
        "none completed for",
        "s",
        "sysfs stat, requests in flight of which none came back",
    ),
    (
        "disk_errors",
        Errors,
        "errors",
        "1/s",
        "sysfs device/ioerr_cnt",
    ),
    (
        "drive_media_errors",
        Errors,
        "media",
        "errors",
        "NVMe health page, media_errors; smartctl, attribute 187, uncorrected errors of SCSI",
    ),
    (
        "drive_warning",
        Errors,
        "warns",
        "state",
        "NVMe health page, critical_warning; smartctl, smart_status",
    ),
    (
        "drive_worn",
        Errors,
        "worn",
        "ratio",
        "NVMe health page, percentage_used; smartctl, endurance",
    ),
    (
        "drive_pending",
        Errors,
        "unreadable",
        "sectors",
        "smartctl, attributes 197 and 198",
    ),
    (
        "drive_reallocated",
        Errors,
        "replaced",
        "sectors",
        "smartctl, attribute 5, grown defects of SCSI",
    ),
    (
        "drive_crc_errors",
        Errors,
        "CRC",
        "errors",
        "smartctl, attribute 199, since the disk was made",
    ),
    (
        "pcie_errors",
        Errors,
        "PCIe",
        "errors",
        "sysfs aer_dev_nonfatal",
    ),
];
pub(super) const INTERFACE: &[Known] = &[
    (
        "nic_use",
        Utilisation,
        "of line rate",
        "ratio",
        "sysfs statistics / speed",
    ),
    (
        "nic_received",
        Utilisation,
        "in",
        "bytes/s",
        "sysfs statistics/rx_bytes",
    ),
    (
        "nic_sent",
        Utilisation,
        "out",
        "bytes/s",
        "sysfs statistics/tx_bytes",
    ),
    (
        "nic_dropped",
        Saturation,
        "dropped",
        "1/s",
        "sysfs statistics, rx and tx dropped, missed",
    ),
    (
        "nic_errors",
        Errors,
        "errors",
        "1/s",
        "sysfs statistics, rx_errors and tx_errors",
    ),
];
pub(super) const NETWORK: &[Known] = &[
    (
        "softnet_squeezed",
        Saturation,
        "squeezed",
        "1/s",
        "/proc/net/softnet_stat, column 3",
    ),
    (
        "softnet_dropped",
        Errors,
        "dropped",
        "1/s",
        "/proc/net/softnet_stat, column 2",
    ),
    (
        "tcp_retransmits",
        Errors,
        "sent again",
        "ratio",
        "/proc/net/snmp, RetransSegs / OutSegs",
    ),
];
/// A queue of an interface, a disk, or between interfaces and protocols.
pub(super) const QUEUE: &[Known] = &[
    (
        "queue_interrupts",
        Utilisation,
        "interrupts",
        "1/s",
        "/proc/interrupts, by the name of the queue's interrupt",
    ),
    (
        "queue_share",
        Utilisation,
        "of device",
        "ratio",
        "its part of the device's interrupts",
    ),
    (
        "queue_packets",
        Utilisation,
        "packets",
        "1/s",
        "ethtool -S, counters of the driver; of a backlog /proc/net/softnet_stat, column 1",
    ),
    (
        "queue_holds",
        Utilisation,
        "holds",
        "requests",
        "/sys/block/DISK/mq/NUMBER/nr_tags",
    ),
    (
        "queue_fill",
        Saturation,
        "full",
        "ratio",
        "of sending queues byte_queue_limits, inflight / limit; of disks debugfs, busy / depth of \
         its tags",
    ),
    (
        "queue_stalls",
        Saturation,
        "stalls",
        "1/s",
        "byte_queue_limits/stall_cnt (Linux 6.9)",
    ),
    (
        "queue_squeezed",
        Saturation,
        "squeezed",
        "1/s",
        "/proc/net/softnet_stat, column 3",
    ),
    (
        "queue_dropped",
        Errors,
        "dropped",
        "1/s",
        "ethtool -S, counters of the driver; of a backlog /proc/net/softnet_stat, column 2",
    ),
    (
        "queue_timeouts",
        Errors,
        "timeouts",
        "1/s",
        "/sys/class/net/CARD/queues/tx-NUMBER/tx_timeout",
    ),
];
