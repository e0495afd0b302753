//! The simulated host: what stands between the load and the drive, and what
//! the kernel would show of it.

use std::collections::BTreeMap;

use fathom_model::fingerprint::{DeviceFacts, FilesystemFacts, Fingerprint, TargetFingerprint};
use fathom_model::host_load::HostLoad;
use fathom_model::observation::{
    CpuActivity, DeviceActivity, MemoryState, Observation, OwnActivity, Pressure,
};
use fathom_model::run::{Ceiling, DataReport};

const SECOND_NS: u64 = 1_000_000_000;
const GIB: u64 = 1 << 30;

/// A host with a drive, and its faults. The default has none.
#[derive(Debug, Clone)]
pub struct Host {
    /// CPUs.
    pub cpus: u32,
    /// Memory.
    pub memory_bytes: u64,
    /// `none`, `kvm`, ….
    pub virtualization: String,
    /// Clock source.
    pub clocksource: String,
    /// File system above the drive; `None` is the bare device.
    pub filesystem: Option<FilesystemFacts>,
    /// The drive as the kernel shows it.
    pub device: DeviceFacts,
    /// CPU time of the load per operation, user and kernel.
    pub cpu_ns_per_op: u64,
    /// CPU time of everybody else, in CPUs.
    pub other_cpus: f64,
    /// CPU time that the hypervisor took, as a share of all.
    pub steal_share: f64,
    /// Share of time in which somebody waited for a CPU.
    pub cpu_pressure: f64,
    /// Share of time in which the load's own threads did.
    pub run_delay_share: f64,
    /// Share of time in which somebody waited for memory.
    pub memory_pressure: f64,
    /// Operations per second that the generator reaches without a target.
    pub ceiling_ops: f64,
    /// Share of the reads that reach the drive; the rest come from a cache.
    pub device_read_share: f64,
    /// Bytes written to the drive per byte written by the load.
    pub device_write_factor: f64,
    /// Somebody else's reads, bytes per second.
    pub foreign_read_bytes: u64,
    /// Somebody else's writes, bytes per second.
    pub foreign_write_bytes: u64,
    /// Whether direct I/O was granted.
    pub direct: bool,
    /// What could not be had.
    pub fallbacks: Vec<String>,
    /// Facts about the data before the load.
    pub data: DataReport,
    /// Dirty memory at the end of the load, as a share of what was written.
    pub dirty_share: Option<f64>,
    /// Duration of the final flush.
    pub final_flush_ns: Option<u64>,
    /// Facts of the host by name.
    pub facts: BTreeMap<String, String>,
    /// Facts of the drive that are others after the trial.
    pub device_after: BTreeMap<String, String>,
    /// Counters of the host over the load.
    pub load: HostLoad,
}

impl Default for Host {
    fn default() -> Host {
        Host {
            cpus: 8,
            memory_bytes: 32 * GIB,
            virtualization: "none".to_owned(),
            clocksource: "tsc".to_owned(),
            filesystem: Some(FilesystemFacts {
                kind: "ext4".to_owned(),
                mount_point: "/data".to_owned(),
                source: "/dev/sda1".to_owned(),
                options: vec!["rw".to_owned(), "relatime".to_owned()],
                total_bytes: 2_000 * GIB,
                available_bytes: 1_500 * GIB,
                ..FilesystemFacts::default()
            }),
            device: DeviceFacts {
                name: "sda".to_owned(),
                kind: "disk".to_owned(),
                size_bytes: 2_000 * GIB,
                model: Some("LAB DRIVE".to_owned()),
                rotational: Some(false),
                scheduler: Some("none".to_owned()),
                queue_requests: Some(1023),
                write_cache: Some("write through".to_owned()),
                logical_block_bytes: Some(512),
                physical_block_bytes: Some(4096),
                optimal_io_bytes: Some(0),
                discard_max_bytes: Some(2 * GIB),
                ..DeviceFacts::default()
            },
            cpu_ns_per_op: 4_000,
            other_cpus: 0.05,
            steal_share: 0.0,
            cpu_pressure: 0.001,
            run_delay_share: 0.0005,
            memory_pressure: 0.0,
            ceiling_ops: 900_000.0,
            device_read_share: 1.0,
            device_write_factor: 1.0,
            foreign_read_bytes: 0,
            foreign_write_bytes: 0,
            direct: true,
            fallbacks: Vec::new(),
            data: DataReport {
                unwritten_share: Some(0.0),
                unwritten_method: Some("FIEMAP".to_owned()),
                cached_share: Some(0.0),
                cached_method: Some("cachestat".to_owned()),
                files: vec!["/data/fathom-test.0".to_owned()],
                ..DataReport::default()
            },
            dirty_share: None,
            final_flush_ns: None,
            facts: BTreeMap::new(),
            device_after: BTreeMap::new(),
            load: HostLoad::default(),
        }
    }
}

impl Host {
    /// The host's facts.
    pub(crate) fn fingerprint(&self) -> Fingerprint {
        Fingerprint {
            hostname: "lab".to_owned(),
            kernel: "6.12.0".to_owned(),
            architecture: "x86_64".to_owned(),
            cpus: self.cpus,
            memory_bytes: self.memory_bytes,
            clocksource: Some(self.clocksource.clone()),
            clock_read_ns: Some(22.0),
            virtualization: Some(self.virtualization.clone()),
            cpu_governor: Some("performance".to_owned()),
            open_files_limit: 1 << 20,
            facts: self.facts.clone(),
            ..Fingerprint::default()
        }
    }

    /// The target's facts.
    pub(crate) fn target(&self) -> TargetFingerprint {
        TargetFingerprint {
            target: match &self.filesystem {
                Some(_) => "/data".to_owned(),
                None => format!("/dev/{}", self.device.name),
            },
            filesystem: self.filesystem.clone(),
            devices: vec![self.device.clone()],
        }
    }

    /// The target's facts after the trial.
    pub(crate) fn target_after(&self) -> TargetFingerprint {
        let mut target = self.target();
        for device in &mut target.devices {
            device.facts.extend(self.device_after.clone());
        }
        target
    }

    /// The generator's own ceiling.
    pub(crate) fn ceiling(&self) -> Ceiling {
        Ceiling {
            ops_per_second: self.ceiling_ops,
            cpu_ns_per_op: 1e9 / self.ceiling_ops,
        }
    }

    /// One second of the host in which the load used so much CPU time and the
    /// drive did `device`, part of it for a neighbour.
    pub(crate) fn observe(
        &self,
        start_ns: i64,
        own_cpu_ns: u64,
        mut device: DeviceActivity,
        neighbour_read_bytes: u64,
    ) -> Observation {
        let share = |bytes: u64, factor: f64| (bytes as f64 * factor).round() as u64;
        device.read_bytes = share(device.read_bytes, self.device_read_share);
        device.reads = share(device.reads, self.device_read_share);
        device.write_bytes = share(device.write_bytes, self.device_write_factor);
        if self.device_read_share < 1.0 {
            device.queue_time_ns = share(device.queue_time_ns, self.device_read_share);
        }
        let own_read_bytes = device.read_bytes.saturating_sub(neighbour_read_bytes);
        let own_write_bytes = device.write_bytes;
        device.read_bytes += self.foreign_read_bytes;
        device.reads += self.foreign_read_bytes / 65_536;
        device.write_bytes += self.foreign_write_bytes;
        device.writes += self.foreign_write_bytes / 65_536;
        let all_ns = u64::from(self.cpus) * SECOND_NS;
        let other_ns = (self.other_cpus * SECOND_NS as f64) as u64;
        let steal_ns = (self.steal_share * all_ns as f64) as u64;
        let busy_ns = (own_cpu_ns + other_ns).min(all_ns - steal_ns);
        Observation {
            start_ns,
            duration_ns: SECOND_NS,
            devices: vec![device],
            cpu: Some(CpuActivity {
                cpus: self.cpus,
                user_ns: busy_ns / 3,
                system_ns: busy_ns - busy_ns / 3 - busy_ns / 20,
                interrupt_ns: busy_ns / 20,
                idle_ns: all_ns - busy_ns - steal_ns,
                steal_ns,
                busiest_cpu_ns: busy_ns.min(SECOND_NS),
                ..CpuActivity::default()
            }),
            memory: Some(MemoryState {
                total_bytes: self.memory_bytes,
                available_bytes: self.memory_bytes / 4 * 3,
                cached_bytes: self.memory_bytes / 5,
                ..MemoryState::default()
            }),
            pressure: Some(Pressure {
                cpu_some_ns: (self.cpu_pressure * SECOND_NS as f64) as u64,
                io_some_ns: SECOND_NS / 2,
                io_full_ns: SECOND_NS / 3,
                memory_some_ns: (self.memory_pressure * SECOND_NS as f64) as u64,
            }),
            own: Some(OwnActivity {
                cpu_user_ns: own_cpu_ns / 3,
                cpu_system_ns: own_cpu_ns - own_cpu_ns / 3,
                storage_read_bytes: Some(own_read_bytes),
                storage_write_bytes: Some(own_write_bytes),
            }),
        }
    }
}
