//! The machine: clock, CPU, limits, memory, what it runs in.

use super::{Capability, CapabilityStatus as Status};
use crate::Sysroot;
use crate::cpu::parse_cpu_ticks;
use crate::host::{clocksource, cpu_governor, limits};
use crate::memory::meminfo_bytes;
use crate::target::mounts;
use crate::virtualization::virtualization;

/// Clock sources that are read without a system call or device access.
const FAST_CLOCKS: [&str; 6] = [
    "tsc",
    "kvm-clock",
    "arch_sys_counter",
    "timebase",
    "hyperv_clocksource_tsc_page",
    "riscv_clocksource",
];
/// Locked memory that 64 workers with deep rings and registered buffers want.
const MEMLOCK_WANTED_BYTES: u64 = 64 << 20;
/// Open files that a run with thousands of files wants.
const OPEN_FILES_WANTED: u64 = 4096;
/// Share of CPU time taken by the hypervisor since boot that is worth a word.
const STEAL_NOTABLE: f64 = 0.01;

pub(super) fn examine(sys: &Sysroot) -> Vec<Capability> {
    let meminfo = sys.text("/proc/meminfo").unwrap_or_default();
    let checks = [
        clock(sys),
        governor(sys),
        steal(sys),
        memlock(sys),
        open_files(sys),
        huge_pages(&meminfo),
        swap(&meminfo),
        surroundings(sys),
    ];
    checks.into_iter().flatten().collect()
}

fn clock(sys: &Sysroot) -> Option<Capability> {
    let source = clocksource(sys)?;
    let status = if FAST_CLOCKS.contains(&source.as_str()) {
        Status::Ok
    } else {
        Status::Limited
    };
    let meaning = "each operation reads the clock twice; a slow one (hpet, acpi_pm, xen) adds to latency and CPU";
    Some(Capability::new("clock source", status, source, meaning).remedy(
        "boot with tsc=reliable, or write tsc to /sys/devices/system/clocksource/clocksource0/current_clocksource",
    ))
}

fn governor(sys: &Sysroot) -> Option<Capability> {
    let meaning =
        "a CPU that clocks down between operations adds tens of microseconds at low rates";
    let Some(governor) = cpu_governor(sys) else {
        if sys.names("/sys/devices/system/cpu").is_empty() {
            let found = "unknown: /sys/devices/system/cpu cannot be read";
            let unknown = Capability::new("CPU governor", Status::Missing, found, meaning);
            return Some(unknown.remedy("mount /sys here"));
        }
        let found = "no frequency scaling is shown (virtual machine or fixed frequency)";
        return Some(Capability::new("CPU governor", Status::Ok, found, meaning));
    };
    let status = if governor == "performance" {
        Status::Ok
    } else {
        Status::Limited
    };
    let capability = Capability::new("CPU governor", status, governor, meaning);
    Some(capability.remedy("cpupower frequency-set -g performance"))
}

fn steal(sys: &Sysroot) -> Option<Capability> {
    let ticks = parse_cpu_ticks(&sys.text("/proc/stat")?, &mut Vec::new())?;
    let share = ticks.steal as f64 / ticks.total().max(1) as f64;
    let status = if share < STEAL_NOTABLE {
        Status::Ok
    } else {
        Status::Limited
    };
    let found = format!("{:.2} % of CPU time since boot", share * 100.0);
    let meaning =
        "time that the hypervisor gave to others; operations wait without the storage being slow";
    let capability = Capability::new("CPU steal", status, found, meaning);
    Some(
        capability
            .remedy("use a machine type with dedicated CPUs, or measure when the host is quieter"),
    )
}

fn memlock(sys: &Sysroot) -> Option<Capability> {
    let limit = limits(sys)?.memlock_bytes;
    let (status, found) = match limit {
        None => (Status::Ok, "unlimited".to_owned()),
        Some(bytes) if bytes >= MEMLOCK_WANTED_BYTES => {
            (Status::Ok, format!("{} MiB", bytes >> 20))
        }
        Some(bytes) => (Status::Limited, format!("{} KiB", bytes >> 10)),
    };
    let meaning = "registered buffers and (before Linux 5.12) rings are locked memory";
    let capability = Capability::new("locked memory limit", status, found, meaning);
    Some(capability.remedy("ulimit -l unlimited, or LimitMEMLOCK=infinity in the unit"))
}

fn open_files(sys: &Sysroot) -> Option<Capability> {
    let limit = limits(sys)?.open_files;
    let status = if limit >= OPEN_FILES_WANTED {
        Status::Ok
    } else {
        Status::Limited
    };
    let found = if limit == u64::MAX {
        "unlimited".to_owned()
    } else {
        limit.to_string()
    };
    let meaning = "runs over many files keep them open";
    let capability = Capability::new("open file limit", status, found, meaning);
    Some(capability.remedy("ulimit -n 65536, or LimitNOFILE=65536 in the unit"))
}

fn huge_pages(meminfo: &str) -> Option<Capability> {
    let total = meminfo_bytes(meminfo, "HugePages_Total")?;
    let free = meminfo_bytes(meminfo, "HugePages_Free").unwrap_or(0);
    let size = meminfo_bytes(meminfo, "Hugepagesize").unwrap_or(0) >> 10;
    let status = if free > 0 {
        Status::Ok
    } else {
        Status::Limited
    };
    let found = format!("{free} of {total} pages of {size} KiB are free");
    let meaning = "I/O buffers in huge pages cost fewer address translations; only matters at millions of operations per second";
    let capability = Capability::new("huge pages", status, found, meaning);
    Some(capability.remedy("sysctl vm.nr_hugepages=128"))
}

fn swap(meminfo: &str) -> Option<Capability> {
    let total = meminfo_bytes(meminfo, "SwapTotal")?;
    let used = total.saturating_sub(meminfo_bytes(meminfo, "SwapFree")?);
    let (status, found) = if total == 0 {
        (Status::Ok, "none".to_owned())
    } else {
        let status = if used == 0 {
            Status::Ok
        } else {
            Status::Limited
        };
        (
            status,
            format!("{} MiB of {} MiB in use", used >> 20, total >> 20),
        )
    };
    let meaning = "swapping during a run is foreign I/O and stalls the generator";
    let capability = Capability::new("swap", status, found, meaning);
    Some(capability.remedy("free memory before the run, or swapoff -a"))
}

fn surroundings(sys: &Sysroot) -> Option<Capability> {
    let found = virtualization(sys, &mounts(sys))?;
    let status = if found == "none" {
        Status::Ok
    } else {
        Status::Limited
    };
    let meaning = "under a hypervisor, caches, caps and neighbours cannot be seen; in a container, devices and limits may be hidden";
    let capability = Capability::new("surroundings", status, found, meaning);
    Some(capability.remedy("for the drive itself, measure on the host"))
}
