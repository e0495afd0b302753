//! What a volume gave when it was measured: stored runs and results in JSON.

use std::path::Path;

use fathom_compat::results::ResultDocument;
use fathom_compat::results::{ResultFile, read_results};
use fathom_diagnose::recording::Recording;
use fathom_diagnose::{Ceiling, diagnose};
use fathom_model::judged::OpSummary;
use fathom_model::{JudgedRun, OpKind, RUN_SCHEMA, RunRecord, RunState, Validity};
use fathom_store::{RunListing, Store};
use fathom_studies::calibrate::{CALIBRATION, calibration_of};

use super::Diagnose;
use crate::command::{given, runs};
use crate::present;

/// What each workload of the run or file in `--ceiling` reached; `None` without
/// that option.
pub(super) fn named(args: &Diagnose) -> Result<Option<Vec<Ceiling>>, String> {
    let Some(named) = &args.ceiling else {
        return Ok(None);
    };
    let measured = measured(args, named)?;
    if measured.is_empty() {
        return Err(format!(
            "--ceiling {named}: no reads or writes of it can be believed, so it is no ceiling"
        ));
    }
    Ok(Some(measured))
}

/// Of what was measured, the workload most like the load.
pub(super) fn nearest(measured: Vec<Ceiling>, load: &Recording) -> Option<Ceiling> {
    let found = diagnose(load, |_| None);
    let disk = found.disks.first();
    disk.and_then(|disk| Ceiling::nearest(measured, disk))
}

fn measured(args: &Diagnose, named: &str) -> Result<Vec<Ceiling>, String> {
    let path = Path::new(named);
    let found = fathom_deadline::paths::find(path);
    let found = found.map_err(|silent| format!("--ceiling {named}: {silent}"))?;
    if found.is_none() {
        let store = present::store_path(&args.store).map_err(|error| error.to_string())?;
        let named = &match named == "calibration" {
            true => last_calibration(&store)?,
            false => named.to_owned(),
        };
        let record = runs::load(&store, named)
            .map_err(|error| format!("--ceiling {named}: no such file, and {error:#}"))?;
        return Ok(of_run(&fathom_studies::judge(&record), Some(&record)));
    }
    let told = |why: String| format!("{named}: {why}");
    let text = given::text(path).map_err(told)?;
    match read_results(named, &text).map_err(|error| told(error.to_string()))? {
        ResultFile::Results(results) => Ok(of_results(&results)),
        ResultFile::Own(schema) if schema == RUN_SCHEMA => {
            let run: JudgedRun = serde_json::from_str(&text)
                .map_err(|error| told(format!("a run of fathom that cannot be read: {error}")))?;
            Ok(of_run(&run, None))
        }
        ResultFile::Own(_) | ResultFile::Log(_) => Err(told(
            "it holds no result; `fathom runs show RUN --json` writes one".to_owned(),
        )),
    }
}

/// The last calibration that measured all.
fn last_calibration(store: &Path) -> Result<String, String> {
    let none = || {
        "--ceiling calibration: nothing has been calibrated yet; `fathom diagnose --calibrate` does"
            .to_owned()
    };
    let found = fathom_deadline::paths::find(store).map_err(|silent| silent.to_string())?;
    if found.is_none() {
        return Err(none());
    }
    let listings = Store::open_read_only(store).and_then(|store| store.list(None));
    let listings = listings.map_err(|error| error.to_string())?;
    let whole = |run: &&RunListing| run.name == CALIBRATION && run.state == RunState::Complete;
    let last = listings
        .iter()
        .filter(whole)
        .max_by_key(|run| run.started_unix_ns);
    last.map(|run| run.id.clone()).ok_or_else(none)
}

/// Rows that can be believed; of a calibration what it found.
fn of_run(run: &JudgedRun, record: Option<&RunRecord>) -> Vec<Ceiling> {
    if run.run.name == CALIBRATION {
        let found = calibration_of(run, record).ok();
        return found.iter().map(super::calibrate::ceiling_of).collect();
    }
    let rows = run.rows.iter();
    let believed = rows.filter(|row| row.verdict.validity != Validity::NotTrusted);
    believed
        .filter_map(|row| {
            let data = |op: &&OpSummary| matches!(op.kind, OpKind::Read | OpKind::Write);
            let ops: Vec<&OpSummary> = row.ops.iter().filter(data).collect();
            let sum = |of: &dyn Fn(&OpSummary) -> Option<f64>| {
                ops.iter().filter_map(|op| of(op)).sum::<f64>()
            };
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
        })
        .collect()
}

/// Jobs of fio that ended well.
fn of_results(results: &[ResultDocument]) -> Vec<Ceiling> {
    let jobs = results.iter().flat_map(|result| {
        let tool = result.tool.as_deref().unwrap_or("fio");
        result.jobs.iter().map(move |job| (tool, job))
    });
    let whole = jobs.filter(|(_, job)| !job.sum_of_others && job.error.unwrap_or(0) == 0);
    whole
        .filter_map(|(tool, job)| {
            let data = job
                .directions
                .iter()
                .filter(|d| d.kind != Some(OpKind::Trim));
            let (mut operations, mut reads, mut bytes, mut done) = (0.0, 0.0, 0.0, 0.0);
            for direction in data {
                let rate = direction.ops_per_second.unwrap_or(0.0);
                operations += rate;
                reads += if direction.kind == Some(OpKind::Read) {
                    rate
                } else {
                    0.0
                };
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
        })
        .collect()
}
