//! What a drive is and did: the truth that measurements are held against.

use std::collections::BTreeMap;

use fathom_model::{Histogram, OpKind};
use serde::{Deserialize, Serialize};

/// What a drive is and did.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Truth {
    /// The model's name.
    pub model: String,
    /// Every parameter with its value: bytes, or in the unit of its name.
    pub parameters: BTreeMap<String, f64>,
    /// The seed from which everything random came.
    pub seed: u64,
    /// Size of the drive.
    pub capacity_bytes: u64,
    /// What follows from the parameters, at speed 1 and without faults.
    pub expected: Expected,
    /// What was done, by kind; only kinds that occurred.
    pub done: Vec<KindDone>,
    /// Operations that will never end.
    pub hung: u64,
    /// Operations of the neighbour, and their bytes.
    pub foreign_ops: u64,
    /// Bytes of the neighbour's operations.
    pub foreign_bytes: u64,
    /// Time during which at least one operation was under way.
    pub busy_ns: u64,
    /// Time from the first submission to the last end.
    pub elapsed_ns: u64,
    /// Mean speed over that time: 1 unless stalls, drift, a step or noise were
    /// asked for.
    pub mean_speed: f64,
    /// Counted inside the model.
    pub inside: Inside,
}

impl Truth {
    /// What was done of one kind.
    pub fn kind(&self, kind: OpKind) -> Option<&KindDone> {
        self.done.iter().find(|done| done.kind == kind)
    }
}

/// What was done of one kind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct KindDone {
    /// The kind.
    pub kind: OpKind,
    /// Operations that succeeded.
    pub ops: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Operations that failed.
    pub errors: u64,
    /// Service latencies of those that succeeded, as the drive knows them.
    pub latency: LatencyCounts,
}

/// A latency distribution at depth 1.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Latency {
    /// Half of the operations take at most this long.
    pub median_ns: f64,
    /// 99 % of them do.
    pub p99_ns: f64,
}

/// A stretch of a disk with one rate.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Zone {
    /// Where it starts.
    pub start_byte: u64,
    /// Sequential rate at its start.
    pub bytes_per_second: f64,
}

/// What follows from a model's parameters. `None` where it does not apply or
/// has no closed form.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Expected {
    /// Lasting cap on operations.
    pub cap_iops: Option<f64>,
    /// Lasting cap on throughput.
    pub cap_bytes_per_second: Option<f64>,
    /// Cap on operations while credits last; `None` when nothing limits them.
    pub burst_iops: Option<f64>,
    /// Cap on throughput while credits last.
    pub burst_bytes_per_second: Option<f64>,
    /// Operations that may be saved up.
    pub credit_ops: Option<f64>,
    /// Bytes that may be saved up.
    pub credit_bytes: Option<f64>,
    /// Most operations at any depth, where units and their latency set it.
    pub most_read_iops: Option<f64>,
    /// Sequential reads.
    pub read_bytes_per_second: Option<f64>,
    /// Sequential writes while no cache is full and nothing throttles.
    pub write_bytes_per_second: Option<f64>,
    /// Sequential writes once the cache is full or the drive throttles.
    pub late_write_bytes_per_second: Option<f64>,
    /// Mean service latency of small reads all over the drive, one at a time,
    /// without their transfer.
    pub random_read_mean_ns: Option<f64>,
    /// Reads of 4 KiB, one at a time.
    pub read_4k: Option<Latency>,
    /// Writes of 4 KiB, one at a time.
    pub write_4k: Option<Latency>,
    /// Size of the cache.
    pub cache_bytes: Option<f64>,
    /// Bytes written at full speed from an empty cache until it is full.
    pub cliff_bytes: Option<f64>,
    /// Steady write amplification under uniform random writes.
    pub steady_write_amplification: Option<f64>,
    /// Rates across a disk, outermost first.
    pub zones: Vec<Zone>,
}

/// What a model counted inside.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Inside {
    /// Bytes that really went to the medium, with all that the drive moved by
    /// itself; `None` where the model keeps no such account.
    pub media_write_bytes: Option<u64>,
    /// Bytes that really came from the medium.
    pub media_read_bytes: Option<u64>,
    /// Time during which a cap or a thermal limit held operations back.
    pub throttled_ns: u64,
    /// How many times that began.
    pub throttle_events: u64,
    /// Bytes written before the first write that a full cache, a cap without
    /// credits or the first collection of garbage held back.
    pub cliff_at_bytes: Option<u64>,
    /// Temperature.
    pub celsius: Option<f64>,
    /// Reads answered by a cache.
    pub cache_hits: u64,
    /// Reads that a cache did not have.
    pub cache_misses: u64,
    /// Acknowledged and not yet on the medium.
    pub dirty_bytes: u64,
    /// Flushes that were acknowledged and not carried out.
    pub lies: u64,
    /// Writes that cost a read-modify-write.
    pub read_modify_writes: u64,
    /// Regions that were allocated by their first write.
    pub allocations: u64,
    /// Reads of what was never written.
    pub hole_reads: u64,
    /// Writes whose content was there already.
    pub duplicates: u64,
}

/// A latency histogram in the form in which it is stored: counts by bucket of
/// [`Histogram`]'s layout, with exact sum and extremes.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct LatencyCounts {
    /// Index of the bucket and its count, ascending.
    pub buckets: Vec<(usize, u64)>,
    /// Sum of all latencies.
    pub sum_ns: u64,
    /// Smallest.
    pub min_ns: u64,
    /// Largest.
    pub max_ns: u64,
}

impl LatencyCounts {
    /// The histogram itself; `None` when the counts contradict one another.
    pub fn histogram(&self) -> Option<Histogram> {
        Histogram::from_parts(
            self.buckets.iter().copied(),
            u128::from(self.sum_ns),
            self.min_ns,
            self.max_ns,
        )
    }
}

impl From<&Histogram> for LatencyCounts {
    fn from(histogram: &Histogram) -> LatencyCounts {
        LatencyCounts {
            buckets: histogram.buckets().collect(),
            sum_ns: u64::try_from(histogram.sum()).unwrap_or(u64::MAX),
            min_ns: histogram.min().unwrap_or(0),
            max_ns: histogram.max().unwrap_or(0),
        }
    }
}
