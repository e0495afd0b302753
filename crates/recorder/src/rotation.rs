//! Recordings that are cut into parts, of which the last ones are kept.
//!
//! The part that is being written has the name that was asked for,
//! `db1.frec`; the one before it is `db1.1.frec`, and so on. Only parts of this
//! recording, which their headers tell, are removed or get other numbers. A
//! number that is taken by anything else is left out.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use fathom_deadline::paths;
use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::io::Errno;
use xxhash_rust::xxh3::xxh3_128;

use crate::format::Series;
use crate::format::reader::{RecordingReader, is_recording};
use crate::frame::{HostFacts, Instant};

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

impl Series {
    /// The recording that a recorder of this host goes on with: that of the parts
    /// that lie there, or a new one.
    pub fn at(path: &Path, host: &HostFacts) -> Series {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let of_part = |file: PathBuf| {
            let header = RecordingReader::open(&file).ok()?.header().clone();
            let series = header.series?;
            (header.host.name == host.name && series.name == name).then_some(series)
        };
        let earlier = numbers(path).map(|number| part(path, number));
        let known = earlier
            .filter(|file| paths::is_file(file))
            .find_map(of_part);
        known.unwrap_or_else(|| {
            let (now, process) = (Instant::now(), std::process::id());
            let facts = format!("{} {now:?} {process} {name}", host.name);
            Series {
                id: format!("{:032x}", xxh3_128(facts.as_bytes())),
                name: name.into_owned(),
            }
        })
    }

    /// Whether a file is a part of it.
    fn has(&self, file: &Path) -> bool {
        let plain = paths::symlink_metadata(file).is_ok_and(|facts| facts.is_file());
        let reader = plain.then(|| RecordingReader::open(file).ok()).flatten();
        reader.is_some_and(|reader| reader.header().series.as_ref() == Some(self))
    }
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
    let mut found: Vec<PathBuf> = names.take_while(|name| is_taken(name)).collect();
    found.reverse();
    found
}

/// The number 0, and those from 1 on whose names are taken.
fn numbers(path: &Path) -> impl Iterator<Item = u32> {
    let taken = move |number: &u32| *number == 0 || is_taken(&part(path, *number));
    (0..MOST_PARTS).take_while(taken)
}

fn is_taken(path: &Path) -> bool {
    paths::symlink_metadata(path).is_ok()
}

/// Moves the parts of a recording by one, so that its name is free, and
/// removes those that are more than `keep` with the one to come. Another
/// recording of that name is moved to a number that is free, and stays there.
/// Returns what was not touched or is another recording, in words.
///
/// # Errors
/// What has the name is no recording, or a part cannot be moved.
pub fn make_room(path: &Path, keep: u32, series: &Series) -> io::Result<Vec<String>> {
    let mut others = Vec::new();
    let mut ours = Vec::new();
    for number in numbers(path) {
        let name = part(path, number);
        if series.has(&name) {
            ours.push(number);
        } else if number > 0 {
            others.push(format!(
                "{} is not part of this recording and stays",
                name.display()
            ));
        }
    }
    if !ours.contains(&0) && is_taken(path) {
        others.push(set_aside(path)?);
    }
    let most = keep.max(1) as usize - 1;
    for number in ours.drain(most.min(ours.len())..) {
        fs::remove_file(part(path, number))?;
    }
    let mut free = None;
    for number in ours.into_iter().rev() {
        let to = match free {
            Some(to) => to,
            None => free_number(path, number + 1)?,
        };
        rename(&part(path, number), &part(path, to))?;
        free = Some(number);
    }
    Ok(others)
}

/// The first number from this one on whose name is free.
fn free_number(path: &Path, from: u32) -> io::Result<u32> {
    let free = (from..MOST_PARTS).find(|number| !is_taken(&part(path, *number)));
    free.ok_or_else(|| {
        let what = format!("all names of parts of {} are taken", path.display());
        io::Error::new(io::ErrorKind::AlreadyExists, what)
    })
}

/// Moves another recording away. Says where to.
fn set_aside(path: &Path) -> io::Result<String> {
    let shown = path.display();
    if !begins_like_one(path)? {
        let what = format!("{shown} is not a recording and stays");
        return Err(io::Error::new(io::ErrorKind::AlreadyExists, what));
    }
    let to = part(path, free_number(path, 1)?);
    rename(path, &to)?;
    Ok(format!(
        "{shown} was another recording; it is {} now, and stays",
        to.display()
    ))
}

/// Renames to a name that is free: what has taken it meanwhile is not replaced.
fn rename(from: &Path, to: &Path) -> io::Result<()> {
    match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
        // The file system cannot do it in one step.
        Err(Errno::INVAL | Errno::NOSYS) if !is_taken(to) => fs::rename(from, to),
        done => Ok(done?),
    }
}

fn begins_like_one(path: &Path) -> io::Result<bool> {
    let metadata = paths::symlink_metadata(path)?;
    let mut beginning = Vec::new();
    if metadata.is_file() {
        fs::File::open(path)?.take(4).read_to_end(&mut beginning)?;
    }
    Ok(is_recording(&beginning))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::Header;
    use crate::format::writer::RecordingWriter;

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

    fn facts(name: &str) -> HostFacts {
        HostFacts {
            name: name.to_owned(),
            ..HostFacts::default()
        }
    }

    /// Writes a recording; the interval tells it from others.
    fn write(path: &Path, series: Option<&Series>, interval_ns: u64) {
        write_of("here", path, series, interval_ns);
    }

    fn write_of(host: &str, path: &Path, series: Option<&Series>, interval_ns: u64) {
        let mut header = Header::new(facts(host), interval_ns);
        header.series = series.cloned();
        let writer = RecordingWriter::create(path, &header).unwrap();
        writer.finish().unwrap();
    }

    fn interval(path: &Path) -> u64 {
        RecordingReader::open(path).unwrap().header().interval_ns
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let name = |entry: io::Result<fs::DirEntry>| entry.unwrap().file_name();
        let mut names: Vec<String> = entries
            .map(|entry| name(entry).into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn the_oldest_parts_go_and_strange_files_stay() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("db1.frec");
        for number in 1..=4 {
            // A recorder that is started again goes on with its recording.
            let series = Series::at(&path, &facts("here"));
            assert_eq!(make_room(&path, 3, &series).unwrap(), [""; 0]);
            write(&path, Some(&series), number);
        }
        let found = parts(&path);
        assert_eq!(
            names(folder.path()),
            ["db1.1.frec", "db1.2.frec", "db1.frec"]
        );
        assert_eq!(
            found.iter().map(|p| interval(p)).collect::<Vec<_>>(),
            [2, 3, 4]
        );
        fs::write(&found[0], "a letter").unwrap();
        let series = Series::at(&path, &facts("here"));
        let told = make_room(&path, 3, &series).unwrap();
        assert!(told[0].contains("db1.2.frec is not part"), "{told:?}");
        assert_eq!(fs::read_to_string(&found[0]).unwrap(), "a letter");
        assert_eq!(
            names(folder.path()),
            ["db1.1.frec", "db1.2.frec", "db1.3.frec"]
        );
        fs::write(&path, "dear").unwrap();
        let error = make_room(&path, 3, &series).unwrap_err().to_string();
        assert!(error.contains("db1.frec is not a recording"), "{error}");
        assert_eq!(fs::read_to_string(&path).unwrap(), "dear");
    }

    #[test]
    fn other_recordings_are_neither_removed_nor_moved_on() {
        let folder = tempfile::tempdir().unwrap();
        let place = |name: &str| folder.path().join(name);
        let path = place("web.frec");
        // Made one by one, under names of their own.
        write(&place("web.1.frec"), None, 1);
        let of_another = Series::at(&place("web.2.frec"), &facts("here"));
        write(&place("web.2.frec"), Some(&of_another), 2);
        // Of the same name, from another host.
        let elsewhere = Series::at(&path, &facts("there"));
        write_of("there", &place("web.3.frec"), Some(&elsewhere), 3);
        write(&path, None, 4);
        let series = Series::at(&path, &facts("here"));
        assert_ne!(series, elsewhere);
        let told = make_room(&path, 2, &series).unwrap();
        assert!(told[3].contains("web.4.frec now, and stays"), "{told:?}");
        for number in 5..9 {
            write(&path, Some(&series), number);
            assert_eq!(make_room(&path, 2, &series).unwrap().len(), 4);
        }
        let of_each = [(1, 1), (2, 2), (3, 3), (4, 4), (5, 8)];
        for (number, is) in of_each {
            assert_eq!(interval(&part(&path, number)), is);
        }
        assert_eq!(names(folder.path()).len(), of_each.len());
    }
}
