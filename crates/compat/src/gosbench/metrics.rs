//! The metrics of GOSBench by its names, so that dashboards made for it go on
//! working. Only what was measured counts: no preparation and no warm-up.
//! Latencies are in milliseconds, in the buckets that it has.

use std::collections::BTreeMap;
use std::fmt::Write;

use fathom_model::histogram::bucket_range;
use fathom_model::{OpKind, Phase, Sample};

/// Bounds of its histogram: 2 to 4,096 ms.
const BOUNDS: u32 = 12;
const NS_OF_MS: f64 = 1e6;

/// What was done with one method in one test.
#[derive(Debug, Clone, Default, PartialEq)]
struct Method {
    finished: u64,
    failed: u64,
    uploaded: u64,
    downloaded: u64,
    /// Counts of each bucket; the last is the rest.
    buckets: [u64; BOUNDS as usize + 1],
    sum_ms: f64,
}

/// One test.
#[derive(Debug, Clone, Default, PartialEq)]
struct Test {
    /// Milliseconds of wall clock; 0 before.
    start_unix_ms: u64,
    end_unix_ms: u64,
    methods: BTreeMap<&'static str, Method>,
}

/// One of a method's counts.
type Count = fn(&Method) -> u64;

/// All tests of a run.
#[derive(Debug, Clone, Default)]
pub struct GosbenchMetrics {
    names: BTreeMap<u32, String>,
    tests: BTreeMap<String, Test>,
    /// The time of what comes, milliseconds since 1970-01-01 UTC.
    pub now_unix_ms: u64,
}

/// What GOSBench calls a request.
fn method(kind: OpKind) -> Option<&'static str> {
    use OpKind::{
        Delete, DeleteMany, Get, GetParallel, GetRange, List, ListVersions, Put, PutMultipart,
        PutVersion,
    };
    Some(match kind {
        Get | GetRange | GetParallel => "GET",
        Put | PutMultipart | PutVersion => "PUT",
        List | ListVersions => "LIST",
        Delete | DeleteMany => "DELETE",
        _ => return None,
    })
}

impl GosbenchMetrics {
    /// A trial of the test `name` begins.
    pub fn begin(&mut self, trial: u32, name: &str) {
        self.names.insert(trial, name.to_owned());
        self.tests.entry(name.to_owned()).or_default();
    }

    /// A trial is over.
    pub fn end(&mut self, trial: u32) {
        self.names.remove(&trial);
    }

    /// What was measured of a trial since the last time.
    pub fn sample(&mut self, trial: u32, sample: &Sample) {
        let test = self
            .names
            .get(&trial)
            .and_then(|name| self.tests.get_mut(name));
        let Some(test) = test.filter(|_| sample.phase == Phase::Measure) else {
            return;
        };
        test.end_unix_ms = self.now_unix_ms;
        if test.start_unix_ms == 0 {
            let behind = sample.duration_ns / 1_000_000;
            test.start_unix_ms = test.end_unix_ms.saturating_sub(behind);
        }
        for op in &sample.ops {
            let Some(name) = method(op.kind) else {
                continue;
            };
            let method = test.methods.entry(name).or_default();
            method.finished += op.ops;
            method.failed += op.errors.total();
            match name {
                "PUT" => method.uploaded += op.bytes,
                _ => method.downloaded += op.bytes,
            }
            for (bucket, count) in op.service.buckets() {
                let ms = bucket_range(bucket).0 as f64 / NS_OF_MS;
                let at = (0..BOUNDS).find(|n| ms <= f64::from(2_u32 << n));
                method.buckets[at.unwrap_or(BOUNDS) as usize] += count;
            }
            method.sum_ms += op.service.sum() as f64 / NS_OF_MS;
        }
    }

    /// Adds them to a page for Prometheus.
    pub fn write(&self, out: &mut String) {
        let started = |test: &&Test| test.start_unix_ms > 0;
        for (name, of) in [
            (
                "gosbench_test_start",
                (|test: &Test| test.start_unix_ms) as fn(&Test) -> u64,
            ),
            ("gosbench_test_end", |test| test.end_unix_ms),
        ] {
            let _ = writeln!(out, "# HELP {name} Milliseconds since 1970-01-01 UTC.");
            let _ = writeln!(out, "# TYPE {name} gauge");
            for (label, test) in self.tests.iter().filter(|(_, test)| started(test)) {
                let _ = writeln!(
                    out,
                    "{name}{{testName=\"{}\"}} {}",
                    escaped(label),
                    of(test)
                );
            }
        }
        let counters: [(&str, &str, Count); 4] = [
            ("gosbench_finished_ops", "Requests that succeeded.", |m| {
                m.finished
            }),
            ("gosbench_failed_ops", "Requests that failed.", |m| m.failed),
            (
                "gosbench_uploaded_bytes",
                "Bytes of successful PUTs.",
                |m| m.uploaded,
            ),
            (
                "gosbench_downloaded_bytes",
                "Bytes of successful GETs.",
                |m| m.downloaded,
            ),
        ];
        for (name, help, of) in counters {
            let _ = writeln!(out, "# HELP {name} {help}\n# TYPE {name} counter");
            for (labels, method) in self.methods() {
                let _ = writeln!(out, "{name}{{{labels}}} {}", of(method));
            }
        }
        let name = "gosbench_ops_latency";
        let help = "Milliseconds of successful requests.";
        let _ = writeln!(out, "# HELP {name} {help}\n# TYPE {name} histogram");
        for (labels, method) in self.methods() {
            let mut below = 0;
            for (at, count) in method.buckets.iter().enumerate() {
                below += count;
                let bound = match at < BOUNDS as usize {
                    true => (2_u64 << at).to_string(),
                    false => "+Inf".to_owned(),
                };
                let _ = writeln!(out, "{name}_bucket{{{labels},le=\"{bound}\"}} {below}");
            }
            let _ = writeln!(out, "{name}_sum{{{labels}}} {}", method.sum_ms);
            let _ = writeln!(out, "{name}_count{{{labels}}} {below}");
        }
    }

    fn methods(&self) -> impl Iterator<Item = (String, &Method)> {
        self.tests.iter().flat_map(|(name, test)| {
            let labels =
                move |method: &str| format!("method=\"{method}\",testName=\"{}\"", escaped(name));
            let all = test.methods.iter();
            all.map(move |(method, counts)| (labels(method), counts))
        })
    }
}

/// The value of a label, as Prometheus reads it.
fn escaped(value: &str) -> String {
    value
        .replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_model::ErrorClass;
    use fathom_model::sample::OpSample;

    #[test]
    fn names_and_buckets_are_those_of_gosbench() {
        let mut all = GosbenchMetrics {
            now_unix_ms: 5000,
            ..GosbenchMetrics::default()
        };
        all.begin(0, "a \"b\"");
        let mut sample = Sample::new(Phase::Measure, 0, 0);
        let mut op = OpSample::new(OpKind::Get, false);
        (op.ops, op.bytes) = (3, 300);
        for ms in [1, 3, 9000] {
            op.service.record(ms * 1_000_000);
        }
        op.errors.add(ErrorClass::Timeout);
        op.errors.add(ErrorClass::Timeout);
        sample.ops.push(op);
        sample.ops.push(OpSample::new(OpKind::FirstByte, false));
        all.sample(0, &sample);
        let mut warm = sample.clone();
        warm.phase = Phase::Warmup;
        all.sample(0, &warm);
        let mut text = String::new();
        all.write(&mut text);
        let labels = "method=\"GET\",testName=\"a \\\"b\\\"\"";
        for line in [
            format!("gosbench_finished_ops{{{labels}}} 3"),
            format!("gosbench_failed_ops{{{labels}}} 2"),
            format!("gosbench_downloaded_bytes{{{labels}}} 300"),
            format!("gosbench_uploaded_bytes{{{labels}}} 0"),
            format!("gosbench_ops_latency_bucket{{{labels},le=\"2\"}} 1"),
            format!("gosbench_ops_latency_bucket{{{labels},le=\"4\"}} 2"),
            format!("gosbench_ops_latency_bucket{{{labels},le=\"4096\"}} 2"),
            format!("gosbench_ops_latency_bucket{{{labels},le=\"+Inf\"}} 3"),
            format!("gosbench_ops_latency_count{{{labels}}} 3"),
        ] {
            assert!(text.lines().any(|l| l == line), "{line}\n{text}");
        }
        assert!(text.contains("gosbench_test_start{testName="));
    }
}
