//! Calls that shipped code does not make, and what it uses instead. Tests may;
//! what they must not call either is in `clippy.toml`.

// A test panics where it must.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// A call, what stands in its place, and the crates that may make it all the
/// same, each with how often. The numbers may only shrink.
struct Banned {
    call: &'static str,
    instead: &'static str,
    allowed: &'static [(&'static str, usize)],
}

const BANNED: &[Banned] = &[
    Banned {
        call: "TcpStream::connect(",
        instead: "fathom_deadline or TcpStream::connect_timeout: a host may never answer",
        allowed: &[],
    },
    Banned {
        call: "thread::spawn(",
        instead: "std::thread::Builder: where no thread can be started, spawn panics",
        allowed: &[("exam", 2), ("lab", 5)],
    },
    Banned {
        call: "fs::metadata(",
        instead: AT_PATHS,
        allowed: &[
            ("deadline", 3),
            ("drives", 1),
            ("lab", 4),
            ("observe", 1),
            ("store", 4),
        ],
    },
    Banned {
        call: "fs::symlink_metadata(",
        instead: AT_PATHS,
        allowed: &[("deadline", 1)],
    },
    Banned {
        call: "fs::read_dir(",
        instead: AT_PATHS,
        allowed: &[
            ("deadline", 2),
            ("engine", 10),
            ("exam", 1),
            ("fleet", 2),
            ("lab", 1),
            ("observe", 1),
            ("recorder", 2),
        ],
    },
    Banned {
        call: "fs::canonicalize(",
        instead: AT_PATHS,
        allowed: &[("deadline", 3), ("engine", 2), ("observe", 2)],
    },
    Banned {
        call: "Path::is_dir",
        instead: AT_PATHS,
        allowed: &[],
    },
    Banned {
        call: "Path::is_file",
        instead: AT_PATHS,
        allowed: &[],
    },
    Banned {
        call: "Path::exists",
        instead: AT_PATHS,
        allowed: &[],
    },
    Banned {
        call: ".exists()",
        instead: AT_PATHS,
        allowed: &[("deadline", 1), ("engine", 4), ("lab", 4), ("s3", 1)],
    },
    Banned {
        call: ".canonicalize()",
        instead: AT_PATHS,
        allowed: &[("engine", 5), ("lab", 1), ("outputs", 1)],
    },
    Banned {
        call: "fathom_analysis::judge(",
        instead: "fathom_studies::judge: the study that a run belongs to answers, too",
        // The exam judges single trials, conductors a run that is under way.
        allowed: &[("exam", 2), ("studies", 3)],
    },
];

/// In place of calls on a path, which may lie on a mount that hangs.
const AT_PATHS: &str = "the call of that name in fathom_deadline::paths: a mount may never \
                        respond; what lies in /proc and /sys, and what has been looked at before, \
                        may be counted here";

/// Rooms of pure functions and plain types: the same input, the same answer.
/// What depends on the moment is given to them.
const PURE: &[&str] = &[
    "analysis", "diagnose", "drives", "model", "plan", "report", "rules", "stats", "studies",
];

/// What studies answer. Formats print the view that a study makes of it.
const ANSWERS: &[&str] = &[
    "crosscheck",
    "curve",
    "disks",
    "enumeration",
    "scale",
    "snia",
];

/// What looks at a clock, or waits.
const CLOCKS: &[&str] = &["Instant::now(", "SystemTime::now(", "thread::sleep("];

fn crates() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn rust_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            rust_files(&path, found);
        } else if path.extension().is_some_and(|e| e == "rs") {
            found.push(path);
        }
    }
}

/// Whether a file belongs to the tests of its crate.
fn is_test(path: &Path) -> bool {
    path.to_string_lossy().contains("/conformance/")
        || path
            .file_stem()
            .is_some_and(|name| name.to_string_lossy().ends_with("tests"))
}

/// The lines of a file before its tests, without comments.
fn shipped(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let before = text.split("#[cfg(test)]").next().unwrap_or_default();
    before
        .lines()
        .enumerate()
        .map(|(at, line)| (at + 1, line.split("//").next().unwrap_or_default()))
}

/// The places of a crate's shipped code that contain one of the calls.
fn places(name: &str, calls: &[&str]) -> Vec<String> {
    let mut files = Vec::new();
    rust_files(&crates().join(name).join("src"), &mut files);
    let mut found = Vec::new();
    for file in files.iter().filter(|file| !is_test(file)) {
        let text = fs::read_to_string(file).unwrap();
        for (line, code) in shipped(&text) {
            if calls.iter().any(|call| code.contains(call)) {
                found.push(format!("{}:{line}: {}", file.display(), code.trim()));
            }
        }
    }
    found
}

fn names() -> Vec<String> {
    let entries = fs::read_dir(crates()).unwrap();
    let folders = entries.map(|entry| entry.unwrap().path());
    folders
        .filter(|folder| folder.join("src").exists())
        .map(|folder| folder.file_name().unwrap().to_string_lossy().into_owned())
        .collect()
}

#[test]
fn calls_with_a_better_one_are_not_made() {
    for banned in BANNED {
        let mut counts = BTreeMap::new();
        let mut all = Vec::new();
        for name in names() {
            let found = places(&name, &[banned.call]);
            if !found.is_empty() {
                counts.insert(name, found.len());
                all.extend(found);
            }
        }
        let allowed: BTreeMap<String, usize> = banned
            .allowed
            .iter()
            .map(|(name, count)| ((*name).to_owned(), *count))
            .collect();
        assert_eq!(
            counts,
            allowed,
            "instead of {} use {}; the numbers may only shrink:\n{}",
            banned.call,
            banned.instead,
            all.join("\n")
        );
    }
}

#[test]
fn rooms_of_pure_functions_look_at_no_clock() {
    for name in PURE {
        assert!(crates().join(name).exists(), "there is no crate {name}");
        let found = places(name, CLOCKS);
        assert!(
            found.is_empty(),
            "{name} looks at a clock; let its caller say the time:\n{}",
            found.join("\n")
        );
    }
}

#[test]
fn formats_know_no_study() {
    for answer in ANSWERS {
        let types = format!("fathom_model::{answer}");
        let field = format!("run.{answer}");
        let found = places("report", &[&types, &field]);
        assert!(
            found.is_empty(),
            "a format knows of {answer}; print the view of its study:\n{}",
            found.join("\n")
        );
    }
}
