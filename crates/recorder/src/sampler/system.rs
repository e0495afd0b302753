//! CPUs, load, locks, memory and pressure: `/proc/stat`, `/proc/loadavg`, `/proc/locks`,
//! `/proc/meminfo`, `/proc/vmstat` (proc(5)), `/proc/pressure/*`.

use std::sync::Arc;

use fathom_observe::{KeptFile, Sysroot, parse_total_us};

use super::{Reading, numbers};
use crate::frame::{HostFacts, Row};
use crate::kind::{ABSENT, Kind, cpu, host, memory, pressure};

/// More CPUs are not recorded one by one.
const MOST_CPUS: usize = 4096;

#[derive(Debug)]
pub(super) struct System {
    stat: KeptFile,
    load: KeptFile,
    locks: KeptFile,
    meminfo: KeptFile,
    vmstat: KeptFile,
    pressure: [KeptFile; 3],
    none: Arc<str>,
    all: Arc<str>,
    cores: Vec<Arc<str>>,
    page_bytes: u64,
}

impl System {
    pub(super) fn open(sys: &Sysroot) -> System {
        let pressure =
            ["cpu", "memory", "io"].map(|of| KeptFile::open(sys, format!("/proc/pressure/{of}")));
        System {
            stat: KeptFile::open(sys, "/proc/stat"),
            load: KeptFile::open(sys, "/proc/loadavg"),
            locks: KeptFile::open(sys, "/proc/locks"),
            meminfo: KeptFile::open(sys, "/proc/meminfo"),
            vmstat: KeptFile::open(sys, "/proc/vmstat"),
            pressure,
            none: "".into(),
            all: "all".into(),
            cores: Vec::new(),
            page_bytes: rustix::param::page_size() as u64,
        }
    }

    pub(super) fn read(&mut self, reading: &mut Reading<'_>) {
        let mut of_host = Row::absent(Kind::Host, Arc::clone(&self.none));
        let place = reading.rows.len();
        if let Some(text) = self.stat.read(reading.buffer) {
            for line in text.lines() {
                match line.strip_prefix("cpu") {
                    Some(rest) => {
                        if let Some(row) = cpu_row(rest, &self.all, &mut self.cores) {
                            reading.rows.push(row);
                        }
                    }
                    None => host_line(line, &mut of_host),
                }
            }
        }
        if let Some(text) = self.load.read(reading.buffer) {
            let places = [host::LOAD_1M, host::LOAD_5M, host::LOAD_15M];
            for (place, load) in places.into_iter().zip(text.split(' ')) {
                of_host.values[place] = thousandths(load).unwrap_or(ABSENT);
            }
        }
        if let Some(text) = self.locks.read(reading.buffer) {
            of_host.values[host::LOCK_WAITERS] = waiters(text);
        }
        if of_host.values.iter().any(|value| *value != ABSENT) {
            reading.rows.insert(place, of_host);
        }
        self.read_memory(reading);
        self.read_pressure(reading);
    }

    fn read_memory(&mut self, reading: &mut Reading<'_>) {
        let mut row = Row::absent(Kind::Memory, Arc::clone(&self.none));
        let Some(text) = self.meminfo.read(reading.buffer) else {
            return;
        };
        for line in text.lines() {
            let Some((name, value)) = line.split_once(':') else {
                continue;
            };
            let place = match name {
                "MemTotal" => memory::TOTAL,
                "MemAvailable" => memory::AVAILABLE,
                "Cached" => memory::CACHED,
                "Dirty" => memory::DIRTY,
                "Writeback" => memory::WRITEBACK,
                "SwapTotal" => memory::SWAP_TOTAL,
                "SwapFree" => memory::SWAP_FREE,
                _ => continue,
            };
            if let Some(Some(kib)) = numbers(value).next() {
                row.values[place] = kib.saturating_mul(1024);
            }
        }
        let vmstat = self.vmstat.read(reading.buffer);
        for line in vmstat.into_iter().flat_map(str::lines) {
            let Some((name, value)) = line.split_once(' ') else {
                continue;
            };
            let (place, unit) = match name {
                "pswpin" => (memory::SWAPPED_IN, self.page_bytes),
                "pswpout" => (memory::SWAPPED_OUT, self.page_bytes),
                "pgmajfault" => (memory::MAJOR_FAULTS, 1),
                "oom_kill" => (memory::OOM_KILLS, 1),
                _ => continue,
            };
            if let Ok(count) = value.trim().parse::<u64>() {
                row.values[place] = count.saturating_mul(unit);
            }
        }
        reading.rows.push(row);
    }

    fn read_pressure(&mut self, reading: &mut Reading<'_>) {
        let places = [
            (pressure::CPU_SOME, pressure::CPU_FULL),
            (pressure::MEMORY_SOME, pressure::MEMORY_FULL),
            (pressure::IO_SOME, pressure::IO_FULL),
        ];
        let mut row = Row::absent(Kind::Pressure, Arc::clone(&self.none));
        let mut any = false;
        for (file, (some, full)) in self.pressure.iter_mut().zip(places) {
            let Some(text) = file.read(reading.buffer) else {
                continue;
            };
            row.values[some] = parse_total_us(text, "some").unwrap_or(ABSENT);
            row.values[full] = parse_total_us(text, "full").unwrap_or(ABSENT);
            any |= row.values[some] != ABSENT;
        }
        if any {
            reading.rows.push(row);
        }
    }
}

/// ` 1 2 3 …` or `0 1 2 3 …` behind `cpu`. Guest time is part of user.
fn cpu_row(rest: &str, all: &Arc<str>, cores: &mut Vec<Arc<str>>) -> Option<Row> {
    let (number, fields) = rest.split_once(' ')?;
    let name = if number.is_empty() {
        Arc::clone(all)
    } else {
        let number: usize = number.parse().ok().filter(|n| *n < MOST_CPUS)?;
        while cores.len() <= number {
            cores.push(cores.len().to_string().into());
        }
        Arc::clone(&cores[number])
    };
    let mut row = Row::absent(Kind::Cpu, name);
    for (value, ticks) in row.values.iter_mut().zip(numbers(fields)) {
        *value = ticks?;
    }
    (row.values[cpu::IDLE] != ABSENT).then_some(row)
}

fn host_line(line: &str, row: &mut Row) {
    let places = [
        ("ctxt ", host::SWITCHES),
        ("processes ", host::FORKS),
        ("procs_running ", host::RUNNING),
        ("procs_blocked ", host::BLOCKED),
    ];
    for (name, place) in places {
        if let Some(value) = line.strip_prefix(name) {
            row.values[place] = value.trim().parse().unwrap_or(ABSENT);
        }
    }
}

/// Tasks that wait for a lock on a file: `2: -> FLOCK …` (proc(5)).
fn waiters(locks: &str) -> u64 {
    let waits = |line: &&str| line.split_ascii_whitespace().nth(1) == Some("->");
    locks.lines().filter(waits).count() as u64
}

/// `1.25` as 1250.
pub(super) fn thousandths(text: &str) -> Option<u64> {
    let value: f64 = text.trim().parse().ok()?;
    (0.0..1e12)
        .contains(&value)
        .then(|| (value * 1000.0).round() as u64)
}

/// Name, kernel, CPUs and start of the host.
pub(super) fn host_facts(sys: &Sysroot) -> HostFacts {
    let stat = sys.text("/proc/stat").unwrap_or_default();
    let cpus = stat
        .lines()
        .filter_map(|line| line.strip_prefix("cpu"))
        .filter(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
        .count();
    let started = stat.lines().find_map(|line| line.strip_prefix("btime "));
    HostFacts {
        name: sys
            .text("/proc/sys/kernel/hostname")
            .unwrap_or_else(|| "unknown host".to_owned()),
        kernel: sys.text("/proc/sys/kernel/osrelease").unwrap_or_default(),
        cpus: u32::try_from(cpus).unwrap_or(u32::MAX),
        tick_hz: u32::try_from(rustix::param::clock_ticks_per_second()).unwrap_or(100),
        booted_unix_s: started.and_then(|text| text.trim().parse().ok()),
    }
}
