//! Observations of the host: differences of counters since the last call.
//!
//! Files stay open and are read with `pread` into one buffer, device counters
//! first and right after the clock, so that the interval and the counters
//! belong together. Counters come from `/sys/class/block/*/stat`: the same
//! numbers as `/proc/diskstats`, without paying for the devices that do not
//! matter; `/proc/diskstats` is the fallback.

use std::thread;
use std::time::Duration;

use fathom_model::Observation;
use fathom_model::fingerprint::{DeviceFacts, TargetFingerprint};
use fathom_model::idle_gate::BusyDevice;
use fathom_model::observation::{DeviceActivity, OwnActivity};

use crate::Sysroot;
use crate::clocks::monotonic_ns;
use crate::counters::{DeviceCounters, parse_diskstats, parse_stat};
use crate::cpu::CpuWatch;
use crate::kept_file::KeptFile;
use crate::kernel_calls::{OwnCpu, own_cpu, tick_ns};
use crate::memory::parse_meminfo;
use crate::pressure::PressureTotals;
use crate::process::{StorageBytes, parse_process_io};

/// Mean number of requests in flight below which a device counts as idle.
const IDLE_QUEUE: f64 = 0.01;

/// Watches one host and the devices under one target.
#[derive(Debug)]
pub struct Observer {
    devices: Vec<WatchedDevice>,
    diskstats: KeptFile,
    stat: KeptFile,
    meminfo: KeptFile,
    pressure: [KeptFile; 3],
    process_io: KeptFile,
    last_ns: u64,
    tick_ns: u64,
    cpu: CpuWatch,
    pressure_totals: Option<PressureTotals>,
    own_cpu: OwnCpu,
    own_storage: Option<StorageBytes>,
    buffer: Vec<u8>,
}

#[derive(Debug)]
struct WatchedDevice {
    name: String,
    leaf: bool,
    stat: KeptFile,
    from_diskstats: bool,
    last: Option<DeviceCounters>,
}

impl Observer {
    /// Opens what will be read and takes the first counters, so that the first
    /// sample covers the time since now.
    pub fn new(sys: &Sysroot, target: &TargetFingerprint) -> Self {
        Observer::of_targets(sys, std::slice::from_ref(target))
    }

    /// The same for several targets; a device under more than one of them is
    /// observed once.
    pub fn of_targets(sys: &Sysroot, targets: &[TargetFingerprint]) -> Self {
        let mut devices: Vec<DeviceFacts> = Vec::new();
        for facts in targets.iter().flat_map(|target| &target.devices) {
            if devices.iter().all(|known| known.name != facts.name) {
                devices.push(facts.clone());
            }
        }
        let mut observer = Observer {
            devices: Vec::new(),
            diskstats: KeptFile::open(sys, "/proc/diskstats"),
            stat: KeptFile::open(sys, "/proc/stat"),
            meminfo: KeptFile::open(sys, "/proc/meminfo"),
            pressure: ["cpu", "io", "memory"]
                .map(|name| KeptFile::open(sys, format!("/proc/pressure/{name}"))),
            process_io: KeptFile::open(sys, "/proc/self/io"),
            last_ns: 0,
            tick_ns: tick_ns(),
            cpu: CpuWatch::default(),
            pressure_totals: None,
            own_cpu: OwnCpu::default(),
            own_storage: None,
            buffer: Vec::new(),
        };
        observer.watch(sys, &devices);
        observer.sample(None);
        observer
    }

    /// Takes the devices that have counters and marks the leaves among them.
    fn watch(&mut self, sys: &Sysroot, devices: &[DeviceFacts]) {
        for facts in devices {
            if is_silent(devices, facts) {
                continue;
            }
            let path = format!("/sys/class/block/{}/stat", facts.name);
            let mut device = WatchedDevice {
                name: facts.name.clone(),
                leaf: true,
                stat: KeptFile::open_of_device(sys, path),
                from_diskstats: false,
                last: None,
            };
            if device.read(&mut self.diskstats, &mut self.buffer).is_none() {
                device.from_diskstats = true;
            }
            if device.read(&mut self.diskstats, &mut self.buffer).is_some() {
                self.devices.push(device);
            }
        }
        let counted: Vec<String> = self
            .devices
            .iter()
            .map(|device| device.name.clone())
            .collect();
        for device in &mut self.devices {
            device.leaf = !counts_below(devices, &device.name, &counted);
        }
    }

    /// What happened since the last call (or since `new`). `start_ns` counts
    /// from `origin_monotonic_ns` (the start of the load, on
    /// [`monotonic_ns`]'s clock; negative before it); without an origin it is
    /// the plain monotonic time, from which the caller may subtract the origin
    /// later. A device that cannot be read is left out of this observation.
    pub fn sample(&mut self, origin_monotonic_ns: Option<u64>) -> Observation {
        let now_ns = monotonic_ns();
        let start_ns = self.last_ns;
        self.last_ns = now_ns;
        let devices = self.sample_devices();
        let cpu = self.stat.read(&mut self.buffer);
        let cpu = cpu.and_then(|text| self.cpu.advance(text, self.tick_ns));
        let memory = self.meminfo.read(&mut self.buffer).and_then(parse_meminfo);
        let totals = self.read_pressure();
        let pressure = totals
            .zip(self.pressure_totals)
            .map(|(now, last)| now.since(&last));
        self.pressure_totals = totals;
        Observation {
            start_ns: signed_difference(start_ns, origin_monotonic_ns.unwrap_or(0)),
            duration_ns: now_ns.saturating_sub(start_ns),
            devices,
            cpu,
            memory,
            pressure,
            own: Some(self.sample_own()),
        }
    }

    fn sample_devices(&mut self) -> Vec<DeviceActivity> {
        let mut activities = Vec::with_capacity(self.devices.len());
        for device in &mut self.devices {
            let now = device.read(&mut self.diskstats, &mut self.buffer);
            if let Some((now, last)) = now.zip(device.last) {
                let activity = now.since(&last);
                activities.push(DeviceActivity {
                    name: device.name.clone(),
                    leaf: device.leaf,
                    ..activity
                });
            }
            // A device that is away keeps its last counters: when it is back,
            // they tell whether it started again.
            device.last = now.or(device.last);
        }
        activities
    }

    fn read_pressure(&mut self) -> Option<PressureTotals> {
        let [cpu, io, memory] = &mut self.pressure;
        let cpu = cpu.read(&mut self.buffer)?.to_owned();
        let io = io.read(&mut self.buffer)?.to_owned();
        let memory = memory.read(&mut self.buffer)?;
        PressureTotals::parse(&cpu, &io, memory)
    }

    fn sample_own(&mut self) -> OwnActivity {
        let cpu = own_cpu();
        let storage = self
            .process_io
            .read(&mut self.buffer)
            .and_then(parse_process_io);
        let grown = storage.zip(self.own_storage).map(|(now, last)| {
            (
                now.read.saturating_sub(last.read),
                now.written.saturating_sub(last.written),
            )
        });
        let activity = OwnActivity {
            cpu_user_ns: cpu.user_ns.saturating_sub(self.own_cpu.user_ns),
            cpu_system_ns: cpu.system_ns.saturating_sub(self.own_cpu.system_ns),
            storage_read_bytes: grown.map(|grown| grown.0),
            storage_write_bytes: grown.map(|grown| grown.1),
        };
        self.own_cpu = cpu;
        self.own_storage = storage;
        activity
    }

    /// The devices under the target that are busy, leaves and those above them: a
    /// loop device may be busy while its backing file is in memory. With requests in flight at the end of
    /// `window` (200 ms is a good one), or with 0.01 requests in flight or more on
    /// average. `None` at once when there is no device whose counters could
    /// tell. Sleeps for `window`; does not disturb [`Observer::sample`].
    ///
    /// Dirty memory that the kernel has not begun to write is not seen: look at
    /// the observation's memory for that.
    pub fn busy(&mut self, window: Duration) -> Option<Vec<BusyDevice>> {
        let before = self.read_all()?;
        let begun_ns = monotonic_ns();
        thread::sleep(window);
        let after = self.read_all()?;
        let watched_ns = monotonic_ns().saturating_sub(begun_ns).max(1) as f64;
        let names = self.watched().map(str::to_owned);
        let both = names.zip(after.iter().zip(&before));
        let busy = both.filter_map(|(name, (now, last))| {
            let queue = now.since(last).time_in_flight_ns() / watched_ns;
            let is_busy = now.in_flight > 0 || queue > IDLE_QUEUE;
            is_busy.then_some(BusyDevice { name, queue })
        });
        Some(busy.collect())
    }

    fn read_all(&mut self) -> Option<Vec<DeviceCounters>> {
        let mut all = Vec::new();
        for device in &mut self.devices {
            all.push(device.read(&mut self.diskstats, &mut self.buffer)?);
        }
        (!all.is_empty()).then_some(all)
    }

    /// Names of all devices under the target that have counters.
    pub fn watched(&self) -> impl Iterator<Item = &str> {
        self.devices.iter().map(|device| device.name.as_str())
    }

    /// Names of the devices whose counters are added up.
    pub fn leaves(&self) -> impl Iterator<Item = &str> {
        self.devices
            .iter()
            .filter(|device| device.leaf)
            .map(|device| device.name.as_str())
    }
}

impl WatchedDevice {
    fn read(&mut self, diskstats: &mut KeptFile, buffer: &mut Vec<u8>) -> Option<DeviceCounters> {
        if self.from_diskstats {
            parse_diskstats(diskstats.read(buffer)?, &self.name)
        } else {
            parse_stat(self.stat.read(buffer)?)
        }
    }
}

/// Whether a device does not account its requests: it shows zeros then, not
/// measurements. Drives can be told so, NVMe multipath heads could not account
/// before Linux 6.4, and their partitions share that. On other devices that lie
/// on devices the setting says nothing: bcache and dm show 0 and count.
pub(crate) fn is_silent(devices: &[DeviceFacts], facts: &DeviceFacts) -> bool {
    let off = facts.facts.get("iostats").is_some_and(|value| value == "0");
    let disk = facts
        .below
        .first()
        .and_then(|name| devices.iter().find(|one| &one.name == name));
    match (facts.kind.as_str(), disk) {
        // A whole disk that calls itself a partition of one would be a circle.
        ("partition", Some(disk)) if disk.kind != "partition" => is_silent(devices, disk),
        ("nvme", _) | (_, None) => off,
        _ => false,
    }
}

/// Whether anything below the device has counters of its own.
fn counts_below(devices: &[DeviceFacts], name: &str, counted: &[String]) -> bool {
    let mut seen: Vec<&str> = vec![name];
    let mut at = 0;
    while at < seen.len() {
        let below = devices.iter().find(|facts| facts.name == seen[at]);
        at += 1;
        for lower in below.iter().flat_map(|facts| &facts.below) {
            if seen.contains(&lower.as_str()) {
                continue;
            }
            if counted.contains(lower) {
                return true;
            }
            seen.push(lower);
        }
    }
    false
}

fn signed_difference(time_ns: u64, origin_ns: u64) -> i64 {
    let difference = i128::from(time_ns) - i128::from(origin_ns);
    i64::try_from(difference).unwrap_or(if difference < 0 { i64::MIN } else { i64::MAX })
}

#[cfg(test)]
#[path = "observer_tests.rs"]
mod tests;
