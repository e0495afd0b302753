//! When nobody of fathom worked on a tree. A file that was born or changed then is
//! somebody else's, also where it has a name as fathom gives it.
//!
//! All times are by the clock of the file system: those of the list of the tree,
//! and of the files in it.

use std::fs::File;
use std::io::{self, Read};

use crate::target_file::FileFacts;

/// Before each line.
const WORD: &str = "idle ";
/// Times that are noted; the oldest are forgotten first, and names alone decide then.
const MOST: usize = 256;
/// Times closer to the work on the tree than this say nothing: clocks of file
/// systems tick, and hosts that share one do not agree.
const SLACK_NS: u64 = 2_000_000_000;
/// Bytes of a list at most.
const SIZE_LIMIT: u64 = 64 << 20;
/// What a list says while nobody works on its tree.
const CLOSED: &str = "state closed";

/// Times by the clock of the file system, nanoseconds since 1970.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Absence {
    spans: Vec<(u64, u64)>,
    /// Since when nobody works on it.
    closed_ns: Option<u64>,
}

impl Absence {
    /// What a list says, which was written last when the work ended.
    pub(super) fn of_list(list: &File, text: &str) -> io::Result<Absence> {
        let facts = FileFacts::of(list)?;
        let noted = text.lines().filter_map(span);
        let born_ns = facts.identity.born_ns;
        // Of a clock that was set back the times cannot be compared.
        let before = born_ns.filter(|born_ns| *born_ns <= facts.modified_ns);
        let closed = text.lines().any(|line| line == CLOSED);
        Ok(Absence {
            spans: before
                .map(|born_ns| (0, born_ns))
                .into_iter()
                .chain(noted)
                .collect(),
            closed_ns: closed.then_some(facts.modified_ns),
        })
    }

    /// Reads the list.
    pub(super) fn read(list: &File) -> io::Result<Absence> {
        let mut text = String::new();
        list.take(SIZE_LIMIT).read_to_string(&mut text)?;
        Absence::of_list(list, &text)
    }

    /// Work begins again; the list was just written.
    pub(super) fn end(&mut self, list: &File) -> io::Result<()> {
        let now_ns = FileFacts::of(list)?.modified_ns;
        if let Some(from_ns) = self.closed_ns.take()
            && now_ns.saturating_sub(from_ns) > 2 * SLACK_NS
        {
            self.spans.push((from_ns, now_ns));
        }
        Ok(())
    }

    /// The lines of a list that say so. What was before the list follows from the list.
    pub(super) fn lines(&self) -> String {
        let noted: Vec<_> = self.spans.iter().filter(|span| span.0 > 0).collect();
        let latest = noted.iter().skip(noted.len().saturating_sub(MOST));
        latest
            .map(|(from, to)| format!("{WORD}{from} {to}\n"))
            .collect()
    }

    /// Whether a line of a list is one of them.
    pub(super) fn is_line(line: &str) -> bool {
        line.starts_with(WORD)
    }

    /// Whether a file was made or changed by somebody else, as far as its times tell.
    pub(super) fn covers(&self, facts: &FileFacts) -> bool {
        let changed = [facts.identity.born_ns, Some(facts.modified_ns)];
        changed.into_iter().flatten().any(|at_ns| self.has(at_ns))
    }

    fn has(&self, at_ns: u64) -> bool {
        let since = self.closed_ns.map(|from| (from, u64::MAX));
        self.spans.iter().copied().chain(since).any(|(from, to)| {
            let begun = from == 0 || at_ns > from.saturating_add(SLACK_NS);
            begun && at_ns < to.saturating_sub(SLACK_NS)
        })
    }
}

fn span(line: &str) -> Option<(u64, u64)> {
    let (from, to) = line.strip_prefix(WORD)?.split_once(' ')?;
    let span: (u64, u64) = (from.parse().ok()?, to.parse().ok()?);
    (0 < span.0 && span.0 < span.1).then_some(span)
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: u64 = 1_000_000_000;

    #[test]
    fn what_lies_clearly_in_a_time_without_work_is_somebody_elses() {
        let absence = Absence {
            spans: vec![(0, 100 * S), (200 * S, 300 * S)],
            closed_ns: Some(400 * S),
        };
        for (second, foreign) in [
            (1, true),
            (97, true),
            (99, false),
            (150, false),
            (201, false),
            (203, true),
            (297, true),
            (299, false),
            (401, false),
            (403, true),
        ] {
            assert_eq!(absence.has(second * S), foreign, "{second}");
        }
    }

    #[test]
    fn lines_come_back_and_no_more_are_kept_than_allowed() {
        let spans = (1..400).map(|n| (n * S, n * S + S / 2));
        let absence = Absence {
            spans: [(0, 5)].into_iter().chain(spans).collect(),
            closed_ns: None,
        };
        let text = absence.lines();
        let back: Vec<_> = text.lines().filter_map(span).collect();
        assert_eq!(back.len(), MOST);
        assert_eq!(back.last(), absence.spans.last());
        assert!(text.lines().all(Absence::is_line));
        for line in [
            "idle",
            "idle 1",
            "idle 0 5",
            "idle 7 3",
            "idle -1 3",
            "rank 1",
        ] {
            assert_eq!(span(line), None, "{line}");
        }
    }
}
