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
    let chars: Vec<char> = source.chars().collect();
    let mut texts = Vec::new();
    let (mut at, mut line) = (0, 1);
    while at < chars.len() {
        let rest = &chars[at..];
        if rest.starts_with(&['/', '/']) {
            let end = rest.iter().position(|c| *c == '\n').unwrap_or(rest.len());
            let comment: String = rest[..end].iter().collect();
            if has_help && comment.starts_with("///") {
                texts.push((line, comment));
            }
            at += end;
        } else if chars[at] == '"' {
            let raw_marks = chars[..at].iter().rev().take_while(|c| **c == '#').count();
            let before = at.checked_sub(raw_marks + 1).map(|at| chars[at]);
            let (text, length) = literal(rest, before == Some('r'), raw_marks);
            texts.push((line, text));
            line += rest[..length].iter().filter(|c| **c == '\n').count();
            at += length;
        } else if rest.starts_with(&['\'', '"', '\'']) {
            at += 3;
        } else if rest.starts_with(&['\'', '\\']) {
            at += 4;
        } else {
            line += usize::from(chars[at] == '\n');
            at += 1;
        }
    }
    texts
}

/// The text of a literal that begins with a quote, and how long it is in the source.
fn literal(rest: &[char], is_raw: bool, marks: usize) -> (String, usize) {
    let mut text = String::new();
    let mut at = 1;
    while at < rest.len() {
        let closes =
            rest[at] == '"' && (!is_raw || rest[at + 1..].iter().take(marks).all(|c| *c == '#'));
        if closes {
            return (text, at + 1);
        }
        if rest[at] == '\\' && !is_raw {
            // A line that goes on below is one text.
            if rest.get(at + 1) == Some(&'\n') {
                at += 2;
                at += rest[at..].iter().take_while(|c| c.is_whitespace()).count();
                continue;
            }
            at += 1;
        }
        text.extend(rest.get(at));
        at += 1;
    }
    (text, at)
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
