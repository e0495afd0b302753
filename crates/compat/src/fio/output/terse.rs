//! fio's terse lines: one line an entry, fields between semicolons, versions
//! 2 to 5. Latencies are whole microseconds.

use std::fmt::Write;

use fathom_model::{Histogram, RunRecord};

use super::buckets::Buckets;
use super::disk;
use super::gather::{Direction, GroupRates, Stats, entries};
use super::json::{LEAST_CLASS_SHARE, depth_shares};
use super::latency::{Classes, Moments, shares};
use super::series::RateSeries;
use super::view::{FioJob, FioView, Unified};

/// Percentile fields of a direction, those without a percentile included.
const PERCENTILES: usize = 20;

/// The run of one host, or of hosts that are not told apart.
pub(super) fn of_one_host(record: &RunRecord, view: &FioView, version: u32) -> String {
    let entries = entries(record, view);
    let mut out = String::new();
    for entry in &entries {
        put_entry(&mut out, entry, &entries, view, version);
        if version >= 3 {
            put_disks(&mut out, record, view);
        }
        put_end(&mut out, entry, version);
    }
    out
}

// Writing to a string cannot fail, so results of `write!` are not looked at.

pub(super) fn put_entry(
    out: &mut String,
    stats: &Stats<'_>,
    entries: &[Stats<'_>],
    view: &FioView,
    version: u32,
) {
    let job = stats.job;
    let name = field(&job.name);
    let _ = match version {
        2 => write!(out, "2;{name};{};{}", job.group_id, stats.error),
        _ => write!(
            out,
            "{version};{};{name};{};{}",
            field(&view.version),
            job.group_id,
            stats.error
        ),
    };
    let all = stats.mixed();
    let mixed_rates = || {
        let members = entries.iter().filter(|e| e.job.group_id == job.group_id);
        let mixed: Vec<Direction> = members.map(Stats::mixed).collect();
        GroupRates::sum(mixed.iter())
    };
    if job.unified == Unified::Mixed {
        put_direction(out, job, &all, &mixed_rates(), version);
    } else {
        let shown = if version == 3 { 2 } else { 3 };
        for (i, direction) in stats.directions.iter().take(shown).enumerate() {
            let group = GroupRates::of(entries, job.group_id, i);
            put_direction(out, job, direction, &group, version);
        }
    }
    if job.unified == Unified::Both {
        put_direction(out, job, &all, &mixed_rates(), version);
    }
    let (user, system) = stats.cpu_percent();
    let _ = write!(
        out,
        ";{user:.6}%;{system:.6}%;{};{};{}",
        stats.switches, stats.major_faults, stats.minor_faults
    );
    for share in depth_shares(stats)[0] {
        let _ = write!(out, ";{share:3.1}%");
    }
    put_classes(out, stats);
}

/// A name without what separates fields and lines.
fn field(text: &str) -> String {
    text.replace([';', '\n', '\r'], " ")
}

fn put_direction(
    out: &mut String,
    job: &FioJob,
    direction: &Direction,
    group: &GroupRates,
    version: u32,
) {
    let _ = write!(
        out,
        ";{};{};{};{}",
        direction.bytes >> 10,
        direction.bytes_per_second() / 1024,
        direction.ops_per_second() as u64,
        direction.runtime_ms
    );
    put_latency(out, &direction.slat);
    put_latency(out, &direction.clat);
    let of = job.percentiles_of;
    let list = match (of.lat, of.clat) {
        (true, _) => Some(&direction.lat),
        (false, true) => Some(&direction.clat),
        (false, false) => None,
    };
    let values = list.map(|histogram| Buckets::of(histogram).percentiles(&job.percentiles));
    let values = values.unwrap_or_default();
    for i in 0..PERCENTILES {
        let _ = match (job.percentiles.get(i), values.get(i)) {
            (Some(percentile), Some(ns)) => write!(out, ";{percentile:.6}%={}", ns / 1000),
            _ => write!(out, ";0%=0"),
        };
    }
    put_latency(out, &direction.lat);
    put_bandwidth(out, &direction.bandwidth, group);
    if version == 5 {
        let iops = &direction.iops;
        let _ = write!(
            out,
            ";{};{};{};{:.6};{:.6};{}",
            direction.bandwidth.samples,
            iops.min,
            iops.max,
            iops.mean,
            iops.deviation(),
            iops.samples
        );
    }
}

fn put_bandwidth(out: &mut String, bandwidth: &RateSeries, group: &GroupRates) {
    let share = match bandwidth.samples {
        0 => 0.0,
        _ => group.share_percent(bandwidth.mean),
    };
    let _ = write!(
        out,
        ";{};{};{share:.6}%;{:.6};{:.6}",
        bandwidth.min,
        bandwidth.max,
        bandwidth.mean,
        bandwidth.deviation()
    );
}

fn put_latency(out: &mut String, histogram: &Histogram) {
    let moments = Moments::of(histogram);
    let _ = write!(
        out,
        ";{};{};{:.6};{:.6}",
        moments.min / 1000,
        moments.max / 1000,
        moments.mean / 1000.0,
        moments.deviation / 1000.0
    );
}

/// Classes of latencies; those below a microsecond are part of the first.
fn put_classes(out: &mut String, stats: &Stats<'_>) {
    let mut classes = Classes::default();
    for direction in &stats.directions {
        classes.add(&direction.clat);
    }
    let total = stats.ops();
    let mut us = shares(&classes.us, total, LEAST_CLASS_SHARE);
    let below: u64 = classes.ns.iter().sum();
    us[0] += below as f64 * 100.0 / total.max(1) as f64;
    let ms = shares(&classes.ms, total, LEAST_CLASS_SHARE);
    for share in us.iter().chain(&ms) {
        let _ = write!(out, ";{share:3.2}%");
    }
}

pub(super) fn put_disks(out: &mut String, record: &RunRecord, view: &FioView) {
    for disk in disk::disks(record, view) {
        let _ = write!(
            out,
            ";{};{};{};{};{};{};{};{};{:3.2}%",
            field(&disk.name),
            disk.reads,
            disk.writes,
            disk.read_merges,
            disk.write_merges,
            disk.read_ms,
            disk.write_ms,
            disk.queue_ms,
            disk.busy_percent
        );
    }
}

pub(super) fn put_end(out: &mut String, stats: &Stats<'_>, version: u32) {
    if stats.job.continue_on_error {
        let _ = write!(out, ";{};{}", stats.errors, stats.error);
    }
    if let Some(text) = &stats.job.description {
        if version == 2 {
            out.push('\n');
        }
        let _ = write!(out, ";{}", field(text));
    }
    out.push('\n');
}
