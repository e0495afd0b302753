//! One workload: what is done to a target, in the field's own terms.
//!
//! A `Workload` is complete: every default is filled in, every size is in
//! bytes, every time in nanoseconds. The plan room turns what a user wrote
//! into this; the engine room executes it and knows nothing else.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How operations reach the target.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum EngineKind {
    /// io_uring.
    Uring,
    /// Linux native asynchronous I/O (`io_submit`).
    Libaio,
    /// `pread`/`pwrite`, one operation at a time per worker.
    Psync,
    /// Loads and stores on a memory map, `msync` as the flush.
    Mmap,
    /// Nothing is done. Measures the generator.
    Null,
    /// A simulated drive under a virtual clock.
    Sim,
}

impl EngineKind {
    /// Every engine.
    pub const ALL: [EngineKind; 6] = [
        EngineKind::Uring,
        EngineKind::Libaio,
        EngineKind::Psync,
        EngineKind::Mmap,
        EngineKind::Null,
        EngineKind::Sim,
    ];

    /// The name used in plans, flags and results.
    pub fn name(self) -> &'static str {
        match self {
            EngineKind::Uring => "uring",
            EngineKind::Libaio => "libaio",
            EngineKind::Psync => "psync",
            EngineKind::Mmap => "mmap",
            EngineKind::Null => "null",
            EngineKind::Sim => "sim",
        }
    }
}

/// Shares of reads, writes and trims in percent. They add up to 100 and are
/// interleaved operation by operation, not in bursts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OpMix {
    /// Reads, 0 to 100.
    pub read_percent: u8,
    /// Writes, 0 to 100.
    pub write_percent: u8,
    /// Discards, 0 to 100.
    pub trim_percent: u8,
}

impl OpMix {
    /// Only reads.
    pub const READ: OpMix = OpMix {
        read_percent: 100,
        write_percent: 0,
        trim_percent: 0,
    };
    /// Only writes.
    pub const WRITE: OpMix = OpMix {
        read_percent: 0,
        write_percent: 100,
        trim_percent: 0,
    };

    /// Whether any data are read.
    pub fn reads(&self) -> bool {
        self.read_percent > 0
    }

    /// Whether any data on the target are changed.
    pub fn modifies(&self) -> bool {
        self.write_percent > 0 || self.trim_percent > 0
    }
}

/// The order in which offsets are visited.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Pattern {
    /// Ascending, wrapping around at the end.
    Sequential,
    /// Descending, wrapping around at the start.
    Backwards,
    /// Ascending in steps of `stride_bytes` from one start to the next.
    Strided {
        /// Distance from one block's start to the next, at least one block.
        stride_bytes: u64,
    },
    /// At random.
    Random(Distribution),
}

impl Pattern {
    /// Whether offsets are random.
    pub fn is_random(&self) -> bool {
        matches!(self, Pattern::Random(_))
    }
}

/// How random offsets are spread.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Distribution {
    /// Uniform, each block exactly once per pass, in a fresh order each pass.
    EachOnce,
    /// Uniform with repeats.
    Uniform,
    /// Zipf with exponent `theta` > 0: rank r is visited in proportion to
    /// r^-theta. Ranks are scattered over the target by a hash.
    Zipf {
        /// Exponent, above 0; 1.2 is common.
        theta: f64,
    },
    /// Pareto with `h` between 0 and 1 (share of accesses outside the hot
    /// part: 0.2 means 80 % of accesses go to 20 % of blocks). Scattered.
    Pareto {
        /// Skew, 0 < h < 1.
        h: f64,
    },
    /// Normal around the middle of the target.
    Normal {
        /// Standard deviation in percent of the target's size, above 0.
        deviation_percent: f64,
    },
    /// A share of accesses goes to a share of the target at its start.
    HotSpot {
        /// Accesses to the hot part, percent.
        access_percent: f64,
        /// Size of the hot part, percent of the target.
        size_percent: f64,
    },
}

/// Sizes of blocks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum BlockSizes {
    /// Always the same.
    Fixed(u64),
    /// Uniform over the multiples of `step_bytes` from `min_bytes` to
    /// `max_bytes`, both included.
    Range {
        /// Smallest block.
        min_bytes: u64,
        /// Largest block.
        max_bytes: u64,
        /// Granularity; the alignment of the target.
        step_bytes: u64,
    },
    /// Drawn by weight.
    Weighted(Vec<WeightedSize>),
}

/// One size of a weighted draw.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WeightedSize {
    /// Size in bytes.
    pub bytes: u64,
    /// Relative weight, at least 1.
    pub weight: u32,
}

impl BlockSizes {
    /// The largest block.
    pub fn max_bytes(&self) -> u64 {
        match self {
            BlockSizes::Fixed(bytes) => *bytes,
            BlockSizes::Range { max_bytes, .. } => *max_bytes,
            BlockSizes::Weighted(sizes) => sizes.iter().map(|s| s.bytes).max().unwrap_or(0),
        }
    }

    /// The smallest block.
    pub fn min_bytes(&self) -> u64 {
        match self {
            BlockSizes::Fixed(bytes) => *bytes,
            BlockSizes::Range { min_bytes, .. } => *min_bytes,
            BlockSizes::Weighted(sizes) => sizes.iter().map(|s| s.bytes).min().unwrap_or(0),
        }
    }
}

/// Which files a directory target gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FileLayout {
    /// Files per worker, or files shared by all workers; at least 1.
    pub count: u32,
    /// All workers use the same files instead of files of their own.
    pub shared: bool,
}

/// When written data are made durable.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SyncPolicy {
    /// Flush after this many writes of a worker; 0 is never.
    pub every_writes: u32,
    /// The call that flushes.
    pub call: SyncCall,
    /// Open with `O_SYNC` or `O_DSYNC`.
    pub open: SyncOpen,
    /// Flush at the end of the trial; its time counts in the write rate.
    pub final_flush: bool,
}

/// The call that flushes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SyncCall {
    /// `fsync`: data and metadata.
    Fsync,
    /// `fdatasync`: data and what is needed to read them back.
    #[default]
    Fdatasync,
}

/// Synchronous flags at open.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SyncOpen {
    /// None.
    #[default]
    No,
    /// `O_DSYNC`.
    Dsync,
    /// `O_SYNC`.
    Sync,
}

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
}

/// An asked-for rate: the trial is open loop (response latency counts from
/// the intended start).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Rate {
    /// Per second, over all workers together; above 0.
    pub per_second: f64,
    /// What is counted.
    pub unit: RateUnit,
    /// How intended starts are spaced.
    pub arrival: Arrival,
}

/// What a rate counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RateUnit {
    /// Operations per second.
    Ops,
    /// Bytes per second.
    Bytes,
}

/// How intended starts are spaced.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Arrival {
    /// Evenly.
    #[default]
    Constant,
    /// With exponential gaps, as independent users arrive.
    Poisson,
}

/// What is written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Payload {
    /// The content.
    pub content: Content,
    /// Share of each 4 KiB that compresses away, 0 to 100 percent.
    pub compress_percent: u8,
    /// Share of blocks that duplicate an earlier one, 0 to 100 percent.
    pub duplicate_percent: u8,
}

impl Default for Payload {
    fn default() -> Self {
        Payload {
            content: Content::Random,
            compress_percent: 0,
            duplicate_percent: 0,
        }
    }
}

/// Content of a payload.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Content {
    /// Incompressible, unique blocks.
    Random,
    /// All zeros.
    Zeros,
    /// These bytes over and over; at least one.
    Bytes(Vec<u8>),
}

/// Checking of what is read against what was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Verify {
    /// Every read in the measure phase is checked (outside the timed window).
    pub on_read: bool,
    /// All that was written is read back and checked after the measure phase.
    pub after: bool,
}

/// What is done to the target before the trial.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Precondition {
    /// Nothing beyond making sure that every block that is read was written.
    #[default]
    None,
    /// What is not known to have been written before is written once, also
    /// for a workload that only writes.
    Written,
    /// The whole size is written once in sequence.
    Fill,
    /// The whole size is written in sequence, then once more at random with
    /// the block size of the workload.
    RandomFill,
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
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Workload {
    /// Name within the plan.
    pub name: String,
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
    /// Files of a directory target.
    pub files: FileLayout,
    /// Bytes of the whole data set on the target, all files and workers
    /// together. `None` on a device or an existing file: all of it.
    pub size_bytes: Option<u64>,
    /// Only this much of the data set is accessed.
    pub working_set_bytes: Option<u64>,
    /// Start of the accessed range within the target.
    pub offset_bytes: u64,
    /// Durability.
    pub sync: SyncPolicy,
    /// Page cache or not.
    pub cache: CacheMode,
    /// The page cache of the target is dropped before each trial.
    pub drop_cache: bool,
    /// End of the measure phase.
    pub bounds: Bounds,
    /// Ends the measure phase before its bounds, once it holds.
    #[serde(default)]
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
    /// What is done to the target first.
    pub precondition: Precondition,
    /// Poll for completions instead of sleeping, where the engine can.
    pub poll: bool,
    /// Put I/O buffers on huge pages, where the system grants them.
    pub huge_pages: bool,
    /// After a failed operation.
    pub on_error: OnError,
    /// An operation outstanding for longer ends the trial as interrupted.
    pub io_deadline_ns: u64,
    /// What the user calls good enough; changes nothing in what is done.
    #[serde(default)]
    pub slo: Option<crate::slo::Slo>,
}

impl Workload {
    /// A 4 KiB random read at depth 1, direct, 10 s: the base that defaults
    /// and tests start from.
    pub fn example(name: &str) -> Workload {
        Workload {
            name: name.to_owned(),
            engine: EngineKind::Uring,
            mix: OpMix::READ,
            pattern: Pattern::Random(Distribution::EachOnce),
            block: BlockSizes::Fixed(4096),
            align_bytes: 4096,
            misalign_bytes: 0,
            workers: 1,
            queue_depth: 1,
            batch: 0,
            files: FileLayout {
                count: 1,
                shared: false,
            },
            size_bytes: Some(1 << 30),
            working_set_bytes: None,
            offset_bytes: 0,
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
            precondition: Precondition::None,
            poll: false,
            huge_pages: false,
            on_error: OnError::Stop,
            io_deadline_ns: 60_000_000_000,
            slo: None,
        }
    }

    /// Operations in flight over all workers in a closed loop.
    pub fn total_depth(&self) -> u64 {
        u64::from(self.workers) * u64::from(self.queue_depth)
    }
}
