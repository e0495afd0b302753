//! Bounds on the numbers of a workload: far above what anybody measures with,
//! low enough that a typing mistake or a hostile message cannot ask for a
//! million threads.
//!
//! The plan checks what a user wrote against them, an agent what a coordinator
//! sent.

/// Threads of one workload on one host.
pub const MAX_WORKERS: u64 = 4096;
/// Operations in flight per worker.
pub const MAX_DEPTH: u64 = 4096;
/// The largest block: twice what any device takes in one command.
pub const MAX_BLOCK_BYTES: u64 = 1 << 30;
/// I/O buffers of all workers together.
pub const MAX_BUFFER_BYTES: u64 = 64 << 30;
/// Files of a directory target, per worker or shared.
pub const MAX_FILES: u64 = 1_000_000;
/// Sizes and offsets of a data set.
pub const MAX_SIZE_BYTES: u64 = 1 << 52;
/// Measure phase of a plan.
pub const MAX_RUNTIME_NS: u64 = 30 * DAY_NS;
/// Measure phase in the words of other tools, which know longer ones.
pub const MAX_FOREIGN_RUNTIME_NS: u64 = 366 * DAY_NS;
/// Warm-up.
pub const MAX_WARMUP_NS: u64 = DAY_NS;
/// Pause between two trials.
pub const MAX_PAUSE_NS: u64 = DAY_NS;
/// Pause of a worker.
pub const MAX_THINK_NS: u64 = 3_600 * 1_000_000_000;
/// Shortest and longest time that an operation may be outstanding.
pub const DEADLINE_NS: std::ops::RangeInclusive<u64> = 1_000_000..=DAY_NS;
/// Operations or bytes per second.
pub const MAX_RATE: f64 = 1e12;
/// Files of a tree, per worker.
pub const MAX_TREE_FILES: u64 = 1 << 40;
/// Directories of a tree that hold files.
pub const MAX_TREE_LEAVES: u64 = 1 << 32;
/// Levels of directories.
pub const MAX_TREE_DEPTH: u64 = 32;
/// Bytes of an extended attribute.
pub const MAX_XATTR_BYTES: u64 = 32 << 10;
/// Extended attributes of a file.
pub const MAX_XATTRS: u64 = 256;
/// Objects of each worker.
pub const MAX_OBJECTS: u64 = 1 << 38;
/// Endpoints of a store.
pub const MAX_ENDPOINTS: usize = 4096;
/// CPUs that workers may be pinned to.
pub const MAX_CPUS: usize = 4096;
/// Highest number of a CPU.
pub const MAX_CPU: u32 = 65_535;

const DAY_NS: u64 = 86_400 * 1_000_000_000;
