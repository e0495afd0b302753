//! Recordings that other tools wrote.
//!
//! - `iostat` of sysstat, with and without `-x`, as text and as JSON;
//! - `sadf -j` of sysstat (the JSON of `sar`), and what `sar` prints;
//! - `vmstat` of procps, with and without `-t`;
//! - the first lines of `top -b`, and `uptime`.
//!
//! The first sample of iostat and vmstat is the mean since the host was
//! started, and is left out where others follow.

mod fields;
mod iostat_json;
mod iostat_text;
mod repair;
mod sadf;
mod sar_text;
mod times;
mod top;
mod vmstat;

use crate::recording::{Moment, Recording};

/// Larger files are not read: a day of samples each second is a tenth of it.
pub const MOST_BYTES: u64 = 512 << 20;
/// More devices in one moment are no recording.
const MOST_DISKS: usize = 10_000;

/// Why a file is no recording.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ForeignError {
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
    /// Known and readable, but there is nothing in it.
    #[error("there are no samples in this output of {0}; record for at least two intervals")]
    Empty(&'static str),
}

/// Reads a recording, whichever it is.
///
/// # Errors
/// Text that is none, or that cannot be mended.
pub fn read(text: &str) -> Result<Recording, ForeignError> {
    let text = text.trim_start_matches('\u{feff}');
    if text.trim_start().starts_with('{') {
        return json(text);
    }
    if vmstat::is_one(text) {
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
    Err(ForeignError::Unknown)
}

fn json(text: &str) -> Result<Recording, ForeignError> {
    let (mended, remarks) = repair::repair(text);
    let value: serde_json::Value = serde_json::from_str(&mended).map_err(|e| {
        let what = "this is no JSON, and cannot be mended; record again, or give the text output";
        ForeignError::Broken {
            line: e.line(),
            column: e.column(),
            what: what.to_owned(),
        }
    })?;
    let hosts = value.pointer("/sysstat/hosts").and_then(|h| h.as_array());
    let host = hosts.and_then(|h| h.first()).ok_or(ForeignError::Unknown)?;
    let samples = host.get("statistics").and_then(|s| s.as_array());
    let mut recording = if samples.is_some_and(|s| s.iter().any(sadf::is_one)) {
        sadf::read(host)?
    } else {
        iostat_json::read(host)?
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

/// Leaves out the mean since the host was started.
fn leave_out_first(recording: &mut Recording) {
    if recording.moments.len() > 1 {
        recording.moments.remove(0);
        let words = "the first sample is the mean since the host was started, and is left out";
        recording.remarks.push(words.to_owned());
    } else {
        let words = "there is one sample only, the mean since the host was started";
        recording.remarks.push(words.to_owned());
    }
}

#[cfg(test)]
#[path = "foreign_tests.rs"]
mod tests;
