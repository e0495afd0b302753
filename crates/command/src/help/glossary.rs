//! What the words of answers mean: the rows of the tables on the pages that define them.

use std::fmt::Write;

use super::book;
use super::short::wrapped;

/// Pages with tables of words, by their topic; of two that define one word, both do.
const TOPICS: [&str; 2] = ["verdicts", "words"];

/// Columns by which the text of a word stands further right than the word.
const INDENT: usize = 2;

/// A row of a table of words.
struct Entry {
    /// The heading above the table.
    section: &'static str,
    /// The first cell: the word as answers print it, then as documents have it.
    names: &'static str,
    /// The other cells, each behind the head of its column.
    cells: Vec<(&'static str, &'static str)>,
    topic: &'static str,
}

/// What a word means, wrapped at this width; `None` where no page defines it.
pub(crate) fn meaning(word: &str, columns: usize) -> Option<String> {
    let wanted = normal(word);
    let all = TOPICS.iter().flat_map(|topic| entries(topic));
    let found: Vec<Entry> = all.filter(|entry| entry.is_called(&wanted)).collect();
    let texts = found.iter().map(|entry| entry.text(columns));
    (!found.is_empty()).then(|| texts.collect::<Vec<String>>().join("\n"))
}

/// Small letters, without what stands between words.
fn normal(word: &str) -> String {
    word.trim().to_lowercase().replace(['_', '-', ' '], "")
}

/// The rows of the tables of a page.
fn entries(topic: &'static str) -> Vec<Entry> {
    let mut section = "";
    let mut heads: Vec<&str> = Vec::new();
    let mut is_below_head = false;
    let mut found = Vec::new();
    for line in book::text(topic).unwrap_or_default().lines() {
        if let Some(heading) = line.strip_prefix('#') {
            section = heading.trim_start_matches('#').trim();
        }
        let Some(row) = line.strip_prefix("| ") else {
            is_below_head = line.starts_with("|--");
            continue;
        };
        let row = row.trim_end_matches('|').split(" | ").map(str::trim);
        let mut cells = row.collect::<Vec<&str>>();
        if !is_below_head {
            heads = cells.split_off(1);
            continue;
        }
        found.push(Entry {
            section,
            names: cells[0],
            cells: heads.iter().copied().zip(cells.split_off(1)).collect(),
            topic,
        });
    }
    found
}

impl Entry {
    fn is_called(&self, wanted: &str) -> bool {
        let mut names = self.names.split(',');
        names.any(|name| normal(&name.replace('`', "")) == wanted)
    }

    fn text(&self, columns: usize) -> String {
        let names = self.names.replace('`', "");
        let name = names.split(',').next().unwrap_or_default();
        let mut out = format!("{name} ({})\n\n", self.section.to_lowercase());
        for (place, (head, cell)) in self.cells.iter().enumerate() {
            let cell = cell.replace('`', "");
            let text = match place {
                0 => sentence(&cell),
                _ => sentence(&format!("{head}: {cell}")),
            };
            let _ = writeln!(out, "  {}", wrapped(&text, INDENT, columns));
        }
        let _ = writeln!(out, "\n  Read more: fathom help {}", self.topic);
        out
    }
}

/// With a capital and a full stop.
fn sentence(text: &str) -> String {
    let mut chars = text.chars();
    let first = chars.next().map(|c| c.to_uppercase().to_string());
    format!("{}{}.", first.unwrap_or_default(), chars.as_str())
}

#[cfg(test)]
mod tests {
    use fathom_model::names::{limiter, limiter_key};
    use fathom_model::verdict::Limiter;

    use super::*;

    #[test]
    fn every_limiter_is_explained_as_it_is_printed_and_as_json_has_it() {
        for of in Limiter::ALL {
            for word in [limiter(of), limiter_key(of)] {
                assert!(meaning(word, 80).is_some(), "{word}");
            }
        }
    }

    #[test]
    fn a_word_of_two_tables_has_both_meanings() {
        let memory = meaning("memory", 80).unwrap_or_default();
        assert_eq!(memory.matches("Read more").count(), 2, "{memory}");
        assert!(meaning("word", 80).is_none(), "the head of a table");
        assert!(meaning("nonsense", 80).is_none());
        for word in [
            "IOPS",
            "latency",
            "caveat",
            "settle",
            "p50",
            "iodepth",
            "queuedepth",
            "ABBA",
        ] {
            assert!(meaning(word, 80).is_some(), "{word}");
        }
        let depth = meaning("Queue-Depth", 40).unwrap_or_default();
        assert!(depth.lines().all(|line| line.chars().count() <= 40));
    }

    #[test]
    fn every_shortage_is_explained() {
        for word in [
            "disk",
            "hung_device",
            "volume_cap",
            "cpu_queue",
            "hypervisor",
            "one_by_one",
            "lock",
            "nothing",
        ] {
            assert!(meaning(word, 80).is_some(), "{word}");
        }
    }
}
