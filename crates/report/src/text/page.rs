//! The page that text sections write to.

pub(crate) use fathom_model::view::Tone;

use super::options::TextOptions;
use crate::table::{Align, Table, display_width, pad, wrap};

/// Columns of the names of fields (`Validity:`, `Limiter:`, …).
const FIELD_WIDTH: usize = 10;

/// The words in the tone's colour, when colour is on.
pub fn paint(words: &str, tone: Tone, color: bool) -> String {
    if !color {
        return words.to_owned();
    }
    let code = match tone {
        Tone::Good => "32",
        Tone::Warning => "33",
        Tone::Bad => "1;31",
        Tone::Strong => "1",
    };
    format!("\x1b[{code}m{words}\x1b[0m")
}

/// A text that was cut, without the phrase in which it was: up to the last comma or the
/// bracket that is still open, where that leaves most of it.
fn phrases_of(cut: &str) -> &str {
    let least = cut.len() / 2;
    let open = cut
        .rfind(['(', '['])
        .filter(|at| !cut[*at..].contains([')', ']']));
    let whole = match open {
        Some(at) if at >= least => &cut[..at],
        _ => cut,
    };
    let end = ["; ", ", ", ": "]
        .iter()
        .filter_map(|stop| whole.rfind(stop));
    let kept = match (open, end.max()) {
        (Some(at), _) if at >= least => whole,
        (_, Some(at)) if at >= least => &whole[..at],
        _ => whole,
    };
    kept.trim_end().trim_end_matches([',', ';', ':'])
}

/// Text under construction.
pub(crate) struct Page {
    out: String,
    pub(crate) width: usize,
    pub(crate) verbose: bool,
    color: bool,
}

impl Page {
    pub(crate) fn new(options: &TextOptions) -> Page {
        Page {
            out: String::new(),
            width: options.width.max(40),
            verbose: options.verbose,
            color: options.color,
        }
    }

    /// One line as it is.
    pub(crate) fn line(&mut self, text: &str) {
        self.out.push_str(text.trim_end());
        self.out.push('\n');
    }

    /// A table, within the width of the page.
    pub(crate) fn table(&mut self, table: &Table) {
        self.block(&table.fit(self.width));
    }

    /// Several lines as they are.
    pub(crate) fn block(&mut self, text: &str) {
        self.out.push_str(text);
    }

    /// An empty line, unless there is one already.
    pub(crate) fn blank(&mut self) {
        if !self.out.is_empty() && !self.out.ends_with("\n\n") {
            self.out.push('\n');
        }
    }

    /// `Name:     text`, wrapped under itself.
    pub(crate) fn field(&mut self, name: &str, text: &str) {
        self.field_toned(name, text, None);
    }

    /// A field whose leading words carry a tone.
    pub(crate) fn field_toned(&mut self, name: &str, text: &str, toned: Option<(&str, Tone)>) {
        let lines = wrap(text, self.width - FIELD_WIDTH);
        for (i, line) in lines.iter().enumerate() {
            let name = match (i, name) {
                (0, name) if !name.is_empty() => format!("{name}:"),
                _ => String::new(),
            };
            let line = match toned {
                Some((words, tone)) if i == 0 && line.starts_with(words) => {
                    format!("{}{}", self.paint(words, tone), &line[words.len()..])
                }
                _ => line.clone(),
            };
            self.line(&format!("{}{line}", pad(&name, FIELD_WIDTH, Align::Left)));
        }
    }

    /// A sentence below the text of a field.
    pub(crate) fn below_field(&mut self, text: &str) {
        self.paragraph(FIELD_WIDTH, FIELD_WIDTH + 2, text);
    }

    /// A paragraph of at most so many lines; the last one ends with an ellipsis
    /// where words are missing.
    pub(crate) fn paragraph_of(&mut self, indent: usize, hang: usize, text: &str, lines: usize) {
        let room = self.width.saturating_sub(hang.max(indent));
        let wrapped = wrap(text, room);
        if wrapped.len() <= lines {
            self.paragraph(indent, hang, text);
            return;
        }
        let kept = wrapped[..lines].join(" ");
        // The ellipsis takes the place of the last word where it has no other.
        let full = wrapped
            .get(lines - 1)
            .is_some_and(|last| display_width(last) + 2 > room);
        let kept = match kept.rsplit_once(' ') {
            Some((words, _)) if full => words,
            _ => kept.as_str(),
        };
        self.paragraph(indent, hang, &format!("{} …", phrases_of(kept)));
    }

    /// Whether a sign that a legend would explain was written.
    pub(crate) fn shows(&self, sign: char) -> bool {
        self.out.contains(sign)
    }

    /// Wrapped text from column `indent`, further lines from column `hang`.
    pub(crate) fn paragraph(&mut self, indent: usize, hang: usize, text: &str) {
        let room = self.width.saturating_sub(hang.max(indent));
        let mut indent = indent;
        for line in wrap(text, room) {
            self.line(&format!("{}{line}", " ".repeat(indent)));
            indent = hang;
        }
    }

    /// The words in the tone's colour, when colour is on.
    pub(crate) fn paint(&self, words: &str, tone: Tone) -> String {
        paint(words, tone, self.color)
    }

    pub(crate) fn finish(self) -> String {
        let mut out = self.out;
        while out.ends_with("\n\n") {
            out.pop();
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::phrases_of;

    #[test]
    fn a_cut_leaves_whole_phrases() {
        for (cut, kept) in [
            (
                "this process read 0 B from vda, for 1,267,546",
                "this process read 0 B from vda",
            ),
            (
                "the interval is 4 % of the mean [all; the figures of A",
                "the interval is 4 % of the mean",
            ),
            (
                "half (as it was) of the reads of this",
                "half (as it was) of the reads of this",
            ),
            (
                "a, and so much more without a single stop",
                "a, and so much more without a single stop",
            ),
            ("words that end here,", "words that end here"),
        ] {
            assert_eq!(phrases_of(cut), kept);
        }
    }
}
