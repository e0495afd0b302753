//! Runs whose process has gone.

use fathom_model::RunState;
use rusqlite::{Connection, Row};

use crate::closing::close_run;
use crate::owner::{Life, Owner};
use crate::rows::unsigned;
use crate::transaction::unix_ns;
use crate::{Error, RunKey, Store};

/// Why a run that nobody ended is over.
pub(crate) const LOST: &str = "its process ended without closing the run (killed, crashed, \
                               or the machine went down)";

/// Silence after which a run is given up whose process cannot be seen from
/// here, because it ran in another container or on another machine.
const SILENCE_NS: u64 = 24 * 3600 * 1_000_000_000;

/// A run that says it is running.
pub(crate) struct Unfinished {
    pub(crate) key: RunKey,
    pub(crate) id: String,
    pub(crate) owner: Owner,
    /// When it last stored something.
    pub(crate) last_sign_unix_ns: u64,
}

impl Unfinished {
    /// Whether nobody will ever write to it again.
    pub(crate) fn is_lost(&self, here: &Owner, now_unix_ns: u64) -> bool {
        match self.owner.life(here) {
            Life::Alive => false,
            Life::Dead => true,
            Life::Unknown => now_unix_ns.saturating_sub(self.last_sign_unix_ns) > SILENCE_NS,
        }
    }

    fn read(row: &Row<'_>) -> rusqlite::Result<Unfinished> {
        Ok(Unfinished {
            key: RunKey(row.get("key")?),
            id: row.get("id")?,
            owner: Owner {
                pid: row.get("owner_pid")?,
                start_ticks: row
                    .get::<_, Option<i64>>("owner_start_ticks")?
                    .map(unsigned),
                boot_id: row.get("owner_boot_id")?,
                pid_namespace: row.get("owner_pid_namespace")?,
                host: row.get("owner_host")?,
            },
            last_sign_unix_ns: unsigned(row.get("last_sign")?),
        })
    }
}

/// The runs that say they are running, alive or not.
pub(crate) fn unfinished(connection: &Connection) -> rusqlite::Result<Vec<Unfinished>> {
    connection
        .prepare(
            "SELECT key, id, owner_pid, owner_start_ticks, owner_boot_id, owner_pid_namespace,
                owner_host,
                max(started_unix_ns,
                    coalesce((SELECT max(t.started_unix_ns) FROM trial t
                              WHERE t.run_key = run.key), 0),
                    coalesce((SELECT max((SELECT c.written_unix_ns FROM chunk c
                                          WHERE c.key >= t.key << 32 AND c.key < (t.key + 1) << 32
                                          ORDER BY c.key DESC LIMIT 1))
                              FROM trial t WHERE t.run_key = run.key), 0)) AS last_sign
             FROM run WHERE state = 'running'",
        )?
        .query_map([], Unfinished::read)?
        .collect()
}

impl Store {
    /// Marks the runs whose process has gone as interrupted.
    pub(crate) fn recover(&mut self) -> Result<(), Error> {
        let lost: Vec<Unfinished> = self.lost()?;
        if lost.is_empty() {
            return Ok(());
        }
        self.transaction(|transaction| {
            for run in &lost {
                // Another process may have done it in the meantime.
                let still: bool = transaction.query_row(
                    "SELECT EXISTS (SELECT 1 FROM run WHERE key = ? AND state = 'running')",
                    [run.key.0],
                    |row| row.get(0),
                )?;
                if still {
                    close_run(
                        transaction,
                        run.key,
                        RunState::Interrupted,
                        run.last_sign_unix_ns,
                        Some(LOST),
                    )?;
                }
            }
            Ok(())
        })
        .map_err(|failure| failure.into_error(&self.path))
    }

    /// The runs that say they are running and are not.
    pub(crate) fn lost(&self) -> Result<Vec<Unfinished>, Error> {
        let now = unix_ns();
        let mut runs = unfinished(&self.connection).map_err(|error| self.error(error))?;
        runs.retain(|run| run.is_lost(&self.here, now));
        Ok(runs)
    }
}
