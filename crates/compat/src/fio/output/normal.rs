//! fio's text for a terminal, close enough for a human and for `grep`.

use std::fmt::Write;

use fathom_model::{Histogram, RunRecord};

use super::buckets::Buckets;
use super::gather::{Direction, GroupRates, Stats, entries, trial_of};
use super::json::{LEAST_CLASS_SHARE, depth_shares};
use super::latency::{CLASSES, Classes, LONG_CLASSES, Moments, shares};
use super::number::{Unit, short};
use super::version::VersionFields;
use super::view::{FioJob, FioView, Unified};
use super::{disk, when};

const NAMES: [&str; 3] = ["read", "write", "trim"];

/// The run of one host, or of hosts that are not told apart.
pub(super) fn of_one_host(record: &RunRecord, view: &FioView) -> String {
    let entries = entries(record, view);
    let mut out = String::new();
    put_header(&mut out, record, view);
    for entry in entries.iter().filter(|entry| entry.ops() > 0) {
        out.push('\n');
        put_entry(&mut out, entry, &entries, record);
        put_of_job(&mut out, entry);
    }
    put_groups(&mut out, view, &entries);
    put_disks(&mut out, record, view);
    out
}

// Writing to a string cannot fail, so results of `write!` are not looked at.

/// What fio says before it starts.
fn put_header(out: &mut String, record: &RunRecord, view: &FioView) {
    put_jobs(out, record, view);
    let _ = writeln!(out, "{}\n{}", view.version, starting(view));
}

/// How many processes there are.
pub(super) fn starting(view: &FioView) -> String {
    let jobs: u32 = view.jobs.iter().map(|job| job.clones.max(1)).sum();
    let plural = if jobs == 1 { "process" } else { "processes" };
    format!("Starting {jobs} {plural}")
}

/// The jobs, a line for each.
pub(super) fn put_jobs(out: &mut String, record: &RunRecord, view: &FioView) {
    for job in &view.jobs {
        let option = |name: &str| {
            let own = job.options.iter().chain(&view.global_options);
            own.into_iter()
                .find(|(key, _)| key == name)
                .map(|(_, value)| value.clone())
        };
        let Some(trial) = trial_of(job, record) else {
            continue;
        };
        let workload = &trial.spec.workload;
        let bytes = |bytes| short(bytes, 4, true, Unit::Bytes);
        let block = &workload.block;
        let range = format!("{}-{}", bytes(block.min_bytes()), bytes(block.max_bytes()));
        let _ = writeln!(
            out,
            "{}: (g={}): rw={}, bs=(R) {range}, (W) {range}, (T) {range}, ioengine={}, iodepth={}",
            job.name,
            job.group_id,
            option("rw").unwrap_or_else(|| "read".to_owned()),
            option("ioengine").unwrap_or_else(|| "psync".to_owned()),
            workload.queue_depth,
        );
        if job.clones > 1 {
            out.push_str("...\n");
        }
    }
}

/// What was measured of an entry; what only a job has is behind it
/// ([`put_of_job`]).
pub(super) fn put_entry(
    out: &mut String,
    stats: &Stats<'_>,
    entries: &[Stats<'_>],
    record: &RunRecord,
) {
    let job = stats.job;
    let error = match stats.error {
        0 => " 0".to_owned(),
        errno => format!("{errno:2} (errno {errno})"),
    };
    let ended = when::ctime(when::ended_unix_ms(record) / 1000);
    let _ = writeln!(
        out,
        "{}: (groupid={}, jobs={}): err={error}: pid=0: {ended}",
        job.name, job.group_id, stats.members
    );
    if let Some(text) = &job.description {
        let _ = writeln!(out, "  Description  : [{text}]");
    }
    let mixed = || {
        let of_group = entries.iter().filter(|e| e.job.group_id == job.group_id);
        let all: Vec<Direction> = of_group.map(Stats::mixed).collect();
        GroupRates::sum(all.iter())
    };
    if job.unified != Unified::Mixed {
        for (i, direction) in stats.directions.iter().enumerate() {
            let group = GroupRates::of(entries, job.group_id, i);
            put_direction(out, job, NAMES[i], direction, &group);
        }
    }
    if job.unified != Unified::Separate {
        put_direction(out, job, "mixed", &stats.mixed(), &mixed());
    }
    put_classes(out, stats);
    put_sync(out, stats);
    put_rest(out, stats);
}

fn rate_unit(job: &FioJob) -> Unit {
    if job.bits {
        Unit::BitRate
    } else {
        Unit::ByteRate
    }
}

fn put_direction(
    out: &mut String,
    job: &FioJob,
    name: &str,
    direction: &Direction,
    group: &GroupRates,
) {
    if direction.ops == 0 {
        return;
    }
    let digits = job.significant_digits as usize;
    let rate = direction.bytes_per_second();
    let _ = writeln!(
        out,
        "  {name}: IOPS={}, BW={} ({})({}/{}msec){}",
        short(
            direction.ops_per_second() as u64,
            digits,
            false,
            Unit::Plain
        ),
        short(rate, digits, true, rate_unit(job)),
        short(rate, digits, false, rate_unit(job)),
        short(direction.bytes, digits, true, Unit::Bytes),
        direction.runtime_ms,
        if name == "write" {
            "; 0 zone resets"
        } else {
            ""
        },
    );
    put_latency(out, "slat", &direction.slat);
    put_latency(out, "clat", &direction.clat);
    put_latency(out, " lat", &direction.lat);
    let of = job.percentiles_of;
    let latencies = [
        ("slat", &direction.slat, of.slat),
        ("clat", &direction.clat, of.clat),
        ("lat", &direction.lat, of.lat),
    ];
    for (name, histogram, _) in latencies.iter().filter(|(_, _, wanted)| *wanted) {
        put_percentiles(out, job, name, histogram);
    }
    put_rates(out, job, direction, group);
}

fn put_rates(out: &mut String, job: &FioJob, direction: &Direction, group: &GroupRates) {
    let bandwidth = &direction.bandwidth;
    if bandwidth.samples > 0 {
        let factor = if job.bits { 8.0 } else { 1.0 };
        let mega = bandwidth.mean * factor > 1024.0 * 1024.0;
        let divisor = if mega { 1024.0 } else { 1.0 };
        let unit = match (job.bits, mega) {
            (false, false) => "KiB",
            (false, true) => "MiB",
            (true, false) => "Kibit",
            (true, true) => "Mibit",
        };
        let scaled = |kib: f64| kib * factor / divisor;
        let _ = writeln!(
            out,
            "   bw ({unit:>5}/s): min={:5}, max={:5}, per={:3.2}%, avg={:5.2}, stdev={:5.2}, \
             samples={}",
            scaled(bandwidth.min as f64) as u64,
            scaled(bandwidth.max as f64) as u64,
            group.share_percent(bandwidth.mean),
            scaled(bandwidth.mean),
            scaled(bandwidth.deviation()),
            bandwidth.samples,
        );
    }
    let iops = &direction.iops;
    if iops.samples > 0 {
        let _ = writeln!(
            out,
            "   iops        : min={:5}, max={:5}, avg={:5.2}, stdev={:5.2}, samples={}",
            iops.min,
            iops.max,
            iops.mean,
            iops.deviation(),
            iops.samples,
        );
    }
}

fn put_latency(out: &mut String, name: &str, histogram: &Histogram) {
    let moments = Moments::of(histogram);
    if moments.count == 0 {
        return;
    }
    let wide = |least: u64| {
        moments.min > 2 * least && moments.max >= 100 * least && moments.deviation > least as f64
    };
    let (divisor, unit) = if wide(1_000_000) {
        (1_000_000, "msec")
    } else if wide(1000) {
        (1000, "usec")
    } else {
        (1, "nsec")
    };
    let number = |ns: u64| short(ns / divisor, 6, false, Unit::Plain);
    let _ = writeln!(
        out,
        "    {name} ({unit}): min={}, max={}, avg={:5.2}, stdev={:5.2}",
        number(moments.min),
        number(moments.max),
        moments.mean / divisor as f64,
        moments.deviation / divisor as f64,
    );
}

fn put_percentiles(out: &mut String, job: &FioJob, name: &str, histogram: &Histogram) {
    if histogram.is_empty() || job.percentiles.is_empty() {
        return;
    }
    let values = Buckets::of(histogram).percentiles(&job.percentiles);
    let least = values.iter().min().copied().unwrap_or(0);
    let most = values.iter().max().copied().unwrap_or(0);
    let (divisor, unit) = if least > 2_000_000 && most > 99_999_999 {
        (1_000_000, "msec")
    } else if least > 2000 && most > 99_999 {
        (1000, "usec")
    } else {
        (1, "nsec")
    };
    let width = (most / divisor).to_string().len().max(5);
    let precision = job.percentile_precision;
    let a_line = (73 / (precision + 10 + width)).max(1);
    let _ = writeln!(out, "    {name} percentiles ({unit}):");
    let shown: Vec<String> = job
        .percentiles
        .iter()
        .zip(values)
        .map(|(percentile, value)| {
            let place = precision + 3;
            let value = value.div_ceil(divisor);
            format!(" {percentile:>place$.precision$}th=[{value:>width$}]")
        })
        .collect();
    let lines: Vec<String> = shown.chunks(a_line).map(|part| part.join(",")).collect();
    for (i, line) in lines.iter().enumerate() {
        let end = if i + 1 < lines.len() { "," } else { "" };
        let _ = writeln!(out, "     |{line}{end}");
    }
}

fn put_classes(out: &mut String, stats: &Stats<'_>) {
    let mut classes = Classes::default();
    for direction in &stats.directions {
        classes.add(&direction.clat);
    }
    let total = stats.ops();
    let long: Vec<&str> = CLASSES.into_iter().chain(LONG_CLASSES).collect();
    let share = |counts| shares(counts, total, LEAST_CLASS_SHARE);
    put_shares(out, "nsec", &CLASSES, &share(&classes.ns));
    put_shares(out, "usec", &CLASSES, &share(&classes.us));
    put_shares(
        out,
        "msec",
        &long,
        &shares(&classes.ms, total, LEAST_CLASS_SHARE),
    );
}

fn put_shares(out: &mut String, unit: &str, names: &[&str], shares: &[f64]) {
    let shown: Vec<String> = names
        .iter()
        .zip(shares)
        .filter(|(_, share)| **share > 0.0)
        .map(|(name, share)| format!("{name}={share:3.2}%"))
        .collect();
    for line in shown.chunks(5) {
        let _ = writeln!(out, "  lat ({unit})   : {}", line.join(", "));
    }
}

fn put_sync(out: &mut String, stats: &Stats<'_>) {
    if stats.sync.is_empty() {
        return;
    }
    out.push_str("  fsync/fdatasync/sync_file_range:\n");
    put_latency(out, "sync", &stats.sync);
    put_percentiles(out, stats.job, "sync", &stats.sync);
}

fn put_rest(out: &mut String, stats: &Stats<'_>) {
    let (user, system) = stats.cpu_percent();
    let _ = writeln!(
        out,
        "  cpu          : usr={user:3.2}%, sys={system:3.2}%, ctx={}, majf={}, minf={}",
        stats.switches, stats.major_faults, stats.minor_faults
    );
    let [levels, submitted, completed] = depth_shares(stats);
    let line = |names: [&str; 7], shares: [f64; 7]| {
        let parts = names.iter().zip(shares);
        let parts: Vec<String> = parts.map(|(n, s)| format!("{n}={s:3.1}%")).collect();
        parts.join(", ")
    };
    const LEVELS: [&str; 7] = ["1", "2", "4", "8", "16", "32", ">=64"];
    const BATCHES: [&str; 7] = ["0", "4", "8", "16", "32", "64", ">=64"];
    let _ = writeln!(out, "  IO depths    : {}", line(LEVELS, levels));
    let _ = writeln!(out, "     submit    : {}", line(BATCHES, submitted));
    let _ = writeln!(out, "     complete  : {}", line(BATCHES, completed));
    let [read, write, trim] = &stats.directions;
    let _ = writeln!(
        out,
        "     issued rwts: total={},{},{},{} short={},{},{},0 dropped=0,0,0,0",
        read.ops,
        write.ops,
        trim.ops,
        stats.sync.count(),
        read.short_ops,
        write.short_ops,
        trim.short_ops,
    );
    if stats.job.continue_on_error {
        let _ = writeln!(
            out,
            "     errors    : total={}, first_error={}/<errno {}>",
            stats.errors, stats.error, stats.error
        );
    }
}

/// The target of a job, and how it settled.
pub(super) fn put_of_job(out: &mut String, stats: &Stats<'_>) {
    let target = &stats.job.latency_target;
    let _ = writeln!(
        out,
        "     latency   : target={}, window={}, percentile={:.2}%, depth={}",
        target.target_us,
        target.window_us,
        target.percentile,
        stats.depth_found.unwrap_or(target.depth)
    );
    if let Some(settling) = &stats.settling {
        let _ = writeln!(
            out,
            "{}",
            settling.line(stats.job.significant_digits as usize)
        );
    }
}

/// The sums of the groups.
pub(super) fn put_groups(out: &mut String, view: &FioView, entries: &[Stats<'_>]) {
    let mut groups: Vec<u32> = view.jobs.iter().map(|job| job.group_id).collect();
    groups.dedup();
    for group in groups {
        put_group(out, group, entries);
    }
}

fn put_group(out: &mut String, group_id: u32, entries: &[Stats<'_>]) {
    let members = || entries.iter().filter(|e| e.job.group_id == group_id);
    let Some(first) = members().next() else {
        return;
    };
    let job = first.job;
    let _ = writeln!(out, "\nRun status group {group_id} (all jobs):");
    if job.unified != Unified::Mixed {
        for (i, name) in ["   READ", "  WRITE", "   TRIM"].iter().enumerate() {
            put_group_rates(out, job, name, &GroupRates::of(entries, group_id, i));
        }
    }
    if job.unified != Unified::Separate {
        let mixed: Vec<Direction> = members().map(Stats::mixed).collect();
        put_group_rates(out, job, "  MIXED", &GroupRates::sum(mixed.iter()));
    }
}

fn put_group_rates(out: &mut String, job: &FioJob, name: &str, group: &GroupRates) {
    if group.most_ms == 0 {
        return;
    }
    let digits = job.significant_digits as usize;
    let both = |value, unit| {
        let one = |binary| short(value, digits, binary, unit);
        (one(true), one(false))
    };
    let all = both(group.bytes_per_second(), rate_unit(job));
    let least = both(group.least_bytes_per_second, rate_unit(job));
    let most = both(group.most_bytes_per_second, rate_unit(job));
    let bytes = both(group.bytes, Unit::Bytes);
    let _ = writeln!(
        out,
        "{name}: bw={} ({}), {}-{} ({}-{}), io={} ({}), run={}-{}msec",
        all.0,
        all.1,
        least.0,
        most.0,
        least.1,
        most.1,
        bytes.0,
        bytes.1,
        group.least_ms,
        group.most_ms,
    );
}

pub(super) fn put_disks(out: &mut String, record: &RunRecord, view: &FioView) {
    let disks = disk::disks(record, view);
    if disks.is_empty() {
        return;
    }
    let sectors = VersionFields::of(&view.version).starts_and_sectors;
    out.push_str("\nDisk stats (read/write):\n");
    for disk in disks {
        let _ = write!(out, "  {}: ios={}/{}", disk.name, disk.reads, disk.writes);
        if sectors {
            let _ = write!(
                out,
                ", sectors={}/{}",
                disk.read_sectors, disk.write_sectors
            );
        }
        let _ = writeln!(
            out,
            ", merge={}/{}, ticks={}/{}, in_queue={}, util={:3.2}%",
            disk.read_merges,
            disk.write_merges,
            disk.read_ms,
            disk.write_ms,
            disk.queue_ms,
            disk.busy_percent,
        );
    }
}
