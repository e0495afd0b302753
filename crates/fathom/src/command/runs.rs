//! `fathom runs`: what has been measured so far.

use std::path::Path;

use anyhow::Context;
use fathom_model::RunState;
use fathom_model::unit;
use fathom_report::table::{Align, Table};
use fathom_store::{RunListing, Store};

use crate::cli::{Format, Runs};
use crate::exit::Exit;
use crate::{pipeline, present};

pub(crate) fn run(runs: Runs) -> anyhow::Result<Exit> {
    match runs {
        Runs::List { limit, json, store } => list(&present::store_path(&store)?, limit, json),
        Runs::Show { run, format, store } => show(&present::store_path(&store)?, &run, &format),
        Runs::Export { run, csv, store } => export(&present::store_path(&store)?, &run, csv),
        Runs::Rm { runs, store } => remove(&present::store_path(&store)?, &runs),
    }
}

fn list(path: &Path, limit: usize, json: bool) -> anyhow::Result<Exit> {
    // No store yet is not an error: nothing has been measured.
    let mut listings = if path.exists() {
        Store::open_read_only(path)?.list()?
    } else {
        Vec::new()
    };
    listings.truncate(limit);
    if json {
        let text = serde_json::to_string_pretty(&listings).context("cannot write the list")?;
        present::write_stdout(&(text + "\n"))?;
        return Ok(Exit::Success);
    }
    if listings.is_empty() {
        present::write_stdout("nothing has been measured yet; try `fathom quick`\n")?;
        return Ok(Exit::Success);
    }
    let mut table = Table::new(&[
        ("run", Align::Left),
        ("name", Align::Left),
        ("target", Align::Left),
        ("trials", Align::Right),
        ("state", Align::Left),
        ("stored", Align::Right),
    ]);
    for listing in &listings {
        table.row(&row(listing));
    }
    present::write_stdout(&table.render())?;
    Ok(Exit::Success)
}

fn row(listing: &RunListing) -> [String; 6] {
    [
        listing.id.clone(),
        listing.name.clone(),
        listing.targets.join(", "),
        format!("{}/{}", listing.trials_done, listing.trials_planned),
        state_name(listing.state).to_owned(),
        unit::bytes(listing.stored_bytes).to_string(),
    ]
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
    let store = Store::open_read_only(path)?;
    let judged = fathom_analysis::judge(&store.load(&store.find(run)?)?);
    present::print(&judged, format, None)?;
    Ok(pipeline::exit_of(&judged, false))
}

fn export(path: &Path, run: &str, csv: bool) -> anyhow::Result<Exit> {
    let store = Store::open_read_only(path)?;
    let record = store.load(&store.find(run)?)?;
    let text = if csv {
        fathom_store::export::csv(&record)
    } else {
        fathom_store::export::json(&record)
    };
    present::write_stdout(&text)?;
    Ok(Exit::Success)
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
        present::write_stdout(&format!("removed {id}\n"))?;
    }
    Ok(Exit::Success)
}
