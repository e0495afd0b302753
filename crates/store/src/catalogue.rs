//! What is in the store, without reading any series.

use fathom_model::nearest::did_you_mean;
use fathom_model::{RunState, unit};
use rusqlite::Row;

use crate::recover::{LOST, Unfinished, unfinished};
use crate::rows::{from_json, state, unsigned};
use crate::transaction::unix_ns;
use crate::{Error, Store, StoredDigest};

/// The order of runs. One that a wrong clock began in the future is not newer than
/// all that come after it.
const NEWEST_FIRST: &str =
    "started_unix_ns / 1000000000 > unixepoch() + 1, started_unix_ns DESC, key DESC";

/// One line of the list of runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunListing {
    /// Id.
    pub id: String,
    /// Name of the plan.
    pub name: String,
    /// `burst`, `sustained` or nothing.
    pub label: Option<String>,
    /// Start, nanoseconds since 1970-01-01 UTC.
    pub started_unix_ns: u64,
    /// End, where it is known.
    pub ended_unix_ns: Option<u64>,
    /// How far it came. `Running` only while its process is there.
    pub state: RunState,
    /// Why it ended early.
    pub reason: Option<String>,
    /// Trials that ended as planned.
    pub complete_trials: u32,
    /// Trials that were begun, retries included.
    pub begun_trials: u32,
    /// Trials of the schedule.
    pub planned_trials: u32,
    /// Targets of the schedule, each once.
    pub targets: Vec<String>,
    /// Name of the host.
    pub host: String,
    /// Bytes that the series occupy in the store.
    pub stored_bytes: u64,
    /// Tags that the user gave it.
    pub tags: Vec<String>,
    /// What the user notes about it.
    pub note: Option<String>,
    /// What lists show of its result, where that was kept.
    pub digest: Option<StoredDigest>,
}

impl Store {
    /// The runs, newest first, at most `limit` of them.
    pub fn list(&self, limit: Option<u32>) -> Result<Vec<RunListing>, Error> {
        let lost = self.lost()?;
        let mut runs: Vec<RunListing> = self
            .connection
            .prepare(&format!(
                "SELECT id, name, label, started_unix_ns, ended_unix_ns, state, reason,
                    planned_trials, targets, host, tags, note, d.version, d.content,
                    (SELECT count(*) FROM trial t
                     WHERE t.run_key = run.key AND t.state = 'complete') AS complete_trials,
                    (SELECT count(*) FROM trial t WHERE t.run_key = run.key) AS begun_trials,
                    (SELECT coalesce(sum(length(c.series)), 0) FROM trial t JOIN chunk c
                     ON c.key >= t.key << 32 AND c.key < (t.key + 1) << 32
                     WHERE t.run_key = run.key) AS stored_bytes
                 FROM run LEFT JOIN digest d ON d.run_key = run.key
                 ORDER BY {NEWEST_FIRST} LIMIT ?",
            ))
            .and_then(|mut runs| {
                runs.query_map([limit.map_or(-1, i64::from)], read_listing)?
                    .collect()
            })
            .map_err(|error| self.error(error))?;
        for run in &mut runs {
            if let Some(lost) = lost.iter().find(|lost| lost.id == run.id) {
                run.state = RunState::Interrupted;
                run.reason = Some(LOST.to_owned());
                run.ended_unix_ns = Some(lost.last_sign_unix_ns);
            }
        }
        Ok(runs)
    }

    /// Ids of runs that begin with `beginning`, newest first.
    pub fn ids(&self, beginning: &str) -> Result<Vec<String>, Error> {
        self.ids_where("substr(id, 1, length(?1)) = ?1", beginning)
    }

    /// The id of the run that a user means: `latest`, `latest~1` (the one before), an id,
    /// the beginning of exactly one id, what stands behind its last dash, or else a label or
    /// a tag that one run has.
    ///
    /// # Errors
    /// [`Error::NoSuchRun`]; [`Error::Ambiguous`] with the ids that match.
    pub fn find(&self, text: &str) -> Result<String, Error> {
        let missing = || Error::NoSuchRun {
            text: text.to_owned(),
            hint: self.nearest_run(text).unwrap_or_default(),
        };
        if let Some(back) = back_from_latest(text) {
            let mut newest = self.ids("")?.into_iter();
            return newest.nth(back as usize).ok_or_else(missing);
        }
        let by_id = "substr(id, 1, length(?1)) = ?1 OR substr(id, -length(?1) - 1) = '-' || ?1";
        let mut matches = self.ids_where(by_id, text)?;
        if matches.is_empty() {
            let by_name = "label = ?1 OR json_valid(tags)
                AND EXISTS (SELECT 1 FROM json_each(run.tags) WHERE value = ?1)";
            matches = self.ids_where(by_name, text)?;
        }
        if text.is_empty() || matches.is_empty() {
            return Err(missing());
        }
        if let Some(exact) = matches.iter().position(|id| id == text) {
            return Ok(matches.swap_remove(exact));
        }
        if matches.len() > 1 {
            return Err(Error::Ambiguous {
                text: text.to_owned(),
                candidates: matches,
            });
        }
        Ok(matches.remove(0))
    }

    /// Ids of the runs for which a condition on `?1` holds, newest first.
    fn ids_where(&self, condition: &str, text: &str) -> Result<Vec<String>, Error> {
        self.connection
            .prepare(&format!(
                "SELECT id FROM run WHERE {condition} ORDER BY {NEWEST_FIRST}"
            ))
            .and_then(|mut runs| runs.query_map([text], |row| row.get(0))?.collect())
            .map_err(|error| self.error(error))
    }

    /// `; did you mean …?` with the nearest name of a run, or how many there are.
    fn nearest_run(&self, text: &str) -> Option<String> {
        let ids: Vec<String> = self
            .connection
            .prepare("SELECT id FROM run")
            .and_then(|mut runs| runs.query_map([], |row| row.get(0))?.collect())
            .ok()?;
        if back_from_latest(text).is_some() {
            return Some(format!(
                "; the store has {}",
                unit::counted(ids.len() as u64, "run")
            ));
        }
        let ends = ids.iter().filter_map(|id| id.rsplit('-').next());
        let names = ids.iter().map(String::as_str).chain(ends).chain(["latest"]);
        Some(did_you_mean(text, names))
    }

    /// Removes a run with all its series and gives the space back to the file
    /// system. Notes of files that it created stay, see [`Store::leftovers`].
    ///
    /// # Errors
    /// [`Error::Alive`] while its process still writes it.
    pub fn remove(&mut self, id: &str) -> Result<(), Error> {
        if let Some(run) = self.alive()?.into_iter().find(|run| run.id == id) {
            return Err(Error::Alive {
                id: run.id,
                pid: run.owner.pid,
            });
        }
        let removed = self
            .transaction(|transaction| {
                transaction.execute(
                    "DELETE FROM chunk WHERE key IN (
                        SELECT c.key FROM run JOIN trial t ON t.run_key = run.key JOIN chunk c
                        ON c.key >= t.key << 32 AND c.key < (t.key + 1) << 32
                        WHERE run.id = ?)",
                    [id],
                )?;
                Ok(transaction.execute("DELETE FROM run WHERE id = ?", [id])?)
            })
            .map_err(|failure| failure.into_error(&self.path))?;
        if removed == 0 {
            return Err(Error::NoSuchRun {
                text: id.to_owned(),
                hint: String::new(),
            });
        }
        self.release_pages()
    }

    /// The runs that are being written right now.
    pub(crate) fn alive(&self) -> Result<Vec<Unfinished>, Error> {
        let now = unix_ns();
        let mut runs = unfinished(&self.connection).map_err(|error| self.error(error))?;
        runs.retain(|run| !run.is_lost(&self.here, now));
        Ok(runs)
    }
}

fn read_listing(row: &Row<'_>) -> rusqlite::Result<RunListing> {
    let targets: String = row.get("targets")?;
    let tags: String = row.get("tags")?;
    let digest = match row.get("content")? {
        Some(content) => Some(StoredDigest {
            version: row.get("version")?,
            content,
        }),
        None => None,
    };
    Ok(RunListing {
        id: row.get("id")?,
        name: row.get("name")?,
        label: row.get("label")?,
        started_unix_ns: unsigned(row.get("started_unix_ns")?),
        ended_unix_ns: row.get::<_, Option<i64>>("ended_unix_ns")?.map(unsigned),
        state: state(row, "state")?,
        reason: row.get("reason")?,
        complete_trials: row.get("complete_trials")?,
        begun_trials: row.get("begun_trials")?,
        planned_trials: row.get("planned_trials")?,
        // A listing does not fail over a single unreadable cell.
        targets: from_json(&targets).unwrap_or_default(),
        host: row.get("host")?,
        stored_bytes: unsigned(row.get("stored_bytes")?),
        tags: from_json(&tags).unwrap_or_default(),
        note: row.get("note")?,
        digest,
    })
}

/// How many runs back from the latest one, for `latest` and `latest~N`, also as `last`.
fn back_from_latest(text: &str) -> Option<u32> {
    match text.strip_prefix("latest").or(text.strip_prefix("last"))? {
        "" => Some(0),
        rest => rest.strip_prefix('~')?.parse().ok(),
    }
}
