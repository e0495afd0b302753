//! An engine, as plans and flags name it.

use fathom_model::workload::EngineKind;
use schemars::{Schema, json_schema};

use super::Value;
use super::choice::not_one_of;
use crate::node::Out;

/// The engines that a plan can name.
fn nameable() -> impl Iterator<Item = EngineKind> {
    let all = EngineKind::ALL.into_iter();
    all.filter(|kind| !kind.traits().by_job_file_only)
}

/// Every word for an engine, the canonical one first.
fn words(kind: EngineKind) -> impl Iterator<Item = &'static str> {
    std::iter::once(kind.name()).chain(kind.traits().other_words.iter().copied())
}

impl Value for EngineKind {
    const KIND: &'static str = "engine";

    fn from_text(text: &str) -> Result<EngineKind, String> {
        let word = text.trim().to_ascii_lowercase();
        let found = nameable().find(|kind| words(*kind).any(|known| known == word));
        found.ok_or_else(|| {
            let names: Vec<&str> = nameable().map(EngineKind::name).collect();
            not_one_of(text, EngineKind::KIND, &names)
        })
    }

    fn to_out(&self) -> Out {
        Out::Text(self.name().to_owned())
    }

    fn example() -> &'static str {
        EngineKind::Uring.name()
    }

    fn schema() -> Schema {
        let all: Vec<&str> = nameable().flat_map(words).collect();
        json_schema!({ "enum": all })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_names_one_engine() {
        let mut seen = Vec::new();
        for kind in EngineKind::ALL {
            for word in words(kind) {
                assert!(!seen.contains(&word), "{word} names two engines");
                seen.push(word);
                let named = EngineKind::from_text(word).ok();
                let expected = Some(kind).filter(|kind| !kind.traits().by_job_file_only);
                assert_eq!(named, expected, "{word}");
            }
        }
    }

    #[test]
    fn a_wrong_word_is_answered_with_those_that_are_known() {
        let message = EngineKind::from_text("windowsaio").unwrap_err();
        assert!(message.contains("uring, libaio, psync"), "{message}");
        assert!(!message.contains("net"), "{message}");
    }
}
