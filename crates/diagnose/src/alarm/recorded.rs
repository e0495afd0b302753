//! Numbers by name from a recording of another tool, as far as it has them.

use fathom_model::machine::HostReading;

use crate::load::seconds;
use crate::recording::{DiskMoment, LinkMoment, Moment, Recording};

/// The numbers of a recording, whoever wrote it.
pub fn readings_of(recording: &Recording) -> Vec<HostReading> {
    let mut found = Found {
        readings: Vec::new(),
        at_seconds: 0.0,
        seconds: 0.0,
    };
    let cpus = recording.host.cpus.map(f64::from);
    for moment in &recording.moments {
        found.seconds = seconds(moment);
        found.at_seconds += found.seconds;
        host(&mut found, moment, cpus);
        for disk in &moment.disks {
            of_disk(&mut found, disk);
        }
        for link in &moment.links {
            of_link(&mut found, link);
        }
    }
    found.readings
}

/// The numbers of one interval after the other.
struct Found {
    readings: Vec<HostReading>,
    at_seconds: f64,
    seconds: f64,
}

impl Found {
    fn add(&mut self, quantity: &str, instance: &str, value: Option<f64>) {
        if let Some(value) = value {
            self.readings.push(HostReading {
                quantity: quantity.to_owned(),
                instance: instance.to_owned(),
                value,
                at_seconds: self.at_seconds,
                seconds: self.seconds,
                operations: 0.0,
            });
        }
    }

    /// The mean time of operations, with their rate.
    fn mean_time(&mut self, quantity: &str, instance: &str, ms: Option<f64>, per_second: f64) {
        let Some(ms) = ms.filter(|_| per_second > 0.0) else {
            return;
        };
        self.add(quantity, instance, Some(ms / 1000.0));
        if let Some(reading) = self.readings.last_mut() {
            reading.operations = per_second * reading.seconds;
        }
    }
}

fn host(found: &mut Found, moment: &Moment, cpus: Option<f64>) {
    let waiting = moment.runnable.zip(cpus);
    let swapped = moment
        .swap_in_bytes_per_second
        .zip(moment.swap_out_bytes_per_second);
    let memory = moment.memory.filter(|memory| memory.total_bytes > 0);
    let free = memory.map(|m| m.available_bytes as f64 / m.total_bytes as f64);
    for (quantity, value) in [
        ("cpu_busy", moment.cpu.map(|cpu| cpu.busy())),
        ("cpu_iowait", moment.cpu.map(|cpu| cpu.iowait)),
        ("cpu_idle", moment.cpu.map(|cpu| cpu.idle)),
        ("cpu_steal", moment.cpu.map(|cpu| cpu.steal)),
        (
            "run_queue_per_core",
            waiting.map(|(tasks, cpus)| tasks / cpus),
        ),
        ("swap_bytes", swapped.map(|(read, written)| read + written)),
        ("cpu_pressure", moment.cpu_pressure_some),
        ("io_pressure", moment.io_pressure_some),
        ("io_pressure_full", moment.io_pressure_full),
        ("memory_pressure", moment.memory_pressure_some),
        ("memory_used", free.map(|free| 1.0 - free)),
        (
            "tcp_retransmits",
            moment.retransmits.map(|(_, share)| share),
        ),
    ] {
        found.add(quantity, "", value);
    }
    if let Some(busiest) = moment.busiest_cpu {
        let name = format!("cpu{}", busiest.number);
        found.add("core_busy", &name, Some(busiest.busy));
        found.add("core_interrupt", &name, Some(busiest.interrupts));
    }
    if moment.links.is_empty() {
        found.add("nic_use", "", moment.network_use);
    }
}

fn of_disk(found: &mut Found, disk: &DiskMoment) {
    let (operations, flushes) = (disk.operations(), disk.flushes);
    found.mean_time("disk_wait", &disk.name, disk.mean_wait_ms(), operations);
    found.mean_time("disk_flush_wait", &disk.name, disk.flush_wait_ms, flushes);
    for (quantity, value) in [
        ("disk_queue", disk.in_flight()),
        ("disk_in_use", disk.util),
        ("disk_operations", Some(disk.operations())),
        ("disk_bytes", Some(disk.bytes())),
    ] {
        found.add(quantity, &disk.name, value);
    }
}

fn of_link(found: &mut Found, link: &LinkMoment) {
    for (quantity, value) in [
        ("nic_received", Some(link.received_bytes)),
        ("nic_sent", Some(link.sent_bytes)),
        ("nic_errors", Some(link.errors)),
        ("nic_dropped", Some(link.drops)),
        ("nic_use", link.used()),
    ] {
        found.add(quantity, &link.name, value);
    }
}
