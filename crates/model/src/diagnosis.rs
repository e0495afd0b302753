//! Whether the storage of a host held it back, as a recording of it shows.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Format of a diagnosis as JSON.
pub const DIAGNOSIS_SCHEMA: &str = "fathom.diagnosis/1";

/// Is the storage the bottleneck?
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// Proved: work waited for a device that gave what it can.
    Yes,
    /// Proved: the storage had room, or something else was short.
    No,
    /// What was recorded does not decide it.
    NotProven,
}

/// What held the host back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Shortage {
    /// A device that gives no more.
    Disk,
    /// A device that has operations and completes none.
    HungDevice,
    /// A volume that is held at a rate.
    VolumeCap,
    /// More tasks than CPUs.
    CpuQueue,
    /// CPU time that the hypervisor gave to others.
    Hypervisor,
    /// Memory: pages went to swap and back.
    Memory,
    /// An interface at its rated speed.
    Network,
    /// One operation after the other: the time of each, not the rate of the
    /// device, sets the pace.
    OneByOne,
    /// A lock on a file that tasks wait for.
    Lock,
    /// Nothing was short while this was recorded.
    Nothing,
    /// Not known.
    Unknown,
}

/// The answer, and what it rests on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Diagnosis {
    /// [`DIAGNOSIS_SCHEMA`].
    pub schema: String,
    /// Is the storage the bottleneck?
    pub answer: Answer,
    /// What it is.
    pub limiter: Shortage,
    /// At most three lines.
    pub evidence: Vec<String>,
    /// What would decide it, where it is not proven.
    pub settle: Vec<String>,
    /// Who was recorded.
    pub host: String,
    /// What wrote the recordings that were read.
    pub sources: Vec<String>,
    /// Length of the recording in seconds, as far as it is known.
    pub seconds: f64,
    /// Samples in it.
    pub samples: u32,
    /// CPUs, where they were recorded.
    pub cpu: Option<CpuLoad>,
    /// Devices, the one with the longest queue first.
    pub disks: Vec<DiskLoad>,
    /// What the volume can give, where that is known.
    pub ceiling: Option<CeilingUse>,
    /// The measurement of the volume that gave the ceiling, where it was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calibration: Option<Calibration>,
    /// The test with a smaller volume, where one was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub causal: Option<CausalTest>,
    /// What was mended, left out or contradicts itself.
    pub remarks: Vec<String>,
}

/// How evidence ends that names a program as fast as its one thread computes.
pub const ONE_THREAD_WORDS: &str = "a single thread sets its pace";

/// CPUs over a recording. Shares are 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CpuLoad {
    /// Logical CPUs, where they are known.
    pub cpus: Option<u32>,
    /// Mean share that was neither idle nor waiting for I/O, where it is known.
    pub busy: Option<f64>,
    /// Mean share that was idle while a task waited for I/O, where it is known.
    pub iowait: Option<f64>,
    /// Mean share that the hypervisor took, where it is known.
    pub steal: Option<f64>,
    /// Mean load average per CPU, where both are known.
    pub load_per_cpu: Option<f64>,
    /// Mean number of runnable tasks per CPU, where both are known.
    pub runnable_per_cpu: Option<f64>,
}

/// A device over a recording.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DiskLoad {
    /// Kernel name.
    pub name: String,
    /// Reads and writes per second, mean.
    pub operations: f64,
    /// Of all operations, mean, 0 to 1; absent where kinds are not told apart.
    pub read_share: Option<f64>,
    /// The rate that 95 % of the time was below.
    pub operations_p95: f64,
    /// The highest rate of reads of one sample.
    pub reads_peak: f64,
    /// The highest rate of writes of one sample.
    pub writes_peak: f64,
    /// The highest rate of one sample.
    pub operations_peak: f64,
    /// Bytes per second, mean.
    pub bytes: f64,
    /// Bytes of a mean operation; absent without operations.
    pub block_bytes: Option<f64>,
    /// Mean time of an operation, in milliseconds.
    pub wait_ms: Option<f64>,
    /// The longest mean time of one sample with operations, in milliseconds.
    pub wait_peak_ms: Option<f64>,
    /// Operations in flight, mean.
    pub queue: Option<f64>,
    /// Operations in flight of the fullest sample.
    pub queue_peak: Option<f64>,
    /// Mean of what iostat calls `%util`, 0 to 1; it proves nothing.
    pub util: Option<f64>,
    /// Rates of each sample, for graphs: seconds from the first, reads, writes.
    pub series: Vec<[f64; 3]>,
}

/// The load as a share of what the volume can give.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CeilingUse {
    /// Where the ceiling is from, in words.
    pub source: String,
    /// Operations per second that the volume gives.
    pub operations: f64,
    /// Bytes of a mean operation of the measurement, where it is known.
    pub block_bytes: Option<f64>,
    /// The highest rate of the load over the ceiling.
    pub peak_share: f64,
    /// Share of the time at 90 % of the ceiling and above.
    pub time_at_ceiling: f64,
    /// Load and measurement are alike: blocks within four times, shares of
    /// reads within 30 %, and the load did no more than the measurement.
    pub comparable: bool,
    /// The load did 15 % more than the ceiling allows: it is ignored.
    #[serde(default)]
    pub contradicted: bool,
    /// The same in words: `peaks at 240 of 1,000 IOPS (24 %)`.
    #[serde(default)]
    pub words: String,
}

/// What a volume gave with the mix and the block size of a load.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Calibration {
    /// Id of the stored run.
    pub run: String,
    /// The folder whose volume was measured.
    pub target: String,
    /// Kernel names of the devices under it, the top one first; empty where
    /// there are none.
    pub devices: Vec<String>,
    /// Start, nanoseconds since 1970-01-01 UTC.
    pub started_unix_ns: u64,
    /// Bytes of an operation.
    pub block_bytes: u64,
    /// Of all operations, 0 to 1.
    pub read_share: f64,
    /// Operations per second at the cap, with what others did meanwhile.
    pub operations: f64,
    /// Of those, what others did on the same device, as its counters tell.
    pub others: f64,
    /// Operations in flight with which the cap was reached.
    pub depth: u64,
    /// Mean time of an operation there, in milliseconds: mostly queueing.
    pub wait_at_cap_ms: Option<f64>,
    /// Operations per second that were asked for below the cap.
    pub paced: f64,
    /// Whether the volume kept that pace.
    pub pace_kept: bool,
    /// Mean time of an operation at that pace, in milliseconds.
    pub wait_ms: Option<f64>,
    /// 99 % of operations took no longer at that pace, in milliseconds.
    pub wait_p99_ms: Option<f64>,
}

/// What a smaller volume does to an application.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CausalTest {
    /// The control group that was held back.
    pub group: String,
    /// What was limited: `io.max of vda to 900 operations/s`.
    pub limit: String,
    /// How progress was read: `CPU time of the group`.
    pub progress: String,
    /// By how much the volume was made smaller, 0 to 1.
    pub throttle: f64,
    /// Blocks of four, each with two free and two limited parts.
    pub blocks: u32,
    /// Length of a part in seconds.
    pub part_seconds: f64,
    /// Change of progress while limited, relative: -0.1 is a tenth less.
    pub effect: Option<f64>,
    /// Its 95 % interval.
    pub interval: Option<[f64; 2]>,
    /// Change of the group's own operations meanwhile, relative; absent where
    /// they are not counted.
    pub operations_effect: Option<f64>,
    /// What that says of the bottleneck.
    pub answer: Answer,
    /// In one sentence.
    pub words: String,
}
