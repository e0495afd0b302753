//! What a schedule will cost, before it runs: time, bytes written, space.
//!
//! Nobody knows a drive's speed before it was measured, so what is written in
//! a given time is told as a range between the slowest and the fastest drives
//! that are in use.

use std::collections::BTreeMap;

use fathom_model::workload::{
    BlockSizes, MetaWork, ObjectWork, Precondition, RateUnit, WorkerRegion, Workload,
};
use fathom_model::{OpKind, Schedule, ScheduledTrial, Target, unit};

use crate::schedule::TargetFacts;

/// How fast a drive is taken to be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Speed {
    /// Operations per second, above 0.
    pub ops_per_second: f64,
    /// Bytes per second, above 0.
    pub bytes_per_second: f64,
    /// Time of one small operation with nothing else in flight, nanoseconds.
    pub latency_ns: f64,
}

/// What the estimate rests on.
#[derive(Debug, Clone, PartialEq)]
pub struct CostAssumptions {
    /// The least that a drive may do: by default a hard disk.
    pub slow: Speed,
    /// What the time is reckoned with: by default a SATA SSD.
    pub typical: Speed,
    /// The most that a drive may do: by default a fast NVMe drive.
    pub fast: Speed,
    /// What was found out about targets.
    pub facts: BTreeMap<Target, TargetFacts>,
}

impl Default for CostAssumptions {
    fn default() -> Self {
        let speed = |ops_per_second, bytes_per_second, latency_ns| Speed {
            ops_per_second,
            bytes_per_second,
            latency_ns,
        };
        CostAssumptions {
            slow: speed(100.0, 100e6, 10e6),
            typical: speed(20_000.0, 500e6, 100e3),
            fast: speed(2e6, 14e9, 10e3),
            facts: BTreeMap::new(),
        }
    }
}

/// What a schedule will cost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cost {
    /// Preparation, warm-up, measurement and pauses together.
    pub time_ns: u64,
    /// Bytes written at least: a slow drive, every data set laid out once.
    pub bytes_written_min: u64,
    /// Bytes written at most: a fast drive, data sets laid out anew whenever
    /// they change.
    pub bytes_written_max: u64,
    /// Space needed on the target that needs most.
    pub bytes_on_target: u64,
    /// Number of trials.
    pub trials: u32,
    /// All of it in one or two sentences.
    pub text: String,
}

/// Estimates what a schedule will cost.
pub fn cost(schedule: &Schedule, assumptions: &CostAssumptions) -> Cost {
    let mut sum = Sum::default();
    let mut places: BTreeMap<(&Target, u32), TargetUse> = BTreeMap::new();
    let trials = &schedule.trials;
    let together =
        |a: &ScheduledTrial, b: &ScheduledTrial| a.together.is_some() && a.together == b.together;
    let mut index = 0;
    for set in trials.chunk_by(together) {
        index += set.len();
        for trial in set.iter().filter(|trial| trial.target.path().is_some()) {
            let facts = assumptions.facts.get(&trial.target);
            let size = data_set_bytes(trial, facts);
            places
                .entry((&trial.target, trial.file_set))
                .or_default()
                .prepare(trial, size, &mut sum);
            sum.least += moved(trial, assumptions.slow).written;
            sum.most += moved(trial, assumptions.fast).written;
        }
        let real = |trial: &&ScheduledTrial| !matches!(trial.target, Target::Sim(_));
        sum.seconds += set_seconds(set, assumptions);
        if index < trials.len() {
            let pauses = set.iter().rfind(real).map(pause_seconds);
            sum.seconds += pauses.unwrap_or(0.0);
        }
    }
    sum.seconds += sum.prepared / assumptions.typical.bytes_per_second.max(1.0);
    let mut cost = Cost {
        time_ns: (sum.seconds * 1e9) as u64,
        bytes_written_min: (sum.least + sum.prepared).round() as u64,
        bytes_written_max: (sum.most + sum.prepared_anew).round() as u64,
        bytes_on_target: on_one_target(&places),
        trials: u32::try_from(schedule.trials.len()).unwrap_or(u32::MAX),
        text: String::new(),
    };
    cost.text = text(&cost);
    cost
}

/// The time of trials that run at the same time: until the last one ends. A
/// simulated trial takes none.
fn set_seconds(set: &[ScheduledTrial], assumptions: &CostAssumptions) -> f64 {
    let mut ends: BTreeMap<u32, f64> = BTreeMap::new();
    for trial in set {
        // Who follows is listed after whom it follows, as a rule.
        let gate = trial.follows.and_then(|followed| ends.get(&followed));
        let begin = gate.copied().unwrap_or(0.0) + trial.start_delay_ns as f64 / 1e9;
        let own = match trial.target {
            Target::Sim(_) => 0.0,
            _ => begin + moved(trial, assumptions.typical).seconds,
        };
        ends.insert(trial.index, own);
    }
    let first_of = set.iter().filter(|trial| trial.ends_others);
    let cut = first_of.filter_map(|trial| ends.get(&trial.index).copied());
    let cut = cut.fold(f64::INFINITY, f64::min);
    ends.into_values().fold(0.0, f64::max).min(cut)
}

/// Bytes on the target that holds most, all sets of files together.
fn on_one_target(places: &BTreeMap<(&Target, u32), TargetUse>) -> u64 {
    let mut of_target: BTreeMap<&Target, u64> = BTreeMap::new();
    for ((target, _), place) in places {
        let sum = of_target.entry(*target).or_default();
        *sum = sum.saturating_add(place.bytes());
    }
    of_target.into_values().max().unwrap_or(0)
}

#[derive(Default)]
struct Sum {
    seconds: f64,
    least: f64,
    most: f64,
    prepared: f64,
    prepared_anew: f64,
}

/// Number of files and size of each.
type Layout = (u64, u64);

/// What lies on one target as the schedule goes on.
#[derive(Default)]
struct TargetUse {
    seen: Vec<Layout>,
    last: Option<Layout>,
}

impl TargetUse {
    fn prepare(&mut self, trial: &ScheduledTrial, size: u64, sum: &mut Sum) {
        let workload = &trial.workload;
        let layout = layout(workload, size);
        if !self.seen.contains(&layout) {
            self.seen.push(layout);
            sum.prepared += size as f64;
        }
        if self.last != Some(layout) {
            self.last = Some(layout);
            sum.prepared_anew += size as f64;
        }
        let passes = match workload.data_set.precondition {
            // Files of this layout that are not there yet are counted above.
            Precondition::None | Precondition::Written => 0.0,
            Precondition::Fill => 1.0,
            Precondition::RandomFill => 2.0,
        };
        sum.prepared += passes * size as f64;
        sum.prepared_anew += passes * size as f64;
    }

    fn bytes(&self) -> u64 {
        let sizes = self
            .seen
            .iter()
            .map(|(files, each)| files.saturating_mul(*each));
        sizes.fold(0, u64::saturating_add)
    }
}

fn layout(workload: &Workload, size: u64) -> Layout {
    let count = u64::from(workload.data_set.files.count.max(1));
    let files = match workload.data_set.files.shared {
        true => count,
        false => count.saturating_mul(u64::from(workload.workers.max(1))),
    };
    (files, size / files)
}

/// Bytes of the data set; 0 where a device of unknown size is used whole.
fn data_set_bytes(trial: &ScheduledTrial, facts: Option<&TargetFacts>) -> u64 {
    if let Some(meta) = trial.workload.files_work() {
        return files_bytes(meta, trial.workload.workers) as u64;
    }
    if let Some(object) = trial.workload.requests() {
        return objects_bytes(object, trial.workload.workers) as u64;
    }
    let own = facts.and_then(|facts| facts.size_bytes);
    trial.workload.data_set.size_bytes.or(own).unwrap_or(0)
}

struct Moved {
    seconds: f64,
    written: f64,
}

/// What warm-up and measurement move at a speed.
fn moved(trial: &ScheduledTrial, speed: Speed) -> Moved {
    let workload = &trial.workload;
    if let Some(meta) = workload.files_work() {
        return on_files(workload, meta, speed);
    }
    if let Some(object) = workload.requests() {
        return on_objects(workload, object, speed);
    }
    let block = mean_block_of_mix(workload).max(1.0);
    let in_flight = workload.total_depth() as f64;
    let mut ops_per_second = speed
        .ops_per_second
        .min(speed.bytes_per_second / block)
        .min(in_flight * 1e9 / speed.latency_ns.max(1.0));
    if let Some(rate) = &workload.total_rate() {
        let asked = match rate.unit {
            RateUnit::Ops => rate.per_second,
            RateUnit::Bytes => rate.per_second / block,
        };
        ops_per_second = ops_per_second.min(asked);
    }
    let ops_per_second = ops_per_second.max(1e-9);
    let bounds = workload.bounds;
    let each = &workload.each_worker;
    let workers = f64::from(workload.workers);
    let set = workload
        .data_set
        .working_set_bytes
        .or(workload.data_set.size_bytes);
    let alone = match workload.data_set.region {
        WorkerRegion::Split => 1.0,
        _ => workers,
    };
    let pass = set.unwrap_or(0) as f64 * alone / block;
    let ends = [
        bounds.time_ns.map(|ns| ns as f64 / 1e9),
        bounds
            .bytes
            .map(|bytes| bytes as f64 / block / ops_per_second),
        bounds.ops.map(|ops| ops as f64 / ops_per_second),
        each.bytes
            .map(|bytes| bytes as f64 * workers / block / ops_per_second),
        each.ops.map(|ops| ops as f64 * workers / ops_per_second),
        each.passes.map(|n| f64::from(n) * pass / ops_per_second),
    ];
    let measured = ends.into_iter().flatten().fold(f64::INFINITY, f64::min);
    let measured = if measured.is_finite() { measured } else { 0.0 };
    let seconds = measured + workload.warmup_ns as f64 / 1e9;
    let share = f64::from(workload.mix.write_percent) / 100.0;
    Moved {
        seconds,
        written: seconds * ops_per_second * block * share,
    }
}

/// Bytes of all files of a tree.
fn files_bytes(meta: &MetaWork, workers: u32) -> f64 {
    meta.tree.sizes.mean_bytes() * meta.tree.files as f64 * f64::from(workers)
}

/// A phase visits every file once, or goes on until its bounds.
fn on_files(workload: &Workload, meta: &MetaWork, speed: Speed) -> Moved {
    let bytes = files_bytes(meta, workload.workers);
    let files = meta.tree.files as f64 * f64::from(workload.workers);
    let at_once = f64::from(workload.workers) * 1e9 / speed.latency_ns.max(1.0);
    let asked = workload.rate.map_or(f64::INFINITY, |rate| rate.per_second);
    let ops_per_second = speed.ops_per_second.min(at_once).min(asked).max(1e-9);
    let all = match meta.phase().is_some() && !meta.repeat {
        true => files,
        false => f64::INFINITY,
    };
    let ops = workload.bounds.ops.map_or(all, |ops| all.min(ops as f64));
    let bound = workload.bounds.time_ns.map(|ns| ns as f64 / 1e9);
    let seconds = (ops / ops_per_second).min(bound.unwrap_or(f64::INFINITY));
    let seconds = if seconds.is_finite() { seconds } else { 0.0 };
    let writes = meta.does(OpKind::Create) || meta.does(OpKind::Overwrite);
    Moved {
        seconds,
        written: if writes { bytes } else { 0.0 },
    }
}

/// Bytes of all objects.
fn objects_bytes(object: &ObjectWork, workers: u32) -> f64 {
    object.sizes.mean_bytes() * object.objects as f64 * f64::from(workers)
}

/// A phase visits every object once, or goes on until its bounds.
fn on_objects(workload: &Workload, object: &ObjectWork, speed: Speed) -> Moved {
    let bytes = objects_bytes(object, workload.workers);
    let at_once = workload.total_depth() as f64 * 1e9 / speed.latency_ns.max(1.0);
    let asked = workload.rate.map_or(f64::INFINITY, |rate| rate.per_second);
    let by_bytes = speed.bytes_per_second / object.sizes.mean_bytes().max(1.0);
    let ops_per_second = speed.ops_per_second.min(by_bytes).min(at_once).min(asked);
    let all = match object.phase().is_some() && !object.repeat {
        true => object.objects as f64 * f64::from(workload.workers),
        false => f64::INFINITY,
    };
    let ops = workload.bounds.ops.map_or(all, |ops| all.min(ops as f64));
    let bound = workload.bounds.time_ns.map(|ns| ns as f64 / 1e9);
    let seconds = (ops / ops_per_second.max(1e-9)).min(bound.unwrap_or(f64::INFINITY));
    Moved {
        seconds: if seconds.is_finite() { seconds } else { 0.0 },
        written: bytes,
    }
}

/// Mean over the kinds of operations.
fn mean_block_of_mix(workload: &Workload) -> f64 {
    let mix = &workload.mix;
    let kinds = [
        (mix.read_percent, OpKind::Read),
        (mix.write_percent, OpKind::Write),
        (mix.trim_percent, OpKind::Trim),
    ];
    let shares = kinds
        .map(|(percent, kind)| f64::from(percent) / 100.0 * mean_block(workload.block_of(kind)));
    shares.iter().sum()
}

fn mean_block(block: &BlockSizes) -> f64 {
    match block {
        BlockSizes::Fixed(bytes) => *bytes as f64,
        BlockSizes::Range {
            min_bytes,
            max_bytes,
            ..
        } => (*min_bytes as f64 + *max_bytes as f64) / 2.0,
        BlockSizes::Weighted(sizes) => {
            let weights: f64 = sizes.iter().map(|s| f64::from(s.weight)).sum();
            let bytes = sizes.iter().map(|s| s.bytes as f64 * f64::from(s.weight));
            bytes.sum::<f64>() / weights.max(1.0)
        }
    }
}

/// After reads a device is quiet at once; after writes it works on for a
/// while, here taken as a quarter of what is allowed.
fn pause_seconds(trial: &ScheduledTrial) -> f64 {
    let pause = trial.pause;
    let more = match pause.until_quiet && trial.workload.mix.modifies() {
        true => pause.ceiling_ns.saturating_sub(pause.floor_ns) / 4,
        false => 0,
    };
    pause.floor_ns.saturating_add(more) as f64 / 1e9
}

fn text(cost: &Cost) -> String {
    let trials = match cost.trials {
        1 => "1 trial".to_owned(),
        n => format!("{} trials", unit::group(u64::from(n))),
    };
    let time = unit::span(cost.time_ns);
    if cost.bytes_written_max == 0 {
        return format!("{trials}, about {time}. Nothing is written.");
    }
    let (least, most) = (
        unit::bytes(cost.bytes_written_min).to_string(),
        unit::bytes(cost.bytes_written_max).to_string(),
    );
    let written = match least == most {
        true => least,
        false => format!("{least} (slow drive) to {most} (fast drive)"),
    };
    format!(
        "{trials}, about {time}. Writes {written}; needs {} on the target.",
        unit::bytes(cost.bytes_on_target)
    )
}

#[cfg(test)]
#[path = "cost_tests.rs"]
mod tests;
