//! `fathom runs`: what has been measured so far.

use std::path::Path;

use clap::Subcommand;
use fathom_runs::listing;
use fathom_runs::network::{self, NetworkDisplay};
pub(crate) use fathom_runs::stored::{load, load_whole};
use fathom_store::Store;

use crate::exit::Exit;
use crate::output_flags::{Format, StorePath};
use crate::{pipeline, present};

/// Stored runs: list, show, tag, export, remove.
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
    let mut listings = if fathom_deadline::paths::find(path)?.is_some() {
        // One more shows whether there are more.
        Store::open_read_only(path)?.list(Some(limit.saturating_add(1)))?
    } else {
        Vec::new()
    };
    let more = listings.len() > limit as usize;
    listings.truncate(limit as usize);
    if json {
        present::write_stdout(&listing::json(&listings)?)?;
        return Ok(Exit::Success);
    }
    if listings.is_empty() {
        present::write_stdout("nothing has been measured yet; try `fathom quick`\n")?;
        return Ok(Exit::Success);
    }
    present::write_stdout(&listing::table(&listings))?;
    if more {
        let line = format!("these are the last {limit}, and there are more: --limit NUMBER\n");
        present::write_stdout(&line)?;
    }
    Ok(Exit::Success)
}

fn show(path: &Path, run: &str, format: &Format) -> anyhow::Result<Exit> {
    let record = load(path, run)?;
    let shown = match format.document.is("json") {
        true => NetworkDisplay::Json,
        false => NetworkDisplay::Text,
    };
    if let Some(page) = network::page(&record, shown) {
        present::write_stdout(&page?)?;
        return Ok(Exit::Success);
    }
    let judged = fathom_studies::judge(&record);
    present::print(&judged, format, None)?;
    Ok(pipeline::exit_of(&judged, false))
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
