//! Networks in the store: each load is a trial with two ends, and what they mean
//! is found anew each time they are read.

use std::sync::atomic::{AtomicBool, Ordering};

use fathom_analysis::network::{NetworkReport, judge_network};
use fathom_model::schedule::Purpose;
use fathom_model::{RunMeta, RunRecord, RunState, Schedule, TrialRecord};
use fathom_observe::unix_now_ns;
use fathom_report::network as pages;
use fathom_store::{RunKey, Store};

use crate::output_flags::StorePath;
use crate::{present, run_identity};

/// Keeps the trials of a run as they end, in the store and for the report.
pub struct Keeper<'k> {
    path: &'k StorePath,
    record: RunRecord,
    open: Option<(Store, RunKey)>,
    /// Why the run is not, or not wholly, in the store.
    problem: Option<anyhow::Error>,
}

impl<'k> Keeper<'k> {
    /// For a run that reaches the store with its first trials.
    pub fn new(path: &'k StorePath, meta: RunMeta) -> Keeper<'k> {
        Keeper {
            path,
            record: RunRecord {
                meta,
                trials: Vec::new(),
            },
            open: None,
            problem: None,
        }
    }

    /// Trials that have ended.
    pub fn add(&mut self, trials: Vec<TrialRecord>) {
        if self.problem.is_none()
            && let Err(error) = self.put(&trials)
        {
            self.problem = Some(error);
        }
        self.record.trials.extend(trials);
    }

    fn put(&mut self, trials: &[TrialRecord]) -> anyhow::Result<()> {
        let (store, run) = match &mut self.open {
            Some(open) => open,
            None => {
                let mut store = Store::open(&present::store_path(self.path)?)?;
                let run = store.begin_run(&self.record.meta)?;
                self.open.insert((store, run))
            }
        };
        for trial in trials {
            let before = trial.target_before.as_ref();
            let key = store.begin_trial(*run, &trial.spec, trial.started_unix_ns, before)?;
            store.append(key, &trial.samples, &trial.observations)?;
            let end = trial.end.clone().unwrap_or_default();
            store.end_trial(key, trial.state, &end)?;
        }
        Ok(())
    }

    /// Ends the run, which went on until its end or until `stop` was raised. Why
    /// it is not in the store is told.
    pub fn finish(mut self, stop: &AtomicBool) -> RunRecord {
        let (state, reason) = match stop.load(Ordering::Relaxed) {
            true => (RunState::Interrupted, Some("stopped by a signal")),
            false => (RunState::Complete, None),
        };
        if let Some((store, run)) = &mut self.open {
            let ended = store.end_run(*run, state, unix_now_ns(), reason);
            if let Err(error) = ended {
                self.problem.get_or_insert(error.into());
            }
        }
        if let Some(problem) = &self.problem {
            present::complain(&format!("this result is not in the store: {problem:#}"));
        }
        self.record
    }
}

/// A run of a network that begins now.
pub fn meta(name: &str) -> anyhow::Result<RunMeta> {
    let id = run_identity::run_id(unix_now_ns())?;
    let schedule = Schedule {
        purpose: Purpose::Network {},
        ..Schedule::nothing(name)
    };
    Ok(run_identity::begin(id, schedule))
}

/// How a stored network measurement is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NetworkDisplay {
    /// For people.
    Text,
    /// The whole report.
    Json,
    /// A page.
    Html,
}

/// Whether a run is a measurement of a network.
pub fn is_network(record: &RunRecord) -> bool {
    matches!(record.meta.schedule.purpose, Purpose::Network {})
}

/// A stored network measurement once more; `None` for any other run.
pub fn page(record: &RunRecord, shown: NetworkDisplay) -> Option<anyhow::Result<String>> {
    if !is_network(record) {
        return None;
    }
    let Some(report) = judge_network(record) else {
        return Some(Err(anyhow::anyhow!("this run has no result")));
    };
    Some(match (&report, shown) {
        (NetworkReport::Pair(pair), NetworkDisplay::Json) => pages::json(pair).map_err(Into::into),
        (NetworkReport::Pair(pair), NetworkDisplay::Text) => {
            Ok(pages::pair_text(pair, fathom_console::columns()))
        }
        (NetworkReport::Pair(pair), NetworkDisplay::Html) => {
            pages::pair_html(pair).map_err(Into::into)
        }
        (NetworkReport::Matrix(matrix), NetworkDisplay::Json) => {
            pages::json(matrix).map_err(Into::into)
        }
        (NetworkReport::Matrix(matrix), NetworkDisplay::Text) => {
            Ok(pages::matrix_text(matrix, fathom_console::columns()))
        }
        (NetworkReport::Matrix(matrix), NetworkDisplay::Html) => {
            pages::matrix_html(matrix).map_err(Into::into)
        }
    })
}
