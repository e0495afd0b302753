//! Numbers by name from files: recordings, dumps of clusters, SMART, descriptions
//! of services and runs of fathom. For the alarms and the table of use.

use std::path::{Path, PathBuf};

use fathom_diagnose::alarm::{readings_of, service_readings};
use fathom_diagnose::cluster::{ceph_readings, parse_ceph};
use fathom_model::judged::{JudgedRun, JudgedTrial, OpSummary};
use fathom_model::machine::HostReading;
use fathom_model::target::Target;
use fathom_model::{OpKind, RUN_SCHEMA};
use fathom_observe::gluster::gluster_readings;
use fathom_observe::smart::parse_smartctl;
use fathom_recorder::given_files::{self, Given, left_aside, sorted};
use fathom_recorder::joined_readings;

use crate::dumps::gluster_profile;
use crate::error::DocumentError;
use crate::text;

/// What files tell.
#[derive(Debug, Default)]
pub struct Numbers {
    /// The host, where one is named.
    pub host: Option<String>,
    /// What was read, in words.
    pub sources: Vec<String>,
    /// The numbers.
    pub readings: Vec<HostReading>,
    /// The longest of the recordings.
    pub seconds: f64,
    /// What is missing.
    pub notes: Vec<String>,
}

/// Reads all files. Recordings of fathom are joined into one.
///
/// # Errors
/// One that cannot be read or is not known, recordings of several hosts or of
/// the same time.
pub fn numbers(files: &[PathBuf], gluster_version: Option<u32>) -> Result<Numbers, DocumentError> {
    let mut found = Numbers::default();
    let mut recorded: Vec<PathBuf> = Vec::new();
    for given in sorted(files)? {
        match given {
            Given::Recording(files) => {
                found.notes.extend(left_aside(&files));
                recorded.extend(files);
            }
            Given::File(path) => {
                let one = of_file(&path, gluster_version);
                let mut one = one.map_err(DocumentError::about(path.display()))?;
                one.notes = given_files::of_file(&path, one.notes, files.len() > 1);
                found.add(one);
            }
        }
    }
    if !recorded.is_empty() {
        let joined = joined_readings(&recorded)?;
        found.add(Numbers {
            host: Some(joined.host.name),
            sources: vec![joined.source],
            readings: joined.readings,
            seconds: joined.seconds,
            notes: joined.remarks,
        });
    }
    Ok(found)
}

impl Numbers {
    fn add(&mut self, other: Numbers) {
        self.host = self.host.take().or(other.host);
        self.sources.extend(other.sources);
        self.readings.extend(other.readings);
        self.seconds = self.seconds.max(other.seconds);
        self.notes.extend(other.notes);
    }
}

fn of_file(path: &Path, gluster_version: Option<u32>) -> Result<Numbers, DocumentError> {
    let text = text::read(path)?;
    let plain = |source: &str, readings: Vec<HostReading>| Numbers {
        sources: vec![source.to_owned()],
        readings,
        ..Numbers::default()
    };
    let service = service_readings(&text);
    if !service.is_empty() {
        return Ok(plain("description of a service", service));
    }
    if let Some(dump) = parse_ceph(&text) {
        return Ok(plain(dump.source(), ceph_readings(&dump)));
    }
    if let Some(profile) = gluster_profile(&text, gluster_version)? {
        return Ok(plain(
            "volume profile of Gluster",
            gluster_readings(&profile),
        ));
    }
    if let Some(drive) = parse_smartctl(&text) {
        let mut found = plain("smartctl", of_drive(&drive));
        if drive.health.is_empty() {
            let why = drive.message.as_deref().unwrap_or("it tells nothing");
            found.notes.push(format!("SMART of {}: {why}", drive.name));
        }
        return Ok(found);
    }
    if let Some(run) = run_of(&text)? {
        return Ok(plain("a run of fathom", of_run(&run)));
    }
    let recording = fathom_compat::recordings::read(&text)?;
    let readings = readings_of(&recording);
    Ok(Numbers {
        seconds: readings.iter().map(|r| r.at_seconds).fold(0.0, f64::max),
        host: recording.host.name,
        sources: vec![recording.source],
        readings,
        notes: recording.remarks,
    })
}

fn of_drive(drive: &fathom_observe::smart::SmartDrive) -> Vec<HostReading> {
    let quantities = drive.health.quantities().into_iter();
    let one = |(quantity, value): (&str, f64)| HostReading {
        quantity: quantity.to_owned(),
        instance: drive.name.clone(),
        value,
        ..HostReading::default()
    };
    quantities.map(one).collect()
}

fn run_of(text: &str) -> Result<Option<JudgedRun>, DocumentError> {
    let begins: String = text.chars().take(200).collect();
    if !begins.trim_start().starts_with('{') || !begins.contains(RUN_SCHEMA) {
        return Ok(None);
    }
    let run = serde_json::from_str(text);
    run.map(Some)
        .map_err(DocumentError::about("a run of fathom that cannot be read"))
}

/// Mean time of requests of each trial against an object store.
fn of_run(run: &JudgedRun) -> Vec<HostReading> {
    let one = |trial: &JudgedTrial| {
        let Target::Bucket(bucket) = &trial.target else {
            return None;
        };
        let timed = |op: &&OpSummary| op.kind != OpKind::Sync && op.ops > 0;
        let ops = trial.summary.ops.iter().filter(timed);
        let times = ops.filter_map(|op| Some((op.service.mean_ns.value?, op.ops as f64)));
        let (time_ns, count) = times.fold((0.0, 0.0), |(time, all), (mean, ops)| {
            (time + mean * ops, all + ops)
        });
        let seconds = trial.summary.duration_ns as f64 / 1e9;
        (count > 0.0).then(|| HostReading {
            quantity: "gateway_latency".to_owned(),
            instance: format!("s3://{bucket}, {}", trial.label),
            value: time_ns / count / 1e9,
            at_seconds: seconds,
            seconds,
            operations: count,
        })
    };
    run.trials.iter().filter_map(one).collect()
}
