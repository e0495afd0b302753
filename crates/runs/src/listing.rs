//! The runs of a store as a list.

use anyhow::Context;
use fathom_model::{RunState, unit};
use fathom_report::table::{Align, Table};
use fathom_store::RunListing;

/// A table for people.
#[must_use]
pub fn table(listings: &[RunListing]) -> String {
    let mut table = Table::new([
        ("run", Align::Left),
        ("name", Align::Left),
        ("target", Align::Left),
        ("trials", Align::Right),
        ("state", Align::Left),
        ("stored", Align::Right),
    ]);
    for listing in listings {
        table.row(row(listing));
    }
    table.render()
}

/// A document for programs.
///
/// # Errors
/// It cannot be written.
pub fn json(listings: &[RunListing]) -> anyhow::Result<String> {
    let list: Vec<_> = listings.iter().map(as_json).collect();
    let text = serde_json::to_string_pretty(&list).context("cannot write the list")?;
    Ok(text + "\n")
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
    serde_json::json!({
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
