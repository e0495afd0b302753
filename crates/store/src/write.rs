//! Writing a run while it happens: its beginning and its end. See [`crate::trials`]
//! for what lies between.

use fathom_model::{RunMeta, RunState};
use rusqlite::{OptionalExtension, Transaction, named_params, params};

use crate::closing::close_run;
use crate::codec;
use crate::rows::{Totals, signed, state_text, to_json};
use crate::transaction::Failure;
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
        // Keys of SQLite are signed: one bit of the upper half is the sign's.
        debug_assert!(
            (0..1 << (63 - NUMBER_BITS)).contains(&self.0),
            "the chunks of trial {} would be those of another",
            self.0
        );
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
        let hosts = to_json("hosts", &meta.hosts)?;
        let owner = self.here.clone();
        let insert = |transaction: &Transaction<'_>| {
            transaction.execute(
                "INSERT INTO run (id, name, label, state, started_unix_ns, host, tool_version,
                    planned_trials, targets, command_line, plan_yaml, fingerprint, schedule,
                    hosts, owner_pid, owner_start_ticks, owner_boot_id, owner_pid_namespace, owner_host)
                 VALUES (:id, :name, :label, 'running', :started, :host, :version,
                    :planned, :targets, :command_line, :plan, :fingerprint, :schedule,
                    :hosts, :pid, :ticks, :boot, :namespace, :owner_host)",
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
                    ":hosts": hosts,
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

pub(crate) fn require_running(
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

pub(crate) fn refuse_running(state: RunState) -> Result<(), Error> {
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
