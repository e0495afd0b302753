//! What an agent checks of every message before it acts on it.
//!
//! A coordinator shows a certificate, and may still be broken, old or taken
//! over. So nothing of a message is used as part of a path, as an amount of
//! memory or as a number of threads before it has passed here. What the owner
//! of the host allows is another question: [`crate::admission::policy`].

mod error;
mod names;
mod numbers;
pub(crate) mod policy;
mod policy_error;
mod room;

use fathom_model::limits::{MAX_PAUSE_NS, MAX_RUNTIME_NS};
use fathom_model::schedule::{MAX_TOGETHER, Pause};
use fathom_model::{ScheduledTrial, Target};

pub(crate) use error::{AdmissionError, SetError};
pub(crate) use policy_error::PolicyError;

use crate::host_list::MAX_HOSTS;
use crate::protocol::wire::RemoteSettings;
use crate::session::spool::is_run_id;

/// The generator's ceiling is looked at for a moment.
const MAX_CEILING_NS: u64 = 10_000_000_000;

/// A gate is opened within moments, however many hosts wait for it.
const MAX_AHEAD_NS: u64 = 60_000_000_000;

/// Checks the settings with which a run begins.
pub(crate) fn check_settings(settings: &RemoteSettings) -> Result<(), AdmissionError> {
    if !is_run_id(&settings.run) {
        return Err(AdmissionError::Malformed {
            field: "run",
            text: shown(&settings.run),
            problem: "a run is named with 1 to 64 letters, digits and hyphens".into(),
        });
    }
    names::check_file_name("file_prefix", &settings.file_prefix)?;
    within("place", u64::from(settings.place), 0, MAX_HOSTS as u64)?;
    within("ceiling_ns", settings.ceiling_ns, 0, MAX_CEILING_NS)
}

/// Checks a set of trials. Returns which of them is at fault, and why.
pub(crate) fn check_set(specs: &[ScheduledTrial]) -> Result<(), SetError> {
    if specs.len() > MAX_TOGETHER {
        let error = AdmissionError::TooManyTrials {
            trials: specs.len(),
        };
        return Err(SetError { place: 0, error });
    }
    for (place, spec) in specs.iter().enumerate() {
        check_trial(spec).map_err(|error| SetError { place, error })?;
    }
    room::check(specs)
}

/// Checks one trial by itself.
fn check_trial(spec: &ScheduledTrial) -> Result<(), AdmissionError> {
    names::check_trial(spec)?;
    check_pause(&spec.pause)?;
    within("start_delay_ns", spec.start_delay_ns, 0, MAX_RUNTIME_NS)?;
    if let Some(host) = spec.host {
        within("host", u64::from(host), 0, MAX_HOSTS as u64)?;
    }
    if let Some(part) = spec.part {
        within("part.of", u64::from(part.of), 1, MAX_HOSTS as u64)?;
        let last = u64::from(part.of) - 1;
        within("part.number", u64::from(part.number), 0, last)?;
        within("part.whose", u64::from(part.whose), 0, MAX_HOSTS as u64)?;
    }
    if matches!(spec.target, Target::Bucket(_)) && spec.workload.store().is_none() {
        return Err(AdmissionError::NoStore);
    }
    numbers::check(&spec.workload)
}

/// Checks a pause between two trials.
pub(crate) fn check_pause(pause: &Pause) -> Result<(), AdmissionError> {
    within("pause.floor_ns", pause.floor_ns, 0, MAX_PAUSE_NS)?;
    within("pause.ceiling_ns", pause.ceiling_ns, 0, MAX_PAUSE_NS)
}

/// Checks how far ahead a gate is to be opened.
pub(crate) fn check_opening(ahead_ns: u64) -> Result<(), AdmissionError> {
    within(
        "at_monotonic_ns: the time until then",
        ahead_ns,
        0,
        MAX_AHEAD_NS,
    )
}

/// Checks why a trial is to end: it becomes part of its record.
pub(crate) fn check_reason(reason: &str) -> Result<(), AdmissionError> {
    names::check_text("reason", reason, names::MAX_TEXT_BYTES)
}

/// Whether a number is within its bounds.
fn within(field: &str, value: u64, least: u64, most: u64) -> Result<(), AdmissionError> {
    if (least..=most).contains(&value) {
        return Ok(());
    }
    Err(AdmissionError::OutOfRange {
        field: field.to_owned(),
        value,
        least,
        most,
    })
}

/// Whether a list has at most so many entries.
fn at_most(field: &'static str, length: usize, most: usize) -> Result<(), AdmissionError> {
    if length <= most {
        return Ok(());
    }
    Err(AdmissionError::TooManyEntries {
        field,
        length,
        most,
    })
}

/// A piece of a text from a coordinator, fit for a terminal.
fn shown(text: &str) -> String {
    text.escape_default().take(100).collect()
}

#[cfg(test)]
#[path = "admission_tests.rs"]
mod tests;
