//! What a user gives to be looked at later: recordings of fathom, in parts or
//! in a folder, and files of other tools.

use std::fs::{DirEntry, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::format::reader::is_recording;
use crate::rotation::{part_of, parts};
use fathom_deadline::paths;

/// One thing that was given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Given {
    /// The parts of a recording of fathom.
    Recording(Vec<PathBuf>),
    /// A file of another tool.
    File(PathBuf),
}

/// Why a folder stands for no recordings.
#[derive(Debug, thiserror::Error)]
pub enum GivenFilesError {
    /// It cannot be read.
    #[error("{}: {error}", folder.display())]
    Unreadable {
        /// The folder.
        folder: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// It has none.
    #[error(
        "{}: no recording of fathom is in this folder\nhelp: `fathom record list` names what was \
         recorded here; `fathom quick {}` measures a folder",
        folder.display(),
        folder.display()
    )]
    NoRecording {
        /// The folder.
        folder: PathBuf,
    },
}

/// What was given, in the order in which it was. A folder stands for all
/// recordings in it; parts of one recording, which their names tell, are one.
///
/// # Errors
/// A folder that cannot be read, or that holds no recording.
pub fn sorted(operands: &[PathBuf]) -> Result<Vec<Given>, GivenFilesError> {
    let mut found: Vec<Given> = Vec::new();
    for path in operands {
        if paths::is_dir(path) {
            found.push(Given::Recording(of_folder(path)?));
        } else if is_ours(path) {
            let of = part_of(path);
            let same = found.iter_mut().find_map(|given| match given {
                Given::Recording(files) if files.iter().any(|f| part_of(f) == of) => Some(files),
                _ => None,
            });
            match same {
                Some(files) if files.contains(path) => {}
                Some(files) => files.push(path.clone()),
                None => found.push(Given::Recording(vec![path.clone()])),
            }
        } else {
            found.push(Given::File(path.clone()));
        }
    }
    Ok(found)
}

fn of_folder(folder: &Path) -> Result<Vec<PathBuf>, GivenFilesError> {
    let entries = paths::entries(folder);
    let entries = entries.map_err(|error| GivenFilesError::Unreadable {
        folder: folder.to_owned(),
        error,
    })?;
    let mut files: Vec<PathBuf> = entries.iter().map(DirEntry::path).collect();
    files.retain(|file| is_ours(file));
    files.sort();
    match files.is_empty() {
        true => Err(GivenFilesError::NoRecording {
            folder: folder.to_owned(),
        }),
        false => Ok(files),
    }
}

/// Says so when other parts of a recording lie beside those that were given.
pub fn left_aside(given: &[PathBuf]) -> Option<String> {
    let first = given.first()?;
    let all = parts(&part_of(first));
    let missing: Vec<&PathBuf> = all.iter().filter(|part| !given.contains(part)).collect();
    let name = missing.first()?.file_name()?.to_string_lossy();
    let what = match missing.len() {
        1 => format!("another part of this recording ({name}) lies beside and was not given"),
        many => format!(
            "{many} other parts of this recording ({name}, …) lie beside and were not given"
        ),
    };
    Some(format!(
        "{what}; give all of them, or their folder, to have them joined"
    ))
}

/// Remarks about a file, which they name where several were given.
pub fn of_file(path: &Path, remarks: Vec<String>, several: bool) -> Vec<String> {
    let name = path.file_name().filter(|_| several);
    let named = |remark: String| match name {
        Some(name) => format!("{}: {remark}", name.to_string_lossy()),
        None => remark,
    };
    remarks.into_iter().map(named).collect()
}

/// Names of all files that remarks may name: those that were given, and other
/// parts of their recordings.
pub fn file_names(given: &[Given]) -> Vec<String> {
    let files = given.iter().flat_map(|one| match one {
        Given::Recording(files) => {
            let beside = files.iter().flat_map(|file| parts(&part_of(file)));
            files.iter().cloned().chain(beside).collect()
        }
        Given::File(path) => vec![path.clone()],
    });
    let mut names: Vec<String> = Vec::new();
    for name in files.filter_map(|file| Some(file.file_name()?.to_string_lossy().into_owned())) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// Whether it is a file that `fathom record` wrote.
fn is_ours(path: &Path) -> bool {
    // A pipe in a folder, and what a pipe that was named begins with, are left alone.
    if !paths::is_file(path) {
        return false;
    }
    // The kernel's own files, such as /proc/kmsg, may have nothing to read for ever.
    let beginning = paths::on(path, |path| {
        let mut beginning = Vec::new();
        File::open(path)?.take(4).read_to_end(&mut beginning)?;
        Ok(beginning)
    });
    beginning.is_ok_and(|beginning| is_recording(&beginning))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remarks_name_their_file_where_there_are_several() {
        let remarks = vec!["the end was missing".to_owned()];
        let of = |several| of_file(Path::new("/secret/io.txt"), remarks.clone(), several);
        assert_eq!(of(true), ["io.txt: the end was missing"]);
        assert_eq!(of(false), remarks);
    }

    #[test]
    fn what_else_is_in_a_folder_is_not_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("db1.frec"), "fRec").unwrap();
        let pipe = folder.path().join("a.frec");
        let mode = rustix::fs::Mode::from_raw_mode(0o600);
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, mode, 0).unwrap();
        let found = sorted(&[folder.path().to_owned()]).unwrap();
        let expected = vec![folder.path().join("db1.frec")];
        assert_eq!(found, [Given::Recording(expected)]);
        // One that was named is for whoever reads it: nothing is taken from it here.
        assert_eq!(
            sorted(std::slice::from_ref(&pipe)).unwrap(),
            [Given::File(pipe)]
        );
    }

    #[test]
    fn parts_of_one_recording_are_one_and_others_stay_apart() {
        let folder = tempfile::tempdir().unwrap();
        let place = |name: &str| folder.path().join(name);
        for name in ["db1.frec", "db1.1.frec", "test.frec"] {
            std::fs::write(place(name), "fRec").unwrap();
        }
        std::fs::write(place("uptime.txt"), "up").unwrap();
        let given = ["db1.1.frec", "test.frec", "db1.frec", "uptime.txt"].map(place);
        let expected = [
            Given::Recording(vec![place("db1.1.frec"), place("db1.frec")]),
            Given::Recording(vec![place("test.frec")]),
            Given::File(place("uptime.txt")),
        ];
        assert_eq!(sorted(&given).unwrap(), expected);
        let all = sorted(&[folder.path().to_owned()]).unwrap();
        assert!(
            matches!(&all[..], [Given::Recording(files)] if files.len() == 3),
            "{all:?}"
        );
        let told = left_aside(&[place("db1.frec")]).unwrap();
        assert!(
            told.contains("part of this recording (db1.1.frec)"),
            "{told}"
        );
        assert_eq!(left_aside(&[place("db1.frec"), place("db1.1.frec")]), None);
        let empty = tempfile::tempdir().unwrap();
        assert!(sorted(&[empty.path().to_owned()]).is_err());
    }
}
