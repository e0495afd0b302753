//! What an agent holds of a run whose coordinator was lost: everything that
//! it had not heard to be stored, kept on disk for the next contact.
//!
//! While a run goes well nothing is written. What was said to the coordinator
//! stays in memory until that has said that it handled it, and some seconds
//! longer, because handling is not storing. When the coordinator is lost, the
//! rest of the run (its last seconds, its ends) and what was in memory go into
//! one file of JSON lines, which a coordinator of the same user can collect
//! for some days.

use std::collections::VecDeque;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use fathom_deadline::paths;
use fathom_engine::prepare::is_private;
use serde::{Deserialize, Serialize};

use crate::protocol::frame::MESSAGE_BYTES;
use crate::protocol::json::message_of;
use crate::protocol::message::Event;

/// What was handled longer ago than this is stored.
const STORED_AFTER: Duration = Duration::from_secs(5);

/// Most that is kept in memory for one run.
const MEMORY_BYTES: usize = 64 << 20;

/// Files older than this are removed.
const KEPT_FOR: Duration = Duration::from_secs(7 * 24 * 3600);

/// Files that are kept at most; the oldest go first.
const MOST_FILES: usize = 32;

/// How the files end.
const SUFFIX: &str = ".held.jsonl";

/// A run of which something is held.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeldRun {
    /// Id of the run.
    pub run: String,
    /// Place of the host in it.
    pub place: u32,
    /// Bytes of the file.
    pub bytes: u64,
}

/// What was said and may not be stored yet, in order.
#[derive(Debug, Default)]
pub(crate) struct UnstoredEvents {
    state: Mutex<SpoolState>,
}

#[derive(Debug, Default)]
struct SpoolState {
    /// Events as JSON.
    events: VecDeque<Vec<u8>>,
    bytes: usize,
    /// Number of the first of them since the beginning of the run.
    first: u64,
    /// How many had been handled, and when that was heard.
    handled: VecDeque<(Instant, u64)>,
}

/// Whether an event is kept: what a store wants to know. Both sides count
/// these.
pub(crate) fn counts(event: &Event) -> bool {
    matches!(
        event,
        Event::TrialsStarted(_)
            | Event::Interval(_)
            | Event::TrialsEnded(_)
            | Event::Note(_)
            | Event::LeftBehind(_)
    )
}

impl UnstoredEvents {
    fn lock(&self) -> MutexGuard<'_, SpoolState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps an event that is being sent.
    pub(crate) fn keep(&self, event: &Event) {
        if !counts(event) {
            return;
        }
        let Ok(text) = serde_json::to_vec(event) else {
            return;
        };
        let mut state = self.lock();
        state.bytes += text.len();
        state.events.push_back(text);
        // The oldest go first: they are the likeliest to be stored already.
        while state.bytes > MEMORY_BYTES {
            state.forget_first();
        }
    }

    /// The coordinator has handled so many events of this run.
    pub(crate) fn handled(&self, count: u64, now: Instant) {
        let mut state = self.lock();
        state.handled.push_back((now, count));
        while let Some((when, count)) = state.handled.front().copied() {
            if now.duration_since(when) < STORED_AFTER {
                return;
            }
            state.handled.pop_front();
            while state.first < count && !state.events.is_empty() {
                state.forget_first();
            }
        }
    }

    /// Writes what is not known to be stored to a file; nothing when there is
    /// nothing.
    pub(crate) fn write(&self, directory: &Path, run: &str, place: u32) -> io::Result<bool> {
        let state = self.lock();
        if state.events.is_empty() || !is_run_id(run) {
            return Ok(false);
        }
        let path = file_of(directory, run, place);
        let mut text = Vec::with_capacity(state.bytes + state.events.len());
        for event in &state.events {
            text.extend_from_slice(event);
            text.push(b'\n');
        }
        drop(state);
        paths::change(directory, move |directory| {
            fathom_outputs::make_folder(directory)?;
            tidy(directory);
            fathom_outputs::replace(&path, &text)
        })?;
        Ok(true)
    }
}

impl SpoolState {
    fn forget_first(&mut self) {
        if let Some(event) = self.events.pop_front() {
            self.bytes -= event.len();
            self.first += 1;
        }
    }
}

/// Ids are digits, letters and hyphens: nothing that leads elsewhere.
pub(crate) fn is_run_id(text: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '-';
    (1..=64).contains(&text.len()) && text.chars().all(fits)
}

fn file_of(directory: &Path, run: &str, place: u32) -> PathBuf {
    directory.join(format!("{run}.{place}{SUFFIX}"))
}

/// What is held in a directory, the oldest first; nothing where the directory
/// does not respond.
pub(crate) fn list(directory: &Path) -> Vec<HeldRun> {
    let found = paths::on(directory, |directory| Ok(files(directory)));
    let mut found = found.unwrap_or_default();
    found.truncate(MOST_FILES);
    let held = found.into_iter().filter_map(|(path, _, bytes)| {
        let (run, place) = held_run(&path)?;
        Some(HeldRun { run, place, bytes })
    });
    held.collect()
}

/// The run that a file is named after, and the place of the host in it.
fn held_run(path: &Path) -> Option<(String, u32)> {
    let name = path.file_name()?.to_str()?.strip_suffix(SUFFIX)?;
    let (run, place) = name.rsplit_once('.')?;
    is_run_id(run).then_some(())?;
    Some((run.to_owned(), place.parse().ok()?))
}

/// The events of a run that is held, as far as they can be read.
pub(crate) fn read(directory: &Path, run: &str, place: u32) -> io::Result<Vec<Event>> {
    if !is_run_id(run) {
        return Err(io::ErrorKind::NotFound.into());
    }
    let file = file_of(directory, run, place);
    paths::read(&file, events_of)
}

fn events_of(file: &Path) -> io::Result<Vec<Event>> {
    if !is_private(file) {
        return Err(io::ErrorKind::NotFound.into());
    }
    let file = File::open(file)?;
    let mut reader = BufReader::new(file);
    let mut events = Vec::new();
    let mut line = Vec::new();
    loop {
        line.clear();
        let limit = MESSAGE_BYTES as u64;
        let read = io::Read::take(&mut reader, limit).read_until(b'\n', &mut line)?;
        if read == 0 {
            return Ok(events);
        }
        events.extend(message_of::<Event>(&line).ok());
    }
}

/// The coordinator has stored it.
pub(crate) fn forget(directory: &Path, run: &str, place: u32) {
    if is_run_id(run) {
        let file = file_of(directory, run, place);
        // A file that stays is offered again, and goes when it is old.
        let _ = paths::change(&file, |file| fs::remove_file(file));
    }
}

/// Files of held runs, the oldest first.
fn files(directory: &Path) -> Vec<(PathBuf, SystemTime, u64)> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let facts = entries.filter_map(|entry| {
        let path = entry.path();
        let facts = entry.metadata().ok().filter(fs::Metadata::is_file)?;
        let ours = held_run(&path).is_some() && is_private(&path);
        ours.then_some((path, facts))
    });
    let mut found: Vec<(PathBuf, SystemTime, u64)> = facts
        .filter_map(|(path, facts)| Some((path, facts.modified().ok()?, facts.len())))
        .collect();
    found.sort_by_key(|(_, written, _)| *written);
    found
}

/// Removes what nobody has collected.
fn tidy(directory: &Path) {
    let found = files(directory);
    let too_many = (found.len() + 1).saturating_sub(MOST_FILES);
    for (at, (path, written, _)) in found.into_iter().enumerate() {
        let old = written.elapsed().is_ok_and(|age| age > KEPT_FOR);
        if old || at < too_many {
            let _ = fs::remove_file(path);
        }
    }
}

#[cfg(test)]
#[path = "spool_tests.rs"]
mod tests;
