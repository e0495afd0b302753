//! Counters of a host over a whole load: read once before and once after, and
//! the CPU times of the worker threads once a second while they live.

use std::collections::BTreeMap;
use std::path::Path;

use fathom_deadline::Mount;
use fathom_model::fingerprint::TargetFingerprint;
use fathom_model::host_load::{BusiestThread, DeviceInterrupts, HostLoad, LinkLoad, QuotaUse};

use crate::Sysroot;
use crate::cgroup::{DEPTH_LIMIT, folder_of};
use crate::clocks::monotonic_ns;
use crate::device::device_dir;
use crate::kernel_calls::tick_ns;
use crate::network::{read_traffic, traffic_since};
use crate::target::mounts;

/// Threads whose CPU time is read every second at most.
const THREADS_LIMIT: usize = 64;
/// Names of the load's threads begin so; a number follows.
const WORKER: &str = "fathom-w";

/// Watches a host over one load.
#[derive(Debug)]
pub struct HostWatch {
    sys: Sysroot,
    /// Name of each leaf and what its interrupt lines begin with.
    lines: Vec<(String, String)>,
    before: Reading,
    started_ns: u64,
    threads: Threads,
}

/// Counters at one instant.
#[derive(Debug, Clone, Default, PartialEq)]
struct Reading {
    swap: Option<(u64, u64)>,
    quota: Option<QuotaUse>,
    core_throttles: Option<u64>,
    /// By leaf: interrupts on each CPU.
    interrupts: BTreeMap<String, BTreeMap<u32, u64>>,
    links: Vec<LinkLoad>,
}

impl HostWatch {
    /// Takes the first reading.
    pub fn new(sys: &Sysroot, target: &TargetFingerprint) -> HostWatch {
        let leaves = target.devices.iter().filter(|d| d.below.is_empty());
        let lines: Vec<(String, String)> = leaves
            .filter_map(|device| Some((device.name.clone(), interrupt_prefix(sys, &device.name)?)))
            .collect();
        HostWatch {
            before: Reading::take(sys, &lines),
            sys: sys.clone(),
            lines,
            started_ns: monotonic_ns(),
            threads: Threads::default(),
        }
    }

    /// Looks at the CPU times of the worker threads; once a second.
    pub fn tick(&mut self) {
        self.threads.look(&self.sys, monotonic_ns());
    }

    /// Takes the last reading and gives the differences.
    pub fn finish(&self) -> HostLoad {
        let after = Reading::take(&self.sys, &self.lines);
        let page = rustix::param::page_size() as u64;
        let swapped = after.swap.zip(self.before.swap).map(|(now, last)| {
            (
                now.0.saturating_sub(last.0).saturating_mul(page),
                now.1.saturating_sub(last.1).saturating_mul(page),
            )
        });
        let throttles = after.core_throttles.zip(self.before.core_throttles);
        HostLoad {
            duration_ns: monotonic_ns().saturating_sub(self.started_ns),
            swap_in_bytes: swapped.map(|s| s.0),
            swap_out_bytes: swapped.map(|s| s.1),
            cpu_quota: after
                .quota
                .as_ref()
                .zip(self.before.quota.as_ref())
                .map(|(now, last)| quota_growth(now, last)),
            core_throttles: throttles.map(|(now, last)| now.saturating_sub(last)),
            interrupts: interrupt_growth(&after.interrupts, &self.before.interrupts),
            busiest_thread: self.threads.busiest(),
            links: traffic_since(&self.before.links, &after.links),
        }
    }
}

impl Reading {
    fn take(sys: &Sysroot, lines: &[(String, String)]) -> Reading {
        let interrupts = match lines.is_empty() {
            true => String::new(),
            false => sys.text("/proc/interrupts").unwrap_or_default(),
        };
        Reading {
            swap: sys.text("/proc/vmstat").as_deref().and_then(parse_swap),
            quota: quota(sys, &mounts(sys)),
            core_throttles: core_throttles(sys),
            interrupts: lines
                .iter()
                .map(|(name, prefix)| (name.clone(), parse_interrupts(&interrupts, prefix)))
                .filter(|(_, counts)| !counts.is_empty())
                .collect(),
            links: read_traffic(sys),
        }
    }
}

/// Pages that came from swap and went to it.
fn parse_swap(vmstat: &str) -> Option<(u64, u64)> {
    let value = |name: &str| -> Option<u64> {
        let mut values = vmstat.lines().filter_map(|l| l.strip_prefix(name));
        values.find_map(|rest| rest.strip_prefix(' ')?.trim().parse().ok())
    };
    Some((value("pswpin")?, value("pswpout")?))
}

/// The statistics of the nearest group that has a quota; groups above count
/// their own.
fn quota(sys: &Sysroot, mounts: &[Mount]) -> Option<QuotaUse> {
    let groups = sys.text("/proc/self/cgroup")?;
    for (controller, limit, unlimited) in
        [("", "cpu.max", "max"), ("cpu", "cpu.cfs_quota_us", "-1")]
    {
        let Some((top, group)) = folder_of(mounts, &groups, controller) else {
            continue;
        };
        for folder in group.ancestors().take(DEPTH_LIMIT) {
            let limited = sys
                .text(folder.join(limit))
                .is_some_and(|text| text.split(' ').next() != Some(unlimited));
            if limited && let Some(text) = sys.text(folder.join("cpu.stat")) {
                let name = Path::new("/").join(folder.strip_prefix(&top).unwrap_or(folder));
                return parse_quota(&text, name.display().to_string());
            }
            if folder == top {
                break;
            }
        }
    }
    None
}

/// The use of a quota by the `cpu.stat` of its group: `throttled_usec` in version 2,
/// `throttled_time` (ns) in 1. `None` where the group has none.
pub fn parse_quota(text: &str, group: String) -> Option<QuotaUse> {
    let value = |name: &str| -> Option<u64> {
        let mut lines = text.lines().filter_map(|l| l.strip_prefix(name));
        lines.find_map(|rest| rest.strip_prefix(' ')?.trim().parse().ok())
    };
    let micros = value("throttled_usec").map(|us| us.saturating_mul(1000));
    Some(QuotaUse {
        group,
        periods: value("nr_periods")?,
        throttled_periods: value("nr_throttled")?,
        throttled_ns: micros.or_else(|| value("throttled_time"))?,
    })
}

fn quota_growth(now: &QuotaUse, last: &QuotaUse) -> QuotaUse {
    QuotaUse {
        group: now.group.clone(),
        periods: now.periods.saturating_sub(last.periods),
        throttled_periods: now.throttled_periods.saturating_sub(last.throttled_periods),
        throttled_ns: now.throttled_ns.saturating_sub(last.throttled_ns),
    }
}

/// Throttle events of all cores and packages (x86).
fn core_throttles(sys: &Sysroot) -> Option<u64> {
    let folder = "/sys/devices/system/cpu";
    let mut sum = None;
    for cpu in sys.names(folder) {
        let number = cpu.strip_prefix("cpu").and_then(|n| n.parse::<u32>().ok());
        if number.is_none() {
            continue;
        }
        for file in ["core_throttle_count", "package_throttle_count"] {
            let count = sys.number(format!("{folder}/{cpu}/thermal_throttle/{file}"));
            sum = count.map_or(sum, |count| {
                Some(sum.unwrap_or(0_u64).saturating_add(count))
            });
        }
    }
    sum
}

/// What the interrupt lines of a device begin with: `nvme0q` for the queues of
/// an NVMe controller, `virtio1-` for a virtio disk. Lines of SCSI adapters
/// carry names of their own and are not told.
fn interrupt_prefix(sys: &Sysroot, name: &str) -> Option<String> {
    let real = sys.resolve(device_dir(name))?;
    let parts: Vec<&str> = real
        .components()
        .filter_map(|c| c.as_os_str().to_str())
        .collect();
    let numbered = |text: &str, prefix: &str| {
        let rest = text.strip_prefix(prefix);
        rest.is_some_and(|rest| rest.parse::<u32>().is_ok())
    };
    let part = |prefix: &str| parts.iter().rev().find(|part| numbered(part, prefix));
    match (part("nvme"), part("virtio")) {
        (Some(controller), _) => Some(format!("{controller}q")),
        // A virtio SCSI adapter has other disks too, and other names.
        (None, Some(device)) if name.starts_with("vd") => Some(format!("{device}-")),
        _ => None,
    }
}

/// Interrupts by CPU of the lines whose last word begins with `prefix`.
fn parse_interrupts(text: &str, prefix: &str) -> BTreeMap<u32, u64> {
    let mut lines = text.lines();
    let cpus: Vec<u32> = lines
        .next()
        .unwrap_or_default()
        .split_ascii_whitespace()
        .filter_map(|name| name.strip_prefix("CPU")?.parse().ok())
        .collect();
    let mut counts = BTreeMap::new();
    for line in lines {
        let Some((_, rest)) = line.split_once(':') else {
            continue;
        };
        if !rest
            .split_ascii_whitespace()
            .any(|word| word.starts_with(prefix))
        {
            continue;
        }
        for (cpu, count) in cpus.iter().zip(rest.split_ascii_whitespace()) {
            let Ok(count) = count.parse::<u64>() else {
                break;
            };
            let sum = counts.entry(*cpu).or_insert(0_u64);
            *sum = sum.saturating_add(count);
        }
    }
    counts
}

fn interrupt_growth(
    now: &BTreeMap<String, BTreeMap<u32, u64>>,
    last: &BTreeMap<String, BTreeMap<u32, u64>>,
) -> Vec<DeviceInterrupts> {
    let growth = |(device, counts): (&String, &BTreeMap<u32, u64>)| {
        let before = last.get(device)?;
        let grown = counts
            .iter()
            .filter_map(|(cpu, count)| Some((*cpu, count.saturating_sub(*before.get(cpu)?))));
        let grown: Vec<(u32, u64)> = grown.collect();
        let (busiest_cpu, on_busiest_cpu) = *grown.iter().max_by_key(|(_, count)| *count)?;
        Some(DeviceInterrupts {
            device: device.clone(),
            total: grown.iter().fold(0, |sum, (_, n)| sum.saturating_add(*n)),
            busiest_cpu,
            on_busiest_cpu,
        })
    };
    now.iter().filter_map(growth).collect()
}

/// CPU times of the worker threads.
#[derive(Debug, Default)]
struct Threads {
    first: BTreeMap<u32, u64>,
    first_ns: u64,
    last: BTreeMap<u32, ThreadTime>,
    last_ns: u64,
}

#[derive(Debug, Clone, PartialEq)]
struct ThreadTime {
    name: String,
    cpu: Option<u32>,
    ticks: u64,
}

impl Threads {
    fn look(&mut self, sys: &Sysroot, now_ns: u64) {
        let names = sys.names("/proc/self/task");
        if names.len() > THREADS_LIMIT {
            return;
        }
        let found: BTreeMap<u32, ThreadTime> = names
            .iter()
            .filter_map(|id| {
                let text = sys.text(format!("/proc/self/task/{id}/stat"))?;
                let time = parse_thread(&text).filter(|t| is_worker(&t.name))?;
                Some((id.parse().ok()?, time))
            })
            .collect();
        if found.is_empty() {
            return;
        }
        if self.first.is_empty() {
            self.first = found.iter().map(|(id, time)| (*id, time.ticks)).collect();
            self.first_ns = now_ns;
        }
        self.last = found;
        self.last_ns = now_ns;
    }

    fn busiest(&self) -> Option<BusiestThread> {
        let duration_ns = self.last_ns.saturating_sub(self.first_ns);
        let grown = self
            .last
            .iter()
            .filter_map(|(id, time)| Some((time, time.ticks.saturating_sub(*self.first.get(id)?))));
        let (time, ticks) = grown.max_by_key(|(_, ticks)| *ticks)?;
        (duration_ns > 0).then(|| BusiestThread {
            name: time.name.clone(),
            cpu: time.cpu,
            cpu_ns: ticks.saturating_mul(tick_ns()),
            duration_ns,
        })
    }
}

fn is_worker(name: &str) -> bool {
    let rest = name.strip_prefix(WORKER);
    rest.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
}

/// `/proc/self/task/ID/stat` (proc(5)): the name stands in parentheses, then
/// come the fields from the third on.
fn parse_thread(text: &str) -> Option<ThreadTime> {
    let (before, after) = text.rsplit_once(')')?;
    let name = before.split_once('(')?.1.to_owned();
    let fields: Vec<&str> = after.split_ascii_whitespace().collect();
    let number = |field: usize| -> Option<u64> { fields.get(field - 3)?.parse().ok() };
    Some(ThreadTime {
        name,
        cpu: number(39).and_then(|cpu| u32::try_from(cpu).ok()),
        ticks: number(14)?.saturating_add(number(15)?),
    })
}

#[cfg(test)]
#[path = "host_load_tests.rs"]
mod tests;
