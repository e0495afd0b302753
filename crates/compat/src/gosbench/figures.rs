//! The figures that GOSBench prints, from what was measured.

use fathom_model::Phase;
use fathom_model::run::RunRecord;

const NS_OF_S: f64 = 1e9;

/// What all workers did in one test.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Figures {
    /// Requests that succeeded.
    pub ops: u64,
    /// Requests that failed.
    pub failed: u64,
    /// Bytes of bodies, both ways.
    pub bytes: u64,
    /// Time of all requests together.
    pub latency_sum_ns: f64,
    /// Time under load, of the host that took longest.
    pub seconds: f64,
}

impl Figures {
    /// The figures of a run.
    pub fn of(record: &RunRecord) -> Figures {
        let mut all = Figures::default();
        for trial in &record.trials {
            let samples = || trial.samples.iter().filter(|s| s.phase == Phase::Measure);
            let start_ns = samples().map(|s| s.start_ns).min().unwrap_or(0);
            let end_ns = samples().map(|s| s.start_ns + s.duration_ns).max();
            let ns = end_ns.unwrap_or(0).saturating_sub(start_ns);
            all.seconds = all.seconds.max(ns as f64 / NS_OF_S);
            let ops = samples().flat_map(|sample| &sample.ops);
            for op in ops.filter(|op| op.kind.is_object()) {
                all.ops += op.ops;
                all.failed += op.errors.total();
                all.latency_sum_ns += op.service.sum() as f64;
                if op.kind.moves_bytes() {
                    all.bytes += op.bytes;
                }
            }
        }
        all
    }

    /// Bytes a second.
    pub fn bytes_per_second(&self) -> f64 {
        match self.seconds > 0.0 {
            true => self.bytes as f64 / self.seconds,
            false => 0.0,
        }
    }

    /// Mean time of a request.
    pub fn mean_latency_ms(&self) -> f64 {
        match self.ops {
            0 => 0.0,
            ops => self.latency_sum_ns / ops as f64 / 1e6,
        }
    }
}
