//! Recordings that other tools wrote.
//!
//! - `iostat` of sysstat, with and without `-x`, as text and as JSON;
//! - `sadf -j` of sysstat (the JSON of `sar`), and what `sar` prints;
//! - `vmstat` of procps, with and without `-t`;
//! - the first lines of `top -b`, and `uptime`.
//!
//! The first sample of iostat and vmstat is the mean since the host was
//! started, unless `-y` has left that out, and is left out where others follow;
//! it is taken where the file shows that it was `-y`.

mod fields;
mod iostat_json;
mod iostat_text;
mod repair;
mod sadf;
mod sar_text;
mod times;
mod top;
mod vmstat;

use fathom_diagnose::recording::{Moment, Recording, takes_too_much};

/// Larger files are not read: reading one takes less than 256 MiB of memory.
pub const MOST_BYTES: u64 = 64 << 20;
/// Lines of vmstat, each of which is a moment: more than two days of seconds.
const MOST_LINES: usize = 200_000;
/// More devices in one moment are no recording.
const MOST_DISKS: usize = 10_000;

/// Why a file is no recording.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RecordingError {
    /// Nothing that is known.
    #[error(
        "this is no recording that fathom knows; it reads iostat (text, or JSON with -o JSON), \
         sar, sadf -j, vmstat, and the first lines of top -b or uptime"
    )]
    Unknown,
    /// Known, but it cannot be read.
    #[error("{line}:{column}: {what}")]
    Broken {
        /// From 1.
        line: usize,
        /// From 1.
        column: usize,
        /// What is wrong, and what to do.
        what: String,
    },
    /// Its values would fill the memory.
    #[error(
        "reading it would take more than 256 MiB of memory; cut it into parts of some hours, or \
         record as text"
    )]
    TooLarge,
    /// A result of a benchmark.
    #[error(
        "this is a result of fio and no recording of a load; `fathom diagnose RECORDING --ceiling \
         FILE` holds a load against it, `fathom judge FILE` judges it"
    )]
    OfFio,
    /// Nothing in the file.
    #[error("the file is empty; record again, for at least two intervals")]
    Nothing,
    /// Cut off too early.
    #[error(
        "this JSON ends before its first whole sample; record again, for at least two intervals"
    )]
    CutOff,
    /// Known and readable, but there is nothing in it.
    #[error("there are no samples in this output of {0}; record for at least two intervals")]
    Empty(&'static str),
}

/// Reads a recording, whichever it is.
///
/// # Errors
/// Text that is none, or that cannot be mended.
pub fn read(text: &str) -> Result<Recording, RecordingError> {
    let text = text.trim_start_matches('\u{feff}');
    if text.trim().is_empty() {
        return Err(RecordingError::Nothing);
    }
    if text.trim_start().starts_with('{') {
        return json(text);
    }
    if vmstat::is_one(text) {
        if text.lines().nth(MOST_LINES).is_some() {
            return Err(RecordingError::TooLarge);
        }
        return vmstat::read(text);
    }
    if sar_text::is_one(text) {
        return sar_text::read(text);
    }
    if iostat_text::is_one(text) {
        return iostat_text::read(text);
    }
    if top::is_one(text) {
        return top::read(text);
    }
    Err(RecordingError::Unknown)
}

fn json(text: &str) -> Result<Recording, RecordingError> {
    if takes_too_much(text) {
        return Err(RecordingError::TooLarge);
    }
    let (mended, remarks) = repair::repair(text);
    let value: serde_json::Value = serde_json::from_str(&mended).map_err(|e| {
        if is_cut_off(text) {
            return RecordingError::CutOff;
        }
        let what = "this is no JSON, and cannot be mended; record again, or give the text output";
        RecordingError::Broken {
            line: e.line(),
            column: e.column(),
            what: what.to_owned(),
        }
    })?;
    if value.get("fio version").is_some() {
        return Err(RecordingError::OfFio);
    }
    let hosts = value.pointer("/sysstat/hosts").and_then(|h| h.as_array());
    let host = hosts
        .and_then(|h| h.first())
        .ok_or(RecordingError::Unknown)?;
    let samples = host.get("statistics").and_then(|s| s.as_array());
    let mut recording = if samples.is_some_and(|s| s.iter().any(sadf::is_one)) {
        sadf::read(host)?
    } else {
        iostat_json::read(host, json_without_mean(text))?
    };
    let mended = remarks.iter().map(|words| format!("mended: {words}"));
    recording.remarks.extend(mended);
    Ok(recording)
}

/// Lengths of moments that say their time, by the distance from the one before.
fn fill_lengths(moments: &mut [Moment]) {
    let times: Vec<_> = moments.iter().map(|m| m.at).collect();
    for (index, moment) in moments.iter_mut().enumerate() {
        let before = index.checked_sub(1).and_then(|i| times[i]);
        if let (None, Some(before), Some(at)) = (moment.seconds, before, moment.at) {
            let seconds = at.duration_since(before).as_secs_f64();
            moment.seconds = (seconds > 0.0 && seconds < 86_400.0).then_some(seconds);
        }
    }
}

/// Whether text that begins as JSON stops before it is whole.
fn is_cut_off(text: &str) -> bool {
    let read: Result<serde::de::IgnoredAny, _> = serde_json::from_str(text);
    read.is_err_and(|error| error.is_eof())
}

/// Whether `-y` of iostat has left out the mean since the host was started: from
/// 12.5 on it then ends a line in the place of that sample. Without such a line it
/// is not known.
fn json_without_mean(text: &str) -> bool {
    let begins = text.split_once("\"statistics\"");
    let samples = begins.and_then(|(_, rest)| rest.split_once('['));
    samples.is_some_and(|(_, samples)| {
        let mut lines = samples.lines();
        lines.next() == Some("") && lines.next().is_some_and(|line| line.trim().is_empty())
    })
}

/// Leaves out the mean since the host was started, unless `-y` did so.
fn leave_out_first(recording: &mut Recording, by: &str, without_mean: bool) {
    let words = match (without_mean, recording.moments.len()) {
        (true, _) => {
            let second = recording.moments.get(1).and_then(|m| m.seconds);
            if let Some(first) = recording.moments.first_mut() {
                first.seconds = first.seconds.or(second);
            }
            return;
        }
        (false, 0 | 1) => format!(
            "there is one sample only: the mean since the host was started, unless {by} was given -y"
        ),
        (false, _) => {
            recording.moments.remove(0);
            format!(
                "the first sample is left out: it is the mean since the host was started, unless {by} \
                 was given -y"
            )
        }
    };
    recording.remarks.push(words);
}

#[cfg(test)]
#[path = "recordings_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "options_tests.rs"]
mod options_tests;
