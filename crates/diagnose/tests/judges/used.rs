//! Tables of use from drawn readings.

use std::fmt::Write as _;

use fathom_diagnose::alarm::readings_of;
use fathom_diagnose::use_table;
use fathom_model::machine::{HostReading, MachineLink, MachineNode, ResourceUse};
use fathom_rules::alarm::TABLE;

use crate::draw::Draw;
use crate::hosts;
use crate::kept::{is_as_kept, of_document};

/// Quantities of the host, of disks, of interfaces, of queues.
const HOST: &[&str] = &[
    "cpu_busy",
    "run_queue_per_core",
    "cpu_pressure",
    "cpu_steal",
    "memory_used",
    "memory_pressure",
    "swap_bytes",
    "oom_kills",
    "io_pressure",
    "io_pressure_full",
    "softnet_squeezed",
    "softnet_dropped",
    "tcp_retransmits",
];
const DISK: &[&str] = &[
    "disk_queue",
    "disk_operations",
    "disk_bytes",
    "disk_in_use",
    "disk_wait",
    "disk_flush_wait",
    "disk_queue_share",
    "disk_silent",
    "disk_errors",
    "drive_media_errors",
    "drive_warning",
    "drive_worn",
    "drive_spare",
    "drive_pending",
    "drive_reallocated",
    "drive_crc_errors",
    "drive_hours",
    "pcie_errors",
];
const INTERFACE: &[&str] = &[
    "nic_received",
    "nic_sent",
    "nic_use",
    "nic_dropped",
    "nic_errors",
];
const CORE: &[&str] = &["core_busy", "core_interrupt"];
const QUEUE: &[&str] = &[
    "queue_interrupts",
    "queue_share",
    "queue_packets",
    "queue_holds",
    "queue_fill",
    "queue_stalls",
    "queue_squeezed",
    "queue_dropped",
    "queue_timeouts",
];

fn push(readings: &mut Vec<HostReading>, draw: &mut Draw, quantities: &[&str], instance: &str) {
    let mostly = draw.one_in(2);
    for quantity in quantities {
        if draw.one_in(3) != mostly {
            continue;
        }
        let rule = TABLE.rules.iter().find(|r| r.quantity == Some(quantity));
        let threshold = rule.and_then(|rule| rule.threshold).unwrap_or(0.5);
        let zero = draw.one_in(3);
        for second in 1..=draw.below(4) {
            readings.push(HostReading {
                quantity: (*quantity).to_owned(),
                instance: instance.to_owned(),
                value: if zero { 0.0 } else { draw.around(threshold) },
                at_seconds: second as f64,
                seconds: draw.pick(&[1.0, 1.0, 0.0, 2.5]),
                operations: 0.0,
            });
        }
    }
}

fn picture(draw: &mut Draw) -> Vec<MachineNode> {
    let nodes = ["port", "sdb", "eth0"].iter().filter(|_| draw.one_in(3));
    let nodes: Vec<&&str> = nodes.collect();
    let nodes = nodes.into_iter().map(|name| MachineNode {
        name: (*name).to_owned(),
        link: (!draw.one_in(3)).then(|| MachineLink {
            kind: draw.pick(&["pcie", "ethernet"]).to_owned(),
            below_rated: draw.one_in(2),
            used: draw.maybe(&[0.0, 0.25, 1.0]),
            ..MachineLink::default()
        }),
        ..MachineNode::default()
    });
    nodes.collect()
}

fn readings(draw: &mut Draw) -> Vec<HostReading> {
    let mut found = Vec::new();
    push(&mut found, draw, HOST, "");
    for core in ["cpu0", "cpu1", "cpu2"] {
        push(&mut found, draw, CORE, core);
    }
    for disk in ["sda", "sdb", "loop0", "bus/0 [disk_02]"] {
        push(&mut found, draw, DISK, disk);
    }
    for card in ["eth0", "eth1"] {
        push(&mut found, draw, INTERFACE, card);
    }
    let queues = [
        "sda queue 10",
        "sda queue 9",
        "sdb queue 0",
        "eth0 tx-1",
        "eth0 tx-0",
        "eth0 rx-0",
        "backlog of cpu10",
        "backlog of cpu2",
    ];
    for queue in queues {
        push(&mut found, draw, QUEUE, queue);
    }
    found
}

fn row(resource: &ResourceUse) -> String {
    let figures = [
        &resource.utilisation,
        &resource.saturation,
        &resource.errors,
    ];
    let figures = figures.map(|column| {
        let column = column.iter().map(|figure| {
            let mark = if figure.beyond { "!" } else { "" };
            format!("{}{mark}", figure.title)
        });
        column.collect::<Vec<String>>().join(", ")
    });
    format!(
        "{} {}: {}",
        resource.kind,
        resource.name,
        figures.join(" | ")
    )
}

#[test]
fn tables_of_drawn_readings_are_as_kept() {
    let mut said = String::new();
    for case in 0..150 {
        let mut draw = Draw::of(0x05E5, case);
        let readings = readings(&mut draw);
        let table = use_table("host", 4.0, &readings, picture(&mut draw));
        let _ = writeln!(said, "table {case}: {}", of_document(&table));
        for resource in table.resources.iter().filter(|_| case < 12) {
            let _ = writeln!(said, "  {}", row(resource));
        }
    }
    for case in 0..40 {
        let recording = hosts::recording(&mut Draw::of(0x05E6, case));
        let table = use_table("host", 4.0, &readings_of(&recording), Vec::new());
        let _ = writeln!(said, "recording {case}: {}", of_document(&table));
    }
    is_as_kept("used.txt", &said);
}
