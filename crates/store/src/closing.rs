//! The last words on a trial or run, said by its process or in its place.

use fathom_model::RunState;
use rusqlite::{Transaction, params};

use crate::rows::{Totals, signed, state_text, unsigned};
use crate::transaction::Failure;
use crate::{RunKey, TrialKey};

/// Gives a trial its final state and totals.
pub(crate) fn close_trial(
    transaction: &Transaction<'_>,
    trial: TrialKey,
    state: RunState,
    reason: Option<&str>,
) -> Result<(), Failure> {
    let (from, to) = trial.chunks();
    let mut totals = Totals::default();
    let mut chunks = transaction
        .prepare("SELECT measured_ns, ops, bytes, errors FROM chunk WHERE key >= ? AND key < ?")?;
    let mut rows = chunks.query([from, to])?;
    while let Some(row) = rows.next()? {
        totals.add(Totals {
            measured_ns: unsigned(row.get(0)?),
            ops: unsigned(row.get(1)?),
            bytes: unsigned(row.get(2)?),
            errors: unsigned(row.get(3)?),
        });
    }
    transaction.execute(
        "UPDATE trial SET state = ?, reason = ?, measured_ns = ?, ops = ?, bytes = ?, errors = ?
         WHERE key = ?",
        params![
            state_text(state),
            reason,
            signed(totals.measured_ns),
            signed(totals.ops),
            signed(totals.bytes),
            signed(totals.errors),
            trial.0,
        ],
    )?;
    Ok(())
}

/// Gives a run and the trials that are still open their final state.
pub(crate) fn close_run(
    transaction: &Transaction<'_>,
    run: RunKey,
    state: RunState,
    ended_unix_ns: u64,
    reason: Option<&str>,
) -> Result<(), Failure> {
    let open: Vec<i64> = transaction
        .prepare("SELECT key FROM trial WHERE run_key = ? AND state = 'running'")?
        .query_map([run.0], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    let trial_state = match state {
        RunState::Failed => RunState::Failed,
        _ => RunState::Interrupted,
    };
    for key in open {
        close_trial(transaction, TrialKey(key), trial_state, reason)?;
    }
    transaction.execute(
        "UPDATE run SET state = ?, ended_unix_ns = ?, reason = ? WHERE key = ?",
        params![state_text(state), signed(ended_unix_ns), reason, run.0],
    )?;
    if state == RunState::Complete {
        // A run that chooses its trials as it goes may need fewer or more of
        // them than were announced.
        transaction.execute(
            "UPDATE run SET planned_trials =
                (SELECT count(*) FROM trial WHERE run_key = run.key) WHERE key = ?",
            [run.0],
        )?;
    }
    Ok(())
}
