//! What arrives after a run has ended: parts of its trials that another host
//! held while nobody listened.

use std::collections::BTreeSet;

use fathom_model::run::TrialEnd;
use fathom_model::{Observation, RunState, Sample};
use rusqlite::{OptionalExtension, Transaction, params};

use crate::closing::close_trial;
use crate::codec::{self, Packed};
use crate::rows::to_json;
use crate::transaction::{Failure, unix_ns};
use crate::trials::{append_chunks, insert_trial};
use crate::write::refuse_running;
use crate::{Error, RunKey, Store, TrialBegin, TrialKey, TrialProgress};

/// What was held of one trial. Seconds that are stored already are no loss:
/// each is stored once.
#[derive(Debug, Clone, Default)]
pub struct Collected<'t> {
    /// Position of the trial in the schedule.
    pub position: u32,
    /// Its beginning, where it is known: a trial of which the store has nothing
    /// is made.
    pub begin: Option<TrialBegin<'t>>,
    /// Of its load.
    pub samples: Vec<Sample>,
    /// Of the host.
    pub observations: Vec<Observation>,
    /// How it ended.
    pub end: Option<(RunState, TrialEnd)>,
}

/// What came of it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Added {
    /// Seconds of trials that were not stored before.
    pub seconds: usize,
    /// Trials whose end was not stored before.
    pub ends: usize,
}

/// What is missing of one trial.
struct Missing<'c> {
    collected: &'c Collected<'c>,
    samples: Vec<Sample>,
    observations: Vec<Observation>,
    /// The end as it is stored, with its state and reason.
    end: Option<(RunState, Option<&'c str>, String)>,
}

impl Store {
    /// Adds to the trials of a run that has ended what was held of them.
    ///
    /// # Errors
    /// [`Error::NoSuchRun`]; [`Error::Alive`] while its process writes it.
    pub fn add_collected(&mut self, run: &str, parts: &[Collected<'_>]) -> Result<Added, Error> {
        if let Some(alive) = self.alive()?.into_iter().find(|alive| alive.id == run) {
            return Err(Error::Alive {
                id: alive.id,
                pid: alive.owner.pid,
            });
        }
        let stored = self.load(run)?.record;
        let mut added = Added::default();
        let mut rows = Vec::new();
        for collected in parts {
            let mut known = stored.trials.iter();
            let known = known.find(|trial| trial.spec.index == collected.position);
            let (samples, observations) = match known {
                None => (collected.samples.clone(), collected.observations.clone()),
                Some(known) => (
                    new_samples(&known.samples, &collected.samples),
                    new_observations(&known.observations, &collected.observations),
                ),
            };
            let has_end = known.is_some_and(|known| known.end.is_some());
            let end = collected.end.as_ref().filter(|_| !has_end);
            let end = end.map(|(state, end)| {
                refuse_running(*state)?;
                let text = to_json("the end of a trial", end)?;
                Ok::<_, Error>((*state, end.reason.as_deref(), text))
            });
            added.seconds += samples.len();
            added.ends += usize::from(end.is_some());
            let missing = Missing {
                collected,
                samples,
                observations,
                end: end.transpose()?,
            };
            let packed = codec::pack(&missing.samples, &missing.observations);
            let packed = packed.map_err(|error| Error::Unstorable {
                what: "a sample or observation",
                detail: error.to_string(),
            })?;
            rows.push((missing, packed));
        }
        let keys = self
            .transaction(|transaction| {
                let key =
                    transaction.query_row("SELECT key FROM run WHERE id = ?", [run], |row| {
                        row.get::<_, i64>(0)
                    })?;
                let of_run = rows.iter();
                of_run
                    .map(|(missing, packed)| add(transaction, RunKey(key), missing, packed))
                    .collect::<Result<Vec<Option<TrialKey>>, Failure>>()
            })
            .map_err(|failure| failure.into_error(&self.path))?;
        for key in keys.into_iter().flatten() {
            // The data are stored; this only tidies up, and may be done later.
            let _ = self.compact(key);
        }
        Ok(added)
    }
}

fn add(
    transaction: &Transaction<'_>,
    run: RunKey,
    missing: &Missing<'_>,
    packed: &[Packed],
) -> Result<Option<TrialKey>, Failure> {
    let position = missing.collected.position;
    let known: Option<(i64, String, Option<String>)> = transaction
        .query_row(
            "SELECT key, state, reason FROM trial WHERE run_key = ? AND position = ?
             ORDER BY key DESC LIMIT 1",
            params![run.0, position],
            |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
        )
        .optional()?;
    let (key, reason) = match (known, &missing.collected.begin) {
        (Some((key, _, reason)), _) => (TrialKey(key), reason),
        (None, Some(begin)) => {
            let json = |error: Error| Failure::Own(error);
            let spec = to_json("a trial", begin.spec).map_err(json)?;
            let before = begin.target_before;
            let before = before.map(|facts| to_json("a fingerprint", facts));
            let before = before.transpose().map_err(json)?;
            let key = insert_trial(transaction, run, begin, &spec, before.as_deref())?;
            (key, None)
        }
        // Nothing is known of it but seconds.
        (None, None) => return Ok(None),
    };
    // Only what is open takes seconds.
    transaction.execute("UPDATE trial SET state = 'running' WHERE key = ?", [key.0])?;
    let part = TrialProgress {
        trial: key,
        samples: &missing.samples,
        observations: &missing.observations,
    };
    append_chunks(transaction, &part, packed, unix_ns())?;
    let (state, reason) = match &missing.end {
        Some((state, reason, _)) => (*state, reason.map(str::to_owned)),
        None => (RunState::Interrupted, reason),
    };
    close_trial(transaction, key, state, reason.as_deref())?;
    if let Some((_, _, text)) = &missing.end {
        transaction.execute(
            "UPDATE trial SET end = ? WHERE key = ?",
            params![text, key.0],
        )?;
    }
    Ok(Some(key))
}

fn new_samples(known: &[Sample], collected: &[Sample]) -> Vec<Sample> {
    let mut seen: BTreeSet<_> = known
        .iter()
        .map(|s| (s.phase, s.index, s.start_ns))
        .collect();
    let mut new = collected.to_vec();
    new.retain(|s| seen.insert((s.phase, s.index, s.start_ns)));
    new
}

fn new_observations(known: &[Observation], collected: &[Observation]) -> Vec<Observation> {
    let mut seen: BTreeSet<_> = known.iter().map(|o| o.start_ns).collect();
    let mut new = collected.to_vec();
    new.retain(|o| seen.insert(o.start_ns));
    new
}

#[cfg(test)]
#[path = "collected_tests.rs"]
mod tests;
