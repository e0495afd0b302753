//! Times of single operations in smallfile's files: one for each thread, lines
//! `operation, start, duration` in seconds.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use anyhow::Context;
use fathom_compat::smallfile::Smallfile;
use fathom_model::run::{RunRecord, TrialRecord};
use fathom_outputs::Mark;

use crate::present;

/// Makes the folder of the files. Call it before the measurement.
///
/// # Errors
/// It cannot be made.
pub(super) fn make_folder(asked: &Smallfile, top: &Path) -> anyhow::Result<PathBuf> {
    let directory = match &asked.sync_dir {
        Some(directory) => directory.clone(),
        None => top.join("network_shared"),
    };
    fathom_deadline::paths::change(&directory, fathom_outputs::make_folder)
        .with_context(|| format!("cannot create {}", directory.display()))?;
    Ok(directory)
}

/// Writes the files beside those by which smallfile's threads agree.
pub(super) fn write(asked: &Smallfile, top: &Path, record: &RunRecord) -> anyhow::Result<()> {
    let directory = make_folder(asked, top)?;
    for trial in &record.trials {
        let host = &record.meta.host_of(&trial.spec).hostname;
        let end = trial.end.as_ref();
        let started_ns = end.and_then(|end| end.load_started_unix_ns);
        let started = started_ns.unwrap_or(trial.started_unix_ns) as f64 / 1e9;
        let operation = asked.operation.name();
        for (worker, text) in texts(trial, operation) {
            let name = format!("rsptimes_{worker:02}_{host}_{operation}_{started:.7}.csv");
            let path = directory.join(name);
            present::write_file(&path, Mark::ResponseTimes, &text)?;
        }
        let left_out = end.map_or(0, |end| end.engine.unlogged_ops);
        if left_out > 0 {
            present::complain(&format!(
                "{left_out} response times are not in the files, which hold a million; the \
                 latencies of the result are those of all"
            ));
        }
    }
    Ok(())
}

fn texts(trial: &TrialRecord, operation: &str) -> BTreeMap<u32, String> {
    let mut texts: BTreeMap<u32, String> = BTreeMap::new();
    let operations = trial.samples.iter().flat_map(|sample| &sample.operations);
    for one in operations {
        let text = texts.entry(one.worker).or_default();
        let (start, length) = (one.started_ns() as f64 / 1e9, one.service_ns as f64 / 1e9);
        let _ = writeln!(text, "{operation:>8}, {start:9.6}, {length:9.6}");
    }
    texts
}
