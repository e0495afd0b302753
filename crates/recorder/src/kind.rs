//! What a recording can hold: kinds of things, and the fields of each.
//!
//! A recording names its kinds and fields in its header, so that a later
//! fathom reads an older file and the other way round. Values are whole numbers
//! in base units; what the kernel does not show is [`ABSENT`], never zero.

/// A value that was not there to be read.
pub const ABSENT: u64 = u64::MAX;

/// How a value behaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Nature {
    /// Grows since the host or device came up; its growth is what counts.
    Counter,
    /// Is what it is at the moment of reading.
    Gauge,
}

/// One number of a thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Field {
    /// Its name, unit included: `read_bytes`.
    pub name: &'static str,
    /// How it behaves.
    pub nature: Nature,
}

/// Declares the fields of a kind: an index for each, and the list.
macro_rules! fields {
    ($(#[$about:meta])* $module:ident { $($nature:ident $index:ident $name:literal,)+ }) => {
        $(#[$about])*
        pub mod $module {
            use super::{Field, Nature};

            #[allow(clippy::upper_case_acronyms, non_camel_case_types)]
            enum Place { $($index,)+ }
            $(
                #[doc = concat!("Place of `", $name, "`.")]
                pub const $index: usize = Place::$index as usize;
            )+
            /// All fields, in order.
            pub const FIELDS: &[Field] = &[
                $(Field { name: $name, nature: Nature::$nature },)+
            ];
        }
    };
}

fields! {
    /// The host as a whole: `/proc/stat`, `/proc/loadavg`, `/proc/locks`.
    host {
        Gauge RUNNING "runnable_tasks",
        Gauge BLOCKED "blocked_tasks",
        Gauge LOAD_1M "load_1m_thousandths",
        Gauge LOAD_5M "load_5m_thousandths",
        Gauge LOAD_15M "load_15m_thousandths",
        Counter SWITCHES "context_switches",
        Counter FORKS "forks",
        Gauge LOCK_WAITERS "lock_waiters",
    }
}
fields! {
    /// All CPUs (`all`) and each of them, in ticks of `tick_hz`. Guests are
    /// part of user and nice.
    cpu {
        Counter USER "user_ticks",
        Counter NICE "nice_ticks",
        Counter SYSTEM "system_ticks",
        Counter IDLE "idle_ticks",
        Counter IOWAIT "iowait_ticks",
        Counter IRQ "irq_ticks",
        Counter SOFTIRQ "softirq_ticks",
        Counter STEAL "steal_ticks",
    }
}
fields! {
    /// `/proc/meminfo` and `/proc/vmstat`.
    memory {
        Gauge TOTAL "total_bytes",
        Gauge AVAILABLE "available_bytes",
        Gauge CACHED "cached_bytes",
        Gauge DIRTY "dirty_bytes",
        Gauge WRITEBACK "writeback_bytes",
        Gauge SWAP_TOTAL "swap_total_bytes",
        Gauge SWAP_FREE "swap_free_bytes",
        Counter SWAPPED_IN "swapped_in_bytes",
        Counter SWAPPED_OUT "swapped_out_bytes",
        Counter MAJOR_FAULTS "major_faults",
        Counter OOM_KILLS "oom_kills",
    }
}
fields! {
    /// Pressure stall: time in which some or all tasks waited.
    pressure {
        Counter CPU_SOME "cpu_some_us",
        Counter CPU_FULL "cpu_full_us",
        Counter MEMORY_SOME "memory_some_us",
        Counter MEMORY_FULL "memory_full_us",
        Counter IO_SOME "io_some_us",
        Counter IO_FULL "io_full_us",
    }
}
fields! {
    /// A whole block device: `/proc/diskstats`; what its queue holds and the
    /// errors of SCSI: sysfs, looked at every tenth frame.
    disk {
        Counter READS "reads",
        Counter READ_MERGES "read_merges",
        Counter READ_BYTES "read_bytes",
        Counter READ_MS "read_ms",
        Counter WRITES "writes",
        Counter WRITE_MERGES "write_merges",
        Counter WRITE_BYTES "write_bytes",
        Counter WRITE_MS "write_ms",
        Gauge IN_FLIGHT "in_flight",
        Counter BUSY_MS "busy_ms",
        Counter QUEUE_MS "queue_ms",
        Counter DISCARDS "discards",
        Counter DISCARD_BYTES "discard_bytes",
        Counter DISCARD_MS "discard_ms",
        Counter FLUSHES "flushes",
        Counter FLUSH_MS "flush_ms",
        Gauge QUEUE_REQUESTS "queue_requests",
        Counter ERRORS "errors",
    }
}
fields! {
    /// A network interface: `/proc/net/dev`.
    link {
        Counter RECEIVED_BYTES "received_bytes",
        Counter RECEIVED_PACKETS "received_packets",
        Counter RECEIVE_ERRORS "receive_errors",
        Counter RECEIVE_DROPS "receive_drops",
        Counter SENT_BYTES "sent_bytes",
        Counter SENT_PACKETS "sent_packets",
        Counter SEND_ERRORS "send_errors",
        Counter SEND_DROPS "send_drops",
        Gauge SPEED "speed_bits_per_second",
    }
}
fields! {
    /// TCP of the host (`/proc/net/snmp`) and the queues between interfaces
    /// and protocols (`/proc/net/softnet_stat`).
    tcp {
        Counter RECEIVED_SEGMENTS "received_segments",
        Counter SENT_SEGMENTS "sent_segments",
        Counter RETRANSMITS "retransmitted_segments",
        Counter RECEIVE_ERRORS "receive_errors",
        Counter BACKLOG_DROPS "backlog_drops",
        Counter BACKLOG_SQUEEZES "backlog_squeezes",
        Counter OUT_OF_ORDER "out_of_order_segments",
    }
}
fields! {
    /// A process that read, wrote, waited or computed; means since it was last
    /// looked at. The name is its number and command.
    process {
        Gauge READ_BYTES "read_bytes_per_second",
        Gauge WRITE_BYTES "write_bytes_per_second",
        Gauge CPU "cpu_thousandths",
        Gauge IO_WAIT "io_wait_thousandths",
    }
}
fields! {
    /// A control group without children; means since it was last looked at.
    group {
        Gauge READ_BYTES "read_bytes_per_second",
        Gauge WRITE_BYTES "write_bytes_per_second",
        Gauge READS "reads_per_second",
        Gauge WRITES "writes_per_second",
        Gauge IO_STALLED "io_stalled_thousandths",
        Gauge LIMIT_USED "limit_used_thousandths",
    }
}
fields! {
    /// An NFS mount, all kinds of operations together: `/proc/self/mountstats`.
    nfs {
        Counter OPERATIONS "operations",
        Counter TRANSMISSIONS "transmissions",
        Counter TIMEOUTS "major_timeouts",
        Counter SENT_BYTES "sent_bytes",
        Counter RECEIVED_BYTES "received_bytes",
        Counter QUEUE_MS "queue_ms",
        Counter ROUND_TRIP_MS "round_trip_ms",
        Counter EXECUTE_MS "execute_ms",
        Counter READS "reads",
        Counter WRITES "writes",
    }
}
fields! {
    /// A file system on a device of this host.
    filesystem {
        Gauge TOTAL "total_bytes",
        Gauge AVAILABLE "available_bytes",
        Gauge INODES "inodes",
        Gauge INODES_FREE "inodes_free",
    }
}
fields! {
    /// A software RAID: `/proc/mdstat`. Actions: 0 none, 1 resync, 2 recovery,
    /// 3 check, 4 reshape, 5 another.
    raid {
        Gauge MEMBERS "members",
        Gauge WORKING "working_members",
        Gauge ACTION "action",
        Gauge PROGRESS "progress_thousandths",
        Gauge SPEED "speed_bytes_per_second",
    }
}
fields! {
    /// A cache in front of devices: a bcache device, or `arc` and `l2arc` of
    /// ZFS.
    cache {
        Counter HITS "hits",
        Counter MISSES "misses",
        Gauge USED "used_bytes",
        Gauge DIRTY "dirty_bytes",
        Counter BYPASSED "bypassed_bytes",
        Counter THROTTLES "memory_throttles",
    }
}
fields! {
    /// A pool of thin volumes or a cached volume of the device mapper, in
    /// thousandths of its space.
    mapped {
        Gauge DATA_USED "data_used_thousandths",
        Gauge METADATA_USED "metadata_used_thousandths",
    }
}
fields! {
    /// What a drive says of its health.
    health {
        Gauge TEMPERATURE "temperature_celsius",
        Gauge CRITICAL_WARNING "critical_warning",
        Gauge SPARE "available_spare_percent",
        Gauge USED "percentage_used",
        Gauge MEDIA_ERRORS "media_errors",
        Gauge THROTTLED_1 "thermal_1_seconds",
        Gauge THROTTLED_2 "thermal_2_seconds",
        Gauge VOLUME_OPERATIONS_CAPPED "volume_operations_capped_us",
        Gauge VOLUME_BYTES_CAPPED "volume_bytes_capped_us",
        Gauge INSTANCE_OPERATIONS_CAPPED "instance_operations_capped_us",
        Gauge INSTANCE_BYTES_CAPPED "instance_bytes_capped_us",
    }
}

fields! {
    /// SMART of a SATA or SAS disk, as smartctl tells it. States are 0 or 1.
    smart {
        Gauge FAILING "failing",
        Gauge ROTATING "rotating",
        Gauge TEMPERATURE "temperature_celsius",
        Gauge HOURS "power_on_hours",
        Gauge USED "percentage_used",
        Gauge SPARE "available_spare_percent",
        Gauge REALLOCATED "reallocated_sectors",
        Gauge PENDING "pending_sectors",
        Gauge OFFLINE "offline_uncorrectable_sectors",
        Gauge UNCORRECTED "uncorrected_errors",
        Gauge CRC "interface_crc_errors",
    }
}

fields! {
    /// The link of a drive or card, PCIe by its address, SATA by its disk.
    bus {
        Gauge BELOW_RATED "below_rated",
    }
}

fields! {
    /// A mount that needs a server or another process: whether it did not answer
    /// within 2 s when it was asked last, and how many requests or tasks wait for
    /// its answer now, where nothing else counts them.
    mount {
        Gauge SILENT "silent",
        Gauge WAITING "waiting",
    }
}

fields! {
    /// The CPU quota of a control group that has one: `cpu.stat`.
    quota {
        Counter PERIODS "periods",
        Counter HELD_BACK "held_back_periods",
    }
}

fields! {
    /// A process that sleeps in one call of the kernel where no signal reaches it: for
    /// how long.
    stuck {
        Gauge SECONDS "seconds",
    }
}

/// Kinds of things in a recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// The host as a whole.
    Host,
    /// All CPUs, and each.
    Cpu,
    /// Memory and swap.
    Memory,
    /// Pressure stall.
    Pressure,
    /// A whole block device.
    Disk,
    /// A network interface.
    Link,
    /// TCP and backlog queues.
    Tcp,
    /// A process.
    Process,
    /// A control group.
    Group,
    /// An NFS mount.
    Nfs,
    /// A file system.
    Filesystem,
    /// A software RAID.
    Raid,
    /// bcache, ZFS.
    Cache,
    /// Thin pools and cached volumes.
    Mapped,
    /// A drive's health.
    Health,
    /// SMART of a SATA or SAS disk.
    Smart,
    /// The link of a drive or card.
    Bus,
    /// A mount that needs a server or another process.
    Mount,
    /// The CPU quota of a control group.
    Quota,
    /// A process that sleeps and is not reached.
    Stuck,
}

impl Kind {
    /// All kinds, in the order in which a moment holds them.
    pub const ALL: [Kind; 20] = [
        Kind::Host,
        Kind::Cpu,
        Kind::Memory,
        Kind::Pressure,
        Kind::Disk,
        Kind::Link,
        Kind::Tcp,
        Kind::Process,
        Kind::Group,
        Kind::Nfs,
        Kind::Filesystem,
        Kind::Raid,
        Kind::Cache,
        Kind::Mapped,
        Kind::Health,
        Kind::Smart,
        Kind::Bus,
        Kind::Mount,
        Kind::Quota,
        Kind::Stuck,
    ];

    /// Its name in files and exports.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Host => "host",
            Kind::Cpu => "cpu",
            Kind::Memory => "memory",
            Kind::Pressure => "pressure",
            Kind::Disk => "disk",
            Kind::Link => "link",
            Kind::Tcp => "tcp",
            Kind::Process => "process",
            Kind::Group => "group",
            Kind::Nfs => "nfs",
            Kind::Filesystem => "filesystem",
            Kind::Raid => "raid",
            Kind::Cache => "cache",
            Kind::Mapped => "mapped",
            Kind::Health => "health",
            Kind::Smart => "smart",
            Kind::Bus => "bus",
            Kind::Mount => "mount",
            Kind::Quota => "quota",
            Kind::Stuck => "stuck",
        }
    }

    /// Its fields.
    pub fn fields(self) -> &'static [Field] {
        match self {
            Kind::Host => host::FIELDS,
            Kind::Cpu => cpu::FIELDS,
            Kind::Memory => memory::FIELDS,
            Kind::Pressure => pressure::FIELDS,
            Kind::Disk => disk::FIELDS,
            Kind::Link => link::FIELDS,
            Kind::Tcp => tcp::FIELDS,
            Kind::Process => process::FIELDS,
            Kind::Group => group::FIELDS,
            Kind::Nfs => nfs::FIELDS,
            Kind::Filesystem => filesystem::FIELDS,
            Kind::Raid => raid::FIELDS,
            Kind::Cache => cache::FIELDS,
            Kind::Mapped => mapped::FIELDS,
            Kind::Health => health::FIELDS,
            Kind::Smart => smart::FIELDS,
            Kind::Bus => bus::FIELDS,
            Kind::Mount => mount::FIELDS,
            Kind::Quota => quota::FIELDS,
            Kind::Stuck => stuck::FIELDS,
        }
    }

    /// The kind of a name.
    pub fn of_name(name: &str) -> Option<Kind> {
        Kind::ALL.into_iter().find(|kind| kind.name() == name)
    }
}
