//! Writing a run while it happens.

use fathom_model::fingerprint::TargetFingerprint;
use fathom_model::run::TrialEnd;
use fathom_model::{Observation, RunMeta, RunState, Sample, ScheduledTrial};
use rusqlite::{OptionalExtension, Transaction, named_params, params};

use crate::closing::{close_run, close_trial};
use crate::codec;
use crate::rows::{Totals, signed, state_text, to_json};
use crate::transaction::{Failure, unix_ns};
use crate::{Error, Store};

/// A run that is being written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct RunKey(pub(crate) i64);

/// A trial that is being written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TrialKey(pub(crate) i64);

/// Bits of a chunk's key below the trial's.
const NUMBER_BITS: u32 = 32;

impl TrialKey {
    /// Keys of the chunks of this trial: from, and up to but not including.
    pub(crate) fn chunks(self) -> (i64, i64) {
        (self.0 << NUMBER_BITS, (self.0 + 1) << NUMBER_BITS)
    }
}

impl Store {
    /// Starts a run, which belongs to this process until [`Store::end_run`].
    ///
    /// The run is stored as `running` whatever `meta` says, and is on the disk
    /// when the call returns.
    ///
    /// # Errors
    /// [`Error::DuplicateRun`] when the store has a run with this id.
    pub fn begin_run(&mut self, meta: &RunMeta) -> Result<RunKey, Error> {
        let mut targets: Vec<String> = Vec::new();
        for trial in &meta.schedule.trials {
            let target = trial.target.to_string();
            if !targets.contains(&target) {
                targets.push(target);
            }
        }
        let schedule = codec::pack_text(&to_json("a schedule", &meta.schedule)?).map_err(|e| {
            Error::Unstorable {
                what: "a schedule",
                detail: e.to_string(),
            }
        })?;
        let command_line = to_json("a command line", &meta.command_line)?;
        let fingerprint = to_json("a fingerprint", &meta.host)?;
        let targets = to_json("targets", &targets)?;
        let owner = self.here.clone();
        let insert = |transaction: &Transaction<'_>| {
            transaction.execute(
                "INSERT INTO run (id, name, label, state, started_unix_ns, host, tool_version,
                    planned_trials, targets, command_line, plan_yaml, fingerprint, schedule,
                    owner_pid, owner_start_ticks, owner_boot_id, owner_pid_namespace, owner_host)
                 VALUES (:id, :name, :label, 'running', :started, :host, :version,
                    :planned, :targets, :command_line, :plan, :fingerprint, :schedule,
                    :pid, :ticks, :boot, :namespace, :owner_host)",
                named_params! {
                    ":id": meta.id,
                    ":name": meta.schedule.name,
                    ":label": meta.label,
                    ":started": signed(meta.started_unix_ns),
                    ":host": meta.host.hostname,
                    ":version": meta.tool_version,
                    ":planned": meta.schedule.trials.len() as i64,
                    ":targets": targets,
                    ":command_line": command_line,
                    ":plan": meta.plan_yaml,
                    ":fingerprint": fingerprint,
                    ":schedule": schedule,
                    ":pid": owner.pid,
                    ":ticks": owner.start_ticks.map(signed),
                    ":boot": owner.boot_id,
                    ":namespace": owner.pid_namespace,
                    ":owner_host": owner.host,
                },
            )?;
            Ok(RunKey(transaction.last_insert_rowid()))
        };
        self.durably(|store| {
            store.transaction(insert).map_err(|error| match error {
                // The id is the only thing in the table that must be unique.
                Failure::Sqlite(error) if is_duplicate(&error) => Error::DuplicateRun {
                    id: meta.id.clone(),
                },
                other => other.into_error(&store.path),
            })
        })
    }

    /// Starts a trial of a run.
    pub fn begin_trial(
        &mut self,
        run: RunKey,
        spec: &ScheduledTrial,
        started_unix_ns: u64,
        target_before: Option<&TargetFingerprint>,
    ) -> Result<TrialKey, Error> {
        let spec_json = to_json("a trial", spec)?;
        let before = target_before
            .map(|facts| to_json("a fingerprint", facts))
            .transpose()?;
        self.transaction(|transaction| {
            require_running(transaction, "run", run.0)?;
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
                    signed(started_unix_ns),
                    spec_json,
                    before,
                ],
            )?;
            Ok(TrialKey(transaction.last_insert_rowid()))
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
        if samples.is_empty() && observations.is_empty() {
            return Ok(());
        }
        let packed = codec::pack(samples, observations).map_err(|error| Error::Unstorable {
            what: "a sample or observation",
            detail: error.to_string(),
        })?;
        let now = unix_ns();
        self.transaction(|transaction| {
            require_running(transaction, "trial", trial.0)?;
            let (from, to) = trial.chunks();
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
            for (key, part) in (first..).zip(&packed) {
                let totals = Totals::of(&samples[part.samples.clone()]);
                insert_chunk(transaction, key, now, totals, &part.blob)?;
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
        let end_json = to_json("the end of a trial", end)?;
        refuse_running(state)?;
        self.transaction(|transaction| {
            require_running(transaction, "trial", trial.0)?;
            close_trial(transaction, trial, state, end.reason.as_deref())?;
            transaction.execute(
                "UPDATE trial SET end = ? WHERE key = ?",
                params![end_json, trial.0],
            )?;
            Ok(())
        })
        .map_err(|failure| failure.into_error(&self.path))?;
        // The data are stored; these only tidy up, and may be done later.
        let _ = self.compact(trial);
        self.checkpoint();
        Ok(())
    }

    /// Ends a run. Trials that are still open end with it, as interrupted
    /// unless the run failed.
    pub fn end_run(
        &mut self,
        run: RunKey,
        state: RunState,
        ended_unix_ns: u64,
        reason: Option<&str>,
    ) -> Result<(), Error> {
        refuse_running(state)?;
        self.durably(|store| {
            store
                .transaction(|transaction| {
                    require_running(transaction, "run", run.0)?;
                    close_run(transaction, run, state, ended_unix_ns, reason)
                })
                .map_err(|failure| failure.into_error(&store.path))
        })?;
        // The run is stored; the space that compaction freed may go later.
        let _ = self.release_pages();
        Ok(())
    }
}

pub(crate) fn insert_chunk(
    transaction: &Transaction<'_>,
    key: i64,
    written_unix_ns: u64,
    totals: Totals,
    blob: &[u8],
) -> rusqlite::Result<()> {
    transaction.execute(
        "INSERT INTO chunk (key, written_unix_ns, measured_ns, ops, bytes, errors, series)
         VALUES (?, ?, ?, ?, ?, ?, ?)",
        params![
            key,
            signed(written_unix_ns),
            signed(totals.measured_ns),
            signed(totals.ops),
            signed(totals.bytes),
            signed(totals.errors),
            blob,
        ],
    )?;
    Ok(())
}

fn require_running(
    transaction: &Transaction<'_>,
    table: &'static str,
    key: i64,
) -> Result<(), Failure> {
    let sql = match table {
        "run" => "SELECT state FROM run WHERE key = ?",
        _ => "SELECT state FROM trial WHERE key = ?",
    };
    let state: Option<String> = transaction
        .query_row(sql, [key], |row| row.get(0))
        .optional()?;
    if state.as_deref() == Some(state_text(RunState::Running)) {
        return Ok(());
    }
    Err(Failure::Own(Error::NotOpen {
        what: format!("{table} with key {key}"),
    }))
}

fn refuse_running(state: RunState) -> Result<(), Error> {
    if state == RunState::Running {
        return Err(Error::Unstorable {
            what: "the end of a run or trial",
            detail: "its state is still running".to_owned(),
        });
    }
    Ok(())
}

fn is_duplicate(error: &rusqlite::Error) -> bool {
    error.sqlite_error().map(|e| e.extended_code) == Some(rusqlite::ffi::SQLITE_CONSTRAINT_UNIQUE)
}
