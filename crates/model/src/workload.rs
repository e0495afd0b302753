//! One workload: what is done to a target, in the field's own terms.
//!
//! A `Workload` is complete: every default is filled in, every size is in
//! bytes, every time in nanoseconds. The plan room turns what a user wrote
//! into this; the engine room executes it and knows nothing else.

mod block;
mod content;
mod data_set;
mod durability;
mod each_worker;
mod engine_kind;
mod fail_if;
mod kinds;
mod meta;
mod mix;
mod named;
mod object;
mod order;
mod pace;
mod peer;
mod record;
mod replay;
mod work;
mod zone_walk;

pub use block::{BlockSizes, WeightedSize};
pub use content::{Content, Part, Payload, ReadBack, Verify};
pub use data_set::{DataSet, FileLayout, Precondition};
pub use durability::{Allocation, RangeSync, SyncCall, SyncOpen, SyncPolicy};
pub use each_worker::{WorkerBounds, WorkerRegion};
pub use engine_kind::EngineKind;
pub use fail_if::FailIf;
pub use kinds::ByKind;
pub use meta::{
    CREATION_STAMP_BYTES, FileSizes, Handing, MetaOrder, MetaPaths, MetaShare, MetaTree, MetaWork,
};
pub use mix::OpMix;
pub use named::NamedFiles;
pub use object::{
    EndpointReport, KeyLayout, KeySource, ObjectChecksum, ObjectOrder, ObjectProtocol, ObjectSizes,
    ObjectStore, ObjectWork,
};
pub use order::{Between, Distribution, Pattern, Sequencer, SteadyFill, Zone, ZoneSize};
pub use pace::{Arrival, Flow, LatencyTarget, Rate, RateUnit};
pub use peer::{Peer, PeerProtocol};
pub use replay::{Replay, ReplayTiming};
pub use work::{Objects, Work};
pub use zone_walk::ZoneWalk;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::OpKind;
use record::WorkloadRecord;

/// Whether a field says nothing beyond its default, so that stored runs do not
/// carry it.
fn unset<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
pub use crate::recording::Recording;

/// When the measured part ends: at whichever given bound comes first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Bounds {
    /// Time of the measure phase.
    pub time_ns: Option<u64>,
    /// Bytes moved by all workers together.
    pub bytes: Option<u64>,
    /// Operations of all workers together.
    pub ops: Option<u64>,
}

/// A state of the results at which the measured part may end before its
/// bounds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Until {
    /// The rungs of the ladder of steady state hold.
    Steady,
    /// Half the 95 % interval of the rate is at most this share of it.
    Precision {
        /// In percent, above 0.
        percent: f64,
    },
    /// A figure stays within a limit over a window.
    Settled(crate::settled::Settled),
}

/// Whether the page cache is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CacheMode {
    /// `O_DIRECT`.
    Direct,
    /// Through the page cache.
    Buffered,
}

/// What happens after a failed operation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OnError {
    /// The trial ends after the operations in flight.
    #[default]
    Stop,
    /// The failure is counted and the trial goes on.
    Continue,
}

/// Everything about one workload.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "WorkloadRecord", into = "WorkloadRecord")]
pub struct Workload {
    /// Name within the plan.
    pub name: String,
    /// What the operations act on.
    pub work: Work,
    /// Where blocks lie.
    pub data_set: DataSet,
    /// How operations reach the target.
    pub engine: EngineKind,
    /// Shares of reads, writes and trims.
    pub mix: OpMix,
    /// Order of offsets.
    pub pattern: Pattern,
    /// Sizes of blocks.
    pub block: BlockSizes,
    /// Offsets are multiples of this plus `misalign_bytes`; at least 1.
    pub align_bytes: u64,
    /// Deliberate shift of every offset.
    pub misalign_bytes: u64,
    /// Threads; at least 1.
    pub workers: u32,
    /// Operations in flight per worker; at least 1.
    pub queue_depth: u32,
    /// Operations submitted in one system call at most; 0 lets the engine choose.
    pub batch: u32,
    /// Durability.
    pub sync: SyncPolicy,
    /// Page cache or not.
    pub cache: CacheMode,
    /// The page cache of the target is dropped before each trial.
    pub drop_cache: bool,
    /// End of the measure phase.
    pub bounds: Bounds,
    /// Ends the measure phase before its bounds, once it holds.
    pub until: Option<Until>,
    /// Time before the measure phase in which the load runs and is stored,
    /// but not judged.
    pub warmup_ns: u64,
    /// Open loop, when given.
    pub rate: Option<Rate>,
    /// Pause of a worker after each operation (closed loop only).
    pub think_ns: u64,
    /// Workers are pinned to these CPUs in turn; empty is not pinned.
    pub cpus: Vec<u32>,
    /// What is written.
    pub payload: Payload,
    /// Checking of contents.
    pub verify: Option<Verify>,
    /// Poll for completions instead of sleeping, where the engine can.
    pub poll: bool,
    /// Put I/O buffers on huge pages, where the system grants them.
    pub huge_pages: bool,
    /// After a failed operation.
    pub on_error: OnError,
    /// An operation outstanding for longer ends the trial as interrupted.
    pub io_deadline_ns: u64,
    /// What the user calls good enough; changes nothing in what is done.
    pub slo: Option<crate::slo::Slo>,
    /// Sizes of blocks of those kinds that have sizes other than `block`.
    pub block_by_kind: ByKind<BlockSizes>,
    /// Spreads of random offsets of those kinds that have one other than the
    /// pattern's. Only with [`Sequencer::each_kind`].
    pub distribution_by_kind: ByKind<Distribution>,
    /// Bounds of each worker by itself. A worker that has reached its own ends;
    /// the trial ends with the last.
    pub each_worker: WorkerBounds,
    /// What becomes of random offsets between two draws.
    pub sequencer: Sequencer,
    /// The pause `think_ns` comes after this many operations of a worker, when
    /// those in flight have ended. 0: each operation in flight pauses by itself
    /// before the next takes its place.
    pub think_every_ops: u32,
    /// The first part of each pause is spent computing instead of asleep; at
    /// most `think_ns`.
    pub think_spin_ns: u64,
    /// Each block is trimmed and then written. The mix is half trims, half
    /// writes; a write starts when its trim has ended.
    pub trim_first: bool,
    /// What ends the trial as failed.
    pub fail_if: FailIf,
    /// What is recorded beyond counts and latencies.
    pub recording: Recording,
    /// Accesses stay in one zone for a while, then move on.
    pub zone_walk: Option<ZoneWalk>,
    /// Rates of kinds of operations, over all workers, instead of `rate`. Each
    /// kind has intended starts of its own, and the one that is due first comes
    /// first: the shares of the mix follow from the rates. Every kind of the mix
    /// has one, or none has.
    pub rate_by_kind: ByKind<Rate>,
    /// Keeps step with other trials of the set.
    pub flow: Option<Flow>,
    /// The depth adapts to a latency.
    pub latency_target: Option<LatencyTarget>,
}

impl Workload {
    /// A 4 KiB random read at depth 1, direct, 10 s: the base that defaults
    /// and tests start from.
    pub fn example(name: &str) -> Workload {
        Workload {
            name: name.to_owned(),
            work: Work::Blocks,
            data_set: DataSet::example(),
            engine: EngineKind::Uring,
            mix: OpMix::READ,
            pattern: Pattern::Random(Distribution::EachOnce),
            block: BlockSizes::Fixed(4096),
            align_bytes: 4096,
            misalign_bytes: 0,
            workers: 1,
            queue_depth: 1,
            batch: 0,
            sync: SyncPolicy::default(),
            cache: CacheMode::Direct,
            drop_cache: false,
            bounds: Bounds {
                time_ns: Some(10_000_000_000),
                bytes: None,
                ops: None,
            },
            until: None,
            warmup_ns: 0,
            rate: None,
            think_ns: 0,
            cpus: Vec::new(),
            payload: Payload::default(),
            verify: None,
            poll: false,
            huge_pages: false,
            on_error: OnError::Stop,
            io_deadline_ns: 60_000_000_000,
            slo: None,
            block_by_kind: ByKind::default(),
            distribution_by_kind: ByKind::default(),
            each_worker: WorkerBounds::default(),
            sequencer: Sequencer::default(),
            think_every_ops: 0,
            think_spin_ns: 0,
            trim_first: false,
            fail_if: FailIf::default(),
            recording: Recording::default(),
            zone_walk: None,
            rate_by_kind: ByKind::default(),
            flow: None,
            latency_target: None,
        }
    }

    /// Whether operations of a kind may be done, by the mix or by a recorded
    /// list, whose content is known only where it is read.
    pub fn may_do(&self, kind: OpKind) -> bool {
        let drawn = || match kind {
            OpKind::Read => self.mix.read_percent > 0,
            OpKind::Write => self.mix.write_percent > 0,
            OpKind::Trim => self.mix.trim_percent > 0,
            _ => false,
        };
        match &self.work {
            Work::Files(work) => work.does(kind),
            Work::Recorded(replay) => !replay.skips(kind),
            Work::Objects(objects) => match &objects.requests {
                Some(requests) => requests.does(kind),
                None => drawn(),
            },
            Work::Blocks | Work::Connections(_) | Work::Pair(_) => drawn(),
        }
    }

    /// Whether any data on the target may be changed.
    pub fn may_modify(&self) -> bool {
        if let Some(requests) = self.requests() {
            return !requests.only_reads();
        }
        matches!(self.work, Work::Files(_))
            || self.may_do(OpKind::Write)
            || self.may_do(OpKind::Trim)
    }

    /// Whether operations have intended starts, from which response latency
    /// counts.
    pub fn is_open_loop(&self) -> bool {
        let recorded = |replay: &Replay| matches!(replay.timing, ReplayTiming::Recorded { .. });
        self.rate.is_some() || !self.rate_by_kind.is_empty() || self.replay().is_some_and(recorded)
    }

    /// The asked-for rate of all kinds of operations together; `None` without
    /// one, and where kinds have rates in different units.
    pub fn total_rate(&self) -> Option<Rate> {
        let mut rates = self.rate.iter().chain(self.rate_by_kind.values());
        let first = *rates.next()?;
        rates.try_fold(first, |sum, rate| {
            (rate.unit == sum.unit).then_some(Rate {
                per_second: sum.per_second + rate.per_second,
                ..sum
            })
        })
    }

    /// Sizes of the blocks of one kind of operation.
    pub fn block_of(&self, kind: OpKind) -> &BlockSizes {
        self.block_by_kind.get(kind).unwrap_or(&self.block)
    }

    /// Sizes of the blocks of each kind that the mix holds, without repeats of
    /// the same.
    pub fn blocks(&self) -> impl Iterator<Item = &BlockSizes> {
        let by_kind = &self.block_by_kind;
        let kinds = [
            (self.mix.read_percent, by_kind.read.as_ref()),
            (self.mix.write_percent, by_kind.write.as_ref()),
            (self.mix.trim_percent, by_kind.trim.as_ref()),
        ];
        let used = kinds.into_iter().filter(|(percent, _)| *percent > 0);
        let common = used.clone().any(|(_, own)| own.is_none());
        let own = used.filter_map(|(_, own)| own);
        own.chain(common.then_some(&self.block))
    }

    /// The largest block of any kind of operation that is done.
    pub fn max_block_bytes(&self) -> u64 {
        let sizes = self.blocks().map(BlockSizes::max_bytes);
        sizes.max().unwrap_or_else(|| self.block.max_bytes())
    }

    /// The smallest block of any kind of operation that is done.
    pub fn min_block_bytes(&self) -> u64 {
        let sizes = self.blocks().map(BlockSizes::min_bytes);
        sizes.min().unwrap_or_else(|| self.block.min_bytes())
    }

    /// Operations in flight over all workers in a closed loop.
    pub fn total_depth(&self) -> u64 {
        u64::from(self.workers) * u64::from(self.queue_depth)
    }
}
