//! The USE table (Brendan Gregg): for each resource its utilisation, saturation
//! and errors, with how each was read. Thresholds are those of the alarms.
//!
//! `%util` of a disk is shown as what it is, time with a request under way, and
//! nothing is judged by it.

mod known;
mod queues;

use std::collections::BTreeSet;

use fathom_model::machine::{
    HostReading, MachineNode, MachineUse, ResourceUse, USE_SCHEMA, UseFigure, mean_of,
};

use fathom_rules::alarm;
use known::{CORE, CPU, Column, DISK, INTERFACE, Known, MEMORY, NETWORK, SILENT, STORAGE};

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
        let told = of_drive(readings, &disk);
        // Idle loop devices and memory disks are left out. A hung device moves
        // nothing either, but it must be seen.
        if moved || part || told || is_silent(readings, &disk) {
            resources.push(resource("disk", &disk, &disk, DISK, readings));
            resources.extend(queues::of_disk(&disk, readings));
        }
    }
    // Disks behind an adapter of a RAID, which the kernel does not show.
    for drive in instances(readings, "drive_hours") {
        if !resources.iter().any(|one| one.name == drive) {
            resources.push(resource("disk", &drive, &drive, DISK, readings));
        }
    }
    resources.extend(picture.iter().filter_map(link));
    for name in instances(readings, "nic_received") {
        resources.push(resource("interface", &name, &name, INTERFACE, readings));
        resources.extend(queues::of_card(&name, readings));
    }
    resources.push(resource("network", "TCP and queues", "", NETWORK, readings));
    resources.extend(queues::backlogs(readings));
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

/// Whether requests of a disk were in flight and none came back.
fn is_silent(readings: &[HostReading], disk: &str) -> bool {
    values(readings, SILENT, disk).any(|reading| reading.value > 0.0)
}

/// Whether the drive itself told something.
fn of_drive(readings: &[HostReading], disk: &str) -> bool {
    let mut found = readings.iter();
    found.any(|r| r.instance == disk && r.quantity.starts_with("drive_"))
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

fn mean(readings: &[HostReading], quantity: &str, instance: &str) -> Option<f64> {
    mean_of(values(readings, quantity, instance))
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
        utilisation: column(Column::Utilisation),
        saturation: column(Column::Saturation),
        errors: column(Column::Errors),
    }
}

fn figure(known: &Known, instance: &str, readings: &[HostReading]) -> Option<UseFigure> {
    let (quantity, _, title, unit, how) = *known;
    let most = values(readings, quantity, instance)
        .map(|r| r.value)
        .reduce(f64::max);
    let value = if quantity == SILENT {
        most.filter(|seconds| *seconds > 0.0)?
    } else {
        mean(readings, quantity, instance)?
    };
    let rules = alarm::TABLE.rules.iter();
    let rule = rules.clone().find(|rule| rule.quantity == Some(quantity));
    let threshold = rule.and_then(|rule| rule.threshold);
    let below = rule.is_some_and(|rule| rule.below);
    Some(UseFigure {
        quantity: quantity.to_owned(),
        title: title.to_owned(),
        value: Some(value),
        most,
        unit: unit.to_owned(),
        how: how.to_owned(),
        threshold,
        source: rule.map(|rule| format!("alarm {}: {}", rule.id, rule.source)),
        meaning: rule.map(|rule| rule.title.to_owned()),
        for_seconds: rule.map_or(0, |rule| rule.for_seconds),
        beyond: threshold.is_some_and(|limit| match below {
            true => value < limit,
            false => value > limit,
        }),
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
            operations: 0.0,
        }
    }

    #[test]
    fn a_time_of_operations_is_the_mean_of_all_of_them() {
        let second = |value: f64, operations: f64| HostReading {
            operations,
            ..reading("disk_wait", "sda", value)
        };
        // One slow operation in an idle second, and 99 fast ones in a busy one.
        let readings = [second(0.1, 1.0), second(0.001, 99.0)];
        let wait = mean(&readings, "disk_wait", "sda").unwrap();
        assert!((wait - 0.00199).abs() < 1e-12, "{wait}");
        let uncounted = [second(0.1, 0.0), second(0.001, 0.0)];
        let wait = mean(&uncounted, "disk_wait", "sda").unwrap();
        assert!((wait - 0.0505).abs() < 1e-12, "{wait}");
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
        let queue = &disk.saturation[0];
        assert!(queue.beyond && queue.source.is_some());
        assert!(queue.meaning.is_some() && queue.for_seconds > 0);
        let in_use = disk
            .utilisation
            .iter()
            .find(|f| f.quantity == "disk_in_use")
            .unwrap();
        assert!(
            !in_use.beyond && in_use.threshold.is_none(),
            "%util is not a gate"
        );
        assert!(
            !table.resources.iter().any(|r| r.name == "loop0"),
            "idle loops stay out"
        );
    }

    #[test]
    fn a_disk_that_hangs_has_a_row_and_a_mark_though_it_moves_nothing() {
        let mut readings: Vec<HostReading> = (1..=5)
            .map(|second| reading("disk_silent", "loop0", f64::from(second)))
            .collect();
        readings.push(reading("disk_queue", "loop0", 0.0));
        readings.push(reading("disk_queue", "loop1", 0.0));
        readings.push(reading("disk_silent", "loop1", 0.0));
        let table = use_table("host", 5.0, &readings, Vec::new());
        let names: Vec<&str> = table.resources.iter().map(|r| r.name.as_str()).collect();
        assert_eq!(names, ["loop0"]);
        let silent = table.resources[0].saturation.last().unwrap();
        assert_eq!(silent.value, Some(5.0));
        assert!(silent.beyond && silent.source.is_some(), "{silent:?}");
    }

    #[test]
    fn queues_follow_their_device_and_disks_behind_adapters_have_a_row() {
        let readings = [
            reading("disk_queue", "sda", 0.0),
            reading("disk_operations", "sda", 1.0),
            reading("queue_interrupts", "sda queue 1", 5.0),
            reading("queue_holds", "sda queue 0", 64.0),
            reading("drive_pending", "sda", 8.0),
            reading("drive_hours", "bus/0 [megaraid_disk_02]", 9.0),
            reading("drive_reallocated", "bus/0 [megaraid_disk_02]", 0.0),
            reading("nic_received", "eth0", 1.0),
            reading("queue_fill", "eth0 tx-0", 0.5),
            reading("queue_packets", "backlog of cpu0", 5.0),
            reading("queue_packets", "backlog of cpu1", 0.0),
        ];
        let table = use_table("host", 2.0, &readings, Vec::new());
        let names: Vec<&str> = table.resources.iter().map(|r| r.name.as_str()).collect();
        assert_eq!(
            names,
            [
                "sda",
                "sda queue 0",
                "sda queue 1",
                "bus/0 [megaraid_disk_02]",
                "eth0",
                "eth0 tx-0",
                "backlog of cpu0"
            ]
        );
        let pending = &table.resources[0].errors[0];
        assert!(pending.beyond && pending.source.is_some(), "{pending:?}");
    }
}
