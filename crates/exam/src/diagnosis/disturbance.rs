//! What others took while a case was sat: CPUs that the hypervisor or processes
//! that are not of the exam used, and devices that are not of the laboratory.

use std::collections::HashMap;
use std::fmt;
use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use serde::Serialize;

/// From here on stolen time is a shortage of its own, or nearly one.
const MOST_STOLEN: f64 = 0.08;
/// Others that take more than this of all CPUs are a second application.
const MOST_OTHERS: f64 = 0.20;
/// So many operations in flight at devices that are not of the laboratory are a
/// second application.
const MOST_IN_FLIGHT: f64 = 0.15;
/// Parent of all threads of the kernel.
const KERNEL_THREADS: u32 = 2;
/// How long the host is looked at to say whether it is quiet.
const GLANCE: Duration = Duration::from_millis(500);

/// What others did. Shares are of the time of all CPUs, 0 to 1.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Disturbance {
    /// Taken by the hypervisor.
    pub stolen: f64,
    /// Used by processes that are not of the exam.
    pub others: f64,
    /// Operations in flight, mean, at devices that are not of the laboratory.
    pub in_flight: f64,
}

impl Disturbance {
    /// Whether the host was another one than the case says.
    pub fn is_much(&self) -> bool {
        self.stolen > MOST_STOLEN || self.others > MOST_OTHERS || self.is_at_devices()
    }

    /// Whether devices that are not of the laboratory were at work.
    pub(super) fn is_at_devices(&self) -> bool {
        self.in_flight > MOST_IN_FLIGHT
    }
}

impl fmt::Display for Disturbance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:.0} % stolen, {:.0} % used by others, {:.1} of theirs in flight",
            100.0 * self.stolen,
            100.0 * self.others,
            self.in_flight
        )
    }
}

/// Ticks since the start of the host.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Ticks {
    all: u64,
    stolen: u64,
    busy: u64,
    ours: u64,
    /// Time in flight, summed over operations of real devices, and the clock.
    in_flight_ms: u64,
    at: Option<Instant>,
}

impl Ticks {
    pub(crate) fn now() -> Ticks {
        let stat = fs::read_to_string("/proc/stat").unwrap_or_default();
        let mut ticks = of_host(stat.lines().next().unwrap_or_default());
        // Threads of the kernel work for whoever asks: for the case, or for others,
        // whose own time shows them.
        ticks.ours = of_family(std::process::id()) + of_family(KERNEL_THREADS);
        let diskstats = fs::read_to_string("/proc/diskstats").unwrap_or_default();
        ticks.in_flight_ms = of_devices(&diskstats);
        ticks.at = Some(Instant::now());
        ticks
    }

    pub(crate) fn since(&self, before: &Ticks) -> Disturbance {
        let all = self.all.saturating_sub(before.all).max(1) as f64;
        let busy = self.busy.saturating_sub(before.busy);
        let ours = self.ours.saturating_sub(before.ours);
        let passed = self.at.zip(before.at);
        let passed_ms = passed.map_or(0.0, |(now, before)| 1e3 * (now - before).as_secs_f64());
        let in_flight_ms = self.in_flight_ms.saturating_sub(before.in_flight_ms);
        Disturbance {
            in_flight: in_flight_ms as f64 / passed_ms.max(1.0),
            stolen: self.stolen.saturating_sub(before.stolen) as f64 / all,
            others: busy.saturating_sub(ours) as f64 / all,
        }
    }
}

/// The line of all CPUs: user, nice, system, idle, iowait, irq, softirq, steal.
fn of_host(line: &str) -> Ticks {
    let fields = line.split_ascii_whitespace().skip(1).take(8);
    let n: Vec<u64> = fields.filter_map(|field| field.parse().ok()).collect();
    let at = |place: usize| n.get(place).copied().unwrap_or(0);
    Ticks {
        all: n.iter().sum(),
        stolen: at(7),
        busy: at(0) + at(1) + at(2) + at(5) + at(6),
        ..Ticks::default()
    }
}

/// The eleventh counter of all devices that have hardware behind them, or at
/// least are not made of other files (Documentation/admin-guide/iostats.rst).
/// Partitions count with their disks.
fn of_devices(diskstats: &str) -> u64 {
    let of_line = |line: &str| {
        let fields: Vec<&str> = line.split_ascii_whitespace().collect();
        let made_up = ["loop", "ram", "zram", "dm-", "md"];
        let name = fields.get(2)?;
        if made_up.iter().any(|kind| name.starts_with(kind)) {
            return None;
        }
        fields.get(13)?.parse::<u64>().ok()
    };
    diskstats.lines().filter_map(of_line).sum()
}

/// Of a process and all below it, those that ended with them.
fn of_family(first: u32) -> u64 {
    let processes = processes();
    let ours = members(&processes, first);
    ours.filter_map(|pid| processes.get(&pid))
        .map(|(_, ticks)| ticks)
        .sum()
}

/// A process and all below it.
pub(crate) fn family_of(first: u32) -> Vec<u32> {
    members(&processes(), first).collect()
}

/// Parent and ticks of each process.
fn processes() -> HashMap<u32, (u32, u64)> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    pids.filter_map(|pid| {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        Some((pid, of_process(&stat)?))
    })
    .collect()
}

fn members(processes: &HashMap<u32, (u32, u64)>, first: u32) -> impl Iterator<Item = u32> {
    let is_ours = move |pid: u32| {
        let mut at = pid;
        // Deeper than any real family; a number that came round ends it too.
        for _ in 0..64 {
            if at == first {
                return true;
            }
            match processes.get(&at) {
                Some((parent, _)) if *parent > 1 => at = *parent,
                _ => return false,
            }
        }
        false
    };
    processes.keys().copied().filter(move |pid| is_ours(*pid))
}

/// Parent, and ticks of itself and of the children that it waited for, out of
/// `/proc/PID/stat` (proc(5)).
fn of_process(stat: &str) -> Option<(u32, u64)> {
    let (_, fields) = stat.rsplit_once(')')?;
    let fields: Vec<&str> = fields.split_ascii_whitespace().collect();
    let ticks = fields.get(11..15)?.iter().map(|f| f.parse::<u64>().ok());
    Some((fields.get(1)?.parse().ok()?, ticks.sum::<Option<u64>>()?))
}

/// Waits until the host does little else, at most so long; whether it came.
pub(crate) fn wait_for_quiet(patience: Duration, stopped: &dyn Fn() -> bool) -> bool {
    let started = Instant::now();
    loop {
        let before = Ticks::now();
        thread::sleep(GLANCE);
        if !Ticks::now().since(&before).is_much() {
            return true;
        }
        if started.elapsed() > patience || stopped() {
            return false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_of_all_cpus() {
        let before = of_host("cpu  100 0 50 800 10 0 0 40 0 0");
        let now = of_host("cpu  150 10 70 840 20 5 5 70 0 0");
        assert_eq!(
            now.since(&before),
            Disturbance {
                stolen: 30.0 / 170.0,
                others: 90.0 / 170.0,
                in_flight: 0.0
            }
        );
        assert!(now.since(&before).is_much());
        assert_eq!(before.since(&before), Disturbance::default());
    }

    #[test]
    fn a_process_is_read_whatever_its_name() {
        let stat = "42 (a) b) S 7 42 42 0 -1 0 1 2 3 4 10 20 30 40 20 0 1 0 99";
        assert_eq!(of_process(stat), Some((7, 100)));
        assert_eq!(of_process("42 (a"), None);
    }

    #[test]
    fn drives_of_the_laboratory_are_not_those_of_others() {
        let diskstats = "\
   7       0 loop0 1 0 8 1 0 0 0 0 0 1 900
 254       0 vda 10 0 80 5 20 0 160 9 1 7 14 0 0 0 0 4 6
";
        assert_eq!(of_devices(diskstats), 14);
        assert_eq!(of_devices("nonsense"), 0);
    }

    #[test]
    fn own_work_is_not_that_of_others() {
        let before = of_family(std::process::id());
        let started = Instant::now();
        // Waited for by ticks and not by the clock: the machine may be busy.
        while of_family(std::process::id()) < before + 2 {
            assert!(started.elapsed() < Duration::from_secs(60));
        }
        assert!(of_family(1) >= of_family(std::process::id()));
    }
}
