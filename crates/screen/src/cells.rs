//! Moments as the cells of tables and words of lines; the screen and the plain
//! text say the same.

use fathom_diagnose::recording::{DiskMoment, DoerMoment, LinkMoment, Moment, NfsMoment};
use fathom_model::diagnosis::DiskLoad;
use fathom_model::unit;
use fathom_report::table::clean;

use crate::history::Seen;
use crate::severity::{self, Severity};

pub(crate) const MIB: f64 = 1_048_576.0;
/// Fewer moments tell nothing.
const LEAST_MOMENTS: u32 = 3;

/// A number of a few digits, empty when it is nothing.
pub(crate) fn number(value: f64) -> String {
    match value {
        v if v < 0.005 => "·".to_owned(),
        v if v < 9.95 => format!("{v:.2}"),
        v if v < 99.5 => format!("{v:.1}"),
        v => unit::count(v),
    }
}

/// The number in a column of this width: thousands and millions where it needs them.
pub(crate) fn figure(value: f64, width: usize) -> String {
    let text = number(value);
    if text.chars().count() <= width {
        return text;
    }
    let scaled = [("k", 1e3), ("M", 1e6), ("G", 1e9), ("T", 1e12)]
        .map(|(unit, scale)| format!("{:.1}{unit}", value / scale));
    let fits = scaled.iter().find(|text| text.len() <= width);
    fits.unwrap_or(&scaled[3]).clone()
}

pub(crate) fn mib(bytes: f64) -> String {
    number(bytes / MIB)
}

pub(crate) fn percent(share: f64) -> String {
    format!("{:.0} %", 100.0 * share)
}

/// Heads of [`device`]: figures of a reading, and two of the time of the verdict.
pub(crate) const DEVICE_HEADS: [&str; 10] = [
    "device",
    "r/s",
    "w/s",
    "rMiB/s",
    "wMiB/s",
    "r ms",
    "w ms",
    "queue",
    "ms each, window",
    "queue, window",
];

pub(crate) fn device(disk: &DiskMoment, load: Option<&DiskLoad>) -> [String; 10] {
    [
        clean(&disk.name),
        number(disk.reads),
        number(disk.writes),
        mib(disk.read_bytes),
        mib(disk.write_bytes),
        number(disk.read_wait_ms.unwrap_or(0.0)),
        number(disk.write_wait_ms.unwrap_or(0.0)),
        number(disk.in_flight().unwrap_or(0.0)),
        number(load.and_then(|load| load.wait_ms).unwrap_or(0.0)),
        number(load.and_then(|load| load.queue).unwrap_or(0.0)),
    ]
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

/// A part of a line that says something by itself.
pub(crate) struct Fact {
    pub(crate) text: String,
    pub(crate) severity: Severity,
}

impl Fact {
    fn plain(text: String) -> Fact {
        Fact {
            text,
            severity: Severity::NotJudged,
        }
    }
}

/// `12 % user, 5 % system, 30 % I/O wait`, `cpu1 60 %`, `load 1.2 on 2 CPUs`.
pub(crate) fn cpu_facts(moment: &Moment, cpus: Option<u32>) -> Vec<Fact> {
    let mut facts = Vec::new();
    if let Some(cpu) = moment.cpu {
        let text = format!(
            "{} user, {} system, {} I/O wait",
            percent(cpu.user),
            percent(cpu.system),
            percent(cpu.iowait)
        );
        facts.push(Fact::plain(text));
        facts.extend((cpu.steal >= 0.005).then(|| Fact {
            text: format!("{} stolen by the hypervisor", percent(cpu.steal)),
            severity: severity::of_stolen(cpu.steal),
        }));
    }
    if let Some(load) = moment.load {
        let of = cpus.map_or(String::new(), |cpus| {
            format!(" on {}", unit::counted(cpus.into(), "CPU"))
        });
        facts.push(Fact::plain(format!("load {load:.1}{of}")));
    }
    let busiest = moment.busiest_cpu;
    facts.extend(
        busiest
            .filter(|_| cpus.is_none_or(|cpus| cpus > 1))
            .map(|cpu| Fact::plain(format!("busiest cpu{} {}", cpu.number, percent(cpu.busy)))),
    );
    facts
}

/// Who lacks what is not known: of a recording it is not known why.
fn not_known(recorded: bool) -> Fact {
    let who = if recorded { "recording" } else { "kernel" };
    Fact::plain(format!("not in this {who}"))
}

/// `I/O 30 % (all 10 %)`, `CPU 1 %`, `memory 0 %`, `tasks: 3 running, 1 blocked`.
pub(crate) fn pressure_facts(moment: &Moment, recorded: bool) -> Vec<Fact> {
    let mut facts = Vec::new();
    if let Some(some) = moment.io_pressure_some {
        let all = moment.io_pressure_full;
        let all = all.map_or(String::new(), |all| format!(" (all {})", percent(all)));
        facts.push(Fact {
            text: format!("I/O {}{all}", percent(some)),
            severity: severity::of_waiting(some),
        });
    }
    let share = |name: &str, value: Option<f64>| {
        value.map(|value| Fact::plain(format!("{name} {}", percent(value))))
    };
    facts.extend(share("CPU", moment.cpu_pressure_some));
    facts.extend(share("memory", moment.memory_pressure_some));
    if facts.is_empty() {
        facts.push(not_known(recorded));
    }
    let tasks = moment.runnable.zip(moment.blocked);
    facts.extend(tasks.map(|(run, blocked)| {
        Fact::plain(format!("tasks: {run:.0} running, {blocked:.0} blocked"))
    }));
    facts
}

/// `3.1 GiB of 7.7 GiB available`, `120 MiB dirty`, ….
pub(crate) fn memory_facts(moment: &Moment, recorded: bool) -> Vec<Fact> {
    let mut facts = Vec::new();
    if let Some(memory) = moment.memory {
        let (free, all) = (
            unit::bytes(memory.available_bytes),
            unit::bytes(memory.total_bytes),
        );
        facts.push(Fact::plain(format!("{free} of {all} available")));
        let dirty = unit::bytes(memory.dirty_bytes);
        facts.push(Fact::plain(format!("{dirty} dirty")));
        let written = unit::bytes(memory.writeback_bytes);
        facts.push(Fact::plain(format!("{written} being written")));
    } else {
        facts.push(not_known(recorded));
    }
    let swapped = moment.swap_in_bytes_per_second.unwrap_or(0.0)
        + moment.swap_out_bytes_per_second.unwrap_or(0.0);
    if swapped > 0.0 {
        facts.push(Fact::plain(format!(
            "{} swapped",
            unit::throughput(swapped)
        )));
    }
    facts
}

/// Whether there are enough moments for a verdict.
pub(crate) fn is_judged(seen: &Seen<'_>) -> bool {
    seen.found.samples >= LEAST_MOMENTS
}

/// What is wrong, and what shows it.
pub(crate) fn words(seen: &Seen<'_>) -> (String, Vec<String>) {
    // What hangs comes first: nothing else explains what waits for it.
    let silent = seen.moment.silent.iter();
    let mut lines: Vec<String> = silent
        .map(|name| format!("{} is not responding", clean(name)))
        .collect();
    if !is_judged(seen) {
        let readings = unit::counted(LEAST_MOMENTS.into(), "reading");
        let headline = format!("no verdict yet: {} of {readings}", seen.found.samples);
        return (headline, lines);
    }
    lines.extend(seen.found.evidence.iter().map(|line| clean(line)));
    let headline = fathom_report::diagnosis::headline(&seen.found);
    // The time is named instead.
    let headline = headline.trim_end_matches(" while this was measured");
    (headline.to_owned(), lines)
}

/// `12:30:05 UTC`.
pub(crate) fn clock(moment: &Moment) -> String {
    moment.at.map_or(String::new(), |at| {
        format!("{} UTC", at.strftime("%H:%M:%S"))
    })
}
