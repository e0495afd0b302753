//! Moments as the cells of tables and words of lines; the screen and the plain
//! text say the same.

use clap::ValueEnum;
use fathom_diagnose::recording::{DiskMoment, DoerMoment, LinkMoment, Moment, NfsMoment};
use fathom_model::unit;
use fathom_report::table::clean;

use crate::history::Seen;

const MIB: f64 = 1_048_576.0;
/// Fewer moments tell nothing.
const LEAST_MOMENTS: u32 = 3;

/// Order of devices and processes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum Sort {
    /// Operations in flight; of processes the time that they waited.
    #[default]
    Queue,
    /// Operations per second.
    Operations,
    /// Bytes per second.
    Bytes,
    /// Time of an operation.
    Wait,
    /// By name.
    Name,
}

impl Sort {
    pub(crate) fn next(self) -> Sort {
        match self {
            Sort::Queue => Sort::Operations,
            Sort::Operations => Sort::Bytes,
            Sort::Bytes => Sort::Wait,
            Sort::Wait => Sort::Name,
            Sort::Name => Sort::Queue,
        }
    }

    pub(crate) fn word(self) -> &'static str {
        match self {
            Sort::Queue => "queue",
            Sort::Operations => "operations",
            Sort::Bytes => "bytes",
            Sort::Wait => "wait",
            Sort::Name => "name",
        }
    }
}

/// A number of a few digits, empty when it is nothing.
fn number(value: f64) -> String {
    match value {
        v if v < 0.005 => "·".to_owned(),
        v if v < 9.95 => format!("{v:.2}"),
        v if v < 99.5 => format!("{v:.1}"),
        v => unit::count(v),
    }
}

fn mib(bytes: f64) -> String {
    number(bytes / MIB)
}

fn percent(share: f64) -> String {
    format!("{:.0} %", 100.0 * share)
}

/// Heads of [`device`].
pub(crate) const DEVICE_HEADS: [&str; 10] = [
    "device", "r/s", "w/s", "rMiB/s", "wMiB/s", "r ms", "w ms", "queue", "KiB/op", "flush/s",
];

pub(crate) fn device(disk: &DiskMoment) -> [String; 10] {
    let block = disk.bytes() / disk.operations().max(f64::MIN_POSITIVE);
    [
        clean(&disk.name),
        number(disk.reads),
        number(disk.writes),
        mib(disk.read_bytes),
        mib(disk.write_bytes),
        number(disk.read_wait_ms.unwrap_or(0.0)),
        number(disk.write_wait_ms.unwrap_or(0.0)),
        number(disk.in_flight().unwrap_or(0.0)),
        number(if disk.operations() > 0.0 {
            block / 1024.0
        } else {
            0.0
        }),
        number(disk.flushes),
    ]
}

/// Devices in order.
pub(crate) fn devices(moment: &Moment, sort: Sort) -> Vec<&DiskMoment> {
    let mut disks: Vec<&DiskMoment> = moment.disks.iter().collect();
    let key = |disk: &DiskMoment| match sort {
        Sort::Queue => disk.in_flight().unwrap_or(0.0),
        Sort::Operations => disk.operations(),
        Sort::Bytes => disk.bytes(),
        Sort::Wait => disk.mean_wait_ms().unwrap_or(0.0),
        Sort::Name => 0.0,
    };
    // Of those that are alike, the one that moves more bytes, then by name.
    disks.sort_by(|a, b| {
        let bytes = |d: &DiskMoment| if sort == Sort::Name { 0.0 } else { d.bytes() };
        key(b)
            .total_cmp(&key(a))
            .then(bytes(b).total_cmp(&bytes(a)))
            .then(a.name.cmp(&b.name))
    });
    disks
}

/// Heads of [`doer`].
pub(crate) const DOER_HEADS: [&str; 6] =
    ["who", "rMiB/s", "wMiB/s", "I/O wait", "CPUs", "of all I/O"];

pub(crate) fn doer(doer: &DoerMoment, all_bytes: f64) -> [String; 6] {
    let share = doer.bytes() / all_bytes.max(1.0);
    [
        clean(&doer.name),
        mib(doer.read_bytes),
        mib(doer.write_bytes),
        doer.io_wait
            .filter(|w| *w >= 0.005)
            .map_or("·".to_owned(), percent),
        number(doer.cpus),
        if share >= 0.005 {
            percent(share)
        } else {
            "·".to_owned()
        },
    ]
}

/// Processes or groups in order, and the bytes that their shares are of: all of
/// theirs, or what the devices moved where that is more. Those who did the rest
/// were not looked at, or have ended.
pub(crate) fn doers<'m>(
    moment: &Moment,
    doers: &'m [DoerMoment],
    sort: Sort,
) -> (Vec<&'m DoerMoment>, f64) {
    let mut order: Vec<&DoerMoment> = doers.iter().collect();
    let key = |doer: &DoerMoment| match sort {
        Sort::Queue | Sort::Wait => (doer.io_wait.unwrap_or(0.0), doer.bytes()),
        Sort::Operations | Sort::Bytes => (doer.bytes(), doer.cpus),
        Sort::Name => (0.0, 0.0),
    };
    order.sort_by(|a, b| {
        let (x, y) = (key(a), key(b));
        let by_cpu = match sort {
            Sort::Name => std::cmp::Ordering::Equal,
            _ => b.cpus.total_cmp(&a.cpus),
        };
        (y.0.total_cmp(&x.0))
            .then(y.1.total_cmp(&x.1))
            .then(by_cpu)
            .then(a.name.cmp(&b.name))
    });
    let all: f64 = doers.iter().map(DoerMoment::bytes).sum();
    (order, all.max(moment.moved_bytes()))
}

/// Heads of [`link`] and [`mount`].
pub(crate) const LINK_HEADS: [&str; 6] = [
    "network",
    "in MiB/s",
    "out MiB/s",
    "used",
    "errors/s",
    "drops/s",
];

pub(crate) fn link(link: &LinkMoment) -> [String; 6] {
    [
        clean(&link.name),
        mib(link.received_bytes),
        mib(link.sent_bytes),
        link.used().map_or("·".to_owned(), percent),
        number(link.errors),
        number(link.drops),
    ]
}

/// Heads of [`mount`].
pub(crate) const MOUNT_HEADS: [&str; 6] =
    ["NFS mount", "op/s", "MiB/s", "ms", "reply ms", "in flight"];

pub(crate) fn mount(mount: &NfsMoment) -> [String; 6] {
    [
        clean(&mount.name),
        number(mount.operations),
        mib(mount.bytes),
        number(mount.execute_ms.unwrap_or(0.0)),
        number(mount.round_trip_ms.unwrap_or(0.0)),
        number(mount.queue),
    ]
}

/// `12 user 5 system 30 I/O wait %  cpu1 60 %  load 1.2 on 2`.
pub(crate) fn cpu_line(moment: &Moment, cpus: Option<u32>) -> String {
    let mut parts = Vec::new();
    if let Some(cpu) = moment.cpu {
        let mut shares = vec![
            ("user", cpu.user),
            ("system", cpu.system),
            ("I/O wait", cpu.iowait),
        ];
        if cpu.steal >= 0.005 {
            shares.push(("stolen", cpu.steal));
        }
        let shares = shares
            .iter()
            .map(|(word, share)| format!("{:.0} {word}", 100.0 * share));
        parts.push(format!("{} %", shares.collect::<Vec<_>>().join(" ")));
    }
    if let Some(busiest) = moment
        .busiest_cpu
        .filter(|_| cpus.is_none_or(|cpus| cpus > 1))
    {
        parts.push(format!("cpu{} {}", busiest.number, percent(busiest.busy)));
    }
    if let Some(load) = moment.load {
        let of = cpus.map_or(String::new(), |cpus| format!(" on {cpus}"));
        parts.push(format!("load {load:.1}{of}"));
    }
    parts.join("  ")
}

/// Who does not tell what is not known: of a recording it is not known why.
fn untold(recorded: bool) -> String {
    let who = if recorded { "recording" } else { "kernel" };
    format!("not in this {who}")
}

/// `I/O 30 % (all 10 %)  CPU 1 %  memory 0 %  3 tasks run, 1 blocked`.
pub(crate) fn pressure_line(moment: &Moment, recorded: bool) -> String {
    let mut parts = Vec::new();
    let share = |name: &str, value: Option<f64>| value.map(|v| format!("{name} {}", percent(v)));
    parts.extend(share("I/O", moment.io_pressure_some));
    parts.extend(
        moment
            .io_pressure_full
            .map(|full| format!("(all {})", percent(full))),
    );
    parts.extend(share("CPU", moment.cpu_pressure_some));
    parts.extend(share("memory", moment.memory_pressure_some));
    if parts.is_empty() {
        parts.push(untold(recorded));
    }
    let tasks = moment.runnable.zip(moment.blocked);
    parts.extend(tasks.map(|(run, blocked)| format!("{run:.0} tasks run, {blocked:.0} blocked")));
    parts.join("  ")
}

/// `3.1 GiB of 7.7 GiB free, 120 MiB dirty, …`.
pub(crate) fn memory_line(moment: &Moment, recorded: bool) -> String {
    let mut parts = Vec::new();
    if let Some(memory) = moment.memory {
        let (free, all) = (
            unit::bytes(memory.available_bytes),
            unit::bytes(memory.total_bytes),
        );
        parts.push(format!("{free} of {all} available"));
        parts.push(format!("{} dirty", unit::bytes(memory.dirty_bytes)));
        parts.push(format!(
            "{} being written",
            unit::bytes(memory.writeback_bytes)
        ));
    } else {
        parts.push(untold(recorded));
    }
    let swapped = moment.swap_in_bytes_per_second.unwrap_or(0.0)
        + moment.swap_out_bytes_per_second.unwrap_or(0.0);
    if swapped > 0.0 {
        parts.push(format!("{} swapped", unit::throughput(swapped)));
    }
    parts.join("  ")
}

/// What is the matter, and what shows it.
pub(crate) fn words(seen: &Seen<'_>) -> (String, Vec<String>) {
    // What hangs comes first: nothing else explains what waits for it.
    let silent = seen.moment.silent.iter();
    let mut lines: Vec<String> = silent
        .map(|name| format!("{} is not responding", clean(name)))
        .collect();
    if seen.found.samples < LEAST_MOMENTS {
        return ("watching: a few readings first".to_owned(), lines);
    }
    lines.extend(seen.found.evidence.iter().map(|line| clean(line)));
    (fathom_report::diagnosis::headline(&seen.found), lines)
}

/// `12:30:05 UTC`.
pub(crate) fn clock(moment: &Moment) -> String {
    moment.at.map_or(String::new(), |at| {
        format!("{} UTC", at.strftime("%H:%M:%S"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_of_what_the_devices_moved() {
        let of = |disk_bytes: f64| {
            let moment = Moment {
                disks: vec![DiskMoment {
                    name: "sda".to_owned(),
                    write_bytes: disk_bytes,
                    ..DiskMoment::default()
                }],
                processes: vec![DoerMoment {
                    name: "7 tar".to_owned(),
                    write_bytes: 1e6,
                    ..DoerMoment::default()
                }],
                ..Moment::default()
            };
            let (order, all) = doers(&moment, &moment.processes, Sort::Bytes);
            doer(order[0], all)[5].clone()
        };
        // Another did the rest.
        assert_eq!(of(300e6), "·");
        assert_eq!(of(2e6), "50 %");
        // In the page cache still.
        assert_eq!(of(0.0), "100 %");
    }
}
