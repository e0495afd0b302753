//! The flags of `fathom curve`.

use clap::{Args, Subcommand};
use fathom_model::curve::Sweep;
use fathom_model::unit;
use fathom_plan::IoFlags;
use fathom_studies::curve::Swept;

use crate::output_flags::Output;
use crate::whole_seconds::whole_seconds;

/// Measure a figure against a swept quantity, and draw it.
///
/// Each curve is one stored run: `fathom runs show` and `fathom report` show
/// it again. Ctrl-C keeps the points so far. With `--slo` it is said up to
/// where a target holds.
#[derive(Debug, Subcommand)]
#[command(defer = true)]
#[command(after_help = "\
Examples:
  fathom curve depth /data              Where does more queue depth stop helping?
  fathom curve load /data --slo 'p99<2ms'
                                        How much load keeps the tail below 2 ms?
  fathom curve block /data --rw write   Throughput by block size
  fathom curve working-set /data        Where do caches end?
  fathom curve mix /data --slo 'p99<2ms'
                                        Which mix of reads and writes, at which load?
  fathom curve position /dev/sdb        Outer and inner zones of a hard disk")]
pub(crate) enum Curve {
    Depth(Box<Depth>),
    Load(Box<Load>),
    Block(Box<Block>),
    WorkingSet(Box<WorkingSet>),
    Mix(Box<Mix>),
    Position(Box<Position>),
}

/// What every curve takes.
#[derive(Debug, Args)]
pub(crate) struct Common {
    /// A directory, file, device, `null:` or `sim:MODEL`.
    pub(crate) target: String,
    /// How long each point is measured.
    #[arg(long = "for", alias = "seconds", value_name = "TIME")]
    #[arg(value_parser = whole_seconds(1, 86400))]
    pub(crate) seconds: Option<u32>,
    /// Seed of offsets and contents.
    #[arg(long)]
    pub(crate) seed: Option<u64>,
    /// Allow a device, or a file that fathom did not make, to be overwritten.
    #[arg(long)]
    pub(crate) destructive: bool,
    /// Keep the test file for later runs.
    #[arg(long)]
    pub(crate) keep_files: bool,
    #[command(flatten)]
    pub(crate) flags: IoFlags,
    #[command(flatten)]
    pub(crate) output: Output,
}

/// Throughput and latency against queue depth, with the knee.
///
/// 1, 2, 4 … operations in flight, until two doublings bring no more. The knee
/// is the least depth with 95 % of the highest throughput. 3 s a point.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  fathom curve depth /data
  fathom curve depth /data --rw randwrite --bs 16k --max-depth 64
  fathom curve depth sim:ideal?latency_us=100,parallel=32")]
pub(crate) struct Depth {
    /// Operations in flight at most, all workers together.
    #[arg(long, default_value_t = 256, value_parser = clap::value_parser!(u32).range(1..=4096))]
    max_depth: u32,
    #[command(flatten)]
    common: Common,
}

/// Response latency against offered load.
///
/// A closed loop finds the ceiling; then loads of 10 % to 105 % of it are
/// offered in an open loop, with Poisson arrivals unless `--arrival constant`.
/// Latency counts from when each operation was due. With `--slo` the highest
/// load that holds the target is searched. 5 s a point, about 2 minutes.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  fathom curve load /data
  fathom curve load /data --slo 'p99<2ms'
  fathom curve load /data --rw randrw --rwmixread 70 --slo 'read.p99<2ms and write.p99<5ms'")]
pub(crate) struct Load {
    /// Operations in flight at most while the ceiling is searched.
    #[arg(long, default_value_t = 256, value_parser = clap::value_parser!(u32).range(1..=4096))]
    max_depth: u32,
    #[command(flatten)]
    common: Common,
}

/// Throughput and latency against block size.
///
/// 512 bytes (where the target takes them) and 4 KiB to 4 MiB, at a queue
/// depth of 16 unless `--iodepth` says otherwise. 3 s a point.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  fathom curve block /data --rw read
  fathom curve block /data --blocks 4k,64k,1m --iodepth 1")]
pub(crate) struct Block {
    /// These block sizes instead.
    #[arg(long, value_delimiter = ',', value_name = "SIZES", value_parser = unit::parse_bytes)]
    blocks: Vec<u64>,
    #[command(flatten)]
    common: Common,
}

/// Throughput against how much of the data is accessed: shows caches.
///
/// Random reads over ever larger parts of the data set, there and back. A
/// step is only named when it is larger than the noise of the passes. 2 s a
/// point and pass.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  fathom curve working-set /data --size 8G
  fathom curve working-set /mnt/nas --buffered --size 32G
  fathom curve working-set /dev/sdb --sets 16m,64m,256m,1g,4g")]
pub(crate) struct WorkingSet {
    /// These working sets instead.
    #[arg(long, value_delimiter = ',', value_name = "SIZES", value_parser = unit::parse_bytes)]
    sets: Vec<u64>,
    #[command(flatten)]
    common: Common,
}

/// Latency by share of reads and offered load: which mix holds a target?
///
/// 100, 75, 50, 25 and 0 % reads, each at several loads in an open loop with
/// Poisson arrivals, until it is saturated. 3 s a point, about 2 minutes.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  fathom curve mix /data --slo 'p99<2ms'
  fathom curve mix /dev/nvme1n1 --destructive --bs 16k")]
pub(crate) struct Mix {
    #[command(flatten)]
    common: Common,
}

/// Throughput against the position on the target: zones of a hard disk.
///
/// Sequential reads of short ranges all over a device or file, in an order
/// that keeps neighbours apart in time, twice. Nothing is written to a device.
/// 1 s a point and pass.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  fathom curve position /dev/sdb
  fathom curve position sim:hdd --positions 10")]
pub(crate) struct Position {
    /// Places to measure.
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(2..=1000))]
    positions: u32,
    #[command(flatten)]
    common: Common,
}

impl Curve {
    /// What is swept, how far, and the rest.
    pub(crate) fn into_parts(self) -> (Sweep, Swept, Common) {
        let depth = |most: u32| Swept {
            most_depth: u64::from(most),
            ..Swept::default()
        };
        let sizes = |bytes: Vec<u64>| Swept {
            bytes,
            ..Swept::default()
        };
        match self {
            Curve::Depth(curve) => (Sweep::Depth, depth(curve.max_depth), curve.common),
            Curve::Load(curve) => (Sweep::Load, depth(curve.max_depth), curve.common),
            Curve::Block(curve) => (Sweep::Block, sizes(curve.blocks), curve.common),
            Curve::WorkingSet(curve) => (Sweep::WorkingSet, sizes(curve.sets), curve.common),
            Curve::Mix(curve) => (Sweep::Mix, Swept::default(), curve.common),
            Curve::Position(curve) => {
                let swept = Swept {
                    positions: curve.positions,
                    ..Swept::default()
                };
                (Sweep::Position, swept, curve.common)
            }
        }
    }
}
