//! A run while it goes on, as metrics: text for Prometheus and JSON for
//! OpenTelemetry (OTLP/HTTP).
//!
//! Counters only grow, over all trials of a run; what is known of an interval
//! is added when it ends. Latencies are histograms whose bounds are powers of two
//! nanoseconds, which the buckets of fathom's own histograms share, so that no
//! count is moved. The number of series is limited.

mod families;
mod otlp;
mod prometheus;

pub use families::{FAMILIES, Family, FamilyKind};

use std::collections::BTreeMap;

use fathom_model::histogram::bucket_range;
use fathom_model::{Histogram, Observation, RunState, Sample, ScheduledTrial};

/// Series of all families together at most; what comes after is only counted.
const MOST_SERIES: usize = 5000;
/// Bounds of histograms: 2^10 ns (1 µs) to 2^36 ns (69 s).
const FIRST_BOUND: u32 = 10;
const BOUNDS: usize = 27;

/// What distinguishes a series: label and value.
type Labels = Vec<(&'static str, String)>;

/// The value of a series.
#[derive(Debug, Clone, PartialEq)]
enum Value {
    Number(f64),
    Counts(Box<Counts>),
}

/// A histogram in a few buckets.
#[derive(Debug, Clone, PartialEq)]
struct Counts {
    /// Values below each bound and not below the one before; the last is the
    /// rest.
    buckets: [u64; BOUNDS + 1],
    sum_ns: u128,
    count: u64,
}

impl Counts {
    fn add(&mut self, histogram: &Histogram) {
        for (bucket, count) in histogram.buckets() {
            let (low_ns, _) = bucket_range(bucket);
            let bits = u64::BITS - low_ns.leading_zeros();
            let at = (bits.saturating_sub(FIRST_BOUND) as usize).min(BOUNDS);
            self.buckets[at] += count;
        }
        self.sum_ns += histogram.sum();
        self.count += histogram.count();
    }
}

impl Default for Counts {
    fn default() -> Self {
        Counts {
            buckets: [0; BOUNDS + 1],
            sum_ns: 0,
            count: 0,
        }
    }
}

/// The upper bound of a bucket in seconds.
fn bound_seconds(bucket: usize) -> f64 {
    (1u64 << (FIRST_BOUND as usize + bucket)) as f64 / 1e9
}

/// What a run has done so far.
#[derive(Debug, Clone, Default)]
pub struct Metrics {
    series: BTreeMap<(&'static str, Labels), Value>,
    /// Labels of the trials that are under way, by their index.
    open: BTreeMap<u32, Labels>,
    dropped: u64,
}

impl Metrics {
    /// Nothing of a run yet. `trials` is how many are planned.
    pub fn of_run(run: &str, plan: &str, version: &str, trials: usize) -> Metrics {
        let mut metrics = Metrics::default();
        let info = vec![
            ("plan", plan.to_owned()),
            ("run", run.to_owned()),
            ("version", version.to_owned()),
        ];
        metrics.set("fathom_run_info", info, 1.0);
        metrics.set("fathom_trials_planned", Vec::new(), trials as f64);
        metrics.add("fathom_metrics_series_dropped_total", Vec::new(), 0.0);
        metrics
    }

    /// A trial begins. `host` is the name of the host that carries its load.
    pub fn begin(&mut self, spec: &ScheduledTrial, host: &str) {
        let labels = vec![
            ("engine", spec.workload.engine.name().to_owned()),
            ("host", host.to_owned()),
            ("target", spec.target.to_string()),
            ("workload", spec.label.clone()),
        ];
        self.set("fathom_trial_active", labels.clone(), 1.0);
        self.open.insert(spec.index, labels);
    }

    /// A trial is over.
    pub fn end(&mut self, trial: u32, state: RunState) {
        let Some(labels) = self.open.remove(&trial) else {
            return;
        };
        let zeroed = ["fathom_trial_active", "fathom_operations_in_flight"];
        for name in zeroed {
            self.set(name, labels.clone(), 0.0);
        }
        let state = match state {
            RunState::Complete => "complete",
            RunState::Interrupted | RunState::Running => "interrupted",
            RunState::Failed => "failed",
        };
        self.add(
            "fathom_trials_total",
            vec![("state", state.to_owned())],
            1.0,
        );
    }

    /// What was measured of a trial since the last time.
    pub fn interval(&mut self, trial: u32, samples: &[Sample], observations: &[Observation]) {
        let Some(labels) = self.open.get(&trial).cloned() else {
            return;
        };
        for sample in samples {
            self.sample(&labels, sample);
        }
        let host = labels.iter().find(|(name, _)| *name == "host").cloned();
        for observation in observations {
            self.observation(host.clone(), observation);
        }
    }

    fn sample(&mut self, trial: &Labels, sample: &Sample) {
        let with = |more: &[(&'static str, &str)]| {
            let mut labels = trial.clone();
            labels.extend(
                more.iter()
                    .map(|(name, value)| (*name, (*value).to_owned())),
            );
            labels.sort_unstable();
            labels
        };
        let phase = ("phase", sample.phase.name());
        for op in &sample.ops {
            let kind = ("operation", op.kind.name());
            let labels = with(&[kind, phase]);
            self.add("fathom_operations_total", labels.clone(), op.ops as f64);
            if op.kind.moves_bytes() {
                self.add("fathom_bytes_total", labels.clone(), op.bytes as f64);
            }
            for (class, count) in op.errors.iter() {
                let labels = with(&[("class", class.name()), kind, phase]);
                self.add("fathom_errors_total", labels, count as f64);
            }
            self.count(
                "fathom_service_latency_seconds",
                labels.clone(),
                &op.service,
            );
            if let Some(response) = &op.response {
                self.count("fathom_response_latency_seconds", labels, response);
            }
        }
        if let Some(lateness) = &sample.lateness {
            self.count("fathom_lateness_seconds", with(&[phase]), lateness);
        }
        let seconds = sample.duration_ns as f64 / 1e9;
        self.add("fathom_load_seconds_total", with(&[phase]), seconds);
        let in_flight = match sample.duration_ns {
            0 => 0.0,
            ns => sample.in_flight_ns as f64 / ns as f64,
        };
        self.set("fathom_operations_in_flight", trial.clone(), in_flight);
        self.set("fathom_workers", trial.clone(), f64::from(sample.workers));
        for (mode, ns) in [
            ("system", sample.cpu_system_ns),
            ("user", sample.cpu_user_ns),
        ] {
            let labels = with(&[("mode", mode)]);
            self.add("fathom_worker_cpu_seconds_total", labels, ns as f64 / 1e9);
        }
    }

    fn observation(&mut self, host: Option<(&'static str, String)>, seen: &Observation) {
        let with = |name: &'static str, value: &str| {
            let mut labels: Labels = host.clone().into_iter().collect();
            labels.push((name, value.to_owned()));
            labels.sort_unstable();
            labels
        };
        if let Some(cpu) = &seen.cpu {
            for (mode, ns) in [
                ("idle", cpu.idle_ns),
                ("interrupt", cpu.interrupt_ns),
                ("iowait", cpu.iowait_ns),
                ("steal", cpu.steal_ns),
                ("system", cpu.system_ns),
                ("user", cpu.user_ns),
            ] {
                let labels = with("mode", mode);
                self.add("fathom_host_cpu_seconds_total", labels, ns as f64 / 1e9);
            }
        }
        for device in &seen.devices {
            let labels = with("device", &device.name);
            for (name, count) in [
                ("fathom_device_reads_total", device.reads),
                ("fathom_device_read_bytes_total", device.read_bytes),
                ("fathom_device_writes_total", device.writes),
                ("fathom_device_written_bytes_total", device.write_bytes),
            ] {
                self.add(name, labels.clone(), count as f64);
            }
            if let Some(ns) = device.busy_ns {
                self.add("fathom_device_busy_seconds_total", labels, ns as f64 / 1e9);
            }
        }
    }

    fn slot(&mut self, name: &'static str, labels: Labels, new: Value) -> Option<&mut Value> {
        let full = self.series.len() >= MOST_SERIES;
        let key = (name, labels);
        if full && !self.series.contains_key(&key) {
            self.dropped += 1;
            return None;
        }
        Some(self.series.entry(key).or_insert(new))
    }

    fn set(&mut self, name: &'static str, labels: Labels, value: f64) {
        if let Some(slot) = self.slot(name, labels, Value::Number(0.0)) {
            *slot = Value::Number(value);
        }
    }

    fn add(&mut self, name: &'static str, labels: Labels, value: f64) {
        if let Some(Value::Number(sum)) = self.slot(name, labels, Value::Number(0.0)) {
            *sum += value;
        }
    }

    fn count(&mut self, name: &'static str, labels: Labels, histogram: &Histogram) {
        let new = Value::Counts(Box::default());
        if let Some(Value::Counts(counts)) = self.slot(name, labels, new) {
            counts.add(histogram);
        }
    }

    /// The series of a family.
    fn of_family(&self, name: &str) -> Vec<(&Labels, Value)> {
        let own = self.series.iter().filter(|((of, _), _)| *of == name);
        own.map(|((_, labels), value)| match name {
            "fathom_metrics_series_dropped_total" => (labels, Value::Number(self.dropped as f64)),
            _ => (labels, value.clone()),
        })
        .collect()
    }
}

#[cfg(test)]
#[path = "../metrics_tests.rs"]
mod tests;
