//! The charts of a run as files of their own.

mod png;

use fathom_model::JudgedRun;

use crate::html::gallery;

pub use self::png::png;

/// A chart as a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChartImage {
    /// A name for its file, without an ending: `003-trial-1-throughput`.
    pub name: String,
    /// The whole SVG document.
    pub svg: String,
}

/// The charts of a run, those of its page from top to bottom; empty where nothing was
/// measured.
pub fn charts(run: &JudgedRun) -> Vec<ChartImage> {
    let all = gallery::of(run).into_iter().enumerate();
    let images = all.map(|(at, (part, chart))| ChartImage {
        name: format!("{:03}-{}", at + 1, word(&format!("{part} {}", chart.title))),
        svg: fathom_model::printable::lines(&chart.standalone()).into_owned(),
    });
    images.collect()
}

/// A text as a part of a file's name: small letters, digits and dashes.
fn word(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars().take(MOST_LETTERS) {
        match c.is_ascii_alphanumeric() {
            true => out.push(c.to_ascii_lowercase()),
            false if !out.ends_with('-') && !out.is_empty() => out.push('-'),
            false => {}
        }
    }
    out.trim_end_matches('-').to_owned()
}

/// Letters of a title that a name keeps.
const MOST_LETTERS: usize = 80;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files_have_no_characters_that_mean_something() {
        assert_eq!(
            word("trial 1 Read: p99 (of ../it)"),
            "trial-1-read-p99-of-it"
        );
        assert_eq!(word("../.."), "");
    }
}
