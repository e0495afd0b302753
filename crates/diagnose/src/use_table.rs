//! The USE table (Brendan Gregg): for each resource its utilisation, saturation
//! and errors, with how each was read. Thresholds are those of the alarms.
//!
//! `%util` of a disk is shown as what it is, time with a request under way, and
//! nothing is judged by it.

use std::collections::BTreeSet;

use fathom_model::machine::{
    HostReading, MachineNode, MachineUse, ResourceUse, USE_SCHEMA, UseFigure,
};

use crate::rules::alarm_rules;

/// Columns of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Column {
    Utilisation,
    Saturation,
    Errors,
}

use Column::{Errors, Saturation, Utilisation};

/// Quantity, column, title, unit, how it is read.
type Known = (
    &'static str,
    Column,
    &'static str,
    &'static str,
    &'static str,
);

const CPU: &[Known] = &[
    (
        "cpu_busy",
        Utilisation,
        "busy",
        "ratio",
        "/proc/stat, all CPUs, neither idle nor iowait",
    ),
    (
        "run_queue_per_core",
        Saturation,
        "runnable per CPU",
        "tasks",
        "procs_running of /proc/stat",
    ),
    (
        "cpu_pressure",
        Saturation,
        "stalled",
        "ratio",
        "/proc/pressure/cpu, some",
    ),
    (
        "cpu_steal",
        Saturation,
        "stolen",
        "ratio",
        "/proc/stat, steal",
    ),
];
const CORE: &[Known] = &[
    (
        "core_busy",
        Utilisation,
        "busy",
        "ratio",
        "/proc/stat, the busiest core",
    ),
    (
        "core_interrupt",
        Saturation,
        "interrupts",
        "ratio",
        "/proc/stat, irq and softirq",
    ),
];
const MEMORY: &[Known] = &[
    (
        "memory_used",
        Utilisation,
        "used",
        "ratio",
        "/proc/meminfo, 1 - MemAvailable / MemTotal",
    ),
    (
        "memory_pressure",
        Saturation,
        "stalled",
        "ratio",
        "/proc/pressure/memory, some",
    ),
    (
        "swap_bytes",
        Saturation,
        "swapping",
        "bytes/s",
        "/proc/vmstat, pswpin and pswpout",
    ),
    (
        "oom_kills",
        Errors,
        "killed",
        "1/s",
        "/proc/vmstat, oom_kill",
    ),
];
const STORAGE: &[Known] = &[
    (
        "io_pressure",
        Saturation,
        "stalled",
        "ratio",
        "/proc/pressure/io, some",
    ),
    (
        "io_pressure_full",
        Saturation,
        "all stalled",
        "ratio",
        "/proc/pressure/io, full",
    ),
];
const DISK: &[Known] = &[
    (
        "disk_operations",
        Utilisation,
        "operations",
        "1/s",
        "sysfs stat, reads and writes",
    ),
    (
        "disk_bytes",
        Utilisation,
        "bytes",
        "bytes/s",
        "sysfs stat, sectors",
    ),
    (
        "disk_in_use",
        Utilisation,
        "time in use",
        "ratio",
        "sysfs stat, what iostat calls %util: no measure of how full a disk is",
    ),
    (
        "disk_queue",
        Saturation,
        "queue",
        "requests",
        "sysfs stat, time in flight / time",
    ),
    (
        "disk_wait",
        Saturation,
        "wait",
        "s",
        "sysfs stat, mean time of reads and writes",
    ),
    (
        "disk_flush_wait",
        Saturation,
        "flush",
        "s",
        "sysfs stat, mean time of flushes",
    ),
    (
        "disk_queue_share",
        Saturation,
        "of queue",
        "ratio",
        "queue / nr_requests",
    ),
    (
        "disk_errors",
        Errors,
        "errors",
        "1/s",
        "sysfs device/ioerr_cnt",
    ),
    (
        "drive_media_errors",
        Errors,
        "media",
        "errors",
        "NVMe health page, media_errors",
    ),
    (
        "pcie_errors",
        Errors,
        "PCIe",
        "errors",
        "sysfs aer_dev_nonfatal",
    ),
];
const INTERFACE: &[Known] = &[
    (
        "nic_use",
        Utilisation,
        "of line rate",
        "ratio",
        "sysfs statistics / speed",
    ),
    (
        "nic_received",
        Utilisation,
        "in",
        "bytes/s",
        "sysfs statistics/rx_bytes",
    ),
    (
        "nic_sent",
        Utilisation,
        "out",
        "bytes/s",
        "sysfs statistics/tx_bytes",
    ),
    (
        "nic_dropped",
        Saturation,
        "dropped",
        "1/s",
        "sysfs statistics, rx and tx dropped, missed",
    ),
    (
        "nic_errors",
        Errors,
        "errors",
        "1/s",
        "sysfs statistics, rx_errors and tx_errors",
    ),
];
const NETWORK: &[Known] = &[
    (
        "softnet_squeezed",
        Saturation,
        "squeezed",
        "1/s",
        "/proc/net/softnet_stat, column 3",
    ),
    (
        "softnet_dropped",
        Errors,
        "dropped",
        "1/s",
        "/proc/net/softnet_stat, column 2",
    ),
    (
        "tcp_retransmits",
        Errors,
        "sent again",
        "ratio",
        "/proc/net/snmp, RetransSegs / OutSegs",
    ),
];

/// The table from what was read, with the picture.
pub fn use_table(
    host: &str,
    seconds: f64,
    readings: &[HostReading],
    picture: Vec<MachineNode>,
) -> MachineUse {
    let mut resources = vec![
        resource("cpu", "all CPUs", "", CPU, readings),
        core(readings),
        resource("memory", "memory", "", MEMORY, readings),
        resource("storage", "all storage", "", STORAGE, readings),
    ];
    for disk in instances(readings, "disk_queue") {
        let moved = mean(readings, "disk_operations", &disk).unwrap_or(0.0) > 0.0;
        let part = picture.iter().any(|node| node.name == disk);
        // Idle loops and memory disks are no resources.
        if moved || part {
            resources.push(resource("disk", &disk, &disk, DISK, readings));
        }
    }
    resources.extend(picture.iter().filter_map(link));
    for name in instances(readings, "nic_received") {
        resources.push(resource("interface", &name, &name, INTERFACE, readings));
    }
    resources.push(resource("network", "TCP and queues", "", NETWORK, readings));
    resources
        .retain(|r| !(r.utilisation.is_empty() && r.saturation.is_empty() && r.errors.is_empty()));
    MachineUse {
        schema: USE_SCHEMA.to_owned(),
        host: host.to_owned(),
        seconds,
        resources,
        picture,
        notes: Vec::new(),
    }
}

fn instances(readings: &[HostReading], quantity: &str) -> BTreeSet<String> {
    let of = readings.iter().filter(|r| r.quantity == quantity);
    of.map(|reading| reading.instance.clone()).collect()
}

fn values<'a>(
    readings: &'a [HostReading],
    quantity: &'a str,
    instance: &'a str,
) -> impl Iterator<Item = &'a HostReading> + Clone {
    let of = move |r: &&HostReading| r.quantity == quantity && r.instance == instance;
    readings.iter().filter(of)
}

/// Mean over time; of states the mean of readings.
fn mean(readings: &[HostReading], quantity: &str, instance: &str) -> Option<f64> {
    let found = values(readings, quantity, instance);
    let seconds: f64 = found.clone().map(|r| r.seconds).sum();
    if seconds > 0.0 {
        return Some(found.map(|r| r.value * r.seconds).sum::<f64>() / seconds);
    }
    found.last().map(|reading| reading.value)
}

fn resource(
    kind: &str,
    name: &str,
    instance: &str,
    known: &[Known],
    readings: &[HostReading],
) -> ResourceUse {
    let column = |wanted: Column| -> Vec<UseFigure> {
        let of = known.iter().filter(|(_, column, ..)| *column == wanted);
        of.filter_map(|known| figure(known, instance, readings))
            .collect()
    };
    ResourceUse {
        kind: kind.to_owned(),
        name: name.to_owned(),
        utilisation: column(Utilisation),
        saturation: column(Saturation),
        errors: column(Errors),
    }
}

fn figure(known: &Known, instance: &str, readings: &[HostReading]) -> Option<UseFigure> {
    let (quantity, _, title, unit, how) = *known;
    let value = mean(readings, quantity, instance)?;
    let rules = alarm_rules().rules.iter();
    let rule = rules
        .clone()
        .find(|rule| rule.quantity.as_deref() == Some(quantity));
    let threshold = rule.and_then(|rule| rule.threshold);
    Some(UseFigure {
        quantity: quantity.to_owned(),
        title: title.to_owned(),
        value: Some(value),
        most: values(readings, quantity, instance)
            .map(|r| r.value)
            .reduce(f64::max),
        unit: unit.to_owned(),
        how: how.to_owned(),
        threshold,
        source: rule.map(|rule| format!("alarm {}: {}", rule.name, rule.source)),
        beyond: threshold.is_some_and(|limit| value > limit),
    })
}

/// The core that was busiest.
fn core(readings: &[HostReading]) -> ResourceUse {
    let cores = instances(readings, "core_busy").into_iter();
    let busy = cores.map(|core| (mean(readings, "core_busy", &core).unwrap_or(0.0), core));
    match busy.max_by(|a, b| a.0.total_cmp(&b.0)) {
        Some((_, core)) => {
            let name = format!("busiest ({core})");
            resource("core", &name, &core, CORE, readings)
        }
        None => ResourceUse::default(),
    }
}

/// The link above a part, where its speed is known.
fn link(node: &MachineNode) -> Option<ResourceUse> {
    let link = node.link.as_ref().filter(|link| link.kind != "ethernet")?;
    let plain = |quantity: &str, title: &str, value: f64, unit: &str, how: &str| UseFigure {
        quantity: quantity.to_owned(),
        title: title.to_owned(),
        value: Some(value),
        most: None,
        unit: unit.to_owned(),
        how: how.to_owned(),
        ..UseFigure::default()
    };
    let used = link.used.map(|share| {
        let how = "bytes of the disks and interfaces below / speed of the link";
        plain("link_use", "of link", share, "ratio", how)
    });
    let below = UseFigure {
        beyond: link.below_rated,
        threshold: Some(0.0),
        ..plain(
            "link_below_rated",
            "below rated",
            f64::from(u8::from(link.below_rated)),
            "state",
            "sysfs current and max link speed and width",
        )
    };
    Some(ResourceUse {
        kind: "link".to_owned(),
        name: node.name.clone(),
        utilisation: used.into_iter().collect(),
        saturation: Vec::new(),
        errors: vec![below],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(quantity: &str, instance: &str, value: f64) -> HostReading {
        HostReading {
            quantity: quantity.to_owned(),
            instance: instance.to_owned(),
            value,
            at_seconds: 1.0,
            seconds: 1.0,
        }
    }

    #[test]
    fn figures_stand_in_their_columns_and_thresholds_come_from_the_alarms() {
        let readings = [
            reading("cpu_busy", "", 0.5),
            reading("cpu_busy", "", 1.0),
            reading("core_busy", "cpu0", 0.9),
            reading("core_busy", "cpu1", 0.2),
            reading("core_interrupt", "cpu0", 0.85),
            reading("disk_operations", "sda", 100.0),
            reading("disk_in_use", "sda", 1.0),
            reading("disk_queue", "sda", 12.0),
            reading("disk_queue", "loop0", 0.0),
        ];
        let table = use_table("host", 2.0, &readings, Vec::new());
        let find = |name: &str| table.resources.iter().find(|r| r.name == name).unwrap();
        assert_eq!(find("all CPUs").utilisation[0].value, Some(0.75));
        assert_eq!(find("all CPUs").utilisation[0].most, Some(1.0));
        assert!(find("busiest (cpu0)").saturation[0].beyond);
        let disk = find("sda");
        assert!(disk.saturation[0].beyond && disk.saturation[0].source.is_some());
        let in_use = disk
            .utilisation
            .iter()
            .find(|f| f.quantity == "disk_in_use")
            .unwrap();
        assert!(
            !in_use.beyond && in_use.threshold.is_none(),
            "%util is no gate"
        );
        assert!(
            !table.resources.iter().any(|r| r.name == "loop0"),
            "idle loops stay out"
        );
    }
}
