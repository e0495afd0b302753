//! Raw series as [`crate::export::json`] wrote them, read back as a run.
//!
//! So that a run which was measured elsewhere can be judged here: the document
//! carries every count, and the judgement is made anew from them.

use std::collections::BTreeMap;

use fathom_model::fingerprint::TargetFingerprint;
use fathom_model::histogram::{bucket_of, bucket_range};
use fathom_model::network::ConnectionState;
use fathom_model::run::TrialEnd;
use fathom_model::sample::Halves;
use fathom_model::{
    ErrorClass, ErrorCounts, Histogram, Observation, OpKind, OpSample, Operation, Phase, RunMeta,
    RunRecord, RunState, Sample, ScheduledTrial, TrialRecord,
};
use serde::{Deserialize, Deserializer, de};

use crate::earlier_network::{self, EarlierSchedule};
use crate::export::SERIES_SCHEMA;

/// Why a document is no series that can be judged.
#[derive(Debug, thiserror::Error)]
pub enum SeriesError {
    /// What does not fit, with its line and column.
    #[error("{0}")]
    Json(#[from] serde_json::Error),
    /// It is of another kind.
    #[error("the schema is {0}; read is {SERIES_SCHEMA}")]
    OtherSchema(String),
}

/// Reads a document of raw series.
///
/// # Errors
/// What does not fit, with its line and column: another schema, a field that
/// is missing, counts that contradict one another.
pub fn json(text: &str) -> Result<RunRecord, SeriesError> {
    let document: Document = serde_json::from_str(text)?;
    if document.schema != SERIES_SCHEMA {
        return Err(SeriesError::OtherSchema(document.schema));
    }
    let trials = document.trials.into_iter().map(TrialRecord::from).collect();
    let schedule = || {
        let earlier: Earlier = serde_json::from_str(text)?;
        Ok(earlier.run.schedule)
    };
    let run: Result<RunRecord, serde_json::Error> =
        earlier_network::complete(document.run, trials, schedule);
    Ok(run?)
}

#[derive(Deserialize)]
struct Document {
    schema: String,
    run: RunMeta,
    trials: Vec<Trial>,
}

/// A document of a version that kept the result of a network in its schedule.
#[derive(Deserialize)]
struct Earlier {
    run: EarlierRun,
}

#[derive(Deserialize)]
struct EarlierRun {
    schedule: EarlierSchedule,
}

#[derive(Deserialize)]
struct Trial {
    spec: ScheduledTrial,
    started_unix_ns: u64,
    state: RunState,
    target_before: Option<TargetFingerprint>,
    end: Option<TrialEnd>,
    samples: Vec<SampleJson>,
    observations: Vec<Observation>,
}

impl From<Trial> for TrialRecord {
    fn from(trial: Trial) -> TrialRecord {
        TrialRecord {
            spec: trial.spec,
            started_unix_ns: trial.started_unix_ns,
            state: trial.state,
            samples: trial.samples.into_iter().map(Sample::from).collect(),
            observations: trial.observations,
            target_before: trial.target_before,
            end: trial.end,
        }
    }
}

#[derive(Deserialize)]
struct SampleJson {
    phase: Phase,
    index: u32,
    start_ns: u64,
    duration_ns: u64,
    workers: u32,
    in_flight_ns: u128,
    cpu_user_ns: u64,
    cpu_system_ns: u64,
    run_delay_ns: u64,
    busiest_worker_cpu_ns: u64,
    longest_stall_ns: u64,
    lateness: Option<HistogramJson>,
    ops: Vec<OpJson>,
    #[serde(default)]
    operations: Vec<OperationJson>,
    #[serde(default)]
    connection: Option<Box<ConnectionState>>,
}

impl From<SampleJson> for Sample {
    fn from(sample: SampleJson) -> Sample {
        Sample {
            phase: sample.phase,
            index: sample.index,
            start_ns: sample.start_ns,
            duration_ns: sample.duration_ns,
            workers: sample.workers,
            ops: sample.ops.into_iter().map(OpSample::from).collect(),
            lateness: sample.lateness.map(|h| h.0),
            in_flight_ns: sample.in_flight_ns,
            cpu_user_ns: sample.cpu_user_ns,
            cpu_system_ns: sample.cpu_system_ns,
            run_delay_ns: sample.run_delay_ns,
            busiest_worker_cpu_ns: sample.busiest_worker_cpu_ns,
            longest_stall_ns: sample.longest_stall_ns,
            operations: sample.operations.into_iter().map(|o| o.0).collect(),
            connection: sample.connection,
        }
    }
}

#[derive(Deserialize)]
struct OpJson {
    kind: OpKind,
    ops: u64,
    bytes: u64,
    errors: BTreeMap<ErrorClass, u64>,
    service: HistogramJson,
    response: Option<HistogramJson>,
    submission: Option<HistogramJson>,
    completion: Option<HistogramJson>,
}

impl From<OpJson> for OpSample {
    fn from(op: OpJson) -> OpSample {
        let mut errors = ErrorCounts::default();
        for (class, count) in op.errors {
            errors.add_many(class, count);
        }
        let halves = op.submission.zip(op.completion);
        OpSample {
            kind: op.kind,
            ops: op.ops,
            bytes: op.bytes,
            errors,
            service: op.service.0,
            response: op.response.map(|h| h.0),
            halves: halves.map(|(submission, completion)| {
                Box::new(Halves {
                    submission: submission.0,
                    completion: completion.0,
                })
            }),
        }
    }
}

struct OperationJson(Operation);

impl<'de> Deserialize<'de> for OperationJson {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Fields {
            kind: OpKind,
            worker: u32,
            file: u32,
            bytes: u32,
            offset_bytes: u64,
            ended_ns: u64,
            service_ns: u64,
            submission_ns: u64,
        }
        let fields = Fields::deserialize(deserializer)?;
        Ok(OperationJson(Operation {
            kind: fields.kind,
            worker: fields.worker,
            file: fields.file,
            bytes: fields.bytes,
            offset_bytes: fields.offset_bytes,
            ended_ns: fields.ended_ns,
            service_ns: fields.service_ns,
            submission_ns: fields.submission_ns,
        }))
    }
}

struct HistogramJson(Histogram);

impl<'de> Deserialize<'de> for HistogramJson {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Fields {
            count: u64,
            sum_ns: u128,
            min_ns: Option<u64>,
            max_ns: Option<u64>,
            buckets: Vec<(u64, u64, u64)>,
        }
        let fields = Fields::deserialize(deserializer)?;
        let known = fields
            .buckets
            .iter()
            .all(|(low, high, _)| bucket_range(bucket_of(*low)) == (*low, *high));
        let total = fields
            .buckets
            .iter()
            .try_fold(0u64, |sum, (_, _, count)| sum.checked_add(*count));
        if !known || total != Some(fields.count) {
            return Err(de::Error::custom(
                "the buckets of a histogram do not add up to its count",
            ));
        }
        let buckets = fields
            .buckets
            .iter()
            .map(|(low, _, n)| (bucket_of(*low), *n));
        let (min_ns, max_ns) = (fields.min_ns.unwrap_or(0), fields.max_ns.unwrap_or(0));
        Histogram::from_parts(buckets, fields.sum_ns, min_ns, max_ns)
            .map(HistogramJson)
            .ok_or_else(|| de::Error::custom("a histogram contradicts itself"))
    }
}

#[cfg(test)]
mod tests {
    use fathom_model::rng::Rng;

    use super::*;
    use crate::{export, fixtures};

    fn written() -> (RunRecord, String) {
        let mut load = fixtures::Load::new(3, 50.0);
        let mut samples: Vec<Sample> = (0..4).map(|second| load.sample(second)).collect();
        samples[1].ops[0].errors.add_many(ErrorClass::NoSpace, 3);
        let trial = TrialRecord {
            spec: fixtures::trial(0),
            started_unix_ns: 5,
            state: RunState::Complete,
            samples,
            observations: vec![fixtures::observation(&mut Rng::new(1), 0, 2)],
            target_before: None,
            end: Some(fixtures::end()),
        };
        let run = RunRecord {
            meta: fixtures::meta("a", 1),
            trials: vec![trial],
        };
        let mut out = Vec::new();
        export::json(&run, &mut out).unwrap();
        (run, String::from_utf8(out).unwrap())
    }

    #[test]
    fn what_was_written_comes_back_whole() {
        let (run, text) = written();
        assert_eq!(json(&text).unwrap(), run);
    }

    #[test]
    fn what_contradicts_itself_is_refused_with_its_place() {
        let (_, text) = written();
        let wrong = text.replacen("\"service\":{\"count\":", "\"service\":{\"count\":1", 1);
        let error = json(&wrong).unwrap_err();
        let error = error.to_string();
        assert!(error.contains("add up to its count"), "{error}");
        assert!(error.contains("column"), "{error}");
        let other = text.replacen("fathom.series/1", "fathom.series/9", 1);
        let error = json(&other).unwrap_err().to_string();
        assert!(error.contains("fathom.series/9"), "{error}");
        assert!(json(&text[..text.len() / 2]).is_err());
    }
}
