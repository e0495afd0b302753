//! Golden outputs: what fathom prints for simulated drives under the virtual
//! clock, for questions about text, and for stored runs that are judged again.
//!
//! None of it depends on the machine's speed, so a change of structure leaves
//! every byte as it is. `FATHOM_BLESS=1 cargo test -p fathom --test golden`
//! accepts new outputs after a change of behaviour; read the difference first.
//! `golden/runs.txt` lists the calls, `golden/record` makes the stored runs.

// A test panics where it must.
#![allow(clippy::print_stdout, clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Longer outputs are kept as a digest; their text is written below `target`
/// by every test run, to be compared between two commits.
const LONGEST_KEPT_BYTES: usize = 12 << 10;

/// At least this many calls are kept.
const LEAST_CALLS: usize = 60;

fn here() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden")
}

/// The calls of the list, by name.
fn calls() -> Vec<(String, Vec<String>)> {
    let list = fs::read_to_string(here().join("runs.txt")).unwrap();
    let lines = list.lines().map(str::trim);
    let calls = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
    let parts = calls.map(|line| line.split_once(": ").expect("`name: arguments`"));
    parts
        .map(|(name, args)| {
            let words = args.split(' ').map(str::to_owned).collect();
            (name.to_owned(), words)
        })
        .collect()
}

/// A folder for one call: its files, and the recorded store.
fn folder(name: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let link = |from: PathBuf, to: &str| {
        std::os::unix::fs::symlink(from.canonicalize().unwrap(), folder.path().join(to)).unwrap();
    };
    link(root.join("examples"), "examples");
    link(root.join("crates/compat/samples"), "samples");
    for file in fs::read_dir(here().join("files")).unwrap() {
        let file = file.unwrap();
        fs::copy(file.path(), folder.path().join(file.file_name())).unwrap();
    }
    if name.starts_with("stored-") {
        fs::copy(here().join("recorded.db"), folder.path().join("fathom.db")).unwrap();
    }
    folder
}

/// Calls fathom; returns its status and both outputs, with what differs between
/// two calls masked.
fn output(name: &str, args: &[String]) -> String {
    let folder = folder(name);
    let output = Command::new(env!("CARGO_BIN_EXE_fathom"))
        .args(args)
        .current_dir(folder.path())
        .env("FATHOM_STORE", folder.path().join("fathom.db"))
        .env("HOME", folder.path())
        .env_remove("XDG_DATA_HOME")
        .env("COLUMNS", "80")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let live = !name.starts_with("stored-");
    let masked = |bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes);
        let text = text.replace(&folder.path().display().to_string(), "FOLDER");
        let text = text.replace(env!("CARGO_BIN_EXE_fathom"), "fathom");
        let text = match live {
            true => text.replace(&format!(",{},", host_name()), ",HOST,"),
            false => text,
        };
        let text = if live { without_host(&text) } else { text };
        mask(&text)
    };
    // The status line: progress on standard error depends on the machine.
    let errors = match output.stdout.is_empty() {
        true => masked(&output.stderr),
        false => String::new(),
    };
    let status = output.status.code().map_or(-1, |code| code);
    format!("status {status}\n{}{errors}", masked(&output.stdout))
}

fn host_name() -> String {
    let name = fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
    name.trim().to_owned()
}

/// How single lines about the machine begin, in Markdown and in reports of SNIA.
const HOST_LINES: [&str; 4] = [
    "- Host: ",
    "Host CPU: ",
    "Host memory: ",
    "Operating system: ",
];

/// Leaves out what describes the machine: the object `host` of JSON, the line
/// `Host:` of text with what continues it, and [`HOST_LINES`].
fn without_host(text: &str) -> String {
    let mut kept = String::new();
    let mut end: Option<String> = None;
    for line in text.split_inclusive('\n') {
        if let Some(closing) = &end {
            let bare = line.trim_end();
            let continues = match closing.is_empty() {
                true => bare.starts_with("          "),
                false => bare.trim_end_matches(',') != closing,
            };
            if continues {
                continue;
            }
            end = None;
            if bare.trim_end_matches(',') == "  }" {
                continue;
            }
        }
        if line.trim_end() == "  \"host\": {" {
            end = Some("  }".to_owned());
        } else if line.starts_with("Host: ") {
            end = Some(String::new());
        } else if !HOST_LINES.iter().any(|begin| line.starts_with(begin)) {
            kept.push_str(line);
        }
    }
    kept
}

/// Masks identities of runs and times of day.
fn mask(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut masked = String::with_capacity(text.len());
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        let inside = at > 0 && bytes[at - 1].is_ascii_alphanumeric();
        let found = PATTERNS
            .iter()
            .filter(|_| !inside)
            .find(|(pattern, _)| matches(rest.as_bytes(), pattern));
        if let Some((pattern, word)) = found {
            masked.push_str(word);
            at += pattern.len() + fraction_len(&rest[pattern.len()..]);
        } else {
            let next = rest.chars().next().unwrap();
            masked.push(next);
            at += next.len_utf8();
        }
    }
    mask_values(&masked)
}

/// `9` stands for a digit, `a` for a digit or a small letter.
const PATTERNS: &[(&str, &str)] = &[
    ("99999999-999999-aaaa", "RUN"),
    ("9999-99-99T99:99:99", "TIME"),
    ("9999-99-99 99:99:99", "TIME"),
    ("9999-99-99 99:99", "TIME"),
    ("9999-99-99", "DATE"),
];

/// Bytes of a fraction of a second that follows a time of day.
fn fraction_len(rest: &str) -> usize {
    let digits = rest.strip_prefix('.').map_or("", |rest| {
        let end = rest.find(|c: char| !c.is_ascii_digit());
        &rest[..end.unwrap_or(rest.len())]
    });
    match digits.is_empty() {
        true => 0,
        false => digits.len() + 1,
    }
}

fn matches(text: &[u8], pattern: &str) -> bool {
    text.len() >= pattern.len()
        && pattern
            .bytes()
            .zip(text)
            .all(|(wanted, found)| match wanted {
                b'9' => found.is_ascii_digit(),
                b'a' => found.is_ascii_digit() || found.is_ascii_lowercase(),
                other => other == *found,
            })
}

/// Masks the values of keys that hold times of day and measured costs.
fn mask_values(text: &str) -> String {
    let mut masked = String::new();
    for line in text.split_inclusive('\n') {
        let key = line.split_once(':').map_or("", |(key, _)| key.trim());
        let varies = [
            "unix_ns\"",
            "unix_s\"",
            "clock_read_ns\"",
            "\"timestamp\"",
            "\"timestamp_ms\"",
            "\"time\"",
        ]
        .iter()
        .any(|end| key.ends_with(end));
        match line.split_once(':').filter(|_| varies) {
            Some((before, _)) => writeln!(masked, "{before}: MASKED").unwrap(),
            None => masked.push_str(line),
        }
    }
    masked
}

fn digest(text: &str) -> String {
    format!(
        "{} bytes, xxh3 {:032x}\n",
        text.len(),
        xxhash_rust::xxh3::xxh3_128(text.as_bytes())
    )
}

/// The first line in which two texts differ, as a sentence.
fn first_difference(expected: &str, found: &str) -> String {
    let pairs = expected.lines().zip(found.lines()).enumerate();
    for (number, (before, now)) in pairs {
        if before != now {
            return format!("line {}: expected `{before}`, found `{now}`", number + 1);
        }
    }
    format!(
        "expected {} lines, found {}",
        expected.lines().count(),
        found.lines().count()
    )
}

/// Compares one output with what is kept, or keeps it.
fn compare(name: &str, found: &str, bless: bool) -> Result<(), String> {
    let full = Path::new(env!("CARGO_TARGET_TMPDIR")).join("golden");
    fs::create_dir_all(&full).unwrap();
    fs::write(full.join(name), found).unwrap();
    let kept = match found.len() > LONGEST_KEPT_BYTES {
        true => digest(found),
        false => found.to_owned(),
    };
    let path = here().join("expected").join(format!("{name}.txt"));
    if bless {
        fs::create_dir_all(here().join("expected")).unwrap();
        fs::write(&path, kept).unwrap();
        return Ok(());
    }
    let expected = fs::read_to_string(&path).unwrap_or_default();
    match expected == kept {
        true => Ok(()),
        false => Err(format!(
            "{name}: {}; the whole output is in {}",
            first_difference(&expected, &kept),
            full.join(name).display()
        )),
    }
}

#[test]
fn outputs_stay_as_they_are() {
    let calls = calls();
    assert!(calls.len() >= LEAST_CALLS, "{} calls", calls.len());
    let bless = std::env::var_os("FATHOM_BLESS").is_some();
    let middle = calls.len() / 2;
    let (first, second) = calls.split_at(middle);
    let part = |calls: &[(String, Vec<String>)]| -> Vec<String> {
        let results = calls
            .iter()
            .map(|(name, args)| compare(name, &output(name, args), bless));
        results.filter_map(Result::err).collect()
    };
    let mut wrong = std::thread::scope(|scope| {
        let other = scope.spawn(|| part(second));
        let mut wrong = part(first);
        wrong.extend(other.join().unwrap());
        wrong
    });
    wrong.sort();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_kept_output_belongs_to_a_call() {
    let names: BTreeMap<String, Vec<String>> = calls().into_iter().collect();
    assert_eq!(names.len(), calls().len(), "a name stands twice");
    for file in fs::read_dir(here().join("expected")).unwrap() {
        let name = file.unwrap().file_name().into_string().unwrap();
        let call = name.trim_end_matches(".txt");
        assert!(names.contains_key(call), "{name} belongs to no call");
    }
}
