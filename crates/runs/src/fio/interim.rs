//! Interim results of a run that is under way (`--status-interval`): what the
//! store has of it, in fio's formats.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::Duration;

use fathom_compat::fio::output::{self, FioView};
use fathom_compat::fio::request::FioRun;
use fathom_model::RunRecord;
use fathom_store::Store;

use crate::present;

/// Prints interim results until it is ended.
pub struct Interim {
    end: Sender<()>,
    thread: JoinHandle<String>,
}

impl Interim {
    /// Begins, if the user asked for it. `id` is the run's.
    pub fn begin(run: &FioRun, store: &Path, id: &str, view: &FioView) -> Option<Interim> {
        let every = Duration::from_nanos(run.status_interval_ns?);
        let (end, ended) = mpsc::channel();
        let (run, view) = (run.clone(), view.clone());
        let (store, id): (PathBuf, String) = (store.to_owned(), id.to_owned());
        let tell = move || {
            let mut kept = String::new();
            while let Err(RecvTimeoutError::Timeout) = ended.recv_timeout(every) {
                let Some(record) = so_far(&store, &id) else {
                    continue;
                };
                let text = output::results(&record, &view, &run);
                // Whoever named a file gets all of it there, at the end.
                match run.output {
                    Some(_) => kept += &text,
                    None => drop(present::write_stdout(&text)),
                }
            }
            kept
        };
        let thread = std::thread::Builder::new().name("fathom-interim".to_owned());
        let thread = thread.spawn(tell).ok()?;
        Some(Interim { end, thread })
    }

    /// No more interim results. Returns those that belong into a file.
    pub fn finish(self) -> String {
        drop(self.end);
        self.thread.join().unwrap_or_default()
    }
}

/// What the store has of a run; nothing before its first trial has begun.
fn so_far(store: &Path, id: &str) -> Option<RunRecord> {
    let store = Store::open_read_only(store).ok()?;
    let record = store.load(id).ok()?.record;
    (!record.trials.is_empty()).then_some(record)
}
