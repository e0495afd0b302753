//! Between the model's values and the columns of the tables.

use fathom_model::{Phase, RunState, Sample};
use rusqlite::types::Type;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::Error;

/// SQLite's integers are signed. Times and keys stay far below the limit;
/// a larger number survives the way there and back.
pub(crate) fn signed(value: u64) -> i64 {
    value as i64
}

/// The inverse of [`signed`].
pub(crate) fn unsigned(value: i64) -> u64 {
    value as u64
}

pub(crate) fn state_text(state: RunState) -> &'static str {
    match state {
        RunState::Running => "running",
        RunState::Complete => "complete",
        RunState::Interrupted => "interrupted",
        RunState::Failed => "failed",
    }
}

/// Reads a state from a column.
pub(crate) fn state(row: &rusqlite::Row<'_>, column: &str) -> rusqlite::Result<RunState> {
    let text: String = row.get(column)?;
    let states = [
        RunState::Running,
        RunState::Complete,
        RunState::Interrupted,
        RunState::Failed,
    ];
    states
        .into_iter()
        .find(|state| state_text(*state) == text)
        .ok_or_else(|| {
            let reason = format!("'{text}' is not a state of a run");
            rusqlite::Error::FromSqlConversionFailure(0, Type::Text, reason.into())
        })
}

pub(crate) fn to_json(what: &'static str, value: &impl Serialize) -> Result<String, Error> {
    serde_json::to_string(value).map_err(|error| Error::Unstorable {
        what,
        detail: error.to_string(),
    })
}

pub(crate) fn from_json<T: DeserializeOwned>(text: &str) -> Result<T, serde_json::Error> {
    serde_json::from_str(text)
}

/// What the catalogue keeps of a series: over the measure phase only.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Totals {
    pub(crate) measured_ns: u64,
    pub(crate) ops: u64,
    pub(crate) bytes: u64,
    pub(crate) errors: u64,
}

impl Totals {
    pub(crate) fn of(samples: &[Sample]) -> Totals {
        let mut totals = Totals::default();
        for sample in samples.iter().filter(|s| s.phase == Phase::Measure) {
            totals.add(Totals {
                measured_ns: sample.duration_ns,
                ops: sample.data_ops(),
                bytes: sample.data_bytes(),
                errors: sample.errors().total(),
            });
        }
        totals
    }

    pub(crate) fn add(&mut self, other: Totals) {
        self.measured_ns = self.measured_ns.saturating_add(other.measured_ns);
        self.ops = self.ops.saturating_add(other.ops);
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.errors = self.errors.saturating_add(other.errors);
    }
}
