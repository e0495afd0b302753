//! Facts of the host.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use fathom_model::Fingerprint;

use crate::Sysroot;
use crate::block_link::insert;
use crate::cgroup::limit_facts;
use crate::memory::meminfo_bytes;
use crate::power_facts::add_power_facts;
use crate::process::{ProcessLimits, allowed_cpus, effective_uid, parse_limits};
use crate::target::mounts;
use crate::virtualization::virtualization;
use fathom_deadline::Mount;

/// Readings of the clock in one round of [`clock_read_ns`].
const CLOCK_READS: u32 = 2_000;

/// Facts of the host and of the limits of this process.
pub fn host_fingerprint(sys: &Sysroot) -> Fingerprint {
    let uname = sys.is_host().then(rustix::system::uname);
    let of_uname = |text: fn(&rustix::system::Uname) -> &std::ffi::CStr| {
        uname
            .as_ref()
            .map(|uname| text(uname).to_string_lossy().into_owned())
    };
    let status = sys.text("/proc/self/status").unwrap_or_default();
    let meminfo = sys.text("/proc/meminfo").unwrap_or_default();
    let limits = limits(sys);
    let mounts = mounts(sys);
    let cpuinfo = sys.text("/proc/cpuinfo").unwrap_or_default();
    let hostname = sys.text("/proc/sys/kernel/hostname");
    Fingerprint {
        hostname: hostname
            .or_else(|| of_uname(|uname| uname.nodename()))
            .unwrap_or_default(),
        os: os_name(sys),
        kernel: sys
            .text("/proc/sys/kernel/osrelease")
            .or_else(|| of_uname(|uname| uname.release()))
            .unwrap_or_default(),
        architecture: of_uname(|uname| uname.machine())
            .or_else(|| sys.text("/proc/sys/kernel/arch"))
            .unwrap_or_default(),
        cpu_model: cpu_model(&cpuinfo),
        cpus: allowed_cpus(&status)
            .or_else(|| cpus_of_process(sys))
            .unwrap_or(0),
        memory_bytes: meminfo_bytes(&meminfo, "MemTotal").unwrap_or(0),
        clocksource: clocksource(sys),
        clock_read_ns: sys.is_host().then(clock_read_ns),
        virtualization: virtualization(sys, &mounts),
        cpu_governor: cpu_governor(sys),
        memlock_bytes: limits.and_then(|limits| limits.memlock_bytes),
        open_files_limit: limits.map_or(0, |limits| limits.open_files),
        root: effective_uid(&status).map_or_else(
            || sys.is_host() && rustix::process::geteuid().is_root(),
            |uid| uid == 0,
        ),
        facts: further_facts(sys, &mounts, &meminfo, &cpuinfo),
    }
}

/// Limits of this process, from `/proc` or else from the kernel.
pub(crate) fn limits(sys: &Sysroot) -> Option<ProcessLimits> {
    use rustix::process::{Resource, getrlimit};
    let asked = || ProcessLimits {
        memlock_bytes: getrlimit(Resource::Memlock).current,
        open_files: getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX),
    };
    let read = sys
        .text("/proc/self/limits")
        .as_deref()
        .and_then(parse_limits);
    read.or_else(|| sys.is_host().then(asked))
}

/// The clock source in use.
pub(crate) fn clocksource(sys: &Sysroot) -> Option<String> {
    sys.text("/sys/devices/system/clocksource/clocksource0/current_clocksource")
}

/// The governors of all CPUs, without repeats.
pub(crate) fn cpu_governor(sys: &Sysroot) -> Option<String> {
    let cpus = sys.names("/sys/devices/system/cpu");
    let governors: BTreeSet<String> = cpus
        .iter()
        .filter(|name| {
            name.strip_prefix("cpu")
                .is_some_and(|rest| rest.parse::<u32>().is_ok())
        })
        .filter_map(|cpu| {
            sys.text(format!(
                "/sys/devices/system/cpu/{cpu}/cpufreq/scaling_governor"
            ))
        })
        .collect();
    let joined = governors.into_iter().collect::<Vec<_>>().join(", ");
    (!joined.is_empty()).then_some(joined)
}

/// Mean cost of reading the clock, the best of several rounds so that an
/// interruption does not count.
fn clock_read_ns() -> f64 {
    let round = || {
        let start = Instant::now();
        for _ in 1..CLOCK_READS {
            std::hint::black_box(Instant::now());
        }
        start.elapsed().as_nanos() as f64 / f64::from(CLOCK_READS)
    };
    (0..5).map(|_| round()).fold(f64::INFINITY, f64::min)
}

fn cpus_of_process(sys: &Sysroot) -> Option<u32> {
    if sys.is_host() {
        let set = rustix::thread::sched_getaffinity(None).ok()?;
        return Some(set.count());
    }
    let mut each = Vec::new();
    crate::cpu::parse_cpu_ticks(&sys.text("/proc/stat")?, &mut each);
    u32::try_from(each.len()).ok().filter(|&count| count > 0)
}

fn os_name(sys: &Sysroot) -> Option<String> {
    let text = sys
        .text("/etc/os-release")
        .or_else(|| sys.text("/usr/lib/os-release"));
    if let Some(name) = text.as_deref().and_then(pretty_name) {
        return Some(name);
    }
    // Before os-release, for example CentOS 6.
    sys.text("/etc/redhat-release")
        .or_else(|| sys.text("/etc/debian_version"))
}

fn pretty_name(text: &str) -> Option<String> {
    let value = |name: &str| {
        let line = text
            .lines()
            .find_map(|line| line.strip_prefix(name)?.strip_prefix('='))?;
        Some(line.trim().trim_matches(['"', '\'']).to_owned())
    };
    value("PRETTY_NAME")
        .or_else(|| value("NAME"))
        .filter(|name| !name.is_empty())
}

fn cpu_model(cpuinfo: &str) -> Option<String> {
    let value = |name: &str| {
        let line = cpuinfo.lines().find(|line| {
            line.split_once(':')
                .is_some_and(|(key, _)| key.trim_end() == name)
        })?;
        let value = line.split_once(':')?.1.trim();
        (!value.is_empty()).then(|| value.to_owned())
    };
    let arm = || {
        Some(format!(
            "implementer {} part {}",
            value("CPU implementer")?,
            value("CPU part")?
        ))
    };
    ["model name", "cpu model", "Model", "Hardware", "cpu"]
        .into_iter()
        .find_map(value)
        .or_else(arm)
}

fn further_facts(
    sys: &Sysroot,
    mounts: &[Mount],
    meminfo: &str,
    cpuinfo: &str,
) -> BTreeMap<String, String> {
    let mut facts = limit_facts(sys, mounts);
    if let Some(links) = crate::network::link_words(sys) {
        facts.insert("links".to_owned(), links);
    }
    for (name, path) in [
        ("boot_id", "/proc/sys/kernel/random/boot_id"),
        ("io_uring_disabled", "/proc/sys/kernel/io_uring_disabled"),
        ("aio_max_nr", "/proc/sys/fs/aio-max-nr"),
        ("dirty_ratio", "/proc/sys/vm/dirty_ratio"),
        ("dirty_bytes", "/proc/sys/vm/dirty_bytes"),
        (
            "dirty_background_ratio",
            "/proc/sys/vm/dirty_background_ratio",
        ),
        (
            "dirty_background_bytes",
            "/proc/sys/vm/dirty_background_bytes",
        ),
        (
            "dirty_expire_centisecs",
            "/proc/sys/vm/dirty_expire_centisecs",
        ),
        (
            "cpu_scaling_driver",
            "/sys/devices/system/cpu/cpu0/cpufreq/scaling_driver",
        ),
        (
            "cpu_idle_driver",
            "/sys/devices/system/cpu/cpuidle/current_driver",
        ),
        ("smt_active", "/sys/devices/system/cpu/smt/active"),
        ("numa_nodes", "/sys/devices/system/node/online"),
        ("product", "/sys/class/dmi/id/product_name"),
        (
            "nvme_poll_queues",
            "/sys/module/nvme/parameters/poll_queues",
        ),
        (
            "nvme_multipath",
            "/sys/module/nvme_core/parameters/multipath",
        ),
    ] {
        insert(&mut facts, name, sys.text(path));
    }
    add_power_facts(sys, &mut facts);
    let huge = sys.text("/sys/kernel/mm/transparent_hugepage/enabled");
    insert(&mut facts, "transparent_hugepage", huge);
    let microcode = cpuinfo
        .lines()
        .find_map(|line| line.strip_prefix("microcode"));
    let microcode = microcode.map(|text| text.trim_start_matches([' ', '\t', ':']).to_owned());
    insert(&mut facts, "microcode", microcode);
    let swap = meminfo_bytes(meminfo, "SwapTotal");
    insert(
        &mut facts,
        "swap_total_bytes",
        swap.map(|bytes| bytes.to_string()),
    );
    facts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_running_host_has_its_facts() {
        let host = host_fingerprint(&Sysroot::host());
        assert!(!host.hostname.is_empty() && !host.kernel.is_empty());
        assert!(host.cpus > 0 && host.memory_bytes > 1 << 20);
        assert!(host.open_files_limit > 0);
        assert_eq!(host.root, rustix::process::geteuid().is_root());
        assert!(host.clock_read_ns.unwrap() > 0.0);
        assert_eq!(host.architecture, std::env::consts::ARCH);
    }

    #[test]
    fn the_distribution_is_read_with_and_without_quotes() {
        let text = "NAME=\"Debian GNU/Linux\"\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n";
        assert_eq!(
            pretty_name(text).as_deref(),
            Some("Debian GNU/Linux 12 (bookworm)")
        );
        assert_eq!(pretty_name("NAME=Alpine\n").as_deref(), Some("Alpine"));
        assert_eq!(pretty_name("ID=x\n"), None);
    }

    #[test]
    fn cpu_models_of_several_architectures() {
        assert_eq!(
            cpu_model("model\t\t: 143\nmodel name\t: Xeon\n").as_deref(),
            Some("Xeon")
        );
        let arm = "CPU implementer\t: 0x41\nCPU part\t: 0xd0c\n";
        assert_eq!(
            cpu_model(arm).as_deref(),
            Some("implementer 0x41 part 0xd0c")
        );
        assert_eq!(cpu_model(""), None);
    }
}
