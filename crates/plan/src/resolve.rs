//! From the keys of one workload to the complete [`Workload`]: every default
//! filled in, sizes in bytes, times in nanoseconds.

mod blocks;
mod each_worker;
mod files;
mod objects;
mod operations;
mod replay;

use fathom_model::Target;
use fathom_model::workload::{
    Allocation, ByKind, CacheMode, Content, DataSet, EngineKind, FailIf, FileLayout, Flow, OnError,
    OpMix, Payload, Precondition, Rate, RateUnit, ReadBack, Recording, Replay, SyncCall, SyncOpen,
    SyncPolicy, Verify, Work, Workload,
};

use crate::diagnostic::{Problems, error};
use crate::keys::{PayloadKeys, WorkloadKeys};
use crate::limits::within;
use crate::node::Located;
use crate::spelling::Spelling;
use crate::value::{Count, Percent, Size, Switch, VerifyByChoice, VerifyChoice};
use each_worker::Each;
pub(crate) use files::rate_counts_bytes;
pub(crate) use objects::store as store_of;

/// Size of a data set that nobody gave a size.
pub(crate) const DEFAULT_SIZE_BYTES: u64 = 1 << 30;
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
    /// A bucket of an object store.
    Bucket,
    /// Not named yet: a path as far as sizes go.
    Unknown,
}

impl TargetShape {
    /// What the name of a target tells.
    pub(crate) fn guess(target: Option<&Target>) -> TargetShape {
        match target {
            Some(Target::Null | Target::Peer(_)) => TargetShape::Null,
            Some(Target::Sim(_)) => TargetShape::Sim,
            Some(Target::Bucket(_)) => TargetShape::Bucket,
            Some(Target::Path(path)) if path.starts_with("/dev") => TargetShape::Sized,
            Some(Target::Path(_)) => TargetShape::Directory,
            None => TargetShape::Unknown,
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
    if engine == EngineKind::S3 || keys.request.is_some() {
        return objects::resolve(keys, name, engine, spelling, problems);
    }
    match engine == EngineKind::Meta || keys.operation.is_some() {
        true => files::resolve(keys, name, engine, spelling, problems),
        false => on_blocks(keys, name, engine, shape, spelling, problems),
    }
}

/// Resolves work on blocks.
fn on_blocks(
    keys: &WorkloadKeys,
    name: &str,
    engine: EngineKind,
    shape: TargetShape,
    spelling: Spelling,
    problems: &mut Problems,
) -> Workload {
    let cache = cache(keys, engine, spelling, problems);
    let replay = replay::replay(keys);
    let mix = mix(keys, replay.as_ref(), spelling, problems);
    let (block, block_by_kind) = blocks::blocks(keys, mix, cache);
    let pattern = operations::pattern(keys, spelling, problems);
    let smallest = blocks::smallest(&block, &block_by_kind);
    let workers = within("numjobs", keys.numjobs.as_ref(), 1, spelling, problems);
    let each = Each::new(keys, shape, workers);
    Workload {
        engine,
        align_bytes: size(keys.align.as_ref(), blocks::alignment(smallest, &pattern)),
        pattern,
        misalign_bytes: size(keys.misalign.as_ref(), 0),
        workers,
        queue_depth: within("iodepth", keys.iodepth.as_ref(), 1, spelling, problems),
        batch: within("batch", keys.batch.as_ref(), 0, spelling, problems),
        sync: sync(keys, spelling, problems),
        cache,
        drop_cache: switch(keys.drop_cache.as_ref(), false),
        bounds: each.bounds(),
        until: keys.until.as_ref().map(|u| u.value.0),
        warmup_ns: keys.warmup.as_ref().map_or(0, |t| t.value.0),
        rate: rate(keys, spelling, problems).map(|rate| each.rate(rate)),
        think_ns: keys.think_time.as_ref().map_or(0, |t| t.value.0),
        cpus: cpus(keys),
        payload: payload(keys.payload.as_ref().map(|p| &p.value)),
        verify: verify(keys, mix),
        poll: switch(keys.poll.as_ref(), false),
        huge_pages: switch(keys.huge_pages.as_ref(), false),
        on_error: on_error(keys),
        io_deadline_ns: deadline_ns(keys),
        slo: keys.slo.as_ref().map(|slo| slo.value.0.clone()),
        block_by_kind,
        distribution_by_kind: ByKind::default(),
        each_worker: each.worker_bounds(),
        sequencer: operations::sequencer(keys, spelling, problems),
        think_every_ops: think_every_ops(keys, spelling, problems),
        think_spin_ns: keys.think_spin.as_ref().map_or(0, |t| t.value.0),
        trim_first: keys.rw.as_ref().is_some_and(|rw| rw.value.is_pairs()),
        work: replay.map_or(Work::Blocks, Work::recorded),
        fail_if: fail_if(keys),
        recording: Recording::default(),
        zone_walk: keys.zones.as_ref().map(|zones| zones.value.0),
        rate_by_kind: rates(keys, &each, spelling, problems),
        flow: flow(keys, spelling, problems),
        latency_target: keys.latency_target.as_ref().map(|target| target.value.0),
        block,
        mix,
        data_set: DataSet {
            files: files(keys, spelling, problems),
            size_bytes: each.size_bytes(),
            working_set_bytes: keys.working_set.as_ref().map(|s| s.value.0),
            offset_bytes: size(keys.offset.as_ref(), 0),
            precondition: precondition(keys),
            named: None,
            region: each.region(),
            allocation: allocation(keys),
            ends_when_full: false,
        },
        ..Workload::example(name)
    }
}

fn files(keys: &WorkloadKeys, spelling: Spelling, problems: &mut Problems) -> FileLayout {
    FileLayout {
        count: within("nrfiles", keys.nrfiles.as_ref(), 1, spelling, problems),
        shared: switch(keys.shared_files.as_ref(), false),
    }
}

fn fail_if(keys: &WorkloadKeys) -> FailIf {
    let key = keys.fail_if.as_ref();
    key.map_or_else(FailIf::default, |fail_if| fail_if.value.0)
}

fn mix(
    keys: &WorkloadKeys,
    replay: Option<&Replay>,
    spelling: Spelling,
    problems: &mut Problems,
) -> OpMix {
    match replay {
        Some(replay) => replay::mix(replay),
        None => operations::mix(keys, spelling, problems),
    }
}

fn deadline_ns(keys: &WorkloadKeys) -> u64 {
    let key = keys.deadline.as_ref();
    key.map_or(DEFAULT_DEADLINE_NS, |deadline| deadline.value.0)
}

fn precondition(keys: &WorkloadKeys) -> Precondition {
    let key = keys.precondition.as_ref();
    key.map_or(Precondition::None, |p| p.value.precondition())
}

fn on_error(keys: &WorkloadKeys) -> OnError {
    let key = keys.on_error.as_ref();
    key.map_or(OnError::Stop, |e| e.value.on_error())
}

fn allocation(keys: &WorkloadKeys) -> Allocation {
    let key = keys.allocation.as_ref();
    key.map_or(Allocation::Auto, |a| a.value.allocation())
}

fn think_every_ops(keys: &WorkloadKeys, spelling: Spelling, problems: &mut Problems) -> u32 {
    let key = keys.think_every.as_ref();
    within("think_every", key, 0, spelling, problems)
}

fn cpus(keys: &WorkloadKeys) -> Vec<u32> {
    let cpus = keys.cpus.as_ref().map(|c| c.value.0.clone());
    cpus.unwrap_or_default()
}

/// Rates of kinds stand for themselves.
fn rates(
    keys: &WorkloadKeys,
    each: &Each<'_>,
    spelling: Spelling,
    problems: &mut Problems,
) -> ByKind<Rate> {
    let Some(rates) = &keys.rate_by_kind else {
        return ByKind::default();
    };
    let others = [
        keys.rate.as_ref().map(|rate| rate.span),
        keys.rate_iops.as_ref().map(|rate| rate.span),
    ];
    if let Some(span) = others.into_iter().flatten().next() {
        let message = format!(
            "{} and a rate of all kinds together both say when operations are due",
            spelling.key("rate_by_kind")
        );
        problems.push(
            error("conflict", rates.span, message)
                .relate(span, "the other one")
                .help("remove one of the two"),
        );
    }
    let arrival = keys.arrival.as_ref().map(|a| a.value.arrival());
    rates.value.rates(arrival.unwrap_or_default(), each.times())
}

/// Members of a set that keep step: only one set runs at a time.
fn flow(keys: &WorkloadKeys, spelling: Spelling, problems: &mut Problems) -> Option<Flow> {
    let share = keys.share.as_ref()?;
    let weight = u32::try_from(share.value.0).ok().filter(|w| *w > 0);
    if weight.is_none() {
        let message = format!("{} is a number from 1 to 4294967295", spelling.key("share"));
        problems.push(error("bad_value", share.span, message));
    }
    Some(Flow {
        id: 0,
        weight: weight.unwrap_or(1),
        pause_ns: 0,
    })
}

/// Verification depends on what the mix turned out to be.
fn verify(keys: &WorkloadKeys, mix: OpMix) -> Option<Verify> {
    let (on_read, after) = match keys.verify.as_ref()?.value {
        VerifyChoice::No => return None,
        VerifyChoice::OnRead => (true, false),
        VerifyChoice::After => (false, true),
        VerifyChoice::Stamp => (false, false),
        VerifyChoice::Both => (mix.reads(), mix.write_percent > 0),
    };
    Some(Verify {
        on_read,
        after,
        earlier: switch(keys.verify_earlier.as_ref(), false),
        by_content: keys
            .verify_by
            .as_ref()
            .is_some_and(|by| by.value == VerifyByChoice::Content),
        read_back: read_back(keys),
        by_anybody: false,
    })
}

fn read_back(keys: &WorkloadKeys) -> Option<ReadBack> {
    let every = keys.verify_every.as_ref()?.value.0;
    let every_writes = u32::try_from(every).unwrap_or(u32::MAX);
    (every > 0).then_some(ReadBack {
        every_writes,
        at_once: every_writes,
    })
}

fn engine(keys: &WorkloadKeys, shape: TargetShape) -> EngineKind {
    match (&keys.engine, shape) {
        (Some(engine), _) => engine.value,
        (None, TargetShape::Null) => EngineKind::Null,
        (None, _) if keys.request.is_some() => EngineKind::S3,
        (None, TargetShape::Sim) => EngineKind::Sim,
        (None, TargetShape::Bucket) => EngineKind::S3,
        (None, TargetShape::Directory | TargetShape::Sized | TargetShape::Unknown) => {
            EngineKind::Uring
        }
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
        (None, None) => !engine.traits().buffered,
    };
    match direct {
        true => CacheMode::Direct,
        false => CacheMode::Buffered,
    }
}

fn sync(keys: &WorkloadKeys, spelling: Spelling, problems: &mut Problems) -> SyncPolicy {
    let fsync = within("fsync", keys.fsync.as_ref(), 0, spelling, problems);
    let fdatasync = within("fdatasync", keys.fdatasync.as_ref(), 0, spelling, problems);
    let (every_writes, call, other_every_writes) = match (fsync, fdatasync) {
        (0, every) => (every, SyncCall::Fdatasync, 0),
        (every, other) => (every, SyncCall::Fsync, other),
    };
    SyncPolicy {
        every_writes,
        call,
        open: keys.sync.as_ref().map_or(SyncOpen::No, |s| s.value.open()),
        final_flush: switch(keys.end_fsync.as_ref(), false),
        other_every_writes,
        undrained: !switch(keys.sync_drain.as_ref(), true),
        ranges: keys.sync_file_range.as_ref().and_then(|r| r.value.ranges()),
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
            if let Some(arrival) = keys
                .arrival
                .as_ref()
                .filter(|_| keys.rate_by_kind.is_none())
            {
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
