//! Raw series as JSON, histograms included.

use std::io::{self, Write};

use fathom_model::histogram::bucket_range;
use fathom_model::{
    ErrorCounts, Histogram, Observation, OpSample, Operation, RunMeta, RunRecord, Sample,
    TrialRecord,
};
use serde::ser::{SerializeMap, SerializeSeq};
use serde::{Serialize, Serializer};

/// Version of the document: its `schema` field. Fields are only ever added.
pub const SERIES_SCHEMA: &str = "fathom.series/1";

/// Writes everything that the store knows of a run as one JSON document,
/// without a line break at the end.
///
/// A histogram is `count`, the exact `sum_ns`, `min_ns` and `max_ns`, and
/// `buckets`: lowest and highest nanosecond that share the bucket, and how
/// many values fell into it. Histograms combine by adding these counts.
/// `sum_ns` and `in_flight_ns` are exact integers that may exceed 64 bits.
///
/// # Errors
/// Those of `out`.
pub fn json(run: &RunRecord, out: &mut dyn Write) -> io::Result<()> {
    let document = Document {
        schema: SERIES_SCHEMA,
        run: &run.meta,
        trials: run.trials.iter().map(TrialDocument).collect(),
    };
    serde_json::to_writer(out, &document).map_err(io::Error::from)
}

#[derive(Serialize)]
struct Document<'r> {
    schema: &'static str,
    run: &'r RunMeta,
    trials: Vec<TrialDocument<'r>>,
}

struct TrialDocument<'r>(&'r TrialRecord);

impl Serialize for TrialDocument<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let TrialRecord {
            spec,
            started_unix_ns,
            state,
            samples,
            observations,
            target_before,
            end,
        } = self.0;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("spec", spec)?;
        map.serialize_entry("started_unix_ns", started_unix_ns)?;
        map.serialize_entry("state", state)?;
        map.serialize_entry("target_before", target_before)?;
        map.serialize_entry("end", end)?;
        map.serialize_entry("samples", &Each(samples, SampleJson))?;
        map.serialize_entry::<_, [Observation]>("observations", observations)?;
        map.end()
    }
}

/// A list whose items are wrapped one by one, so that an hour of seconds is
/// written without a second copy in memory.
struct Each<'r, T, W>(&'r [T], fn(&'r T) -> W);

impl<T, W: Serialize> Serialize for Each<'_, T, W> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(Some(self.0.len()))?;
        for item in self.0 {
            list.serialize_element(&(self.1)(item))?;
        }
        list.end()
    }
}

struct SampleJson<'r>(&'r Sample);

impl Serialize for SampleJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Sample {
            phase,
            index,
            start_ns,
            duration_ns,
            workers,
            ops,
            lateness,
            in_flight_ns,
            cpu_user_ns,
            cpu_system_ns,
            run_delay_ns,
            busiest_worker_cpu_ns,
            longest_stall_ns,
            operations,
            connection,
        } = self.0;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("phase", phase)?;
        map.serialize_entry("index", index)?;
        map.serialize_entry("start_ns", start_ns)?;
        map.serialize_entry("duration_ns", duration_ns)?;
        map.serialize_entry("workers", workers)?;
        map.serialize_entry("in_flight_ns", in_flight_ns)?;
        map.serialize_entry("cpu_user_ns", cpu_user_ns)?;
        map.serialize_entry("cpu_system_ns", cpu_system_ns)?;
        map.serialize_entry("run_delay_ns", run_delay_ns)?;
        map.serialize_entry("busiest_worker_cpu_ns", busiest_worker_cpu_ns)?;
        map.serialize_entry("longest_stall_ns", longest_stall_ns)?;
        map.serialize_entry("lateness", &lateness.as_ref().map(HistogramJson))?;
        map.serialize_entry("ops", &Each(ops, OpJson))?;
        if !operations.is_empty() {
            map.serialize_entry("operations", &Each(operations, OperationJson))?;
        }
        if let Some(connection) = connection {
            map.serialize_entry("connection", connection)?;
        }
        map.end()
    }
}

struct OpJson<'r>(&'r OpSample);

impl Serialize for OpJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let OpSample {
            kind,
            ops,
            bytes,
            errors,
            service,
            response,
            halves,
        } = self.0;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("kind", kind)?;
        map.serialize_entry("ops", ops)?;
        map.serialize_entry("bytes", bytes)?;
        map.serialize_entry("errors", &ErrorsJson(errors))?;
        map.serialize_entry("service", &HistogramJson(service))?;
        map.serialize_entry("response", &response.as_ref().map(HistogramJson))?;
        if let Some(halves) = halves {
            map.serialize_entry("submission", &HistogramJson(&halves.submission))?;
            map.serialize_entry("completion", &HistogramJson(&halves.completion))?;
        }
        map.end()
    }
}

struct OperationJson<'r>(&'r Operation);

impl Serialize for OperationJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Operation {
            kind,
            worker,
            file,
            bytes,
            offset_bytes,
            ended_ns,
            service_ns,
            submission_ns,
        } = self.0;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("kind", kind)?;
        map.serialize_entry("worker", worker)?;
        map.serialize_entry("file", file)?;
        map.serialize_entry("bytes", bytes)?;
        map.serialize_entry("offset_bytes", offset_bytes)?;
        map.serialize_entry("ended_ns", ended_ns)?;
        map.serialize_entry("service_ns", service_ns)?;
        map.serialize_entry("submission_ns", submission_ns)?;
        map.end()
    }
}

/// Classes that occurred, by name.
struct ErrorsJson<'r>(&'r ErrorCounts);

impl Serialize for ErrorsJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(class, count)| (class.name(), count)))
    }
}

struct HistogramJson<'r>(&'r Histogram);

impl Serialize for HistogramJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("count", &self.0.count())?;
        map.serialize_entry("sum_ns", &self.0.sum())?;
        map.serialize_entry("min_ns", &self.0.min())?;
        map.serialize_entry("max_ns", &self.0.max())?;
        map.serialize_entry("buckets", &BucketsJson(self.0))?;
        map.end()
    }
}

struct BucketsJson<'r>(&'r Histogram);

impl Serialize for BucketsJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.buckets().map(|(bucket, count)| {
            let (low, high) = bucket_range(bucket);
            (low, high, count)
        }))
    }
}

#[cfg(test)]
mod tests {
    use fathom_model::rng::Rng;
    use fathom_model::{OpKind, RunState};
    use serde_json::Value;

    use super::*;
    use crate::fixtures;

    #[test]
    fn the_document_carries_the_counts_of_every_bucket() {
        let mut load = fixtures::Load::new(3, 50.0);
        let trial = TrialRecord {
            spec: fixtures::trial(0),
            started_unix_ns: 5,
            state: RunState::Complete,
            samples: vec![load.sample(0)],
            observations: vec![fixtures::observation(&mut Rng::new(1), 0, 2)],
            target_before: None,
            end: Some(fixtures::end()),
        };
        let run = RunRecord {
            meta: fixtures::meta("a", 1),
            trials: vec![trial],
        };
        let mut out = Vec::new();
        json(&run, &mut out).unwrap();
        let document: Value = serde_json::from_slice(&out).unwrap();
        assert_eq!(document["schema"], SERIES_SCHEMA);
        assert_eq!(document["run"]["id"], "a");
        let trial = &document["trials"][0];
        assert_eq!(trial["end"]["reason"], "asked to");
        assert_eq!(trial["observations"][0]["devices"][1]["name"], "nvme1n1");
        let read = run.trials[0].samples[0].op(OpKind::Read).unwrap();
        let shown = &trial["samples"][0]["ops"][0];
        assert_eq!(shown["kind"], "read");
        assert_eq!(shown["response"], Value::Null);
        let buckets = shown["service"]["buckets"].as_array().unwrap();
        let total: u64 = buckets.iter().map(|b| b[2].as_u64().unwrap()).sum();
        assert_eq!(total, read.ops);
        let sum = u64::try_from(read.service.sum()).unwrap();
        assert_eq!(shown["service"]["sum_ns"], sum);
    }
}
