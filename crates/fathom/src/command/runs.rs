//! `fathom runs`: what has been measured so far.

use std::path::Path;

use anyhow::Context;
use clap::Subcommand;
use fathom_model::{RunRecord, RunState, unit};
use fathom_report::table::{Align, Table};
use fathom_store::{LoadedRun, RunListing, Store};
use serde_json::json;

use crate::command::net::keep::{self, Shown};
use crate::exit::Exit;
use crate::output_flags::{Format, StorePath};
use crate::{pipeline, present};

/// List, show, export and remove stored runs.
#[derive(Debug, Subcommand)]
pub(crate) enum Runs {
    /// List stored runs, newest first.
    #[command(after_help = "Example:\n  fathom runs list --limit 5")]
    List {
        /// At most this many.
        #[arg(long, default_value_t = 20)]
        limit: u32,
        /// Print JSON.
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        store: StorePath,
    },
    /// Show the result of a run again.
    #[command(
        after_help = "Examples:\n  fathom runs show latest\n  fathom runs show 20261121-1530 --json"
    )]
    Show {
        /// Id, the start of one, `latest` or `latest~N`.
        #[arg(default_value = "latest")]
        run: String,
        #[command(flatten)]
        format: Format,
        #[command(flatten)]
        store: StorePath,
    },
    Export(crate::command::export::Export),
    /// Remove runs from the store, with the reports beside it.
    #[command(after_help = "Example:\n  fathom runs rm 20261121-153042-k3f9")]
    Rm {
        /// Ids, or starts of them.
        #[arg(required = true)]
        runs: Vec<String>,
        #[command(flatten)]
        store: StorePath,
    },
}

pub(crate) fn run(runs: Runs) -> anyhow::Result<Exit> {
    match runs {
        Runs::List { limit, json, store } => list(&present::store_path(&store)?, limit, json),
        Runs::Show { run, format, store } => show(&present::store_path(&store)?, &run, &format),
        Runs::Export(export) => super::export::run(&export),
        Runs::Rm { runs, store } => remove(&present::store_path(&store)?, &runs),
    }
}

fn list(path: &Path, limit: u32, json: bool) -> anyhow::Result<Exit> {
    // No store yet is not an error: nothing has been measured.
    let listings = if fathom_deadline::paths::find(path)?.is_some() {
        Store::open_read_only(path)?.list(Some(limit))?
    } else {
        Vec::new()
    };
    if json {
        let list: Vec<_> = listings.iter().map(as_json).collect();
        let text = serde_json::to_string_pretty(&list).context("cannot write the list")?;
        present::write_stdout(&(text + "\n"))?;
        return Ok(Exit::Success);
    }
    if listings.is_empty() {
        present::write_stdout("nothing has been measured yet; try `fathom quick`\n")?;
        return Ok(Exit::Success);
    }
    let mut table = Table::new([
        ("run", Align::Left),
        ("name", Align::Left),
        ("target", Align::Left),
        ("trials", Align::Right),
        ("state", Align::Left),
        ("stored", Align::Right),
    ]);
    for listing in &listings {
        table.row(row(listing));
    }
    present::write_stdout(&table.render())?;
    Ok(Exit::Success)
}

fn row(listing: &RunListing) -> [String; 6] {
    [
        listing.id.clone(),
        listing.name.clone(),
        targets(&listing.targets),
        format!("{}/{}", listing.complete_trials, listing.planned_trials),
        state_name(listing.state).to_owned(),
        unit::bytes(listing.stored_bytes).to_string(),
    ]
}

/// The first targets by name, and how many more there are.
fn targets(all: &[String]) -> String {
    const NAMED: usize = 4;
    match all.get(NAMED..) {
        Some([_, ..]) => format!("{} and {} more", all[..NAMED].join(", "), all.len() - NAMED),
        _ => all.join(", "),
    }
}

fn as_json(listing: &RunListing) -> serde_json::Value {
    json!({
        "id": listing.id,
        "name": listing.name,
        "label": listing.label,
        "started_unix_ns": listing.started_unix_ns,
        "ended_unix_ns": listing.ended_unix_ns,
        "state": listing.state,
        "reason": listing.reason,
        "complete_trials": listing.complete_trials,
        "begun_trials": listing.begun_trials,
        "planned_trials": listing.planned_trials,
        "targets": listing.targets,
        "host": listing.host,
        "stored_bytes": listing.stored_bytes,
    })
}

fn state_name(state: RunState) -> &'static str {
    match state {
        RunState::Running => "running",
        RunState::Complete => "complete",
        RunState::Interrupted => "interrupted",
        RunState::Failed => "failed",
    }
}

fn show(path: &Path, run: &str, format: &Format) -> anyhow::Result<Exit> {
    let record = load(path, run)?;
    let shown = match format.json {
        true => Shown::Json,
        false => Shown::Text,
    };
    if let Some(page) = keep::page(&record, shown) {
        present::write_stdout(&page?)?;
        return Ok(Exit::Success);
    }
    let judged = fathom_studies::judge(&record);
    present::print(&judged, format, None)?;
    Ok(pipeline::exit_of(&judged, false))
}

/// Reads a run to judge it. Parts that cannot be read are named on standard
/// error.
pub(crate) fn load(path: &Path, run: &str) -> anyhow::Result<RunRecord> {
    read(path, run, Store::load_to_judge)
}

/// Reads a run with every second. Parts that cannot be read are named on standard error.
pub(crate) fn load_whole(path: &Path, run: &str) -> anyhow::Result<RunRecord> {
    read(path, run, Store::load)
}

type Load = fn(&Store, &str) -> Result<LoadedRun, fathom_store::Error>;

fn read(path: &Path, run: &str, load: Load) -> anyhow::Result<RunRecord> {
    let store = Store::open_read_only(path)?;
    let loaded = load(&store, &store.find(run)?)?;
    for damage in &loaded.damage {
        present::complain(&damage.to_string());
    }
    Ok(loaded.record)
}

fn remove(path: &Path, runs: &[String]) -> anyhow::Result<Exit> {
    let mut store = Store::open(path)?;
    // All names are looked up before anything is removed.
    let ids = runs
        .iter()
        .map(|run| store.find(run))
        .collect::<Result<Vec<_>, _>>()?;
    for id in ids {
        store.remove(&id)?;
        let with_report = match present::remove_report(path, &id)? {
            true => " and its report",
            false => "",
        };
        present::write_stdout(&format!("removed {id}{with_report}\n"))?;
    }
    Ok(Exit::Success)
}
