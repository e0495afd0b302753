//! What a volume gave when it was measured: stored runs and results in JSON.

use std::path::Path;

use fathom_analysis::disk_measurement::trials_of_disks;
use fathom_diagnose::Ceiling;
use fathom_documents::{self as documents, Measured};
use fathom_model::{JudgedRun, RunRecord, RunState};
use fathom_store::{RunListing, Store};
use fathom_studies::calibrate::{CALIBRATION, calibration_of};

use super::Diagnose;
use crate::command::runs;
use crate::exit::CommandError;
use crate::present;

/// What each workload of the run or file in `--ceiling` reached; `None` without
/// that option.
pub(super) fn named(args: &Diagnose) -> Result<Option<Vec<Ceiling>>, CommandError> {
    let Some(named) = &args.ceiling else {
        return Ok(None);
    };
    let measured = measured(args, named)?.map_err(|why| {
        CommandError::usage(format!(
            "--ceiling {named}: it does not serve as a measurement of a disk: {why}; name another, \
             or give the limit with --ceiling-iops"
        ))
    })?;
    Ok(Some(measured))
}

/// What it reached, or why it does not serve.
type Ceilings = Result<Vec<Ceiling>, String>;

fn measured(args: &Diagnose, named: &str) -> Result<Ceilings, CommandError> {
    let path = Path::new(named);
    let found = fathom_deadline::paths::find(path);
    let option = format!("--ceiling {named}");
    let found = found.map_err(CommandError::about(&option))?;
    if found.is_none() {
        let store = present::store_path(&args.store).map_err(CommandError::usage)?;
        let named = &match named == "calibration" {
            true => last_calibration(&store)?,
            false => named.to_owned(),
        };
        let record = runs::load(&store, named)
            .map_err(|error| format!("no such file, and {error:#}"))
            .map_err(CommandError::about(&option))?;
        return Ok(of_run(&fathom_studies::judge(&record), Some(&record)));
    }
    match documents::measured(named, path)? {
        Measured::Results(ceilings) => Ok(ceilings),
        Measured::Run(run) => Ok(of_run(&run, None)),
    }
}

/// The last calibration that measured all.
fn last_calibration(store: &Path) -> Result<String, CommandError> {
    let none = || {
        CommandError::usage(
            "--ceiling calibration: nothing has been calibrated yet; `fathom diagnose --calibrate` \
             does",
        )
    };
    let found = fathom_deadline::paths::find(store).map_err(CommandError::usage)?;
    if found.is_none() {
        return Err(none());
    }
    let listings = Store::open_read_only(store).and_then(|store| store.list(None));
    let listings = listings.map_err(CommandError::usage)?;
    let whole = |run: &&RunListing| run.name == CALIBRATION && run.state == RunState::Complete;
    let last = listings
        .iter()
        .filter(whole)
        .max_by_key(|run| run.started_unix_ns);
    last.map(|run| run.id.clone()).ok_or_else(none)
}

/// What a run reached; of a calibration what it found.
fn of_run(run: &JudgedRun, record: Option<&RunRecord>) -> Ceilings {
    if run.run.name == CALIBRATION {
        trials_of_disks(run)?;
        let found = calibration_of(run, record).map_err(|error| error.to_string())?;
        return Ok(vec![Ceiling::of_calibration(&found)]);
    }
    documents::ceilings_of(run)
}
