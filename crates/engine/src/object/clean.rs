//! What killed runs left in a bucket: found by the names that runs give, and
//! removed run by run.

use std::collections::BTreeMap;
use std::sync::Arc;

use fathom_model::workload::ObjectStore;
use fathom_s3::{Access, Broken, ConnectionPool, Entry, Listed, Listing, MOST_ENTRIES};

use super::access;
use super::advice::{advised, told};
use super::own_keys::{OwnKeys, is_note, run_of};
use super::prepare::parts_of;
use super::reach;
use super::remove::{Believed, Removal, patient, remove_below};
use super::stalled::{LISTING, Stalled};
use crate::Error;
use crate::prepare::{Hurry, PrepareHooks, PrepareProgress};

/// Runs of which something is found in a bucket at most.
const MOST_RUNS: usize = 100_000;

/// What was found of one run.
#[derive(Debug, Default)]
struct RunObjects {
    objects: u64,
    bytes: u64,
    versions: u64,
    uploads: u64,
    kept: bool,
}

/// What runs left behind below a target `BUCKET/PREFIX`: looked for, and
/// removed with `remove`; what was to be kept only with `kept`.
///
/// # Errors
/// When the store cannot be reached or refuses, when it lists what cannot be
/// right, and when the user wants to stop: what remains then, in words.
pub fn clean_bucket(
    store: &ObjectStore,
    target: &str,
    (remove, kept): (bool, bool),
    hooks: &mut dyn PrepareHooks,
) -> Result<Removal, Error> {
    let mut all = Removal::default();
    for (run, found) in find(store, target, hooks)? {
        if found.kept && !kept {
            all.kept_runs += 1;
            continue;
        }
        if remove {
            let own = OwnKeys::of_run(&run);
            let believed = Believed {
                own: &own,
                most: [MOST_ENTRIES; 2],
                known: Vec::new(),
            };
            remove_below(store, target, &believed, hooks)
                .map_err(|error| behind(error, all.runs.len()))?;
        }
        all.objects += found.objects.max(found.versions);
        all.bytes = all.bytes.saturating_add(found.bytes);
        all.uploads += found.uploads;
        all.runs.push(run);
    }
    Ok(all)
}

/// An error behind what was done before it.
fn behind(error: Error, runs: usize) -> Error {
    match runs {
        0 => error,
        runs => Error::Workload(format!("{error}; {runs} runs were removed wholly before")),
    }
}

/// All runs of which there is something, by their prefixes.
fn find(
    store: &ObjectStore,
    target: &str,
    hooks: &mut dyn PrepareHooks,
) -> Result<BTreeMap<String, RunObjects>, Error> {
    let (bucket, prefix) = parts_of(target);
    let access = Arc::new(access::find(&patient(store, Hurry::No), &bucket, 0)?);
    reach::answers(&access, &|| hooks.stop_requested())?;
    let mut pool = ConnectionPool::single(&access)?;
    let mut runs: BTreeMap<String, RunObjects> = BTreeMap::new();
    let start = format!("{prefix}fathom-");
    for what in [Listed::Objects, Listed::Versions, Listed::Uploads] {
        let mut listing = Listing::new(what, &start);
        let mut seen = 0;
        loop {
            let asked = Stalled::begin(LISTING, &access);
            let entries = match listing.page(&mut pool, &access, &|| asked.look(&*hooks)) {
                Ok(Some(entries)) => entries,
                Ok(None) => break,
                // Not every store has versions, or uploads in parts.
                Err(Broken::Fault(fault))
                    if what != Listed::Objects && matches!(fault.status, 400..=499 | 501) =>
                {
                    break;
                }
                Err(broken) => return Err(unfound(&access, &start, seen, broken)),
            };
            seen += entries.len() as u64;
            for entry in entries {
                take_note(&mut runs, what, &entry, &prefix);
            }
            if runs.len() > MOST_RUNS {
                let text = format!("the store lists objects of more than {MOST_RUNS} runs");
                return Err(unfound(&access, &start, seen, Broken::Wrong(text)));
            }
            hooks.progress(PrepareProgress {
                what: &format!("listing {}: {seen} so far", what.name()),
                done_bytes: 0,
                total_bytes: 0,
            });
        }
    }
    Ok(runs)
}

fn take_note(runs: &mut BTreeMap<String, RunObjects>, what: Listed, entry: &Entry, prefix: &str) {
    let Some(run) = run_of(&entry.key, prefix) else {
        return;
    };
    let unmarked = what != Listed::Objects && entry.mark.is_empty();
    if unmarked {
        return;
    }
    let found = runs.entry(run.to_owned()).or_default();
    match what {
        Listed::Objects => {
            found.objects += 1;
            found.bytes = found.bytes.saturating_add(entry.bytes);
            found.kept |= is_note(&entry.key);
        }
        Listed::Versions => found.versions += 1,
        Listed::Uploads => found.uploads += 1,
    }
}

/// Why it is not known what there is.
fn unfound(access: &Access, start: &str, seen: u64, broken: Broken) -> Error {
    let text = match broken {
        Broken::Fault(fault) => advised(&told(&fault)),
        Broken::Wrong(text) => text,
        Broken::Stopped => "interrupted".to_owned(),
    };
    Error::Workload(format!(
        "listing what runs left below s3://{}/{start}…: {text}; {seen} keys were listed, and \
         nothing was removed",
        access.bucket
    ))
}
