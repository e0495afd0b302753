//! `fathom runs`: what has been measured so far.

mod list;
mod notes;

use std::path::Path;

use clap::{Args, Subcommand};
use fathom_console::consent;
use fathom_model::unit;
use fathom_report::table::clean;
use fathom_runs::network::{self, NetworkDisplay};
pub(crate) use fathom_runs::stored::{load, load_whole};
use fathom_store::{RunListing, Store};

use crate::exit::{CommandError, Exit};
use crate::output_flags::{Format, StorePath};
use crate::{pipeline, present};

/// Stored runs: list, show, tag, export, remove. Without a command it lists.
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
Examples:
  fathom runs                        What was measured, newest first
  fathom runs --since 7d --target /data
  fathom runs show latest"
)]
pub(crate) struct Runs {
    #[command(subcommand)]
    verb: Option<Verb>,
    #[command(flatten)]
    list: list::List,
}

/// What is done with stored runs.
#[derive(Debug, Subcommand)]
enum Verb {
    #[command(alias = "ls")]
    List(list::List),
    /// Show the result of a run again.
    #[command(
        after_help = "Examples:\n  fathom runs show latest\n  fathom runs show 20261121-1530 --json"
    )]
    Show {
        /// Id, the start of one, `latest`, `latest~N`, a label or a tag.
        #[arg(default_value = "latest")]
        run: String,
        #[command(flatten)]
        format: Format,
        #[command(flatten)]
        store: StorePath,
    },
    Export(crate::command::export::Export),
    Tag(notes::Tag),
    Note(notes::Note),
    Rename(notes::Rename),
    /// Remove runs from the store, with the reports beside it. Asks first; without a
    /// terminal it takes --yes.
    #[command(aliases = ["remove", "delete"])]
    #[command(after_help = "Example:\n  fathom runs rm 20261121-153042-k3f9")]
    Rm {
        /// Ids, or starts of them.
        #[arg(required = true)]
        runs: Vec<String>,
        /// Do not ask.
        #[arg(long, short)]
        yes: bool,
        #[command(flatten)]
        store: StorePath,
    },
}

pub(crate) fn run(runs: Runs) -> anyhow::Result<Exit> {
    let Some(verb) = runs.verb else {
        return list::run(&runs.list);
    };
    match verb {
        Verb::List(list) => list::run(&list),
        Verb::Show { run, format, store } => show(&present::store_path(&store)?, &run, &format),
        Verb::Export(export) => super::export::run(&export),
        Verb::Tag(tag) => notes::tag(&tag),
        Verb::Note(note) => notes::note(&note),
        Verb::Rename(rename) => notes::rename(&rename),
        Verb::Rm { runs, yes, store } => remove(&present::store_path(&store)?, &runs, yes),
    }
}

/// Prints a stored run in a format.
pub(crate) fn show(path: &Path, run: &str, format: &Format) -> anyhow::Result<Exit> {
    let record = load(path, run)?;
    if network::is_network(&record) {
        let shown = match format.document.chosen().map(|document| document.name) {
            None => NetworkDisplay::Text,
            Some("json") => NetworkDisplay::Json,
            Some("html") => NetworkDisplay::Html,
            Some(other) => {
                let problem = format!(
                    "a measurement of a network has no format {other}\nhelp: --json or text"
                );
                return Err(CommandError::Usage(problem).into());
            }
        };
        if let Some(page) = network::page(&record, shown) {
            present::write_document(format, &page?)?;
        }
        return Ok(Exit::Success);
    }
    let judged = fathom_studies::judge(&record);
    present::print(&judged, format, None)?;
    Ok(pipeline::exit_of(&judged, false))
}

/// A line for each run: what it is beside its id.
fn described(ids: &[String], listed: &[RunListing]) -> String {
    let line = |id: &String| {
        let run = listed.iter().find(|run| run.id == *id);
        let words = run.map(|run| {
            let label = run.label.iter().map(|label| clean(label));
            let target = run.targets.first().map(|target| clean(target));
            let words = [clean(&run.name)].into_iter().chain(target).chain(label);
            words.collect::<Vec<_>>().join("  ")
        });
        format!("  {id}  {}\n", words.unwrap_or_default())
    };
    ids.iter().map(line).collect()
}

fn remove(path: &Path, runs: &[String], yes: bool) -> anyhow::Result<Exit> {
    // All names are looked up before anything is removed, and no store is made for those
    // that are not there.
    let known = Store::open_read_only(path)?;
    let mut ids: Vec<String> = Vec::new();
    for run in runs {
        let id = known.find(run)?;
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
    let listed = known.list(None)?;
    drop(known);
    if !yes && !consent::can_ask() {
        return Err(CommandError::usage(
            "runs rm removes runs for good and asks first, which needs a terminal\nhelp: --yes \
             removes them without asking",
        )
        .into());
    }
    let mut store = Store::open(path)?;
    if !yes {
        let question = format!(
            "Remove {} with the reports?\n{}",
            unit::counted(ids.len() as u64, "run"),
            described(&ids, &listed)
        );
        if !consent::is_given(&question) {
            present::write_stderr("nothing was removed\n");
            return Ok(Exit::Success);
        }
    }
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
