//! The ground truth of a simulated drive: what it really did, by its own
//! record. Schema `fathom.lab.truth/1`, described in `docs/guide/lab.md`.

use std::collections::BTreeMap;

use fathom_model::histogram::{Histogram, bucket_middle};
use serde::{Deserialize, Serialize};

/// Everything that a simulated drive did since it was mounted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Truth {
    /// `fathom.lab.truth/1`.
    pub schema: String,
    /// The model with the parameters that were given.
    pub model: String,
    /// The seed of its chances.
    pub seed: u64,
    /// Size of the drive.
    pub capacity_bytes: u64,
    /// Whether what is written can be read again.
    pub stores_data: bool,
    /// When the drive was mounted, nanoseconds of Unix time.
    pub mounted_unix_ns: u64,
    /// Arrival of the first operation, after the mount.
    pub first_arrival_ns: Option<u64>,
    /// Last reply so far, after the mount.
    pub last_reply_ns: Option<u64>,
    /// Operations that were in flight at once, at most.
    pub in_flight_max: u64,
    /// What was done, by kind: `read`, `write`, `trim`, `sync`.
    pub operations: BTreeMap<String, OperationTruth>,
    /// The stretches of time in which it was busy.
    pub spells: Vec<SpellTruth>,
    /// What was done in each second after the mount in which replies were sent.
    pub seconds: Vec<SecondTruth>,
    /// The same by place: the drive in equal parts.
    pub regions: Vec<RegionTruth>,
    /// How well the laboratory did its own work.
    pub laboratory: LaboratoryTruth,
    /// What the model says of itself, when it does: expected rates, positions
    /// of cliffs, its own counters.
    pub drive: Option<serde_json::Value>,
}

/// What was done of one kind.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct OperationTruth {
    /// Operations that ended well.
    pub ops: u64,
    /// Bytes that they moved.
    pub bytes: u64,
    /// Operations that ended with an error, by errno.
    pub errors: BTreeMap<i32, u64>,
    /// Operations that the drive never ended by itself; the laboratory answers
    /// them with EIO after a time. They count in `errors` once they were.
    pub stuck: u64,
    /// Latency of those that ended well, as the model says.
    pub modelled: HistogramTruth,
    /// Their latency as the laboratory gave it: from arrival to reply, with
    /// the usual cost of the way through the kernel.
    pub delivered: HistogramTruth,
}

/// Latencies, with the buckets of fathom's own histogram.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct HistogramTruth {
    /// How many.
    pub count: u64,
    /// Mean, nanoseconds.
    pub mean_ns: Option<f64>,
    /// Smallest.
    pub min_ns: Option<u64>,
    /// Median.
    pub p50_ns: Option<u64>,
    /// 90th percentile.
    pub p90_ns: Option<u64>,
    /// 99th percentile.
    pub p99_ns: Option<u64>,
    /// 99.9th percentile.
    pub p999_ns: Option<u64>,
    /// Largest.
    pub max_ns: Option<u64>,
    /// Middle of each bucket in nanoseconds, and its count; relative error of
    /// a value at most 0.4 %.
    pub buckets: Vec<(u64, u64)>,
}

impl From<&Histogram> for HistogramTruth {
    fn from(histogram: &Histogram) -> HistogramTruth {
        HistogramTruth {
            count: histogram.count(),
            mean_ns: histogram.mean(),
            min_ns: histogram.min(),
            p50_ns: histogram.quantile(0.5),
            p90_ns: histogram.quantile(0.9),
            p99_ns: histogram.quantile(0.99),
            p999_ns: histogram.quantile(0.999),
            max_ns: histogram.max(),
            buckets: histogram
                .buckets()
                .map(|(bucket, count)| (bucket_middle(bucket), count))
                .collect(),
        }
    }
}

/// Replies of one second.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SecondTruth {
    /// Whole seconds after the mount.
    pub second: u64,
    /// Reads that ended well.
    pub read_ops: u64,
    /// Their bytes.
    pub read_bytes: u64,
    /// Writes that ended well.
    pub write_ops: u64,
    /// Their bytes.
    pub write_bytes: u64,
}

/// A stretch of time without a pause: nothing was in flight for 10 ms before
/// it and after it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SpellTruth {
    /// Its first arrival, after the mount.
    pub from_ns: u64,
    /// Its last reply.
    pub to_ns: u64,
    /// Replies of every kind, errors with them.
    pub replies: u64,
    /// Reads that ended well.
    pub read_ops: u64,
    /// Writes that ended well.
    pub write_ops: u64,
}

/// Operations in one part of the drive.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RegionTruth {
    /// First byte of the part.
    pub offset: u64,
    /// Reads that ended well.
    pub read_ops: u64,
    /// Their bytes.
    pub read_bytes: u64,
    /// Sum of their latencies as delivered.
    pub read_ns: u64,
    /// Writes that ended well.
    pub write_ops: u64,
    /// Their bytes.
    pub write_bytes: u64,
    /// Sum of their latencies as delivered.
    pub write_ns: u64,
}

/// How well the laboratory kept what the model promised.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LaboratoryTruth {
    /// Replies that were sent.
    pub replies: u64,
    /// A reply is late when it was sent later than this share of its
    /// modelled latency …
    pub tolerance: f64,
    /// … and later than this.
    pub floor_ns: u64,
    /// How many were late.
    pub late: u64,
    /// Whether at most 5 % of the replies were late and none was refused: only
    /// then the drive was what its model says.
    pub kept_up: bool,
    /// How late replies were sent: 0 for those in time.
    pub lateness: HistogramTruth,
    /// Writes refused because the laboratory's own storage was full.
    pub refused_writes: u64,
    /// The way through the kernel, as measured on this machine at the start.
    pub path: PathTruth,
}

/// The usual cost of the way between a program and the laboratory. The drive
/// answers by so much earlier, so that a program sees the modelled latency.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct PathTruth {
    /// A small operation, there and back.
    pub base_ns: u64,
    /// More for each MiB that is read.
    pub read_ns_per_mib: u64,
    /// More for each MiB that is written.
    pub write_ns_per_mib: u64,
}

impl Truth {
    /// The share of replies that were late, 0 without any.
    pub fn late_share(&self) -> f64 {
        let replies = self.laboratory.replies.max(1);
        self.laboratory.late as f64 / replies as f64
    }

    /// The stretch in which nearly everything was done, nanoseconds after the
    /// mount. Spells at its ends are left out as long as they hold less than
    /// 1 % of all replies: tools try a target before they measure it.
    pub fn busy(&self) -> Option<(u64, u64)> {
        let replies: u64 = self.spells.iter().map(|spell| spell.replies).sum();
        let spare = replies / 100;
        let main = |left_out: &mut u64, spell: &&SpellTruth| {
            *left_out += spell.replies;
            *left_out > spare
        };
        let mut spells = self.spells.iter();
        let mut left_out = 0;
        let first = spells.find(|spell| main(&mut left_out, spell))?;
        let mut spells = self.spells.iter().rev();
        let mut left_out = 0;
        let last = spells.find(|spell| main(&mut left_out, spell))?;
        Some((first.from_ns, last.to_ns))
    }

    /// Reads (`read`) or writes (`write`) per second in [`Truth::busy`].
    pub fn rate(&self, kind: &str) -> Option<f64> {
        let (from_ns, to_ns) = self.busy()?;
        let inside = |spell: &&SpellTruth| spell.from_ns >= from_ns && spell.to_ns <= to_ns;
        let of_kind = |spell: &SpellTruth| match kind {
            "read" => Some(spell.read_ops),
            "write" => Some(spell.write_ops),
            _ => None,
        };
        let ops: Option<u64> = self.spells.iter().filter(inside).map(of_kind).sum();
        let ns = to_ns.saturating_sub(from_ns);
        (ns > 0).then(|| Some(ops? as f64 * 1e9 / ns as f64))?
    }
}

#[cfg(test)]
mod tests {
    use super::{HistogramTruth, LaboratoryTruth, PathTruth, SpellTruth, Truth};

    fn with_spells(spells: &[(u64, u64, u64)]) -> Truth {
        let spell = |&(from_ns, to_ns, ops): &(u64, u64, u64)| SpellTruth {
            from_ns,
            to_ns,
            replies: ops,
            read_ops: ops,
            write_ops: 0,
        };
        Truth {
            schema: String::new(),
            model: String::new(),
            seed: 0,
            capacity_bytes: 0,
            stores_data: false,
            mounted_unix_ns: 0,
            first_arrival_ns: None,
            last_reply_ns: None,
            in_flight_max: 0,
            operations: Default::default(),
            spells: spells.iter().map(spell).collect(),
            seconds: Vec::new(),
            regions: Vec::new(),
            laboratory: LaboratoryTruth {
                replies: 0,
                tolerance: 0.0,
                floor_ns: 0,
                late: 0,
                kept_up: true,
                lateness: HistogramTruth::default(),
                refused_writes: 0,
                path: PathTruth::default(),
            },
            drive: None,
        }
    }

    #[test]
    fn trying_the_target_is_no_part_of_the_rate() {
        let second = 1_000_000_000;
        let truth = with_spells(&[
            (0, 1000, 1),
            (5 * second, 6 * second, 600),
            (6 * second + 20_000_000, 7 * second, 400),
            (9 * second, 9 * second + 10, 2),
        ]);
        assert_eq!(truth.busy(), Some((5 * second, 7 * second)));
        assert_eq!(truth.rate("read"), Some(500.0));
        assert_eq!(truth.rate("sync"), None);
        assert_eq!(with_spells(&[]).rate("read"), None);
    }
}
