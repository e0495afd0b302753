//! What a run has measured so far, in a few words for those who wait.

use fathom_model::{Histogram, OpKind, Sample, unit};
use fathom_stats::order_statistics::least_samples;

/// The percentile that is shown.
const P99: f64 = 0.99;

/// What was measured in some time: one interval of several trials, or all intervals
/// of one.
#[derive(Debug, Default)]
pub(super) struct Tally {
    bytes: u64,
    ops: u64,
    failed: u64,
    duration_ns: u64,
    latencies: Histogram,
}

impl Tally {
    /// Takes in what was measured after the rest.
    pub(super) fn add(&mut self, sample: &Sample) {
        self.duration_ns += sample.duration_ns;
        self.take(sample);
    }

    /// Takes in what was measured at the same time as the rest.
    pub(super) fn add_beside(&mut self, sample: &Sample) {
        self.duration_ns = self.duration_ns.max(sample.duration_ns);
        self.take(sample);
    }

    fn take(&mut self, sample: &Sample) {
        self.bytes += sample.data_bytes();
        self.ops += sample.data_ops();
        self.failed += sample.errors().total();
        // A commit is what its writer waits for: the write and the flush.
        let has_commits = sample.ops.iter().any(|op| op.kind == OpKind::Commit);
        let counts = |kind: OpKind| match has_commits {
            true => kind == OpKind::Commit,
            false => kind.is_data(),
        };
        for op in sample.ops.iter().filter(|op| counts(op.kind)) {
            self.latencies
                .merge(op.response.as_ref().unwrap_or(&op.service));
        }
    }

    /// Throughput and operations per second; what moves no bytes has no throughput.
    pub(super) fn rates(&self) -> String {
        let seconds = self.duration_ns.max(1) as f64 / 1e9;
        let iops = format!("{} IOPS", unit::count(self.ops as f64 / seconds));
        match self.bytes {
            0 => iops,
            bytes => format!("{}  {iops}", unit::throughput(bytes as f64 / seconds)),
        }
    }

    /// The p99, where there are as many operations as the result asks for, and how many failed.
    pub(super) fn tail(&self) -> String {
        let enough = self.latencies.count() as f64 >= least_samples(P99);
        let p99 = self.latencies.quantile(P99).filter(|_| enough);
        let p99 = p99.map(|ns| format!("p99 {}", unit::latency(ns as f64)));
        let errors = match self.failed {
            0 => None,
            failed => Some(unit::counted(failed, "error")),
        };
        let parts: Vec<String> = p99.into_iter().chain(errors).collect();
        parts.join("  ")
    }

    pub(super) fn words(&self) -> String {
        [self.rates(), self.tail()].join("  ").trim_end().to_owned()
    }
}
