//! Disks: rates, waiting times, queues, errors.

use super::Readings;
use crate::Sysroot;
use crate::counters::{DeviceCounters, parse_stat};
use crate::device::device_dir;

/// More disks than any host has.
const DISKS_MAX: usize = 4096;

/// A disk with its last counters.
#[derive(Debug)]
struct Disk {
    name: String,
    /// Requests that its queue holds.
    requests: Option<u64>,
    last: Option<DeviceCounters>,
    errors: Option<u64>,
    /// For how long requests have been in flight of which none completed.
    silent_seconds: f64,
}

/// The disks that are watched.
#[derive(Debug, Default)]
pub(super) struct Disks(Vec<Disk>);

impl Disks {
    /// Drives, and loop devices, arrays and mappings that have a size.
    pub(super) fn find(sys: &Sysroot) -> Disks {
        let names = sys.names("/sys/class/block").into_iter();
        let watched = names.filter(|name| {
            let dir = device_dir(name);
            let sized = sys.number(dir.join("size")).is_some_and(|size| size > 0);
            let hidden = sys.number(dir.join("hidden")) == Some(1);
            sized && !hidden && !sys.exists(dir.join("partition"))
        });
        Disks(
            watched
                .take(DISKS_MAX)
                .map(|name| Disk {
                    requests: sys.number(device_dir(&name).join("queue/nr_requests")),
                    name,
                    last: None,
                    errors: None,
                    silent_seconds: 0.0,
                })
                .collect(),
        )
    }

    pub(super) fn advance(&mut self, sys: &Sysroot, out: &mut Readings) {
        for disk in &mut self.0 {
            disk.advance(sys, out);
        }
    }
}

impl Disk {
    fn advance(&mut self, sys: &Sysroot, out: &mut Readings) {
        let dir = device_dir(&self.name);
        let text = sys.text(dir.join("stat")).unwrap_or_default();
        let Some(now) = parse_stat(&text) else {
            return;
        };
        let last = self.last.replace(now);
        let errors = sys.text(dir.join("device/ioerr_cnt"));
        let errors =
            errors.and_then(|text| u64::from_str_radix(text.trim_start_matches("0x"), 16).ok());
        let before = std::mem::replace(&mut self.errors, errors);
        let Some(last) = last else {
            return;
        };
        let did = now.since(&last);
        self.silent_seconds = match completes_nothing(&last, &now) {
            true => self.silent_seconds + out.seconds,
            false => 0.0,
        };
        let per_second = |count: u64| count as f64 / out.seconds;
        let share_of_time = |ns: u64| ns as f64 / 1e9 / out.seconds;
        let name = self.name.as_str();
        let queue = did.time_in_flight_ns() / 1e9 / out.seconds;
        let operations = did.reads.saturating_add(did.writes);
        let found = [
            ("disk_operations", Some(per_second(operations))),
            (
                "disk_bytes",
                Some(per_second(did.read_bytes.saturating_add(did.write_bytes))),
            ),
            ("disk_queue", Some(queue)),
            ("disk_silent", Some(self.silent_seconds)),
            (
                "disk_queue_share",
                self.requests.filter(|n| *n > 0).map(|n| queue / n as f64),
            ),
            ("disk_in_use", did.busy_ns.map(share_of_time)),
            (
                "disk_errors",
                errors
                    .zip(before)
                    .map(|(now, last)| per_second(now.saturating_sub(last))),
            ),
        ];
        for (quantity, value) in found {
            if let Some(value) = value {
                out.add(quantity, name, value);
            }
        }
        let spent_ns = did.read_time_ns.saturating_add(did.write_time_ns);
        out.mean_time("disk_wait", name, spent_ns, operations);
        if let Some((flushes, spent_ns)) = did.flushes.zip(did.flush_time_ns) {
            out.mean_time("disk_flush_wait", name, spent_ns, flushes);
        }
    }
}

/// Whether requests were in flight all the time and none came back.
fn completes_nothing(last: &DeviceCounters, now: &DeviceCounters) -> bool {
    let completed = |counters: &DeviceCounters| {
        let all = [
            counters.reads,
            counters.writes,
            counters.discards.map_or(0, |(count, ..)| count),
            counters.flushes.map_or(0, |(count, _)| count),
        ];
        all.into_iter().fold(0_u64, u64::saturating_add)
    };
    last.in_flight > 0 && now.in_flight > 0 && completed(last) == completed(now)
}
