//! `disk_util`: what the block devices under the targets did meanwhile.

use std::collections::BTreeMap;

use fathom_model::observation::DeviceActivity;
use fathom_model::{RunRecord, TrialRecord};

use super::gather::{load_started_unix_ns, trial_of};
use super::view::FioView;

/// Activity of one device over the whole report.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Disk {
    pub(super) name: String,
    pub(super) reads: u64,
    pub(super) writes: u64,
    pub(super) read_sectors: u64,
    pub(super) write_sectors: u64,
    pub(super) read_merges: u64,
    pub(super) write_merges: u64,
    pub(super) read_ms: u64,
    pub(super) write_ms: u64,
    pub(super) queue_ms: u64,
    pub(super) busy_percent: f64,
}

/// Sums that are turned into a [`Disk`] at the end.
#[derive(Default)]
struct DiskSum {
    disk: Disk,
    read_ns: u64,
    write_ns: u64,
    queue_ns: u64,
    busy_ns: u64,
    observed_ns: u64,
    /// Until when, since 1970.
    observed_to_ns: u64,
}

const HALF_SECOND_NS: i64 = 500_000_000;

/// The devices under the jobs' targets, by name. What was observed from the
/// start of a load on counts; preparation does not. Of trials that ran at the
/// same time, each device is counted once.
pub(super) fn disks(record: &RunRecord, view: &FioView) -> Vec<Disk> {
    let mut sums: BTreeMap<String, DiskSum> = BTreeMap::new();
    let trials = view.jobs.iter().filter_map(|job| trial_of(job, record));
    let mut trials: Vec<&TrialRecord> = trials.collect();
    trials.sort_by_key(|trial| load_started_unix_ns(trial));
    for trial in trials {
        let load = trial.observations.iter();
        for observation in load.filter(|o| o.start_ns >= -HALF_SECOND_NS) {
            let offset_ns = observation.start_ns.max(0).unsigned_abs();
            let from_ns = load_started_unix_ns(trial).saturating_add(offset_ns);
            let half_ns = observation.duration_ns / 2;
            for device in &observation.devices {
                let sum = sums.entry(device.name.clone()).or_default();
                if from_ns.saturating_add(half_ns) < sum.observed_to_ns {
                    continue;
                }
                sum.observed_to_ns = from_ns.saturating_add(observation.duration_ns);
                add(sum, device, observation.duration_ns);
            }
        }
    }
    sums.into_values().map(finish).collect()
}

fn add(sum: &mut DiskSum, device: &DeviceActivity, duration_ns: u64) {
    let disk = &mut sum.disk;
    disk.name.clone_from(&device.name);
    disk.reads += device.reads;
    disk.writes += device.writes;
    disk.read_sectors += device.read_bytes / 512;
    disk.write_sectors += device.write_bytes / 512;
    disk.read_merges += device.read_merges.unwrap_or(0);
    disk.write_merges += device.write_merges.unwrap_or(0);
    sum.read_ns = sum.read_ns.saturating_add(device.read_time_ns);
    sum.write_ns = sum.write_ns.saturating_add(device.write_time_ns);
    sum.queue_ns = sum.queue_ns.saturating_add(device.queue_time_ns);
    sum.busy_ns = sum.busy_ns.saturating_add(device.busy_ns.unwrap_or(0));
    sum.observed_ns = sum.observed_ns.saturating_add(duration_ns);
}

fn finish(sum: DiskSum) -> Disk {
    let busy = sum.busy_ns as f64 * 100.0 / sum.observed_ns.max(1) as f64;
    Disk {
        read_ms: sum.read_ns / 1_000_000,
        write_ms: sum.write_ns / 1_000_000,
        queue_ms: sum.queue_ns / 1_000_000,
        busy_percent: busy.min(100.0),
        ..sum.disk
    }
}
