//! Numbers of a running host by name, from two readings of its counters and
//! from states at a moment; and the picture of what hangs on what.
//!
//! | quantity | of | from |
//! |---|---|---|
//! | `cpu_busy`, `cpu_iowait`, `cpu_idle`, `cpu_steal` | host | /proc/stat |
//! | `core_busy`, `core_interrupt` | core | /proc/stat |
//! | `run_queue_per_core` | host | procs_running of /proc/stat, less the reader |
//! | `cpu_pressure`, `io_pressure`, `memory_pressure` | host | /proc/pressure |
//! | `memory_used`, `swap_used` | host | /proc/meminfo |
//! | `swap_bytes`, `oom_kills` | host | /proc/vmstat |
//! | `disk_*` | disk | sysfs `stat`, `inflight`, `device/ioerr_cnt` |
//! | `nic_*` | interface | sysfs `statistics` |
//! | `queue_*` | queue | sysfs, /proc/interrupts, softnet_stat, ethtool, debugfs |
//! | `tcp_retransmits`, `softnet_*` | host | /proc/net/snmp, softnet_stat |
//! | `mount_silent` | mount | statx(2) and statfs(2) with a deadline |
//! | `disk_silent` | disk | sysfs `stat`: requests in flight, none completed |
//! | `space_used`, `inodes_used`, `files` | mount | statfs(2) |
//! | `array_*`, `drive_*`, `link_below_rated` | device | sysfs, NVMe health page |
//! | `drive_*` | SATA and SAS disk | smartctl |
//! | `metadata_cpu`, `gateway_cpu` | service | /proc/PID/stat |

mod disks;
mod host;
mod interfaces;
mod picture;
mod queues;
mod services;
mod states;

use std::collections::BTreeMap;
use std::time::Duration;

use fathom_deadline::MountWatch;
use fathom_model::machine::HostReading;

use crate::{Sysroot, monotonic_ns};

pub use picture::machine_picture;
pub use services::service_quantity;
pub use states::{links_below_rated, read_smart, read_states};

/// A counter by quantity and instance.
type MachineCounters = BTreeMap<(&'static str, String), f64>;

/// Watches the counters of a host.
#[derive(Debug)]
pub struct MachineWatch {
    sys: Sysroot,
    begun_ns: u64,
    last_ns: u64,
    disks: disks::Disks,
    cpus: host::Cpus,
    counters: MachineCounters,
    services: services::Services,
    queues: queues::Queues,
    /// Of the running host.
    mounts: Option<MountWatch>,
}

impl MachineWatch {
    /// Takes the first reading.
    pub fn start(sys: &Sysroot) -> MachineWatch {
        let now = monotonic_ns();
        let mut watch = MachineWatch {
            begun_ns: now,
            last_ns: now,
            disks: disks::Disks::find(sys),
            cpus: host::Cpus::default(),
            counters: MachineCounters::new(),
            services: services::Services::default(),
            queues: queues::Queues::find(sys),
            mounts: sys.is_host().then(MountWatch::start),
            sys: sys.clone(),
        };
        let _ = watch.advance(now + 1);
        watch.begun_ns = now;
        watch
    }

    /// What of queues cannot be read here, in words.
    pub fn notes(&self) -> Vec<String> {
        let silent = fathom_deadline::not_responding();
        let silent = silent.iter().map(ToString::to_string);
        self.queues
            .notes(&self.sys)
            .into_iter()
            .chain(silent)
            .collect()
    }

    /// What happened since the last reading.
    pub fn tick(&mut self) -> Vec<HostReading> {
        self.advance(monotonic_ns())
    }

    /// The same with the time given; for recorded trees.
    pub fn advance(&mut self, now_ns: u64) -> Vec<HostReading> {
        let seconds = Duration::from_nanos(now_ns.saturating_sub(self.last_ns)).as_secs_f64();
        let at_seconds = Duration::from_nanos(now_ns.saturating_sub(self.begun_ns)).as_secs_f64();
        self.last_ns = now_ns;
        let mut out = Readings {
            readings: Vec::new(),
            at_seconds,
            seconds,
        };
        self.cpus.advance(&self.sys, &mut out);
        self.disks.advance(&self.sys, &mut out);
        self.services.advance(&self.sys, &mut out);
        host::memory(&self.sys, &mut out);
        let mut now = MachineCounters::new();
        host::counters(&self.sys, &mut now);
        interfaces::counters(&self.sys, &mut now);
        self.queues.counters(&self.sys, &mut now);
        self.rates(&now, &mut out);
        interfaces::shares(&self.sys, &mut out);
        self.queues.states(&self.sys, &mut out);
        if let Some(mounts) = &self.mounts {
            states::silence(&mounts.answers(), &mut out);
        }
        self.counters = now;
        out.readings.retain(|reading| reading.value.is_finite());
        out.readings
    }

    /// Growth of plain counters per second.
    fn rates(&self, now: &MachineCounters, out: &mut Readings) {
        for ((quantity, instance), value) in now {
            let last = self.counters.get(&(*quantity, instance.clone()));
            if let Some(last) = last.filter(|last| *last <= value) {
                out.add(quantity, instance, (value - last) / out.seconds);
            }
        }
    }
}

/// Readings of one interval.
struct Readings {
    readings: Vec<HostReading>,
    at_seconds: f64,
    seconds: f64,
}

impl Readings {
    fn add(&mut self, quantity: &str, instance: &str, value: f64) {
        self.readings.push(HostReading {
            quantity: quantity.to_owned(),
            instance: instance.to_owned(),
            value,
            at_seconds: self.at_seconds,
            seconds: self.seconds,
            operations: 0.0,
        });
    }

    /// The mean time of this many operations.
    fn mean_time(&mut self, quantity: &str, instance: &str, spent_ns: u64, operations: u64) {
        if operations > 0 {
            let mean_s = spent_ns as f64 / 1e9 / operations as f64;
            self.add(quantity, instance, mean_s);
            if let Some(reading) = self.readings.last_mut() {
                reading.operations = operations as f64;
            }
        }
    }

    fn of(&self, quantity: &str, instance: &str) -> Option<f64> {
        let found = self.readings.iter();
        let mut found = found.filter(|r| r.quantity == quantity && r.instance == instance);
        found.next().map(|reading| reading.value)
    }
}

#[cfg(test)]
#[path = "machine_tests.rs"]
mod tests;
