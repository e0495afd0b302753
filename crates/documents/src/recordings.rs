//! Recordings of hosts: those that were handed in, which of them is of the real
//! load, which of a test load, and which say more about the same time.

use std::path::{Path, PathBuf};

use fathom_diagnose::recording::Recording;
use fathom_diagnose::{join, same_host, same_time, without_file_names};
use fathom_recorder::given_files::{Given, file_names, left_aside, of_file, sorted};
use fathom_recorder::joined;

use crate::error::DocumentError;
use crate::text;

/// The recordings of these files, with their names. To be shown to strangers,
/// names of files are left out.
///
/// # Errors
/// All that cannot be read.
pub fn recordings(
    files: &[PathBuf],
    anonymise: bool,
) -> Result<Vec<(String, Recording)>, DocumentError> {
    let given = sorted(files)?;
    let mut recordings = Vec::new();
    let mut problems = Vec::new();
    for one in &given {
        match load(one, given.len() > 1) {
            Ok((name, mut recording)) => {
                if anonymise {
                    without_file_names(&mut recording, &file_names(&given));
                }
                recordings.push((name, recording));
            }
            Err(problem) => problems.push(problem),
        }
    }
    match problems.is_empty() {
        true => Ok(recordings),
        false => Err(DocumentError::Several(problems)),
    }
}

/// A recording, and the name under which it was given, as one of several or alone.
fn load(given: &Given, several: bool) -> Result<(String, Recording), DocumentError> {
    match given {
        Given::Recording(parts) => {
            let mut recording = joined(parts)?;
            recording.remarks.extend(left_aside(parts));
            let name = parts
                .first()
                .map_or(String::new(), |p| p.display().to_string());
            Ok((name, recording))
        }
        Given::File(path) => {
            let mut recording = of_another_tool(path)?;
            recording.remarks = of_file(path, recording.remarks, several);
            Ok((path.display().to_string(), recording))
        }
    }
}

fn of_another_tool(path: &Path) -> Result<Recording, DocumentError> {
    let text = text::read(path).map_err(DocumentError::about(path.display()))?;
    let recording = fathom_compat::recordings::read(&text);
    recording.map_err(DocumentError::about(path.display()))
}

/// All recordings of fathom as one, or one of another tool.
///
/// # Errors
/// One that cannot be read, recordings that are not of one host, or one in which
/// nothing happens.
pub fn one_recording(files: &[PathBuf]) -> Result<Recording, DocumentError> {
    let (mut parts, mut others) = (Vec::new(), Vec::new());
    for given in sorted(files)? {
        match given {
            Given::Recording(files) => parts.extend(files),
            Given::File(path) => others.push(path),
        }
    }
    let recording = match (&parts[..], &others[..]) {
        ([], [path]) => of_another_tool(path)?,
        (_, []) => {
            let mut recording = joined(&parts)?;
            recording.remarks.extend(left_aside(&parts));
            recording
        }
        _ => return Err(DocumentError::Mixed),
    };
    match recording.moments.is_empty() {
        true => Err(DocumentError::TooShort),
        false => Ok(recording),
    }
}

/// The real load with all that was seen beside it, and the test load with its name.
///
/// # Errors
/// None, too many, or such of several hosts.
pub fn load_and_test(
    recordings: Vec<(String, Recording)>,
) -> Result<(Recording, Option<(String, Recording)>), DocumentError> {
    let has_disks = |r: &Recording| r.moments.iter().any(|m| !m.disks.is_empty());
    let (with_disks, without): (Vec<_>, Vec<_>) =
        recordings.into_iter().partition(|(_, r)| has_disks(r));
    let mut with_disks = with_disks.into_iter();
    let mut others = without.into_iter();
    let Some((_, mut load)) = with_disks.next().or_else(|| others.next()) else {
        return Err(DocumentError::NoRecording);
    };
    let second = with_disks.next();
    if let Some((name, _)) = with_disks.next() {
        return Err(DocumentError::about(name)(DocumentError::Third));
    }
    let others: Vec<_> = others.collect();
    for (name, other) in second.iter().chain(&others) {
        if !same_host(&load, other) {
            let of = |r: &Recording| r.host.name.clone().unwrap_or_default();
            return Err(DocumentError::about(name)(DocumentError::OtherHost {
                other: of(other),
                load: of(&load),
            }));
        }
    }
    let test = match second {
        Some((_, same)) if same_time(&load, &same) => {
            join(&mut load, &same);
            load.remarks.push(
                "the second recording with devices is of the same time as the first, and so none of \
                 a test load; what the first does not hold is taken from it"
                    .to_owned(),
            );
            None
        }
        second => second,
    };
    for (_, other) in others {
        join(&mut load, &other);
    }
    Ok((load, test))
}
