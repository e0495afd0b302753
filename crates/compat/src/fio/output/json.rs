//! fio's JSON document, and `json+` with histograms in it.

use fathom_model::RunRecord;

use super::buckets::Buckets;
use super::disk::{self, Disk};
use super::gather::{Direction, GroupRates, Stats, entries};
use super::latency::{CLASSES, Classes, LONG_CLASSES, Moments, shares};
use super::tree::{Json, Object};
use super::version::VersionFields;
use super::view::{FioJob, FioView, Unified};
use super::when;

/// The run of one host, or of hosts that are not told apart.
pub(super) fn of_one_host(record: &RunRecord, view: &FioView, plus: bool) -> String {
    let entries = entries(record, view);
    let writer = Writer {
        record,
        fields: VersionFields::of(&view.version),
        plus,
        entries: &entries,
    };
    let ended_ms = when::ended_unix_ms(record);
    let mut root = Object::new();
    root.text("fio version", &view.version);
    root.integer("timestamp", ended_ms / 1000);
    root.integer("timestamp_ms", ended_ms);
    root.text("time", &when::ctime(ended_ms / 1000));
    if !view.global_options.is_empty() {
        root.object("global options", options(&view.global_options));
    }
    let jobs = entries.iter().map(|entry| Json::Object(writer.job(entry)));
    root.put("jobs", Json::Array(jobs.collect()));
    let disks = disk::disks(record, view);
    if !disks.is_empty() {
        let disks = disks.iter().map(|disk| Json::Object(writer.disk(disk)));
        root.put("disk_util", Json::Array(disks.collect()));
    }
    root.render()
}

/// Options as text.
pub(super) fn options(options: &[(String, String)]) -> Object {
    let mut object = Object::new();
    for (name, value) in options {
        object.text(name, value);
    }
    object
}

/// What the parts of a document need to know.
pub(super) struct Writer<'a> {
    pub(super) record: &'a RunRecord,
    pub(super) fields: VersionFields,
    pub(super) plus: bool,
    pub(super) entries: &'a [Stats<'a>],
}

impl Writer<'_> {
    /// One entry of `jobs`.
    pub(super) fn job(&self, stats: &Stats<'_>) -> Object {
        let mut object = self.head(stats);
        object.object("job options", options(&stats.job.options));
        self.put_figures(&mut object, stats);
        self.put_rest(&mut object, stats);
        object
    }

    /// The sum of many: without what belongs to one job, its options and its
    /// target.
    pub(super) fn sum(&self, stats: &Stats<'_>) -> Object {
        let mut object = self.head(stats);
        self.put_figures(&mut object, stats);
        object
    }

    fn head(&self, stats: &Stats<'_>) -> Object {
        let job = stats.job;
        let mut object = Object::new();
        object.text("jobname", &job.name);
        object.integer("groupid", u64::from(job.group_id));
        if self.fields.starts_and_sectors {
            object.integer("job_start", stats.started_unix_ns / 1_000_000);
        }
        object.integer("error", u64::from(stats.error));
        // fio's client does not know them of its servers.
        if job.host.is_none() {
            object.integer("eta", 0);
            object.integer("elapsed", when::elapsed_seconds(self.record));
        }
        object
    }

    fn put_figures(&self, object: &mut Object, stats: &Stats<'_>) {
        self.put_directions(object, stats);
        put_costs(object, stats);
        put_depths(object, stats);
        put_classes(object, stats);
    }

    fn put_directions(&self, object: &mut Object, stats: &Stats<'_>) {
        let job = stats.job;
        let group = |direction| GroupRates::of(self.entries, job.group_id, direction);
        if job.unified == Unified::Mixed {
            let all = stats.mixed();
            object.object("mixed", self.direction(job, &all, &self.mixed_rates(stats)));
        } else {
            let named = ["read", "write", "trim"].iter().zip(&stats.directions);
            for (i, (name, direction)) in named.enumerate() {
                object.object(name, self.direction(job, direction, &group(i)));
            }
        }
        if job.unified != Unified::Mixed {
            let percentiles = job.percentiles_of.clat || job.percentiles_of.lat;
            let mut sync = Object::new();
            sync.integer("total_ios", stats.sync.count());
            sync.object("lat_ns", self.latency(job, &stats.sync, percentiles));
            object.object("sync", sync);
        }
        if job.unified == Unified::Both {
            let all = stats.mixed();
            object.object("mixed", self.direction(job, &all, &self.mixed_rates(stats)));
        }
    }

    fn mixed_rates(&self, stats: &Stats<'_>) -> GroupRates {
        let group_id = stats.job.group_id;
        let members = self.entries.iter().filter(|e| e.job.group_id == group_id);
        let mixed: Vec<Direction> = members.map(Stats::mixed).collect();
        GroupRates::sum(mixed.iter())
    }

    fn direction(&self, job: &FioJob, direction: &Direction, group: &GroupRates) -> Object {
        let rate = direction.bytes_per_second();
        let of = job.percentiles_of;
        let mut object = Object::new();
        object.integer("io_bytes", direction.bytes);
        object.integer("io_kbytes", direction.bytes >> 10);
        object.integer("bw_bytes", rate);
        object.integer("bw", rate / 1024);
        object.float("iops", direction.ops_per_second());
        object.integer("runtime", direction.runtime_ms);
        object.integer("total_ios", direction.ops);
        object.integer("short_ios", direction.short_ops);
        object.integer("drop_ios", 0);
        object.object("slat_ns", self.latency(job, &direction.slat, of.slat));
        object.object("clat_ns", self.latency(job, &direction.clat, of.clat));
        object.object("lat_ns", self.latency(job, &direction.lat, of.lat));
        let bandwidth = &direction.bandwidth;
        let share = match bandwidth.samples {
            0 => 0.0,
            _ => group.share_percent(bandwidth.mean),
        };
        object.integer("bw_min", bandwidth.min);
        object.integer("bw_max", bandwidth.max);
        object.float("bw_agg", share);
        object.float("bw_mean", bandwidth.mean);
        object.float("bw_dev", bandwidth.deviation());
        object.integer("bw_samples", bandwidth.samples);
        let iops = &direction.iops;
        object.integer("iops_min", iops.min);
        object.integer("iops_max", iops.max);
        object.float("iops_mean", iops.mean);
        object.float("iops_stddev", iops.deviation());
        object.integer("iops_samples", iops.samples);
        object
    }

    fn latency(
        &self,
        job: &FioJob,
        histogram: &fathom_model::Histogram,
        percentiles: bool,
    ) -> Object {
        let moments = Moments::of(histogram);
        let mut object = Object::new();
        object.integer("min", moments.min);
        object.integer("max", moments.max);
        object.float("mean", moments.mean);
        object.float("stddev", moments.deviation);
        object.integer("N", moments.count);
        if !percentiles || moments.count == 0 {
            return object;
        }
        let buckets = Buckets::of(histogram);
        let mut list = Object::new();
        let values = buckets.percentiles(&job.percentiles);
        for (percentile, value) in job.percentiles.iter().zip(values) {
            list.integer(&format!("{percentile:.6}"), value);
        }
        object.object("percentile", list);
        if self.plus {
            let mut bins = Object::new();
            for (value, count) in buckets.filled() {
                bins.integer(&value.to_string(), count);
            }
            object.object("bins", bins);
        }
        object
    }

    /// What depends on the job's settings, after everything else.
    fn put_rest(&self, object: &mut Object, stats: &Stats<'_>) {
        let job = stats.job;
        if job.continue_on_error {
            object.integer("total_err", stats.errors);
            object.integer("first_error", u64::from(stats.error));
        }
        let target = &job.latency_target;
        let depth = stats.depth_found.unwrap_or(target.depth);
        object.integer("latency_depth", u64::from(depth));
        object.integer("latency_target", target.target_us);
        if self.fields.target_units {
            object.integer("latency_target_ns", target.target_us.saturating_mul(1000));
        }
        object.float("latency_percentile", target.percentile);
        object.integer("latency_window", target.window_us);
        if self.fields.target_units {
            object.integer("latency_window_us", target.window_us);
        }
        if let Some(text) = &job.description {
            object.text("desc", text);
        }
        if let Some(settling) = &stats.settling {
            object.object("steadystate", settling.json());
        }
    }

    /// One entry of `disk_util`.
    pub(super) fn disk(&self, disk: &Disk) -> Object {
        let mut object = Object::new();
        object.text("name", &disk.name);
        object.integer("read_ios", disk.reads);
        object.integer("write_ios", disk.writes);
        if self.fields.starts_and_sectors {
            object.integer("read_sectors", disk.read_sectors);
            object.integer("write_sectors", disk.write_sectors);
        }
        object.integer("read_merges", disk.read_merges);
        object.integer("write_merges", disk.write_merges);
        object.integer("read_ticks", disk.read_ms);
        object.integer("write_ticks", disk.write_ms);
        object.integer("in_queue", disk.queue_ms);
        object.float("util", disk.busy_percent);
        object
    }
}

fn put_costs(object: &mut Object, stats: &Stats<'_>) {
    let (user, system) = stats.cpu_percent();
    object.integer("job_runtime", stats.job_runtime_ms);
    object.float("usr_cpu", user);
    object.float("sys_cpu", system);
    object.integer("ctx", stats.switches);
    object.integer("majf", stats.major_faults);
    object.integer("minf", stats.minor_faults);
}

/// Least share that is shown of depths and batches, percent.
pub(super) const LEAST_DEPTH_SHARE: f64 = 0.1;
/// Least share that is shown of a class of latencies, percent.
pub(super) const LEAST_CLASS_SHARE: f64 = 0.01;

/// Shares of depths, submitted and completed batches.
pub(super) fn depth_shares(stats: &Stats<'_>) -> [[f64; 7]; 3] {
    let depths = &stats.depths;
    let all = |counts: &[u64; 7]| counts.iter().sum();
    let share = |counts, total| shares(counts, total, LEAST_DEPTH_SHARE);
    [
        share(&depths.at_submission, all(&depths.at_submission)),
        share(&depths.submitted, all(&depths.submitted)),
        share(&depths.completed, all(&depths.completed)),
    ]
}

fn put_depths(object: &mut Object, stats: &Stats<'_>) {
    const LEVELS: [&str; 7] = ["1", "2", "4", "8", "16", "32", ">=64"];
    const BATCHES: [&str; 7] = ["0", "4", "8", "16", "32", "64", ">=64"];
    let [levels, submitted, completed] = depth_shares(stats);
    object.object("iodepth_level", floats(&LEVELS, &levels));
    object.object("iodepth_submit", floats(&BATCHES, &submitted));
    object.object("iodepth_complete", floats(&BATCHES, &completed));
}

fn put_classes(object: &mut Object, stats: &Stats<'_>) {
    let mut classes = Classes::default();
    for direction in &stats.directions {
        classes.add(&direction.clat);
    }
    let total = stats.ops();
    let share = |counts| shares(counts, total, LEAST_CLASS_SHARE);
    object.object("latency_ns", floats(&CLASSES, &share(&classes.ns)));
    object.object("latency_us", floats(&CLASSES, &share(&classes.us)));
    let long: Vec<&str> = CLASSES.into_iter().chain(LONG_CLASSES).collect();
    let of_ms = shares(&classes.ms, total, LEAST_CLASS_SHARE);
    object.object("latency_ms", floats(&long, &of_ms));
}

fn floats(names: &[&str], values: &[f64]) -> Object {
    let mut object = Object::new();
    for (name, value) in names.iter().zip(values) {
        object.float(name, *value);
    }
    object
}
