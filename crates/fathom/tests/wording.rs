//! The wording of what users read: no phrase that an editor has replaced comes back.
//!
//! Looked at are string literals outside of tests, the flags' help, the templates of
//! pages and the tables of rules. Places that still have such a phrase are counted by
//! file; the list may only shrink.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// A phrase, and what to write instead.
const BANNED: &[(&str, &str)] = &[
    ("that was asked for", "requested"),
    ("that were asked for", "requested"),
    ("asked-for", "requested"),
    ("are worth", "hold"),
    ("nothing is proved", "what was seen"),
    ("does not tell", "lacks"),
    ("told by", "from"),
    ("whoever", "who"),
    ("nothing but", "only"),
    ("come to life", "are started"),
    ("comes to life", "is started"),
    ("too short to say", "too short"),
    ("likewise", "say what it is"),
    ("what is the matter", "what is wrong"),
    ("so many readings", "N samples"),
    ("sign nothing", "send unsigned requests"),
    ("take any certificate", "skip TLS verification"),
    ("begins anew", "starts again"),
    ("passing reason", "transient error"),
    ("how they are", "their state"),
    ("hold this host", "check this host"),
    ("sit the exam", "run the exam"),
    ("what hangs on what", "topology"),
    ("lateness of starts", "schedule lag"),
    ("decides its row", "the metric that decides"),
    ("stop the other user", "stop whatever else uses it"),
];

/// `is no X` is allowed where English has no other way.
const NO_WORDS: [&str; 11] = [
    "better", "faster", "higher", "larger", "less", "longer", "lower", "more", "other", "slower",
    "such",
];

/// Files that still have such phrases, with how many. The list may only shrink.
const LEFT: &[(&str, usize)] = &[];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()
        .unwrap()
}

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            files(&path, found);
        } else {
            found.push(path);
        }
    }
}

/// The texts of a Rust file with their lines: string literals, and doc comments where
/// they are help.
fn texts(source: &str, has_help: bool) -> Vec<(usize, String)> {
    let source = source.split("\n#[cfg(test)]\nmod ").next().unwrap();
    let mut texts = Vec::new();
    let (mut at, mut line) = (0, 1);
    // Searched for by the library: tests are compiled unoptimised, and this reads all.
    while let Some(skipped) = source[at..].find(['/', '"', '\'']) {
        let (before, rest) = source.split_at(at + skipped);
        line += lines_in(&before[at..]);
        let length = if rest.starts_with("//") {
            let end = rest.find('\n').unwrap_or(rest.len());
            if has_help && rest.starts_with("///") {
                texts.push((line, rest[..end].to_owned()));
            }
            end
        } else if rest.starts_with('"') {
            let unmarked = before.trim_end_matches('#');
            let raw_marks = before.len() - unmarked.len();
            let (text, length) = literal(rest, unmarked.ends_with('r'), raw_marks);
            texts.push((line, text));
            length
        } else if rest.starts_with("'\"'") {
            3
        } else if rest.starts_with("'\\") {
            4
        } else {
            1
        };
        line += lines_in(&rest[..length]);
        at = before.len() + length;
    }
    texts
}

fn lines_in(text: &str) -> usize {
    text.matches('\n').count()
}

/// The text of a literal that begins with a quote, and how long it is in the source.
fn literal(source: &str, is_raw: bool, marks: usize) -> (String, usize) {
    if is_raw {
        let end = format!("\"{}", "#".repeat(marks));
        let length = source[1..].find(&end).unwrap_or(source.len() - 1);
        return (
            source[1..=length].to_owned(),
            (1 + length + 1).min(source.len()),
        );
    }
    let mut text = String::new();
    let mut at = 1;
    while let Some(plain) = source[at..].find(['"', '\\']) {
        text.push_str(&source[at..at + plain]);
        at += plain + 1;
        if source[..at].ends_with('"') {
            return (text, at);
        }
        let escaped = source[at..].chars().next();
        at += escaped.map_or(0, char::len_utf8);
        match escaped {
            // A line that goes on below is one text.
            Some('\n') => at += source[at..].len() - source[at..].trim_start().len(),
            escaped => text.extend(escaped),
        }
    }
    (text, source.len())
}

/// The banned phrases in a text, each with what to write instead.
fn faults(text: &str) -> Vec<String> {
    let lower = text.to_lowercase();
    let phrases = BANNED.iter().filter(|(phrase, _)| lower.contains(phrase));
    let mut found: Vec<String> = phrases
        .map(|(phrase, instead)| format!("'{phrase}': write '{instead}'"))
        .collect();
    for verb in [" is no ", " was no "] {
        for (at, _) in lower.match_indices(verb) {
            let word = lower[at + verb.len()..]
                .split(|c: char| !c.is_alphanumeric())
                .next();
            let is_there = lower[..at].ends_with("there");
            if !is_there && !NO_WORDS.contains(&word.unwrap_or_default()) {
                found.push(format!("'{verb}': write 'is not a'"));
            }
        }
    }
    found
}

#[test]
fn replaced_phrases_do_not_come_back() {
    let root = root();
    let mut paths = Vec::new();
    files(&root.join("crates"), &mut paths);
    let mut faulty: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for path in paths {
        let name = path.strip_prefix(&root).unwrap().display().to_string();
        let is_test = name.contains("/tests/") || name.contains("_tests") || name.contains("test_");
        let source = match path.extension().and_then(|ending| ending.to_str()) {
            Some("rs" | "toml" | "html") if !is_test => fs::read_to_string(&path).unwrap(),
            _ => continue,
        };
        let texts = match name.ends_with(".rs") {
            true => texts(
                &source,
                name.contains("crates/command/") || name.contains("plan/src/keys"),
            ),
            false => source
                .lines()
                .zip(1..)
                .map(|(text, line)| (line, text.to_owned()))
                .collect(),
        };
        for (line, text) in texts {
            for fault in faults(&text) {
                let list = faulty.entry(name.clone()).or_default();
                list.push(format!("{name}:{line}: {fault}"));
            }
        }
    }
    let allowed: BTreeMap<&str, usize> = LEFT.iter().copied().collect();
    let mut wrong = Vec::new();
    for (name, found) in &faulty {
        if found.len() != allowed.get(name.as_str()).copied().unwrap_or(0) {
            wrong.extend(found.iter().cloned());
        }
    }
    let gone = LEFT.iter().filter(|(name, _)| !faulty.contains_key(*name));
    wrong.extend(gone.map(|(name, _)| format!("{name}: take it off the list")));
    assert!(wrong.is_empty(), "\n{}\n", wrong.join("\n"));
}

#[test]
fn phrases_are_found_where_users_read_them() {
    let source = "// told by nobody\nlet a = \"it is no \\\n    disk\";\n/// Sign nothing.\nb: 'x',\nr#\"a \"nothing but\" b\"#";
    let found: Vec<(usize, Vec<String>)> = texts(source, true)
        .iter()
        .map(|(line, text)| (*line, faults(text)))
        .filter(|(_, faults)| !faults.is_empty())
        .collect();
    let lines: Vec<usize> = found.iter().map(|(line, _)| *line).collect();
    assert_eq!(lines, [2, 4, 6], "{found:?}");
    assert!(faults("there is no such file; it is no larger").is_empty());
}
