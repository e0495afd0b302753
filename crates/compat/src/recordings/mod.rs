//! Recordings that other tools wrote.
//!
//! - `iostat` of sysstat, with and without `-x`, as text and as JSON;
//! - `sadf -j` of sysstat (the JSON of `sar`), and what `sar` prints;
//! - `vmstat` of procps, with and without `-t`;
//! - the first lines of `top -b`, and `uptime`.
//!
//! The first sample of iostat and vmstat is the mean since the host was
//! started, unless `-y` has left that out, and is left out where others follow;
//! it is taken where the file shows that it was `-y`. Values that cannot be (shares
//! over 100 %, negative rates) are left out and named.

mod error;
mod impossible;
pub(crate) mod moments;
mod repair;
mod text;
pub(crate) mod times;

pub use error::RecordingError;
pub use text::{NotText, text_of};

use fathom_diagnose::recording::{Recording, takes_too_much};

use crate::{iostat, sar, top, vmstat};

/// Larger files are not read: reading one takes less than 256 MiB of memory.
pub const MOST_BYTES: u64 = 64 << 20;
/// Lines of vmstat, each of which is a moment: more than two days of seconds.
const MOST_LINES: usize = 200_000;

/// Reads a recording, whichever it is.
///
/// # Errors
/// Text that is none, or that cannot be mended.
pub fn read(text: &str) -> Result<Recording, RecordingError> {
    let mut recording = read_as_it_is(text)?;
    impossible::leave_out(&mut recording);
    Ok(recording)
}

fn read_as_it_is(text: &str) -> Result<Recording, RecordingError> {
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
    if sar::text::is_one(text) {
        return sar::text::read(text);
    }
    if iostat::text::is_one(text) {
        return iostat::text::read(text);
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
        let what = "this is not JSON, and cannot be mended; record again, or give the text output";
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
    let mut recording = if samples.is_some_and(|s| s.iter().any(sar::json::is_one)) {
        sar::json::read(host)?
    } else {
        iostat::json::read(host, json_without_mean(text))?
    };
    let mended = remarks.iter().map(|words| format!("mended: {words}"));
    recording.remarks.extend(mended);
    Ok(recording)
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

#[cfg(test)]
#[path = "recordings_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "options_tests.rs"]
mod options_tests;
