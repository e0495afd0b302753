//! Writing trials while they happen. Trials that run at the same time are
//! written together: one transaction an interval, whatever their number.

use fathom_model::fingerprint::TargetFingerprint;
use fathom_model::run::TrialEnd;
use fathom_model::{Observation, RunState, Sample, ScheduledTrial};
use rusqlite::{Transaction, params};

use crate::closing::close_trial;
use crate::codec;
use crate::rows::{Totals, signed, to_json};
use crate::transaction::{Failure, unix_ns};
use crate::write::{insert_chunk, refuse_running, require_running};
use crate::{Error, RunKey, Store, TrialKey};

/// The beginning of a trial.
#[derive(Debug, Clone, Copy)]
pub struct TrialBegin<'t> {
    /// What is to be done.
    pub spec: &'t ScheduledTrial,
    /// Wall clock, nanoseconds since 1970-01-01 UTC.
    pub started_unix_ns: u64,
    /// The target before the trial.
    pub target_before: Option<&'t TargetFingerprint>,
}

/// What was measured of one trial since the last call.
#[derive(Debug, Clone, Copy)]
pub struct TrialProgress<'t> {
    /// The trial.
    pub trial: TrialKey,
    /// Of its load.
    pub samples: &'t [Sample],
    /// Of the host.
    pub observations: &'t [Observation],
}

impl Store {
    /// Starts a trial of a run.
    pub fn begin_trial(
        &mut self,
        run: RunKey,
        spec: &ScheduledTrial,
        started_unix_ns: u64,
        target_before: Option<&TargetFingerprint>,
    ) -> Result<TrialKey, Error> {
        let begin = TrialBegin {
            spec,
            started_unix_ns,
            target_before,
        };
        let keys = self.begin_trials(run, &[begin])?;
        keys.first().copied().ok_or_else(|| Error::Unstorable {
            what: "a trial",
            detail: "it was given no key".to_owned(),
        })
    }

    /// Starts trials that run at the same time. Returns their keys in order.
    pub fn begin_trials(
        &mut self,
        run: RunKey,
        trials: &[TrialBegin<'_>],
    ) -> Result<Vec<TrialKey>, Error> {
        let texts = trials.iter().map(|begin| {
            let before = begin.target_before;
            let before = before.map(|facts| to_json("a fingerprint", facts));
            Ok((to_json("a trial", begin.spec)?, before.transpose()?))
        });
        let texts = texts.collect::<Result<Vec<_>, Error>>()?;
        self.transaction(|transaction| {
            require_running(transaction, "run", run.0)?;
            let rows = trials.iter().zip(&texts);
            rows.map(|(begin, (spec, before))| {
                insert_trial(transaction, run, begin, spec, before.as_deref())
            })
            .collect()
        })
        .map_err(|failure| failure.into_error(&self.path))
    }

    /// Adds what was measured since the last call, in one transaction: when it
    /// returns, the data survive a kill of this process. It does not wait for
    /// the disk. Called once per interval.
    pub fn append(
        &mut self,
        trial: TrialKey,
        samples: &[Sample],
        observations: &[Observation],
    ) -> Result<(), Error> {
        self.append_all(&[TrialProgress {
            trial,
            samples,
            observations,
        }])
    }

    /// The same for trials that run at the same time: all of it in one
    /// transaction.
    pub fn append_all(&mut self, parts: &[TrialProgress<'_>]) -> Result<(), Error> {
        let full = parts
            .iter()
            .filter(|part| !(part.samples.is_empty() && part.observations.is_empty()));
        let packed = full.map(|part| {
            let packed = codec::pack(part.samples, part.observations);
            let packed = packed.map_err(|error| Error::Unstorable {
                what: "a sample or observation",
                detail: error.to_string(),
            })?;
            Ok((part, packed))
        });
        let packed = packed.collect::<Result<Vec<_>, Error>>()?;
        if packed.is_empty() {
            return Ok(());
        }
        let now = unix_ns();
        self.transaction(|transaction| {
            for (part, packed) in &packed {
                append_chunks(transaction, part, packed, now)?;
            }
            Ok(())
        })
        .map_err(|failure| failure.into_error(&self.path))
    }

    /// Ends a trial: fills in its totals, packs its series together and brings
    /// everything to the disk. Call it outside of any measure phase.
    ///
    /// # Errors
    /// [`Error::NotOpen`] when the trial has ended. A full disk is no error if
    /// the end itself could be stored.
    pub fn end_trial(
        &mut self,
        trial: TrialKey,
        state: RunState,
        end: &TrialEnd,
    ) -> Result<(), Error> {
        self.end_trials(&[(trial, state, end)])
    }

    /// The same for trials that ran at the same time.
    pub fn end_trials(&mut self, trials: &[(TrialKey, RunState, &TrialEnd)]) -> Result<(), Error> {
        let ends = trials.iter().map(|(_, state, end)| {
            refuse_running(*state)?;
            to_json("the end of a trial", end)
        });
        let ends = ends.collect::<Result<Vec<String>, Error>>()?;
        self.transaction(|transaction| {
            for ((trial, state, end), text) in trials.iter().zip(&ends) {
                require_running(transaction, "trial", trial.0)?;
                close_trial(transaction, *trial, *state, end.reason.as_deref())?;
                transaction.execute(
                    "UPDATE trial SET end = ? WHERE key = ?",
                    params![text, trial.0],
                )?;
            }
            Ok(())
        })
        .map_err(|failure| failure.into_error(&self.path))?;
        // The data are stored; these only tidy up, and may be done later.
        for (trial, _, _) in trials {
            let _ = self.compact(*trial);
        }
        self.checkpoint();
        Ok(())
    }
}

pub(crate) fn insert_trial(
    transaction: &Transaction<'_>,
    run: RunKey,
    begin: &TrialBegin<'_>,
    spec_json: &str,
    before_json: Option<&str>,
) -> Result<TrialKey, Failure> {
    let spec = begin.spec;
    transaction.execute(
        "INSERT INTO trial (run_key, position, row, iteration, label, target, engine,
            state, started_unix_ns, spec, target_before)
         VALUES (?, ?, ?, ?, ?, ?, ?, 'running', ?, ?, ?)",
        params![
            run.0,
            spec.index,
            spec.row,
            spec.iteration,
            spec.label,
            spec.target.to_string(),
            spec.workload.engine.name(),
            signed(begin.started_unix_ns),
            spec_json,
            before_json,
        ],
    )?;
    Ok(TrialKey(transaction.last_insert_rowid()))
}

pub(crate) fn append_chunks(
    transaction: &Transaction<'_>,
    part: &TrialProgress<'_>,
    packed: &[codec::Packed],
    now_unix_ns: u64,
) -> Result<(), Failure> {
    require_running(transaction, "trial", part.trial.0)?;
    let (from, to) = part.trial.chunks();
    let last: Option<i64> = transaction.query_row(
        "SELECT max(key) FROM chunk WHERE key >= ? AND key < ?",
        [from, to],
        |row| row.get(0),
    )?;
    let first = last.map_or(from, |last| last + 1);
    if to - first < packed.len() as i64 {
        return Err(Failure::Own(Error::Unstorable {
            what: "an interval",
            detail: "the trial has too many".to_owned(),
        }));
    }
    for (key, chunk) in (first..).zip(packed) {
        let totals = Totals::of(&part.samples[chunk.samples.clone()]);
        insert_chunk(transaction, key, now_unix_ns, totals, &chunk.blob)?;
    }
    Ok(())
}
