//! From the keys of one workload to the complete [`Workload`]: every default
//! filled in, sizes in bytes, times in nanoseconds.

mod operations;

use fathom_model::Target;
use fathom_model::workload::{
    Allocation, BlockSizes, Bounds, ByKind, CacheMode, Content, EngineKind, FailIf, FileLayout,
    OnError, OpMix, Payload, Precondition, Rate, RateUnit, Recording, Sequencer, SyncCall,
    SyncOpen, SyncPolicy, Until, Verify, WeightedSize, WorkerBounds, WorkerRegion, Workload,
};

use crate::diagnostic::{Problems, error};
use crate::keys::{PayloadKeys, WorkloadKeys};
use crate::limits::within;
use crate::node::Located;
use crate::spelling::Spelling;
use crate::value::{Blocks, Count, EngineChoice, Percent, Seconds, Size, Switch, VerifyChoice};

/// Size of a data set that nobody gave a size.
pub(crate) const DEFAULT_SIZE_BYTES: u64 = 1 << 30;
const DEFAULT_BLOCK_BYTES: u64 = 4096;
const DEFAULT_DEADLINE_NS: u64 = 60_000_000_000;

/// What is known about the target when a workload is resolved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TargetShape {
    /// Files are made in it; without a size they get the default.
    Directory,
    /// A device or existing file has a size of its own.
    Sized,
    /// The null target.
    Null,
    /// A simulated drive.
    Sim,
}

impl TargetShape {
    /// What the name of a target tells.
    pub(crate) fn guess(target: Option<&Target>) -> TargetShape {
        match target {
            Some(Target::Null) => TargetShape::Null,
            Some(Target::Sim(_)) => TargetShape::Sim,
            Some(Target::Path(path)) if path.starts_with("/dev") => TargetShape::Sized,
            Some(Target::Path(_)) | None => TargetShape::Directory,
        }
    }
}

/// Resolves one workload. Problems are reported; the result is complete all
/// the same, so that later checks can go on.
pub(crate) fn resolve(
    keys: &WorkloadKeys,
    name: &str,
    shape: TargetShape,
    spelling: Spelling,
    problems: &mut Problems,
) -> Workload {
    let engine = engine(keys, shape);
    let cache = cache(keys, engine, spelling, problems);
    let block = block(keys, cache);
    let mix = operations::mix(keys, spelling, problems);
    Workload {
        name: name.to_owned(),
        engine,
        pattern: operations::pattern(keys, spelling, problems),
        align_bytes: size(keys.align.as_ref(), block.min_bytes().max(1)),
        misalign_bytes: size(keys.misalign.as_ref(), 0),
        workers: within("numjobs", keys.numjobs.as_ref(), 1, spelling, problems),
        queue_depth: within("iodepth", keys.iodepth.as_ref(), 1, spelling, problems),
        batch: within("batch", keys.batch.as_ref(), 0, spelling, problems),
        files: FileLayout {
            count: within("nrfiles", keys.nrfiles.as_ref(), 1, spelling, problems),
            shared: switch(keys.shared_files.as_ref(), false),
        },
        size_bytes: match (&keys.size, shape) {
            (
                Some(Located {
                    value: Size(bytes), ..
                }),
                _,
            ) => Some(*bytes),
            (None, TargetShape::Sized) => None,
            (None, _) => Some(DEFAULT_SIZE_BYTES),
        },
        working_set_bytes: keys.working_set.as_ref().map(|s| s.value.0),
        offset_bytes: size(keys.offset.as_ref(), 0),
        sync: sync(keys, spelling, problems),
        cache,
        drop_cache: switch(keys.drop_cache.as_ref(), false),
        bounds: bounds(keys),
        until: keys.until.as_ref().map(|u| u.value.0),
        warmup_ns: keys.warmup.as_ref().map_or(0, |t| t.value.0),
        rate: rate(keys, spelling, problems),
        think_ns: keys.think_time.as_ref().map_or(0, |t| t.value.0),
        cpus: cpus(keys),
        payload: payload(keys.payload.as_ref().map(|p| &p.value)),
        verify: verify(keys, mix),
        precondition: keys
            .precondition
            .as_ref()
            .map_or(Precondition::None, |p| p.value.precondition()),
        poll: switch(keys.poll.as_ref(), false),
        huge_pages: switch(keys.huge_pages.as_ref(), false),
        on_error: keys
            .on_error
            .as_ref()
            .map_or(OnError::Stop, |e| e.value.on_error()),
        io_deadline_ns: keys
            .deadline
            .as_ref()
            .map_or(DEFAULT_DEADLINE_NS, |deadline| deadline.value.0),
        named: None,
        slo: keys.slo.as_ref().map(|slo| slo.value.0.clone()),
        block_by_kind: ByKind::default(),
        distribution_by_kind: ByKind::default(),
        each_worker: WorkerBounds::default(),
        region: WorkerRegion::default(),
        sequencer: Sequencer::default(),
        think_every_ops: 0,
        think_spin_ns: 0,
        trim_first: false,
        allocation: Allocation::default(),
        replay: None,
        fail_if: FailIf::default(),
        recording: Recording::default(),
        block,
        mix,
    }
}

fn cpus(keys: &WorkloadKeys) -> Vec<u32> {
    let cpus = keys.cpus.as_ref().map(|c| c.value.0.clone());
    cpus.unwrap_or_default()
}

/// Verification depends on what the mix turned out to be.
fn verify(keys: &WorkloadKeys, mix: OpMix) -> Option<Verify> {
    let (on_read, after) = match keys.verify.as_ref()?.value {
        VerifyChoice::No => return None,
        VerifyChoice::OnRead => (true, false),
        VerifyChoice::After => (false, true),
        VerifyChoice::Both => (mix.reads(), mix.write_percent > 0),
    };
    Some(Verify {
        on_read,
        after,
        ..Verify::default()
    })
}

fn engine(keys: &WorkloadKeys, shape: TargetShape) -> EngineKind {
    match (&keys.engine, shape) {
        (Some(engine), _) => engine.value.kind(),
        (None, TargetShape::Null) => EngineKind::Null,
        (None, TargetShape::Sim) => EngineKind::Sim,
        (None, TargetShape::Directory | TargetShape::Sized) => EngineChoice::Uring.kind(),
    }
}

fn cache(
    keys: &WorkloadKeys,
    engine: EngineKind,
    spelling: Spelling,
    problems: &mut Problems,
) -> CacheMode {
    let direct = match (&keys.direct, &keys.buffered) {
        (Some(direct), Some(buffered)) if direct.value == buffered.value => {
            let message = format!(
                "{} and {} say opposite things",
                spelling.key("direct"),
                spelling.key("buffered")
            );
            problems.push(
                error("conflict", buffered.span, message)
                    .relate(direct.span, "the other one")
                    .help("remove one of the two"),
            );
            direct.value.0
        }
        (Some(direct), _) => direct.value.0,
        (None, Some(buffered)) => !buffered.value.0,
        (None, None) => engine != EngineKind::Mmap,
    };
    match direct {
        true => CacheMode::Direct,
        false => CacheMode::Buffered,
    }
}

fn block(keys: &WorkloadKeys, cache: CacheMode) -> BlockSizes {
    match keys.bs.as_ref().map(|bs| &bs.value) {
        None => BlockSizes::Fixed(DEFAULT_BLOCK_BYTES),
        Some(Blocks::Fixed(bytes)) => BlockSizes::Fixed(*bytes),
        Some(Blocks::Range(min, max)) => BlockSizes::Range {
            min_bytes: *min,
            max_bytes: *max,
            step_bytes: step(*min, *max, cache),
        },
        Some(Blocks::Weighted(sizes)) => BlockSizes::Weighted(
            sizes
                .iter()
                .map(|(bytes, weight)| WeightedSize {
                    bytes: *bytes,
                    weight: *weight,
                })
                .collect(),
        ),
    }
}

/// Sizes of a range go in pages where both ends do, else in sectors, else,
/// through the page cache, in bytes.
fn step(min: u64, max: u64, cache: CacheMode) -> u64 {
    let fits = |step: u64| min.is_multiple_of(step) && max.is_multiple_of(step);
    match cache {
        _ if fits(4096) => 4096,
        _ if fits(512) => 512,
        CacheMode::Direct => 512,
        CacheMode::Buffered => 1,
    }
}

fn sync(keys: &WorkloadKeys, spelling: Spelling, problems: &mut Problems) -> SyncPolicy {
    if let (Some(fsync), Some(fdatasync)) = (&keys.fsync, &keys.fdatasync)
        && fsync.value.0 > 0
        && fdatasync.value.0 > 0
    {
        let message = format!(
            "{} and {} cannot both be used in one workload",
            spelling.key("fsync"),
            spelling.key("fdatasync")
        );
        problems.push(
            error("conflict", fdatasync.span, message)
                .relate(fsync.span, "the other one")
                .help("keep fdatasync for logs and databases, fsync where metadata must be safe"),
        );
    }
    let fsync = within("fsync", keys.fsync.as_ref(), 0, spelling, problems);
    let fdatasync = within("fdatasync", keys.fdatasync.as_ref(), 0, spelling, problems);
    let (every_writes, call) = match (fsync, fdatasync) {
        (0, every) => (every, SyncCall::Fdatasync),
        (every, _) => (every, SyncCall::Fsync),
    };
    SyncPolicy {
        every_writes,
        call,
        open: keys.sync.as_ref().map_or(SyncOpen::No, |s| s.value.open()),
        final_flush: switch(keys.end_fsync.as_ref(), false),
        other_every_writes: 0,
    }
}

fn bounds(keys: &WorkloadKeys) -> Bounds {
    Bounds {
        time_ns: keys
            .runtime
            .as_ref()
            .map(
                |Located {
                     value: Seconds(ns), ..
                 }| *ns,
            )
            .filter(|ns| *ns > 0)
            .or(keys.until.as_ref().map(|until| longest_ns(until.value.0))),
        bytes: keys.io_size.as_ref().map(|s| s.value.0).filter(|b| *b > 0),
        ops: keys
            .number_ios
            .as_ref()
            .map(|n| n.value.0)
            .filter(|n| *n > 0),
    }
}

/// Upper bound of a trial that ends at a state and has no runtime.
fn longest_ns(until: Until) -> u64 {
    match until {
        Until::Steady => 3_600_000_000_000,
        Until::Precision { .. } => 600_000_000_000,
    }
}

fn rate(keys: &WorkloadKeys, spelling: Spelling, problems: &mut Problems) -> Option<Rate> {
    if let (Some(rate), Some(iops)) = (&keys.rate, &keys.rate_iops) {
        let message = format!(
            "{} and {} both ask for a rate",
            spelling.key("rate"),
            spelling.key("rate_iops")
        );
        problems.push(
            error("conflict", iops.span, message)
                .relate(rate.span, "the other one")
                .help("remove one of the two"),
        );
    }
    let arrival = keys.arrival.as_ref().map(|a| a.value.arrival());
    let (per_second, unit) = match (&keys.rate, &keys.rate_iops) {
        (Some(rate), _) => (rate.value.per_second, rate.value.unit),
        (
            None,
            Some(Located {
                value: Count(ops), ..
            }),
        ) => (*ops as f64, RateUnit::Ops),
        (None, None) => {
            if let Some(arrival) = &keys.arrival {
                let message = format!("{} needs a rate", spelling.key("arrival"));
                let help = format!("add for example {}", spelling.pair("rate", "1000/s"));
                problems.push(error("arrival_without_rate", arrival.span, message).help(help));
            }
            return None;
        }
    };
    Some(Rate {
        per_second,
        unit,
        arrival: arrival.unwrap_or_default(),
    })
}

fn payload(keys: Option<&PayloadKeys>) -> Payload {
    let Some(keys) = keys else {
        return Payload::default();
    };
    let percent = |p: &Option<Located<Percent>>| p.as_ref().map_or(0, |p| p.value.0);
    Payload {
        content: keys
            .content
            .as_ref()
            .map_or(Content::Random, |c| c.value.0.clone()),
        compress_percent: percent(&keys.compress),
        duplicate_percent: percent(&keys.duplicates),
    }
}

fn switch(key: Option<&Located<Switch>>, default: bool) -> bool {
    key.map_or(default, |s| s.value.0)
}

fn size(key: Option<&Located<Size>>, default: u64) -> u64 {
    key.map_or(default, |s| s.value.0)
}
