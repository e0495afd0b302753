//! Keeps everything that happens in a run, second by second.
//!
//! The store is committed with every interval, so a crash loses at most one
//! second. If the store fails in the middle (its disk is full), the run goes on
//! and the rest is kept in memory until the result has been shown.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use fathom_engine::FileIdentity;
use fathom_fleet::{Event, MadeFiles, Sink, SinkError, TrialStart};
use fathom_model::Schedule;
use fathom_model::run::{RunMeta, RunRecord, RunState, TrialEnd, TrialRecord};
use fathom_model::schedule::TrialRole;
use fathom_model::secret::masked;
use fathom_store::{RunKey, Store, TrialBegin, TrialKey, TrialProgress};

use crate::metrics::Exporter;
use crate::progress::Progress;

/// Where the run is kept.
enum Keeping {
    Store {
        store: Box<Store>,
        run: RunKey,
        /// Trials that are under way, by their index.
        trials: HashMap<u32, TrialKey>,
        /// Trials of the last set, which have ended.
        ended: HashMap<u32, TrialKey>,
    },
    Memory(Box<RunRecord>),
}

/// Why a run cannot be stored.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NotStored {
    /// No file can be a store.
    #[error("{0:#}")]
    NoPlace(anyhow::Error),
    /// The store cannot be used.
    #[error("{0}")]
    Unusable(#[from] fathom_store::Error),
}

/// Files that a run makes by names that the user chose.
pub(crate) struct NamedFiles {
    /// Where they are noted.
    made: MadeFiles,
    /// Their names.
    names: BTreeSet<PathBuf>,
    /// Those that are removed after the run.
    unlinked: BTreeSet<PathBuf>,
}

impl NamedFiles {
    /// Those of a schedule, which are noted beside a store.
    pub(crate) fn of(
        schedule: &Schedule,
        store: Option<&Path>,
        unlinked: &BTreeSet<PathBuf>,
    ) -> NamedFiles {
        let named = schedule.trials.iter();
        let named = named.filter_map(|trial| trial.workload.data_set.named.as_ref());
        NamedFiles {
            made: MadeFiles::beside(store.unwrap_or(Path::new(""))),
            names: named.flat_map(|named| &named.paths).cloned().collect(),
            unlinked: unlinked.clone(),
        }
    }
}

/// What becomes of the files of a run.
pub(crate) struct RunFiles {
    /// They stay when it has ended.
    pub(crate) kept: bool,
    /// Those with names of the user's.
    pub(crate) named: NamedFiles,
}

/// The sink of a run.
pub(crate) struct Recorder {
    keeping: Keeping,
    files: RunFiles,
    meta: RunMeta,
    progress: Progress,
    exporter: Option<Exporter>,
    /// Why the run is not, or not wholly, in the store.
    problem: Option<String>,
    /// What could not be removed, and why.
    left_behind: Vec<String>,
}

/// A run that has ended.
pub(crate) struct Recorded {
    pub(crate) record: RunRecord,
    /// It failed or was interrupted before anything was measured, and is not kept.
    pub(crate) empty: bool,
    /// Why the run is not, or not wholly, in the store.
    pub(crate) problem: Option<String>,
    /// What could not be removed, and why.
    pub(crate) left_behind: Vec<String>,
}

impl Recorder {
    /// Begins a run in the store, or in memory when there is no store.
    pub(crate) fn begin(
        store: Result<Store, NotStored>,
        meta: RunMeta,
        files: RunFiles,
        progress: Progress,
        exporter: Option<Exporter>,
    ) -> Recorder {
        let begun = store.and_then(|mut store| {
            let run = store.begin_run(&meta)?;
            Ok(Keeping::Store {
                store: Box::new(store),
                run,
                trials: HashMap::new(),
                ended: HashMap::new(),
            })
        });
        let (keeping, problem) = match begun {
            Ok(keeping) => (keeping, None),
            Err(problem) => (
                Keeping::Memory(Box::new(RunRecord {
                    meta: meta.clone(),
                    trials: Vec::new(),
                })),
                Some(problem.to_string()),
            ),
        };
        let mut recorder = Recorder {
            keeping,
            files,
            meta,
            progress,
            exporter,
            problem,
            left_behind: Vec::new(),
        };
        if let Some(problem) = &recorder.problem {
            let text = format!("this run will not be stored: {problem}");
            recorder.progress.line(&text);
        }
        recorder
    }

    /// Ends the run and returns all of it, and what went wrong beside it.
    pub(crate) fn finish(
        mut self,
        state: RunState,
        reason: Option<String>,
        ended_unix_ns: u64,
    ) -> Recorded {
        self.progress.clear();
        // What was served ends with the run, after the last push.
        drop(self.exporter.take());
        let left_behind = std::mem::take(&mut self.left_behind);
        let reason = reason.or_else(|| left_behind.first().cloned());
        let reason = reason.as_deref().map(masked);
        if let Keeping::Store { store, run, .. } = &mut self.keeping {
            let ended = store.end_run(*run, state, ended_unix_ns, reason.as_deref());
            let loaded = ended.and_then(|()| store.load_to_judge(&self.meta.id));
            match loaded {
                Ok(loaded) => {
                    let empty = is_empty(&loaded.record);
                    // What it could not remove stays noted for `fathom clean`.
                    let removed = match empty {
                        true => store.remove(&self.meta.id),
                        false => Ok(()),
                    };
                    let damage = loaded.damage.first().map(ToString::to_string);
                    return Recorded {
                        problem: damage.or(removed.err().map(|error| error.to_string())),
                        record: loaded.record,
                        empty,
                        left_behind,
                    };
                }
                Err(error) => self.fall_back(&error.to_string()),
            }
        }
        let Keeping::Memory(mut record) = self.keeping else {
            unreachable!("fell back above")
        };
        record.meta.state = state;
        record.meta.reason = reason;
        record.meta.ended_unix_ns = Some(ended_unix_ns);
        Recorded {
            empty: is_empty(&record),
            record: *record,
            problem: self.problem,
            left_behind,
        }
    }

    /// From now on the run is kept in memory, with what the store still gives.
    fn fall_back(&mut self, problem: &str) {
        let Keeping::Store { store, .. } = &self.keeping else {
            return;
        };
        let record = store.load_to_judge(&self.meta.id).map_or_else(
            |_| RunRecord {
                meta: self.meta.clone(),
                trials: Vec::new(),
            },
            |loaded| loaded.record,
        );
        self.progress.line(&format!(
            "the rest of this run will not be stored: {problem}"
        ));
        self.problem = Some(problem.to_owned());
        self.keeping = Keeping::Memory(Box::new(record));
    }

    fn store_event(&mut self, event: &Event) -> Result<(), fathom_store::Error> {
        let Keeping::Store {
            store,
            run,
            trials,
            ended,
        } = &mut self.keeping
        else {
            return Ok(());
        };
        match event {
            Event::TrialsStarted(starts) => {
                let begun: Vec<TrialBegin<'_>> = starts.iter().map(begin_of).collect();
                let keys = store.begin_trials(*run, &begun)?;
                ended.clear();
                trials.extend(starts.iter().map(|start| start.spec.index).zip(keys));
            }
            Event::Interval(intervals) => {
                let parts: Vec<TrialProgress<'_>> = intervals
                    .iter()
                    .filter_map(|interval| {
                        Some(TrialProgress {
                            trial: *trials.get(&interval.trial)?,
                            samples: &interval.samples,
                            observations: &interval.observations,
                        })
                    })
                    .collect();
                store.append_all(&parts)?;
            }
            Event::TrialsEnded(endings) => {
                let endings: Vec<(TrialKey, RunState, &TrialEnd)> = endings
                    .iter()
                    .filter_map(|ending| {
                        let key = trials.remove(&ending.trial)?;
                        ended.insert(ending.trial, key);
                        Some((key, ending.state, &ending.end))
                    })
                    .collect();
                store.end_trials(&endings)?;
            }
            Event::FileCreating(path) => {
                let keep = self.files.kept && !self.files.named.unlinked.contains(path);
                store.note_file(*run, &absolute(path), keep)?;
            }
            Event::FileRemoved(path) => store.forget_file(&absolute(path))?,
            Event::PhaseStarted { .. }
            | Event::Progress { .. }
            | Event::Note(_)
            | Event::Waiting(_)
            | Event::LeftBehind(_)
            | Event::FileCreated { .. }
            | Event::FileFound { .. }
            | Event::Pausing { .. } => {}
        }
        Ok(())
    }

    /// Notes files of names that the user chose before and after they are made,
    /// whether or not the run can be stored.
    fn note_named(&mut self, event: &Event) {
        let named = &mut self.files.named;
        let noted = match event {
            Event::FileCreating(path) if named.names.contains(path) => named.made.note_making(path),
            Event::FileCreated { path, identity } => named.made.note(path, identity),
            _ => return,
        };
        if let Err(error) = noted {
            self.progress.line(&format!(
                "the files that this run makes could not be noted, and will count as a stranger's: \
                 {error}"
            ));
        }
    }

    fn remember_event(&mut self, event: Event) {
        let Keeping::Memory(record) = &mut self.keeping else {
            return;
        };
        match event {
            Event::TrialsStarted(starts) => {
                let trials = starts.into_iter().map(|start| TrialRecord {
                    spec: start.spec,
                    started_unix_ns: start.started_unix_ns,
                    state: RunState::Running,
                    samples: Vec::new(),
                    observations: Vec::new(),
                    target_before: start.target_before,
                    end: None,
                });
                record.trials.extend(trials);
            }
            Event::Interval(intervals) => {
                for interval in intervals {
                    if let Some(trial) = open_trial(record, interval.trial) {
                        trial.samples.extend(interval.samples);
                        trial.observations.extend(interval.observations);
                    }
                }
            }
            Event::TrialsEnded(endings) => {
                for ending in endings {
                    if let Some(trial) = open_trial(record, ending.trial) {
                        trial.state = ending.state;
                        trial.end = Some(ending.end);
                    }
                }
            }
            _ => {}
        }
    }
}

/// Whether a run failed or was interrupted before the load of any of its own
/// trials began.
fn is_empty(record: &RunRecord) -> bool {
    let beside = |role: TrialRole| role.is_probe() || role == TrialRole::Control;
    let mut own = record.trials.iter().filter(|t| !beside(t.spec.role));
    let began = |trial: &TrialRecord| {
        let end = trial.end.as_ref();
        !trial.samples.is_empty()
            || end.is_some_and(|end| end.load_started_ns.is_some() || !end.engine.errors.is_empty())
    };
    record.meta.state != RunState::Complete && !own.any(began)
}

/// The trial with this index that is under way. Those are the latest ones.
fn open_trial(record: &mut RunRecord, index: u32) -> Option<&mut TrialRecord> {
    let mut latest = record.trials.iter_mut().rev();
    latest.find(|trial| trial.spec.index == index)
}

fn begin_of(start: &TrialStart) -> TrialBegin<'_> {
    TrialBegin {
        spec: &start.spec,
        started_unix_ns: start.started_unix_ns,
        target_before: start.target_before.as_ref(),
    }
}

/// `fathom clean` may be called from another directory.
fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

/// What an agent says may repeat what it was given.
fn mask(event: &mut Event) {
    match event {
        Event::Note(text) | Event::Waiting(text) | Event::LeftBehind(text) => *text = masked(text),
        Event::TrialsEnded(endings) => {
            for ending in endings {
                let end = &mut ending.end;
                if let Some(reason) = &mut end.reason {
                    *reason = masked(reason);
                }
                for error in &mut end.engine.errors {
                    error.message = masked(&error.message);
                }
            }
        }
        _ => {}
    }
}

impl Sink for Recorder {
    fn event(&mut self, mut event: Event) -> Result<(), SinkError> {
        mask(&mut event);
        self.progress.event(&event);
        if let Some(exporter) = &self.exporter {
            exporter.event(&event);
        }
        if let Event::LeftBehind(what) = &event {
            self.left_behind.push(what.clone());
        }
        self.note_named(&event);
        if let Err(error) = self.store_event(&event) {
            self.fall_back(&error.to_string());
        }
        self.remember_event(event);
        Ok(())
    }

    fn made(&mut self, path: &Path, identity: &FileIdentity) -> bool {
        self.files.named.made.knows(path, identity)
    }

    fn recalls(&self) -> bool {
        true
    }

    fn recall(&mut self, trial: &mut TrialRecord) -> bool {
        let index = trial.spec.index;
        let problem = match &mut self.keeping {
            Keeping::Memory(record) => {
                if let Some(kept) = open_trial(record, index) {
                    trial.samples.clone_from(&kept.samples);
                    trial.observations.clone_from(&kept.observations);
                }
                return true;
            }
            Keeping::Store { store, ended, .. } => {
                let key = ended.get(&index).copied();
                let read = key.map(|key| store.load_series(key, trial));
                read.and_then(Result::err).map(|error| error.to_string())
            }
        };
        if let Some(problem) = problem {
            self.progress.line(&format!(
                "what trial {index} measured cannot be read back: {problem}"
            ));
        }
        true
    }
}
