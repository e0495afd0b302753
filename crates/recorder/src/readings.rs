//! From frames to numbers by name: those that `observe::machine` reads of a
//! live host, so that alarms and the table of use take both alike.

use std::collections::HashMap;
use std::sync::Arc;

use fathom_model::machine::HostReading;
use fathom_model::observation::each_once;
use fathom_observe::machine::service_quantity;

use crate::frame::{Frame, HostFacts};
use crate::growth::{Change, Growth};
use crate::kind::{
    Kind, bus, cpu, disk, filesystem, health, host, link, memory, mount, pressure, process, raid,
    tcp,
};
use crate::moments::{SHORTEST_SECONDS, longest_seconds};
use crate::sampler::smart_health;

/// Turns frames into numbers by name.
#[derive(Debug)]
pub(crate) struct Readings {
    growth: Growth,
    cpus: f64,
    begun_ns: Option<u64>,
    last_ns: u64,
    longest_seconds: f64,
    /// Errors on the way to a disk when it was first asked.
    first_crc: HashMap<Arc<str>, u64>,
    /// Of disks, whether requests were in flight, and for how long none of them
    /// has completed.
    silent: HashMap<Arc<str>, (bool, f64)>,
}

/// Numbers of one interval.
struct ReadingInterval {
    readings: Vec<HostReading>,
    at_seconds: f64,
    seconds: f64,
}

impl ReadingInterval {
    fn add(&mut self, quantity: &str, instance: &str, value: Option<f64>) {
        let Some(value) = value.filter(|value| value.is_finite()) else {
            return;
        };
        self.readings.push(HostReading {
            quantity: quantity.to_owned(),
            instance: instance.to_owned(),
            value,
            at_seconds: self.at_seconds,
            seconds: self.seconds,
            operations: 0.0,
        });
    }

    /// The mean time of the operations of the interval, with their rate.
    fn mean_time(&mut self, quantity: &str, instance: &str, spent_ms: f64, per_second: f64) {
        if per_second > 0.0 {
            self.add(quantity, instance, Some(spent_ms / 1e3 / per_second));
            if let Some(reading) = self.readings.last_mut() {
                reading.operations = per_second * reading.seconds;
            }
        }
    }

    /// A state at a moment.
    fn state(&mut self, quantity: &str, instance: &str, value: Option<f64>) {
        let seconds = std::mem::replace(&mut self.seconds, 0.0);
        self.add(quantity, instance, value);
        self.seconds = seconds;
    }
}

impl Readings {
    /// For frames of this host at this distance; 0 where it is not known.
    pub(crate) fn new(host: &HostFacts, interval_ns: u64) -> Readings {
        Readings {
            growth: Growth::default(),
            cpus: f64::from(host.cpus.max(1)),
            begun_ns: None,
            last_ns: 0,
            longest_seconds: longest_seconds(interval_ns).unwrap_or(f64::MAX),
            first_crc: HashMap::new(),
            silent: HashMap::new(),
        }
    }

    /// What happened since the frame before; of the first one the states.
    pub(crate) fn advance(&mut self, frame: &Frame) -> Vec<HostReading> {
        let now_ns = frame.at.monotonic_ns;
        let begun_ns = *self.begun_ns.get_or_insert(now_ns);
        let seconds_between = |from: u64| now_ns.saturating_sub(from) as f64 / 1e9;
        let first = begun_ns == now_ns;
        let seconds = if first {
            0.0
        } else {
            seconds_between(self.last_ns)
        };
        self.last_ns = now_ns;
        let mut out = ReadingInterval {
            readings: Vec::new(),
            at_seconds: seconds_between(begun_ns),
            seconds,
        };
        let whole = (SHORTEST_SECONDS..=self.longest_seconds).contains(&seconds);
        for change in self.growth.advance(frame) {
            match change.kind {
                Kind::Filesystem | Kind::Raid | Kind::Health | Kind::Bus | Kind::Mount => {
                    state(&mut out, &change);
                }
                Kind::Smart => {}
                // After a gap, rates are those of a time that nobody saw.
                _ if !whole => {}
                Kind::Process => service(&mut out, &change),
                Kind::Disk => {
                    disks(&mut out, &change);
                    self.silence(&mut out, &change);
                }
                _ => self.rates(&mut out, &change),
            }
        }
        self.smart(&mut out, frame);
        out.readings
    }

    fn rates(&self, out: &mut ReadingInterval, change: &Change) {
        let gauge = |place| change.value(place).map(|value| value as f64);
        let rate = |place| gauge(place).map(|grown| grown / change.seconds);
        match change.kind {
            Kind::Host => {
                // Whoever looks runs as well.
                let waiting = gauge(host::RUNNING).map(|tasks| (tasks - 1.0).max(0.0));
                out.add("run_queue_per_core", "", waiting.map(|n| n / self.cpus));
            }
            Kind::Cpu => cpus(out, change),
            Kind::Memory => {
                let total = gauge(memory::TOTAL).filter(|total| *total > 0.0);
                let share = |free: Option<f64>, total: Option<f64>| Some(1.0 - free? / total?);
                out.add("memory_used", "", share(gauge(memory::AVAILABLE), total));
                let swap = gauge(memory::SWAP_TOTAL).filter(|total| *total > 0.0);
                out.add("swap_used", "", share(gauge(memory::SWAP_FREE), swap));
                let moved = rate(memory::SWAPPED_IN).zip(rate(memory::SWAPPED_OUT));
                out.add(
                    "swap_bytes",
                    "",
                    moved.map(|(read, written)| read + written),
                );
                out.add("oom_kills", "", rate(memory::OOM_KILLS));
            }
            Kind::Pressure => {
                for (quantity, place) in [
                    ("cpu_pressure", pressure::CPU_SOME),
                    ("io_pressure", pressure::IO_SOME),
                    ("io_pressure_full", pressure::IO_FULL),
                    ("memory_pressure", pressure::MEMORY_SOME),
                ] {
                    out.add(quantity, "", rate(place).map(|us| us / 1e6));
                }
            }
            Kind::Link => links(out, change),
            Kind::Tcp => {
                let again = rate(tcp::RETRANSMITS).zip(rate(tcp::SENT_SEGMENTS));
                let share = again.filter(|(_, sent)| *sent > 0.0);
                out.add(
                    "tcp_retransmits",
                    "",
                    share.map(|(again, sent)| again / sent),
                );
                out.add("softnet_dropped", "", rate(tcp::BACKLOG_DROPS));
                out.add("softnet_squeezed", "", rate(tcp::BACKLOG_SQUEEZES));
            }
            _ => {}
        }
    }

    /// For how long requests have been in flight of which none completed.
    fn silence(&mut self, out: &mut ReadingInterval, change: &Change) {
        let completed = [disk::READS, disk::WRITES, disk::DISCARDS, disk::FLUSHES];
        let none = completed.iter().all(|place| change.grown(*place) == 0.0);
        let waiting = change.value(disk::IN_FLIGHT).is_some_and(|count| count > 0);
        let (waited, seconds) = self.silent.entry(Arc::clone(&change.name)).or_default();
        *seconds = match none && waiting && *waited {
            true => *seconds + change.seconds,
            false => 0.0,
        };
        *waited = waiting;
        out.add("disk_silent", &change.name, Some(*seconds));
    }

    /// SMART, and how far its counter of errors on the way has grown: the
    /// counter itself never goes back, so it tells of a cable of long ago.
    fn smart(&mut self, out: &mut ReadingInterval, frame: &Frame) {
        for row in frame.of(Kind::Smart) {
            let health = smart_health(row);
            for (quantity, value) in health.quantities() {
                out.state(quantity, &row.name, Some(value));
            }
            if let Some(now) = health.interface_crc_errors {
                let first = *self.first_crc.entry(Arc::clone(&row.name)).or_insert(now);
                let grown = now.saturating_sub(first) as f64;
                out.state("drive_crc_growth", &row.name, Some(grown));
            }
        }
    }
}

fn cpus(out: &mut ReadingInterval, change: &Change) {
    let sum = |places: &[usize]| -> f64 { places.iter().map(|p| change.grown(*p)).sum() };
    let all: f64 = (0..cpu::FIELDS.len()).map(|p| change.grown(p)).sum();
    if all <= 0.0 {
        return;
    }
    let share = |places: &[usize]| Some(sum(places) / all);
    let busy = Some(1.0 - sum(&[cpu::IDLE, cpu::IOWAIT]) / all);
    if change.name.bytes().all(|byte| byte.is_ascii_digit()) {
        let name = format!("cpu{}", change.name);
        out.add("core_busy", &name, busy);
        out.add("core_interrupt", &name, share(&[cpu::IRQ, cpu::SOFTIRQ]));
    } else {
        out.add("cpu_busy", "", busy);
        out.add("cpu_iowait", "", share(&[cpu::IOWAIT]));
        out.add("cpu_idle", "", share(&[cpu::IDLE]));
        out.add("cpu_steal", "", share(&[cpu::STEAL]));
    }
}

fn disks(out: &mut ReadingInterval, change: &Change) {
    let name = &*change.name;
    let rate = |place| change.per_second(place);
    let known = |place: usize, value: f64| change.value(place).map(|_| value);
    let queue = each_once(rate(disk::QUEUE_MS), rate(disk::FLUSH_MS)) / 1e3;
    let holds = change
        .value(disk::QUEUE_REQUESTS)
        .filter(|holds| *holds > 0);
    let operations = rate(disk::READS) + rate(disk::WRITES);
    let bytes = rate(disk::READ_BYTES) + rate(disk::WRITE_BYTES);
    let spent_ms = rate(disk::READ_MS) + rate(disk::WRITE_MS);
    out.add("disk_operations", name, Some(operations));
    out.add("disk_bytes", name, Some(bytes));
    out.add("disk_queue", name, known(disk::QUEUE_MS, queue));
    out.add(
        "disk_queue_share",
        name,
        holds.map(|holds| queue / holds as f64),
    );
    out.add(
        "disk_in_use",
        name,
        known(disk::BUSY_MS, rate(disk::BUSY_MS) / 1e3),
    );
    out.mean_time("disk_wait", name, spent_ms, operations);
    let (flushed_ms, flushes) = (rate(disk::FLUSH_MS), rate(disk::FLUSHES));
    out.mean_time("disk_flush_wait", name, flushed_ms, flushes);
    out.add("disk_errors", name, known(disk::ERRORS, rate(disk::ERRORS)));
}

fn links(out: &mut ReadingInterval, change: &Change) {
    let name = &*change.name;
    let rate = |place| change.per_second(place);
    let (received, sent) = (rate(link::RECEIVED_BYTES), rate(link::SENT_BYTES));
    out.add("nic_received", name, Some(received));
    out.add("nic_sent", name, Some(sent));
    let errors = rate(link::RECEIVE_ERRORS) + rate(link::SEND_ERRORS);
    out.add("nic_errors", name, Some(errors));
    let drops = rate(link::RECEIVE_DROPS) + rate(link::SEND_DROPS);
    out.add("nic_dropped", name, Some(drops));
    let speed = change.value(link::SPEED).filter(|speed| *speed > 0);
    let used = speed.map(|bits| 8.0 * received.max(sent) / bits as f64);
    out.add("nic_use", name, used);
}

/// `4711 ceph-mds`: a metadata service or a gateway.
fn service(out: &mut ReadingInterval, change: &Change) {
    let Some((number, command)) = change.name.split_once(' ') else {
        return;
    };
    if let Some(quantity) = service_quantity(command) {
        let used = change.value(process::CPU).map(|cpu| cpu as f64 / 1000.0);
        out.add(quantity, &format!("{command} ({number})"), used);
    }
}

fn state(out: &mut ReadingInterval, change: &Change) {
    let name = &*change.name;
    let value = |place| change.value(place).map(|value| value as f64);
    match change.kind {
        Kind::Filesystem => {
            let share = |free: Option<f64>, all: Option<f64>| {
                let all = all.filter(|all| *all > 0.0)?;
                Some(1.0 - free?.min(all) / all)
            };
            let space = share(value(filesystem::AVAILABLE), value(filesystem::TOTAL));
            out.state("space_used", name, space);
            let inodes = share(value(filesystem::INODES_FREE), value(filesystem::INODES));
            out.state("inodes_used", name, inodes);
        }
        Kind::Raid => {
            let running = value(raid::ACTION).map(|action| f64::from(u8::from(action > 0.0)));
            out.state("array_resync", name, running);
            let members = value(raid::MEMBERS).zip(value(raid::WORKING));
            out.state("array_degraded", name, members.map(|(all, up)| all - up));
        }
        Kind::Health => {
            let percent = |place| value(place).map(|percent| percent / 100.0);
            out.state("drive_warning", name, value(health::CRITICAL_WARNING));
            out.state("drive_spare", name, percent(health::SPARE));
            out.state("drive_worn", name, percent(health::USED));
            out.state("drive_media_errors", name, value(health::MEDIA_ERRORS));
            out.state("drive_temperature", name, value(health::TEMPERATURE));
        }
        Kind::Mount => out.state("mount_silent", name, value(mount::SILENT)),
        Kind::Bus => out.state("link_below_rated", name, value(bus::BELOW_RATED)),
        _ => {}
    }
}

#[cfg(test)]
#[path = "readings_tests.rs"]
mod tests;
