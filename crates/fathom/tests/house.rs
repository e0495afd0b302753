//! The house rules that a compiler does not check: which room may import
//! which, how long a file or function may be, which words a public project
//! does not use, and under which licences its dependencies come.

// A test panics where it must, and prints why it was skipped.
#![allow(clippy::print_stdout, clippy::unwrap_used)]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The floors. A room imports only rooms of lower floors.
const FLOORS: &[(&str, u32)] = &[
    ("fathom-model", 0),
    ("fathom-outputs", 0),
    ("fathom-deadline", 0),
    ("fathom-stats", 0),
    ("fathom-rules", 0),
    ("fathom-console", 1),
    ("fathom-drives", 1),
    ("fathom-s3", 1),
    ("fathom-plan", 2),
    ("fathom-engine", 2),
    ("fathom-observe", 2),
    ("fathom-analysis", 2),
    ("fathom-diagnose", 2),
    ("fathom-store", 2),
    ("fathom-fleet", 3),
    ("fathom-recorder", 3),
    ("fathom-lab", 3),
    ("fathom-compat", 3),
    ("fathom-report", 3),
    ("fathom-exam", 4),
    ("fathom-documents", 4),
    ("fathom-screen", 4),
    ("fathom-studies", 4),
    ("fathom-runs", 5),
    ("fathom-lab-command", 5),
    ("fathom-command", 6),
    ("fathom", 7),
];

/// Rooms that a floor would allow, but their purpose does not.
const FORBIDDEN: &[(&str, &str)] = &[
    ("fathom-report", "fathom-store"),
    ("fathom-report", "fathom-engine"),
    ("fathom-report", "fathom-plan"),
    ("fathom-fleet", "fathom-store"),
    ("fathom-fleet", "fathom-plan"),
];

/// Calls that make a file or folder by themselves. All others go through
/// `fathom-outputs`, which gives what it makes to its owner alone.
const MAKING: [&str; 10] = [
    "File::create(",
    "File::create_new(",
    "fs::write(",
    ".create(true)",
    ".create_new(true)",
    "fs::create_dir(",
    "fs::create_dir_all(",
    "DirBuilder::new(",
    "OFlags::CREATE",
    "fs::copy(",
];

/// Where such calls are still allowed, and how many. They make the data of
/// targets, write to the kernel, or belong to parts of the laboratory. The list
/// may only shrink.
const MAKERS: &[(&str, usize)] = &[
    ("crates/engine/src/meta/hand/moving.rs", 2),
    ("crates/engine/src/meta/tree.rs", 1),
    ("crates/engine/src/one_by_one/own_file.rs", 1),
    ("crates/engine/src/prepare/manifest.rs", 1),
    ("crates/engine/src/prepare/named.rs", 1),
    ("crates/engine/src/prepare/test_files.rs", 1),
    ("crates/engine/src/prepare/trust.rs", 1),
    ("crates/exam/src/real/caches.rs", 1),
    ("crates/exam/src/real/drives.rs", 1),
    ("crates/exam/src/real/rig.rs", 2),
    ("crates/lab/src/application/locks.rs", 1),
    ("crates/lab/src/real/faulty.rs", 2),
    ("crates/lab/src/real/file_system.rs", 2),
    ("crates/lab/src/real/limited.rs", 2),
    ("crates/lab/src/real/network_mount.rs", 1),
    ("crates/lab/src/real/swap.rs", 1),
    ("crates/lab/src/real/throttle.rs", 4),
    ("crates/observe/src/drop_cache.rs", 1),
];

const FILE_LINES_MAX: usize = 500;
const FUNCTION_LINES_MAX: usize = 70;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()
        .expect("workspace root")
}

fn metadata() -> serde_json::Value {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--locked", "--offline"])
        .args(["--filter-platform", "x86_64-unknown-linux-gnu"])
        .current_dir(root())
        .output()
        .expect("cargo metadata runs");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    serde_json::from_slice(&output.stdout).expect("cargo metadata prints JSON")
}

#[test]
fn rooms_import_only_rooms_of_lower_floors() {
    let floors: BTreeMap<&str, u32> = FLOORS.iter().copied().collect();
    let metadata = metadata();
    let members: BTreeSet<&str> = metadata["workspace_members"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|m| m.as_str())
        .collect();
    let mut seen = 0;
    for package in metadata["packages"].as_array().unwrap() {
        let name = package["name"].as_str().unwrap();
        if !members.contains(package["id"].as_str().unwrap()) {
            continue;
        }
        let Some(floor) = floors.get(name) else {
            assert!(
                is_tool(package),
                "{name} has no floor: add it to FLOORS in this test"
            );
            continue;
        };
        for dependency in package["dependencies"].as_array().unwrap() {
            let wanted = dependency["name"].as_str().unwrap();
            if dependency["kind"].is_null()
                && let Some(below) = floors.get(wanted)
            {
                seen += 1;
                assert!(
                    below < floor,
                    "{name} (floor {floor}) imports {wanted} (floor {below})"
                );
                assert!(
                    !FORBIDDEN.contains(&(name, wanted)),
                    "{name} must not know {wanted}"
                );
            }
        }
    }
    assert!(seen > 8, "the arrows were not found: {seen}");
}

/// Workspace members below `benches/` are tools that nothing imports.
fn is_tool(package: &serde_json::Value) -> bool {
    package["manifest_path"]
        .as_str()
        .is_some_and(|path| path.contains("/benches/"))
}

#[test]
fn dependencies_come_under_permissive_licences() {
    let text = std::fs::read_to_string(root().join("deny.toml")).unwrap();
    let list = text.split_once("allow = [").unwrap().1;
    let list = list.split_once(']').unwrap().0.lines();
    let quoted = |line: &str| Some(line.trim().strip_prefix('"')?.split_once('"')?.0.to_owned());
    let allowed: BTreeSet<String> = list.filter_map(quoted).collect();
    assert!(allowed.contains("MIT"), "{allowed:?}");
    let mut checked = 0;
    for package in metadata()["packages"].as_array().unwrap() {
        let name = package["name"].as_str().unwrap();
        let licence = package["license"].as_str().unwrap_or("none named");
        checked += 1;
        // `A AND B` asks for both, `A OR B` (old form: `A/B`) for one.
        let fine = licence.split(" AND ").all(|part| {
            let part = part.trim_matches(|c| c == '(' || c == ')');
            part.split(" OR ").flat_map(|p| p.split('/')).any(|one| {
                allowed.contains(one.trim_matches(|c: char| c == '(' || c == ')').trim())
            })
        });
        assert!(fine, "{name} comes under '{licence}'");
    }
    assert!(checked > 20);
}

/// Files that git tracks (or would, when the tree is not a checkout: all).
fn tracked_files() -> Vec<PathBuf> {
    let root = root();
    let output = Command::new("git")
        .args(["ls-files"])
        .current_dir(&root)
        .output();
    match output {
        Ok(output) if output.status.success() && !output.stdout.is_empty() => {
            String::from_utf8_lossy(&output.stdout)
                .lines()
                .map(|line| root.join(line))
                .collect()
        }
        _ => Vec::new(),
    }
}

fn rust_files() -> Vec<PathBuf> {
    let files = tracked_files();
    files
        .into_iter()
        .filter(|path| path.extension().is_some_and(|e| e == "rs"))
        .collect()
}

#[test]
fn files_and_functions_stay_short() {
    let files = rust_files();
    if files.is_empty() {
        println!("skipped: not a git checkout, so the files of the project are not known");
        return;
    }
    let mut long = Vec::new();
    for path in &files {
        let Ok(text) = std::fs::read_to_string(path) else {
            continue;
        };
        let lines = text.lines().count();
        if lines > FILE_LINES_MAX {
            long.push(format!("{}: {lines} lines", path.display()));
        }
        // Tests may hold long tables of cases.
        let name = path.to_string_lossy();
        if name.contains("/tests/") || name.ends_with("_tests.rs") {
            continue;
        }
        long.extend(
            long_functions(&text)
                .map(|(line, n)| format!("{}:{line}: a function of {n} lines", path.display())),
        );
    }
    assert!(
        long.is_empty(),
        "too long to be one idea:\n{}",
        long.join("\n")
    );
}

/// Functions longer than the limit: (line, length). Relies on rustfmt: the
/// closing brace stands under the first letter of the signature's line.
fn long_functions(text: &str) -> impl Iterator<Item = (usize, usize)> {
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    for (start, line) in lines.iter().enumerate() {
        let code = line.trim_start();
        let words: Vec<&str> = code.split_whitespace().take(6).collect();
        if !words.contains(&"fn") || code.starts_with("//") || code.ends_with(';') {
            continue;
        }
        let indent = line.len() - code.len();
        let closing = format!("{}}}", " ".repeat(indent));
        let length = lines[start..]
            .iter()
            .position(|l| *l == closing)
            .map(|n| n + 1);
        if let Some(length) = length.filter(|n| *n > FUNCTION_LINES_MAX) {
            found.push((start + 1, length));
        }
    }
    found.into_iter()
}

#[test]
fn nothing_is_left_for_later() {
    // Spelled in halves so that this file does not find itself.
    let marks = [
        ["TO", "DO"].concat(),
        ["FIX", "ME"].concat(),
        ["todo", "!("].concat(),
        ["unimpl", "emented!("].concat(),
    ];
    let mut found = Vec::new();
    for path in rust_files() {
        let Ok(text) = std::fs::read_to_string(&path) else {
            continue;
        };
        for (number, line) in text.lines().enumerate() {
            if marks.iter().any(|mark| line.contains(mark.as_str())) {
                found.push(format!(
                    "{}:{}: {}",
                    path.display(),
                    number + 1,
                    line.trim()
                ));
            }
        }
    }
    assert!(found.is_empty(), "unfinished:\n{}", found.join("\n"));
}

/// Whether a file belongs to the tests of a crate, not to what is shipped.
fn is_test(path: &str) -> bool {
    [
        "/tests/",
        "/examples/",
        "/benches/",
        "/conformance/",
        "/build/",
    ]
    .iter()
    .any(|part| path.contains(part))
        || path.ends_with("tests.rs")
}

#[test]
fn files_are_made_in_one_room() {
    let root = root();
    let mut found = BTreeMap::new();
    for path in rust_files() {
        let name = path.strip_prefix(&root).unwrap_or(&path).to_string_lossy();
        if is_test(&name) || !name.starts_with("crates/") || name.starts_with("crates/outputs/") {
            continue;
        }
        let Ok(text) = std::fs::read_to_string(&path) else {
            continue;
        };
        let shipped = text.split("#[cfg(test)]").next().unwrap_or_default();
        let calls: usize = MAKING
            .iter()
            .map(|call| shipped.matches(call).count())
            .sum();
        if calls > 0 {
            found.insert(name.into_owned(), calls);
        }
    }
    if found.is_empty() {
        println!("skipped: not a git checkout, so the files of the project are not known");
        return;
    }
    let allowed: BTreeMap<String, usize> = MAKERS
        .iter()
        .map(|(name, calls)| ((*name).to_owned(), *calls))
        .collect();
    for (name, calls) in &found {
        assert!(
            allowed.get(name).is_some_and(|most| calls <= most),
            "{name} makes {calls} files or folders by itself: use fathom-outputs, so that their \
             owner alone can read them"
        );
    }
    assert_eq!(
        found, allowed,
        "fewer calls make files by themselves: shorten MAKERS"
    );
}

#[test]
fn modules_are_named_for_what_they_are() {
    let empty_names = [
        "utils", "util", "common", "helpers", "helper", "manager", "misc",
    ];
    for path in rust_files() {
        let stem = path
            .file_stem()
            .and_then(|s| s.to_str())
            .unwrap_or_default();
        assert!(
            !empty_names.contains(&stem),
            "{} says nothing",
            path.display()
        );
    }
}
