//! Reading a run back.

use crate::coarse::Coarse;
use fathom_model::run::TrialEnd;
use fathom_model::{RunMeta, RunRecord, RunState, TrialRecord};
use rusqlite::{Connection, OptionalExtension, Row};
use serde::de::DeserializeOwned;

use crate::codec::{self, CodecError};
use crate::earlier_network;
use crate::recover::LOST;
use crate::rows::{from_json, state, unsigned};
use crate::write::TrialKey;
use crate::{Error, Store};

/// A run as far as it could be read.
#[derive(Debug)]
pub struct LoadedRun {
    /// What could be read.
    pub record: RunRecord,
    /// What could not, each an [`Error::Damaged`] that names the run and the
    /// part; empty for a run that is whole. Analysis of a run that is not
    /// whole must say so.
    pub damage: Vec<Error>,
}

/// How much of a series is kept in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Keep {
    /// Every second.
    All,
    /// Seconds of long trials are joined as they are read.
    Bounded,
}

/// A trial's row before its texts are read.
struct TrialRow {
    key: TrialKey,
    position: u32,
    state: RunState,
    started_unix_ns: u64,
    spec: String,
    target_before: Option<String>,
    end: Option<String>,
}

impl Store {
    /// Reads a run with everything, by its exact id (see [`Store::find`]).
    ///
    /// Damaged parts are left out and listed. All series come into memory at
    /// once, about 20 KiB per histogram: an hour of reads and writes takes
    /// some 150 MiB.
    ///
    /// # Errors
    /// [`Error::NoSuchRun`]; [`Error::Damaged`] when not even the facts of the
    /// run itself can be read.
    pub fn load(&self, id: &str) -> Result<LoadedRun, Error> {
        self.load_as(id, Keep::All)
    }

    /// Reads a run as [`Store::load`] does, for judging it: of trials that took
    /// longer than 50 minutes, neighbouring seconds are
    /// joined as they are read, so that a run of days fits into memory.
    ///
    /// # Errors
    /// As [`Store::load`].
    pub fn load_to_judge(&self, id: &str) -> Result<LoadedRun, Error> {
        self.load_as(id, Keep::Bounded)
    }

    /// Reads the series of a trial back into its record, bounded as by
    /// [`Store::load_to_judge`].
    ///
    /// # Errors
    /// When the database cannot be read, or a part of the series is damaged.
    pub fn load_series(&self, key: TrialKey, trial: &mut TrialRecord) -> Result<(), Error> {
        let mut damage = Damage {
            run: "",
            errors: Vec::new(),
        };
        let name = format!("trial {}", trial.spec.index);
        let read = read_series(
            &self.connection,
            key,
            &name,
            trial,
            &mut damage,
            Keep::Bounded,
        );
        read.map_err(|error| self.error(error))?;
        match damage.errors.pop() {
            Some(error) => Err(error),
            None => Ok(()),
        }
    }

    fn load_as(&self, id: &str, keep: Keep) -> Result<LoadedRun, Error> {
        // One snapshot, even while the run is being written.
        let snapshot = self
            .connection
            .unchecked_transaction()
            .map_err(|error| self.error(error))?;
        let (key, mut meta, schedule) = self.load_meta(&snapshot, id)?;
        let mut lost = false;
        if meta.state == RunState::Running
            && let Some(run) = self.lost()?.into_iter().find(|run| run.id == id)
        {
            lost = true;
            meta.state = RunState::Interrupted;
            meta.reason = Some(LOST.to_owned());
            meta.ended_unix_ns = Some(run.last_sign_unix_ns);
        }
        let mut damage = Damage {
            run: id,
            errors: Vec::new(),
        };
        let mut trials = Vec::new();
        for row in trial_rows(&snapshot, key).map_err(|error| self.error(error))? {
            if let Some(mut trial) = self.load_trial(&snapshot, row, &mut damage, keep) {
                if lost && trial.state == RunState::Running {
                    trial.state = RunState::Interrupted;
                }
                trials.push(trial);
            }
        }
        let record = earlier_network::complete(meta, trials, || {
            let text = codec::unpack_text(&schedule)?;
            from_json(&text).map_err(|_| CodecError::Malformed("it is not what it should be"))
        });
        let record = record.map_err(|source| Error::Damaged {
            run: id.to_owned(),
            part: "the schedule".to_owned(),
            source,
        })?;
        Ok(LoadedRun {
            record,
            damage: damage.errors,
        })
    }

    /// A run with its key, and its schedule as it is stored.
    fn load_meta(&self, snapshot: &Connection, id: &str) -> Result<(i64, RunMeta, Vec<u8>), Error> {
        let row = snapshot
            .query_row(
                "SELECT key, id, started_unix_ns, ended_unix_ns, state, reason, tool_version,
                    command_line, plan_yaml, label, fingerprint, schedule, hosts
                 FROM run WHERE id = ?",
                [id],
                |row| Ok((row.get("key")?, read_meta(row)?, row.get("schedule")?)),
            )
            .optional()
            .map_err(|error| self.error(error))?;
        let Some((key, meta, schedule)) = row else {
            return Err(Error::NoSuchRun {
                text: id.to_owned(),
                hint: String::new(),
            });
        };
        let meta = meta.map_err(|(part, source)| Error::Damaged {
            run: id.to_owned(),
            part: part.to_owned(),
            source,
        })?;
        Ok((key, meta, schedule))
    }

    /// Reads a trial; `None` when it cannot even be said what was to be done.
    fn load_trial(
        &self,
        snapshot: &Connection,
        row: TrialRow,
        damage: &mut Damage<'_>,
        keep: Keep,
    ) -> Option<TrialRecord> {
        let name = format!("trial {}", row.position);
        let spec = damage.json(&name, "its specification", Some(&row.spec))?;
        let before = damage.json(&name, "its target before", row.target_before.as_deref());
        let end: Option<TrialEnd> = damage.json(&name, "its end", row.end.as_deref());
        let mut trial = TrialRecord {
            spec,
            started_unix_ns: row.started_unix_ns,
            state: row.state,
            samples: Vec::new(),
            observations: Vec::new(),
            target_before: before,
            end,
        };
        if let Err(error) = read_series(snapshot, row.key, &name, &mut trial, damage, keep) {
            let reason = error.to_string();
            damage.note(
                format!("{name}, the rest of its series ({reason})"),
                CodecError::Malformed("the database cannot read it"),
            );
        }
        Some(trial)
    }
}

/// Collects what could not be read.
struct Damage<'r> {
    run: &'r str,
    errors: Vec<Error>,
}

impl Damage<'_> {
    fn note(&mut self, part: String, source: CodecError) {
        self.errors.push(Error::Damaged {
            run: self.run.to_owned(),
            part,
            source,
        });
    }

    fn json<T: DeserializeOwned>(
        &mut self,
        trial: &str,
        what: &str,
        text: Option<&str>,
    ) -> Option<T> {
        match from_json(text?) {
            Ok(value) => Some(value),
            Err(error) => {
                self.note(
                    format!("{trial}, {what} ({error})"),
                    CodecError::Malformed("it is not what it should be"),
                );
                None
            }
        }
    }
}

/// Outer error: the database. Inner error: the part that is damaged, and how.
type ReadPart<T> = Result<T, (&'static str, CodecError)>;

fn read_meta(row: &Row<'_>) -> rusqlite::Result<ReadPart<RunMeta>> {
    const JSON: CodecError = CodecError::Malformed("it is not what it should be");
    let command_line: String = row.get("command_line")?;
    let fingerprint: String = row.get("fingerprint")?;
    let schedule: Vec<u8> = row.get("schedule")?;
    let hosts: String = row.get("hosts")?;
    let parts = || {
        Ok((
            from_json(&command_line).map_err(|_| ("the command line", JSON))?,
            from_json(&fingerprint).map_err(|_| ("the fingerprint", JSON))?,
            codec::unpack_text(&schedule)
                .and_then(|text| from_json(&text).map_err(|_| JSON))
                .map_err(|error| ("the schedule", error))?,
            from_json(&hosts).map_err(|_| ("the hosts", JSON))?,
        ))
    };
    let (command_line, host, schedule, hosts) = match parts() {
        Ok(parts) => parts,
        Err(damaged) => return Ok(Err(damaged)),
    };
    Ok(Ok(RunMeta {
        id: row.get("id")?,
        started_unix_ns: unsigned(row.get("started_unix_ns")?),
        ended_unix_ns: row.get::<_, Option<i64>>("ended_unix_ns")?.map(unsigned),
        state: state(row, "state")?,
        reason: row.get("reason")?,
        tool_version: row.get("tool_version")?,
        command_line,
        plan_yaml: row.get("plan_yaml")?,
        label: row.get("label")?,
        schedule,
        host,
        hosts,
        matrix_figures: None,
    }))
}

fn trial_rows(snapshot: &Connection, run: i64) -> rusqlite::Result<Vec<TrialRow>> {
    snapshot
        .prepare(
            "SELECT key, position, state, started_unix_ns, spec, target_before, end
             FROM trial WHERE run_key = ? ORDER BY key",
        )?
        .query_map([run], |row| {
            Ok(TrialRow {
                key: TrialKey(row.get("key")?),
                position: row.get("position")?,
                state: state(row, "state")?,
                started_unix_ns: unsigned(row.get("started_unix_ns")?),
                spec: row.get("spec")?,
                target_before: row.get("target_before")?,
                end: row.get("end")?,
            })
        })?
        .collect()
}

/// Reads chunk after chunk. A blob that is damaged is noted and passed over; a
/// file that is damaged ends the reading.
fn read_series(
    snapshot: &Connection,
    key: TrialKey,
    name: &str,
    trial: &mut TrialRecord,
    damage: &mut Damage<'_>,
    keep: Keep,
) -> rusqlite::Result<()> {
    let mut coarse = Coarse::default();
    let (from, to) = key.chunks();
    let mut chunks = snapshot
        .prepare("SELECT key, series FROM chunk WHERE key >= ? AND key < ? ORDER BY key")?;
    let mut rows = chunks.query([from, to])?;
    while let Some(row) = rows.next()? {
        let number = row.get::<_, i64>(0)? - from;
        match codec::unpack(row.get_ref(1)?.as_blob().unwrap_or_default()) {
            Ok((samples, observations)) => {
                trial.samples.extend(samples);
                trial.observations.extend(observations);
                if keep == Keep::Bounded {
                    coarse.bound(trial);
                }
            }
            Err(error) => damage.note(format!("{name}, chunk {number} of its series"), error),
        }
    }
    coarse.even_out(trial);
    Ok(())
}
