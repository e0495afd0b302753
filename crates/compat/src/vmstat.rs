//! What vmstat of procps prints, with or without `-t`.

use crate::recordings::moments::{fill_lengths, leave_out_first};
use crate::recordings::{RecordingError, times};
use fathom_diagnose::recording::{CpuShares, Moment, Recording};

/// The line of names: every version has these.
fn is_heading(line: &str) -> bool {
    let words: Vec<&str> = line.split_whitespace().take(4).collect();
    words == ["r", "b", "swpd", "free"] || words == ["r", "b", "swap", "free"]
}

pub(crate) fn is_one(text: &str) -> bool {
    text.lines().take(100).any(is_heading)
}

pub(crate) fn read(text: &str) -> Result<Recording, RecordingError> {
    let mut names: Vec<&str> = Vec::new();
    let mut moments = Vec::new();
    for line in text.lines() {
        if is_heading(line) {
            names = line.split_whitespace().collect();
            // With -t the name of the last column is the time zone.
            names.retain(|name| name.chars().all(|c| c.is_ascii_lowercase()));
        } else if let Some(moment) = moment(&names, line) {
            moments.push(moment);
        }
    }
    if moments.is_empty() {
        return Err(RecordingError::Empty("vmstat"));
    }
    let mut recording = Recording {
        source: "vmstat".to_owned(),
        moments,
        ..Recording::default()
    };
    fill_lengths(&mut recording.moments);
    leave_out_first(&mut recording, "vmstat", false);
    Ok(recording)
}

fn moment(names: &[&str], line: &str) -> Option<Moment> {
    let words: Vec<&str> = line.split_whitespace().collect();
    if names.is_empty() || words.len() < names.len() {
        return None;
    }
    let (values, rest) = words.split_at(names.len());
    let values: Vec<f64> = values
        .iter()
        .map(|w| w.parse().ok())
        .collect::<Option<_>>()?;
    let of = |name: &str| {
        let at = names.iter().position(|n| *n == name)?;
        Some(values[at])
    };
    let share = |name: &str| of(name).unwrap_or(0.0) / 100.0;
    Some(Moment {
        at: times::parse(&rest.join(" ")),
        runnable: of("r"),
        blocked: of("b"),
        swap_in_bytes_per_second: of("si").map(|kib| kib * 1024.0),
        swap_out_bytes_per_second: of("so").map(|kib| kib * 1024.0),
        paged_bytes_per_second: of("bi")
            .zip(of("bo"))
            .map(|(read_kib, written_kib)| (read_kib + written_kib) * 1024.0),
        cpu: of("id").map(|idle| CpuShares {
            user: share("us") + share("gu"),
            nice: None,
            system: share("sy"),
            iowait: share("wa"),
            steal: share("st"),
            idle: idle / 100.0,
        }),
        ..Moment::default()
    })
}
