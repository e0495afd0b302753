//! Recordings that are cut into parts, of which the last ones are kept.
//!
//! The part that is being written has the name that was asked for,
//! `db1.frec`; the one before it is `db1.1.frec`, and so on. Only files that
//! are recordings are moved or removed.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::format::reader::is_recording;

/// More parts are not looked for.
const MOST_PARTS: u32 = 10_000;

/// When a new part begins, and how many are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rotation {
    /// Bytes after which the next part begins.
    pub part_bytes: u64,
    /// Parts that are kept, the one that is written included; at least 1.
    pub keep: u32,
}

/// The name of a part; 0 is the one that is written.
fn part(path: &Path, number: u32) -> PathBuf {
    if number == 0 {
        return path.to_owned();
    }
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let name = match path.extension() {
        Some(extension) => format!("{stem}.{number}.{}", extension.to_string_lossy()),
        None => format!("{stem}.{number}"),
    };
    path.with_file_name(name)
}

/// The name that a part's recording was asked for by: `db1.frec` of
/// `db1.3.frec`.
pub fn part_of(path: &Path) -> PathBuf {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let Some((base, number)) = stem.rsplit_once('.') else {
        return path.to_owned();
    };
    let numbered = !base.is_empty() && number.parse::<u32>().is_ok_and(|n| n < MOST_PARTS);
    match (numbered, path.extension()) {
        (true, Some(ending)) => path.with_file_name(format!("{base}.{}", ending.to_string_lossy())),
        _ => path.to_owned(),
    }
}

/// All parts of a recording that exist, the oldest first.
pub fn parts(path: &Path) -> Vec<PathBuf> {
    let names = (0..MOST_PARTS).map(|number| part(path, number));
    let mut found: Vec<PathBuf> = names.take_while(|name| name.exists()).collect();
    found.reverse();
    found
}

/// Moves the parts of a recording by one, so that its name is free, and
/// removes those that are more than `keep` with the one to come.
///
/// # Errors
/// A file of such a name is no recording, or cannot be moved.
pub fn make_room(path: &Path, keep: u32) -> io::Result<()> {
    let existing = parts(path).len() as u32;
    for number in (0..existing).rev() {
        let name = part(path, number);
        if !begins_like_one(&name)? {
            let what = format!("{} is no recording, and stays", name.display());
            return Err(io::Error::new(io::ErrorKind::AlreadyExists, what));
        }
        if number + 1 >= keep.max(1) {
            fs::remove_file(&name)?;
        } else {
            fs::rename(&name, part(path, number + 1))?;
        }
    }
    Ok(())
}

fn begins_like_one(path: &Path) -> io::Result<bool> {
    let metadata = fs::symlink_metadata(path)?;
    let mut beginning = Vec::new();
    if metadata.is_file() {
        fs::File::open(path)?.take(4).read_to_end(&mut beginning)?;
    }
    Ok(is_recording(&beginning))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_knows_its_recording() {
        for (name, of) in [
            ("/r/db1.3.frec", "/r/db1.frec"),
            ("/r/db1.frec", "/r/db1.frec"),
            ("db1.example.frec", "db1.example.frec"),
            ("/r/.7.frec", "/r/.7.frec"),
        ] {
            assert_eq!(part_of(Path::new(name)), Path::new(of));
        }
    }

    #[test]
    fn the_oldest_parts_go_and_strange_files_stay() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("db1.frec");
        for content in ["a", "b", "c", "d"] {
            make_room(&path, 3).unwrap();
            fs::write(&path, format!("fRec{content}")).unwrap();
        }
        let found = parts(&path);
        let names: Vec<_> = found
            .iter()
            .map(|p| p.file_name().unwrap().to_str().unwrap())
            .collect();
        assert_eq!(names, ["db1.2.frec", "db1.1.frec", "db1.frec"]);
        assert_eq!(fs::read_to_string(&found[0]).unwrap(), "fRecb");
        fs::write(folder.path().join("db1.2.frec"), "a letter").unwrap();
        let error = make_room(&path, 3).unwrap_err().to_string();
        assert!(error.contains("db1.2.frec is no recording"), "{error}");
        assert_eq!(fs::read_to_string(&path).unwrap(), "fRecd");
    }
}
