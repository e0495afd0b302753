//! Runs that were measured before: from the store, or from files that `--json`
//! wrote.

use std::io::Read;
use std::path::Path;

use anyhow::Context;
use fathom_model::{JudgedRun, RUN_SCHEMA, RunRecord};
use fathom_report::table::clean;
use fathom_store::{LoadedRun, Store};

use crate::output_flags::StorePath;
use crate::present;

/// More than any result is; keeps a wrong file from being read whole.
const RESULT_BYTES_MAX: u64 = 512 << 20;

/// Reads a run to judge it. Parts that cannot be read are named on standard
/// error.
///
/// # Errors
/// There is no such run, or it cannot be read.
pub fn load(path: &Path, run: &str) -> anyhow::Result<RunRecord> {
    read(path, run, Store::load_to_judge)
}

/// Reads a run with every second. Parts that cannot be read are named on standard error.
///
/// # Errors
/// There is no such run, or it cannot be read.
pub fn load_whole(path: &Path, run: &str) -> anyhow::Result<RunRecord> {
    read(path, run, Store::load)
}

type LoadRun = fn(&Store, &str) -> Result<LoadedRun, fathom_store::Error>;

fn read(path: &Path, run: &str, load: LoadRun) -> anyhow::Result<RunRecord> {
    let store = Store::open_read_only(path)?;
    let loaded = load(&store, &store.find(run)?)?;
    for damage in &loaded.damage {
        present::complain(&damage.to_string());
    }
    Ok(loaded.record)
}

/// A run, and what it was called by.
pub struct NamedRun {
    /// The name.
    pub name: String,
    /// What it is.
    pub run: JudgedRun,
}

impl NamedRun {
    /// The one that is the same run under another name, or again.
    #[must_use]
    pub fn among<'r>(&self, runs: &'r [NamedRun]) -> Option<&'r NamedRun> {
        let this = &self.run.run;
        runs.iter().find(|other| {
            let other = &other.run.run;
            (&other.id, other.started_unix_ns) == (&this.id, this.started_unix_ns)
        })
    }
}

/// The runs that a list names, each once.
///
/// # Errors
/// One that cannot be read, or a list without a name.
pub fn side(list: &str, store: &StorePath) -> anyhow::Result<Vec<NamedRun>> {
    let names = list
        .split(',')
        .map(str::trim)
        .filter(|name| !name.is_empty());
    let mut runs: Vec<NamedRun> = Vec::new();
    for name in names {
        let named = NamedRun {
            run: one(name, store)?,
            name: name.to_owned(),
        };
        match named.among(&runs) {
            Some(first) => present::complain(&format!(
                "'{}' and '{}' are the same run, {}: it is counted once",
                clean(&first.name),
                clean(name),
                clean(&named.run.run.id),
            )),
            None => runs.push(named),
        }
    }
    anyhow::ensure!(!runs.is_empty(), "'{list}' names no run");
    Ok(runs)
}

fn one(name: &str, store: &StorePath) -> anyhow::Result<JudgedRun> {
    let path = Path::new(name);
    let extension = path.extension().and_then(|e| e.to_str());
    if extension != Some("json") && !name.contains('/') {
        let record = load(&present::store_path(store)?, name)?;
        return Ok(fathom_studies::judge(&record));
    }
    let file = fathom_deadline::paths::open(path).with_context(|| format!("cannot read {name}"))?;
    let mut text = String::new();
    file.take(RESULT_BYTES_MAX)
        .read_to_string(&mut text)
        .with_context(|| format!("cannot read {name}"))?;
    let run: JudgedRun = serde_json::from_str(&text)
        .with_context(|| format!("{name} is not a result of fathom (schema {RUN_SCHEMA})"))?;
    anyhow::ensure!(
        run.schema == RUN_SCHEMA,
        "{name} has the schema {}; this fathom reads {RUN_SCHEMA}",
        run.schema
    );
    Ok(run)
}
