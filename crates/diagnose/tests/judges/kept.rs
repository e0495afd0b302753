//! Texts that must not change unnoticed.

use std::fmt::Debug;
use std::path::Path;

use xxhash_rust::xxh3::xxh3_64;

/// Holds what is said now against the file of this name.
pub(crate) fn is_as_kept(file: &str, said: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/judges")
        .join(file);
    if std::env::var_os("FATHOM_BLESS").is_some() {
        std::fs::write(&path, said).expect("the kept file is written");
    }
    let kept = std::fs::read_to_string(&path).expect("the kept file is read");
    let changed = kept.lines().zip(said.lines()).find(|(a, b)| a != b);
    assert!(
        kept == said,
        "a judgement changed, first {changed:?}: read them all in a difference of {} after \
         FATHOM_BLESS=1",
        path.display()
    );
}

/// A document, too long to be kept as it is. Its JSON would not tell a number that is none
/// from one that is missing.
pub(crate) fn of_document(document: &impl Debug) -> String {
    of_text(&format!("{document:?}"))
}

pub(crate) fn of_text(text: &str) -> String {
    format!("{:016x}", xxh3_64(text.as_bytes()))
}
