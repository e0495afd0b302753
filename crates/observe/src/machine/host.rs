//! CPUs, memory and pressure of a host.

use super::{MachineCounters, Readings};
use crate::Sysroot;
use crate::cpu::{CpuTicks, parse_cpu_ticks};
use crate::memory::{meminfo_bytes, parse_meminfo};
use crate::pressure::parse_total_us;

const PAGE_BYTES: f64 = 4096.0;

/// The last ticks of the CPUs.
#[derive(Debug, Default)]
pub(super) struct Cpus {
    all: CpuTicks,
    each: Vec<(u32, CpuTicks)>,
}

impl Cpus {
    pub(super) fn advance(&mut self, sys: &Sysroot, out: &mut Readings) {
        let Some(text) = sys.text("/proc/stat") else {
            return;
        };
        let mut each = Vec::new();
        let Some(all) = parse_cpu_ticks(&text, &mut each) else {
            return;
        };
        let grown = all.since(&self.all);
        let share = |part: u64, whole: u64| part as f64 / whole as f64;
        if grown.total() > 0 {
            let whole = grown.total();
            out.add("cpu_busy", "", share(grown.busy(), whole));
            out.add("cpu_iowait", "", share(grown.iowait, whole));
            out.add("cpu_idle", "", share(grown.idle, whole));
            out.add("cpu_steal", "", share(grown.steal, whole));
        }
        for (number, now) in &each {
            let Some((_, last)) = self.each.iter().find(|(other, _)| other == number) else {
                continue;
            };
            let grown = now.since(last);
            if grown.total() > 0 {
                let name = format!("cpu{number}");
                out.add("core_busy", &name, share(grown.busy(), grown.total()));
                out.add(
                    "core_interrupt",
                    &name,
                    share(grown.interrupt, grown.total()),
                );
            }
        }
        // The reader itself runs while it reads.
        let running = text
            .lines()
            .find_map(|line| line.strip_prefix("procs_running "));
        if let Some(running) = running.and_then(|n| n.trim().parse::<f64>().ok()) {
            let cores = each.len().max(1) as f64;
            out.add("run_queue_per_core", "", (running - 1.0).max(0.0) / cores);
        }
        self.all = all;
        self.each = each;
    }
}

pub(super) fn memory(sys: &Sysroot, out: &mut Readings) {
    let Some(text) = sys.text("/proc/meminfo") else {
        return;
    };
    if let Some(memory) = parse_meminfo(&text).filter(|memory| memory.total_bytes > 0) {
        let used = memory.total_bytes.saturating_sub(memory.available_bytes);
        out.add("memory_used", "", used as f64 / memory.total_bytes as f64);
        let dirty = memory.dirty_bytes.saturating_add(memory.writeback_bytes);
        out.add("memory_dirty", "", dirty as f64);
    }
    let swap = meminfo_bytes(&text, "SwapTotal").zip(meminfo_bytes(&text, "SwapFree"));
    if let Some((total, free)) = swap.filter(|(total, _)| *total > 0) {
        out.add("swap_used", "", 1.0 - free as f64 / total as f64);
    }
}

/// What only grows.
pub(super) fn counters(sys: &Sysroot, now: &mut MachineCounters) {
    let mut set = |quantity, value: Option<f64>| {
        if let Some(value) = value {
            now.insert((quantity, String::new()), value);
        }
    };
    for (quantity, file) in [
        ("cpu_pressure", "cpu"),
        ("io_pressure", "io"),
        ("memory_pressure", "memory"),
    ] {
        let text = sys
            .text(format!("/proc/pressure/{file}"))
            .unwrap_or_default();
        // Microseconds of stall; per second that is a share.
        set(
            quantity,
            parse_total_us(&text, "some").map(|us| us as f64 / 1e6),
        );
        if file == "io" {
            set(
                "io_pressure_full",
                parse_total_us(&text, "full").map(|us| us as f64 / 1e6),
            );
        }
    }
    let vmstat = sys.text("/proc/vmstat").unwrap_or_default();
    let of = |name: &str| -> Option<f64> {
        let line = vmstat
            .lines()
            .find_map(|line| line.strip_prefix(name)?.strip_prefix(' '))?;
        line.trim().parse().ok()
    };
    let swapped = of("pswpin").zip(of("pswpout"));
    set(
        "swap_bytes",
        swapped.map(|(read, written)| (read + written) * PAGE_BYTES),
    );
    set("oom_kills", of("oom_kill"));
    let snmp = sys.text("/proc/net/snmp").unwrap_or_default();
    set("tcp_retransmitted", tcp(&snmp, "RetransSegs"));
    set("tcp_sent", tcp(&snmp, "OutSegs"));
    let softnet = sys.text("/proc/net/softnet_stat").unwrap_or_default();
    let column = |index: usize| -> Option<f64> {
        let lines = softnet.lines();
        let values = lines.map(|line| {
            let word = line.split_whitespace().nth(index)?;
            u32::from_str_radix(word, 16).ok().map(f64::from)
        });
        let sum: Option<f64> = values.sum();
        sum.filter(|_| !softnet.is_empty())
    };
    set("softnet_dropped", column(1));
    set("softnet_squeezed", column(2));
}

/// A value of the `Tcp:` lines: names in the first, numbers in the second.
fn tcp(text: &str, name: &str) -> Option<f64> {
    let mut lines = text.lines().filter_map(|line| line.strip_prefix("Tcp: "));
    let place = lines
        .next()?
        .split_whitespace()
        .position(|word| word == name)?;
    lines.next()?.split_whitespace().nth(place)?.parse().ok()
}
