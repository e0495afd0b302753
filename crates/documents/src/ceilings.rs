//! What a volume gave when it was measured, of results that were handed in.

use std::path::Path;

use fathom_analysis::disk_measurement::rows_of_disks;
use fathom_compat::judge::why_no_disk;
use fathom_compat::results::{ResultDocument, ResultFile, ResultJob, read_results};
use fathom_diagnose::recording::Recording;
use fathom_diagnose::{Ceiling, diagnose};
use fathom_model::judged::{OpSummary, ResultRow};
use fathom_model::{JudgedRun, OpKind, RUN_SCHEMA};

use crate::error::DocumentError;
use crate::text;

/// What a file holds of a measurement.
pub enum Measured {
    /// What each workload of another tool reached, or why none of them measured a
    /// disk.
    Results(Result<Vec<Ceiling>, String>),
    /// A run of fathom.
    Run(Box<JudgedRun>),
}

/// What a file of results holds, under the name by which it was given.
///
/// # Errors
/// It cannot be read, or holds no result.
pub fn measured(named: &str, path: &Path) -> Result<Measured, DocumentError> {
    let text = text::read(path).map_err(DocumentError::about(named))?;
    match read_results(named, &text).map_err(DocumentError::about(named))? {
        ResultFile::Results(results) => Ok(Measured::Results(of_results(&results))),
        ResultFile::Own(schema) if schema == RUN_SCHEMA => {
            let what = format!("{named}: a run of fathom that cannot be read");
            let run = serde_json::from_str(&text).map_err(DocumentError::about(what))?;
            Ok(Measured::Run(Box::new(run)))
        }
        ResultFile::Own(_) | ResultFile::Log(_) => {
            Err(DocumentError::about(named)(DocumentError::NoResult))
        }
    }
}

/// Of what was measured, the workload most like the load.
#[must_use]
pub fn nearest(measured: Vec<Ceiling>, load: &Recording) -> Option<Ceiling> {
    let found = diagnose(load, |_| None);
    let disk = found.disks.first();
    disk.and_then(|disk| Ceiling::nearest(measured, disk))
}

/// What the rows of a run reached that measured a disk.
///
/// # Errors
/// In words why none of them did.
pub fn ceilings_of(run: &JudgedRun) -> Result<Vec<Ceiling>, String> {
    let rows = rows_of_disks(run)?;
    let ceilings = rows.into_iter().filter_map(|row| ceiling_of(run, row));
    let ceilings: Vec<Ceiling> = ceilings.collect();
    match ceilings.is_empty() {
        true => Err("it did no reads and no writes".to_owned()),
        false => Ok(ceilings),
    }
}

fn ceiling_of(run: &JudgedRun, row: &ResultRow) -> Option<Ceiling> {
    let data = |op: &&OpSummary| matches!(op.kind, OpKind::Read | OpKind::Write);
    let ops: Vec<&OpSummary> = row.ops.iter().filter(data).collect();
    let sum =
        |of: &dyn Fn(&OpSummary) -> Option<f64>| ops.iter().filter_map(|op| of(op)).sum::<f64>();
    let done = sum(&|op| Some(op.ops as f64));
    let reads = sum(&|op| (op.kind == OpKind::Read).then_some(op.ops as f64));
    let time_ns = sum(&|op| Some(op.service.mean_ns.value? * op.ops as f64));
    (done > 0.0).then(|| Ceiling {
        source: format!("{} of run {}", row.label, run.run.id),
        operations: sum(&|op| op.ops_per_second.value),
        block_bytes: Some(sum(&|op| Some(op.bytes as f64)) / done),
        read_share: Some(reads / done),
        wait_ms: Some(time_ns / done / 1e6),
    })
}

/// Jobs of another tool that measured a disk.
fn of_results(results: &[ResultDocument]) -> Result<Vec<Ceiling>, String> {
    let (mut ceilings, mut reason) = (Vec::new(), None);
    for result in results {
        let tool = result.tool.as_deref().unwrap_or("fio");
        for job in result.jobs.iter().filter(|job| !job.sum_of_others) {
            match why_no_disk(result, job) {
                None => ceilings.extend(of_job(tool, job)),
                Some(why) => {
                    reason.get_or_insert_with(|| format!("job {}: {why}", job.name));
                }
            }
        }
    }
    match ceilings.is_empty() {
        true => Err(reason.unwrap_or_else(|| "it did no reads and no writes".to_owned())),
        false => Ok(ceilings),
    }
}

fn of_job(tool: &str, job: &ResultJob) -> Option<Ceiling> {
    let data = job.directions.iter();
    let data = data.filter(|d| d.kind != Some(OpKind::Trim));
    let (mut operations, mut reads, mut bytes, mut done) = (0.0, 0.0, 0.0, 0.0);
    for direction in data {
        let rate = direction.ops_per_second.unwrap_or(0.0);
        operations += rate;
        if direction.kind == Some(OpKind::Read) {
            reads += rate;
        }
        bytes += direction.bytes.unwrap_or(0.0);
        done += direction.ops.unwrap_or(0.0);
    }
    let mixed = job.directions.iter().any(|d| d.kind.is_none());
    (operations > 0.0).then(|| Ceiling {
        source: format!("job {} of {tool}", job.name),
        operations,
        block_bytes: (done > 0.0 && bytes > 0.0).then(|| bytes / done),
        read_share: (!mixed).then(|| reads / operations),
        wait_ms: None,
    })
}
