//! The pages of documentation hold together: each is in the index, and each
//! link and each path that a page or the code names leads somewhere.

// A test panics where it must.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()
        .unwrap()
}

/// The files below a folder, without what building leaves there.
fn files_below(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() {
            if name != "target" && !name.starts_with('.') {
                files_below(&path, found);
            }
        } else {
            found.push(path);
        }
    }
}

fn files() -> Vec<PathBuf> {
    let mut found = Vec::new();
    files_below(&root(), &mut found);
    found
}

/// The targets of the links of a page: `](TARGET)`, without what follows a `#`.
fn links(text: &str) -> impl Iterator<Item = &str> {
    text.split("](").skip(1).filter_map(|rest| {
        let target = rest.split(')').next()?;
        target.split('#').next().filter(|target| !target.is_empty())
    })
}

#[test]
fn every_link_of_a_page_leads_to_a_file() {
    let mut checked = 0;
    let mut broken = Vec::new();
    for path in files() {
        if path.extension().is_none_or(|e| e != "md") || !is_page(&path) {
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        for target in links(&text).filter(|t| !t.contains("://")) {
            checked += 1;
            if !path.parent().unwrap().join(target).exists() {
                broken.push(format!("{}: {target}", path.display()));
            }
        }
    }
    assert!(broken.is_empty(), "broken links:\n{}", broken.join("\n"));
    assert!(checked > 100, "the links were not found: {checked}");
}

/// Pages are read where they lie. What stands at the head of a generated page
/// is a part of another file, with links as that file needs them.
fn is_page(path: &Path) -> bool {
    let below = path.strip_prefix(root()).unwrap();
    below.starts_with("docs") || below.parent() == Some(Path::new(""))
}

#[test]
fn the_index_lists_every_page() {
    let docs = root().join("docs");
    let index = fs::read_to_string(docs.join("README.md")).unwrap();
    let listed: BTreeSet<PathBuf> = links(&index)
        .map(|target| docs.join(target))
        .filter_map(|path| path.canonicalize().ok())
        .collect();
    let mut pages = Vec::new();
    files_below(&docs, &mut pages);
    let of_the_book = ["docs/README.md", "docs/SUMMARY.md", "docs/book.toml"];
    let missing: Vec<String> = pages
        .iter()
        .filter(|path| !of_the_book.iter().any(|part| path.ends_with(part)))
        .filter(|path| !listed.contains(*path) && !is_picture(path))
        .map(|path| path.display().to_string())
        .collect();
    assert!(pages.len() > 60, "the pages were not found");
    assert!(
        missing.is_empty(),
        "docs/README.md does not list\n{}",
        missing.join("\n")
    );
}

fn is_picture(path: &Path) -> bool {
    path.parent().is_some_and(|p| p.ends_with("docs/pictures"))
}

/// The files that the links of a page lead to.
fn targets(page: &Path) -> BTreeSet<PathBuf> {
    let folder = page.parent().unwrap();
    let text = fs::read_to_string(page).unwrap();
    links(&text)
        .filter_map(|target| folder.join(target).canonicalize().ok())
        .collect()
}

#[test]
fn the_book_has_every_page_once() {
    let summary = root().join("docs/SUMMARY.md");
    let listed = targets(&summary);
    let text = fs::read_to_string(&summary).unwrap();
    assert_eq!(links(&text).count(), listed.len(), "a page is listed twice");
    let mut pages = Vec::new();
    files_below(&root().join("docs"), &mut pages);
    pages.extend(["SECURITY.md", "ARCHITECTURE.md", "CHANGELOG.md"].map(|name| root().join(name)));
    let is_missing = |path: &&PathBuf| {
        path.extension().is_some_and(|e| e == "md") && **path != summary && !listed.contains(*path)
    };
    let missing: Vec<&PathBuf> = pages.iter().filter(is_missing).collect();
    assert!(missing.is_empty(), "docs/SUMMARY.md lacks {missing:?}");
}

#[test]
fn every_picture_is_shown_and_small() {
    const LARGEST: u64 = 150 << 10;
    let shown: BTreeSet<PathBuf> = files()
        .iter()
        .filter(|path| path.extension().is_some_and(|e| e == "md") && is_page(path))
        .flat_map(|path| targets(path))
        .collect();
    let mut pictures = Vec::new();
    files_below(&root().join("docs/pictures"), &mut pictures);
    assert!(pictures.len() > 10, "the pictures were not found");
    for picture in pictures {
        assert!(shown.contains(&picture), "no page shows {picture:?}");
        let size = fs::metadata(&picture).unwrap().len();
        assert!(size <= LARGEST, "{picture:?} has {size} bytes");
    }
}

/// Names of functions of three words and more, as a page has them in backticks.
fn functions(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2).filter(|word| {
        let is_name = |c: char| c.is_ascii_lowercase() || c == '_';
        word.chars().all(is_name) && word.matches('_').count() >= 2
    })
}

#[test]
fn the_tests_that_the_threat_model_names_exist() {
    let page = fs::read_to_string(root().join("docs/evidence/threat-model.md")).unwrap();
    let named: BTreeSet<&str> = functions(&page).collect();
    assert!(named.len() > 30, "the names were not found: {named:?}");
    let mut sources = Vec::new();
    files_below(&root().join("crates"), &mut sources);
    let mut missing = named;
    for path in sources {
        let Ok(text) = fs::read_to_string(&path) else {
            continue;
        };
        missing.retain(|name| !text.contains(&format!("fn {name}(")));
    }
    assert!(missing.is_empty(), "no test is called {missing:?}");
}

/// What a text names below `docs/`: letters, digits and the marks of paths.
fn named(text: &str) -> impl Iterator<Item = &str> {
    text.match_indices("docs/").filter_map(|(at, _)| {
        let before = text[..at].chars().next_back();
        // A folder of another tree, such as prometheus.io/docs.
        if before.is_some_and(|c| c.is_alphanumeric() || c == '/') {
            return None;
        }
        let end = text[at..]
            .find(|c: char| !(c.is_ascii_alphanumeric() || "/._-".contains(c)))
            .map_or(text.len(), |length| at + length);
        Some(text[at..end].trim_end_matches('.'))
    })
}

#[test]
fn every_page_that_is_named_exists() {
    let root = root();
    let mut checked = 0;
    let mut missing = Vec::new();
    for path in files() {
        let Ok(text) = fs::read_to_string(&path) else {
            continue;
        };
        for name in named(&text) {
            checked += 1;
            let exists = root.join(name).exists() || is_decision(&root, name);
            if !exists {
                missing.push(format!("{}: {name}", path.display()));
            }
        }
    }
    assert!(checked > 80, "the names were not found: {checked}");
    assert!(
        missing.is_empty(),
        "these pages do not exist:\n{}",
        missing.join("\n")
    );
}

/// A decision by its number alone: `docs/decisions/0014`.
fn is_decision(root: &Path, name: &str) -> bool {
    let Some(number) = name.strip_prefix("docs/decisions/") else {
        return false;
    };
    let mut decisions = fs::read_dir(root.join("docs/decisions")).unwrap();
    number.len() == 4
        && decisions.any(|entry| {
            let name = entry.unwrap().file_name();
            name.to_string_lossy().starts_with(number)
        })
}
