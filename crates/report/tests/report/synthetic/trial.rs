//! One synthetic trial.

use fathom_model::judged::{
    ErrorCount, Interval, IntervalOp, LatencySummary, OpSummary, TrialSummary,
};
use fathom_model::rng::{Rng, derive_seed};
use fathom_model::run::Ceiling;
use fathom_model::schedule::TrialRole;
use fathom_model::{
    ErrorClass, Estimate, Histogram, JudgedTrial, OpKind, Phase, RunState, Target, Unit, Workload,
};

use super::base::{device_target, trusted};
use super::latency::{Mode, charts, draw, summary, uniform};

/// Start of every synthetic run: 2026-11-21 15:45:30 UTC.
pub(crate) const STARTED: u64 = 1_795_275_930_000_000_000;
const SECOND: u64 = 1_000_000_000;

/// One kind of operation of a trial.
pub(crate) struct OpSpec {
    pub(crate) kind: OpKind,
    pub(crate) per_second: f64,
    pub(crate) modes: Vec<Mode>,
}

/// What a trial should look like.
pub(crate) struct TrialSpec {
    pub(crate) index: u32,
    pub(crate) row: u32,
    pub(crate) iteration: u32,
    pub(crate) label: String,
    pub(crate) workload: Workload,
    pub(crate) seconds: u32,
    pub(crate) warmup: u32,
    pub(crate) ops: Vec<OpSpec>,
    /// Relative speed in a second of the load.
    pub(crate) speed: fn(u32) -> f64,
    /// Failures in a second of the load.
    pub(crate) errors: fn(u32) -> u64,
    /// Share of bytes that the device saw.
    pub(crate) device_share: f64,
    /// Most latencies drawn per second and kind.
    pub(crate) draws: u64,
}

impl TrialSpec {
    /// A steady closed-loop trial of ten seconds.
    pub(crate) fn new(index: u32, label: &str, workload: Workload, ops: Vec<OpSpec>) -> TrialSpec {
        TrialSpec {
            index,
            row: index,
            iteration: 0,
            label: label.to_owned(),
            workload,
            seconds: 10,
            warmup: 0,
            ops,
            speed: |_| 1.0,
            errors: |_| 0,
            device_share: 1.0,
            draws: 200,
        }
    }

    /// The judged trial.
    pub(crate) fn build(&self) -> JudgedTrial {
        let mut rng = Rng::new(derive_seed(7, u64::from(self.index)));
        let mut kinds: Vec<Tally> = self.ops.iter().map(|_| Tally::default()).collect();
        let mut intervals = Vec::new();
        for second in 0..self.warmup + self.seconds {
            intervals.push(self.second(second, &mut rng, &mut kinds));
        }
        let ops: Vec<OpSummary> = self
            .ops
            .iter()
            .zip(&kinds)
            .map(|(spec, tally)| self.op_summary(spec, tally))
            .collect();
        let charts = fathom_model::judged::Charts {
            ops: self
                .ops
                .iter()
                .zip(&kinds)
                .map(|(spec, tally)| charts(spec.kind, &tally.merged, &tally.seconds))
                .collect(),
        };
        JudgedTrial {
            role: TrialRole::Measure,
            in_set: None,
            host: None,
            steadiness: None,
            index: self.index,
            row: self.row,
            iteration: self.iteration,
            label: self.label.clone(),
            target: Target::Path("/data".into()),
            workload: self.workload.clone(),
            seed: 1000 + u64::from(self.index),
            started_unix_ns: STARTED + u64::from(self.index) * 15 * SECOND,
            state: RunState::Complete,
            reason: None,
            summary: self.trial_summary(ops, &kinds),
            intervals,
            verdict: trusted(),
            target_before: Some(device_target()),
            errors: Vec::new(),
            stuck: Vec::new(),
            gate: None,
            charts,
        }
    }

    fn second(&self, second: u32, rng: &mut Rng, kinds: &mut [Tally]) -> Interval {
        let speed = (self.speed)(second) * (0.97 + 0.06 * uniform(rng));
        let start_ns = u64::from(second) * SECOND;
        let measured = second >= self.warmup;
        let mut ops = Vec::new();
        let (mut read, mut written) = (0, 0);
        for (spec, tally) in self.ops.iter().zip(kinds.iter_mut()) {
            let count = (spec.per_second * speed) as u64;
            let bytes = if spec.kind.is_data() {
                count * self.workload.block.max_bytes()
            } else {
                0
            };
            match spec.kind {
                OpKind::Read => read += bytes,
                OpKind::Write => written += bytes,
                _ => {}
            }
            let mut histogram = Histogram::new();
            for _ in 0..count.min(self.draws) {
                histogram.record(draw(rng, &spec.modes, 1.0 / speed.max(0.02)));
            }
            let errors = if spec.kind.is_data() {
                (self.errors)(second)
            } else {
                0
            };
            ops.push(interval_op(spec.kind, count, bytes, errors, &histogram));
            if measured {
                tally.add(count, bytes, errors, start_ns, histogram);
            }
        }
        Interval {
            phase: if measured {
                Phase::Measure
            } else {
                Phase::Warmup
            },
            start_ns,
            duration_ns: SECOND,
            ops,
            device_read_bytes: Some((read as f64 * self.device_share) as u64),
            device_write_bytes: Some((written as f64 * self.device_share * 1.02) as u64),
            host_cpu_busy: Some(0.06 + 0.05 * speed * uniform(rng)),
            worker_cpu_ns: (0.21e9 * speed.max(0.03)) as u64,
        }
    }

    fn op_summary(&self, spec: &OpSpec, tally: &Tally) -> OpSummary {
        let seconds = f64::from(self.seconds);
        let rate = |unit, amount: u64| {
            let value = amount as f64 / seconds;
            if self.seconds < 5 {
                return Estimate::point(unit, value, "4 s are too short for an interval");
            }
            Estimate::known(unit, value, value * 0.986, value * 1.014, seconds * 3.0)
        };
        let weight = (tally.ops / tally.merged.count().max(1)).max(1);
        let latency = summary(&tally.merged, weight);
        let open = self.workload.rate.is_some();
        OpSummary {
            kind: spec.kind,
            ops: tally.ops,
            bytes: tally.bytes,
            errors: match tally.errors {
                0 => Vec::new(),
                count => vec![ErrorCount {
                    class: ErrorClass::Io,
                    count,
                }],
            },
            ops_per_second: rate(Unit::OpsPerSecond, tally.ops),
            bytes_per_second: rate(Unit::BytesPerSecond, tally.bytes),
            // What is recorded is the response; service is shorter.
            service: if open {
                delayed(&latency, 0.32)
            } else {
                latency.clone()
            },
            response: open.then_some(latency),
        }
    }

    fn trial_summary(&self, ops: Vec<OpSummary>, kinds: &[Tally]) -> TrialSummary {
        let lateness = self.workload.rate.is_some();
        TrialSummary {
            duration_ns: u64::from(self.seconds) * SECOND,
            engine: Some(self.workload.engine),
            direct: true,
            cpu_ns_per_op: Some(2_310.0),
            mean_in_flight: Some(self.workload.total_depth() as f64 * 0.991),
            ceiling: Some(Ceiling {
                ops_per_second: 1_310_000.0,
                cpu_ns_per_op: 640.0,
            }),
            lateness: lateness.then(|| delayed(&summary(&kinds[0].merged, 4), 2.2)),
            active_bytes: self.workload.data_set.size_bytes.unwrap_or(1 << 30),
            final_flush_ns: None,
            finishers: None,
            endpoints: Vec::new(),
            calls: Vec::new(),
            gluster: None,
            ops,
        }
    }
}

/// The same distribution with every latency times `factor`.
fn delayed(of: &LatencySummary, factor: f64) -> LatencySummary {
    let scaled = |e: &Estimate| {
        let mut e = e.clone();
        for v in [&mut e.value, &mut e.low, &mut e.high] {
            *v = v.map(|v| v * factor);
        }
        e
    };
    let mut out = of.clone();
    out.mean_ns = scaled(&of.mean_ns);
    for p in &mut out.percentiles {
        p.latency_ns = scaled(&p.latency_ns);
    }
    out.min_ns = of.min_ns.map(|ns| (ns as f64 * factor) as u64);
    out.max_ns = of.max_ns.map(|ns| (ns as f64 * factor) as u64);
    out
}

#[derive(Default)]
struct Tally {
    ops: u64,
    bytes: u64,
    errors: u64,
    merged: Histogram,
    seconds: Vec<(u64, Histogram)>,
}

impl Tally {
    fn add(&mut self, ops: u64, bytes: u64, errors: u64, start_ns: u64, histogram: Histogram) {
        self.ops += ops;
        self.bytes += bytes;
        self.errors += errors;
        self.merged.merge(&histogram);
        self.seconds.push((start_ns, histogram));
    }
}

fn interval_op(
    kind: OpKind,
    ops: u64,
    bytes: u64,
    errors: u64,
    histogram: &Histogram,
) -> IntervalOp {
    IntervalOp {
        kind,
        ops,
        bytes,
        errors,
        p50_ns: histogram.quantile(0.5),
        p90_ns: histogram.quantile(0.9),
        p99_ns: histogram.quantile(0.99),
        p999_ns: histogram.quantile(0.999),
        max_ns: histogram.max(),
    }
}
