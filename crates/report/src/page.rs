//! A page of the documentation as text for a terminal: paragraphs and lists in lines
//! of its width, tables aligned, code as it stands.

mod blocks;
mod grid;

use std::fmt::Write;

use crate::table::wrap;
use blocks::{Block, blocks};

/// What a page becomes: its lines, with what follows the reader's own context.
pub struct Page<'a> {
    /// Columns of a line.
    pub width: usize,
    /// What to type for the page that a link leads to, where there is one.
    pub topic_of: &'a dyn Fn(&str) -> Option<String>,
    /// A heading as it is shown.
    pub heading: &'a dyn Fn(&str) -> String,
}

impl Page<'_> {
    /// The text of a page in Markdown.
    #[must_use]
    pub fn render(&self, markdown: &str) -> String {
        let mut out = String::new();
        let mut after_item = false;
        for block in blocks(markdown) {
            let is_item = matches!(block, Block::Item(..));
            let goes_on = is_item && after_item;
            if !out.is_empty() && !goes_on {
                out.push('\n');
            }
            after_item = is_item;
            self.push(&mut out, &block);
        }
        out
    }

    fn push(&self, out: &mut String, block: &Block<'_>) {
        match block {
            Block::Heading(text) => {
                out.push_str(&(self.heading)(&self.words(text)));
                out.push('\n');
            }
            Block::Paragraph(text) => {
                for line in wrap(&self.words(text), self.width) {
                    out.push_str(&line);
                    out.push('\n');
                }
            }
            Block::Item(indent, mark, text) => {
                let hanging = " ".repeat(indent + mark.chars().count() + 1);
                let room = self.width.saturating_sub(hanging.len());
                for (at, line) in wrap(&self.words(text), room).iter().enumerate() {
                    let _ = match at {
                        0 => writeln!(out, "{}{mark} {line}", " ".repeat(*indent)),
                        _ => writeln!(out, "{hanging}{line}"),
                    };
                }
            }
            Block::Table(rows) => out.push_str(&self.table(rows)),
            Block::Code(lines) => {
                for line in lines {
                    out.push_str(format!("    {line}").trim_end());
                    out.push('\n');
                }
            }
        }
    }

    /// The words of a text without the marks of Markdown that a terminal has no use for.
    fn words(&self, text: &str) -> String {
        let mut out = String::new();
        let mut rest = text;
        while let Some(at) = rest.find(['[', '`', '*', '!', '\\']) {
            out.push_str(&rest[..at]);
            rest = &rest[at..];
            let taken = self
                .code(rest, &mut out)
                .or_else(|| self.link(rest, &mut out))
                .or_else(|| rest.starts_with("**").then_some(2))
                .or_else(|| rest.starts_with("\\|").then_some(1))
                .unwrap_or_else(|| {
                    out.extend(rest.chars().next());
                    1
                });
            rest = &rest[taken..];
        }
        out.push_str(rest);
        out
    }

    /// Takes code between backticks as it stands.
    fn code(&self, rest: &str, out: &mut String) -> Option<usize> {
        let inner = rest.strip_prefix('`')?;
        let end = inner.find('`')?;
        out.push_str(&rest[..end + 2].replace("\\|", "|"));
        Some(end + 2)
    }

    /// Takes `[words](target)` as the words, and what to type for the target;
    /// `![words](target)` as the name of a picture.
    fn link(&self, rest: &str, out: &mut String) -> Option<usize> {
        let opening = if rest.starts_with('!') { "![" } else { "[" };
        let (words, behind) = rest.strip_prefix(opening)?.split_once("](")?;
        let (target, _) = behind.split_once(')')?;
        if words.contains('[') {
            return None;
        }
        let shown = self.words(words);
        match (opening, (self.topic_of)(target)) {
            ("![", _) => _ = write!(out, "(picture: {shown})"),
            (_, Some(typed)) => _ = write!(out, "{shown} (`{typed}`)"),
            (_, None) => out.push_str(&shown),
        }
        Some(opening.len() + words.len() + "](".len() + target.len() + ")".len())
    }

    fn table(&self, rows: &[Vec<&str>]) -> String {
        /// Rows of more lines are set apart by an empty one.
        const ALONE_MOST: usize = 2;
        let words = |row: &Vec<&str>| row.iter().map(|cell| self.words(cell)).collect();
        let rows: Vec<Vec<String>> = rows.iter().map(words).collect();
        let rows = grid::lines(&rows, self.width);
        let apart = rows.iter().any(|lines| lines.len() > ALONE_MOST);
        let mut out = String::new();
        for (at, lines) in rows.iter().enumerate() {
            if apart && at > 0 {
                out.push('\n');
            }
            for line in lines {
                let head = (at == 0 && !line.is_empty()).then(|| (self.heading)(line));
                let _ = writeln!(out, "{}", head.as_ref().unwrap_or(line));
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(markdown: &str) -> String {
        let page = Page {
            width: 40,
            topic_of: &|target| (target == "fleet.md").then(|| "fathom help fleet".to_owned()),
            heading: &|text| text.to_uppercase(),
        };
        page.render(markdown)
    }

    #[test]
    fn paragraphs_are_wrapped_and_links_become_what_to_type() {
        let text =
            shown("# Hosts\n\nOne **binary** for [many hosts](fleet.md),\nsee [there](x.md).\n");
        assert_eq!(
            text,
            "HOSTS\n\nOne binary for many hosts (`fathom help\nfleet`), see there.\n"
        );
    }

    #[test]
    fn code_stands_as_it_is_and_lists_hang() {
        let text = shown(
            "- one [1](x)\n  and more of the same item, which is long\n- `a*b`\n\n```console\n$ fathom io  [x](y)\n```\n",
        );
        assert_eq!(
            text,
            "- one 1 and more of the same item, which\n  is long\n- `a*b`\n\n    $ fathom io  [x](y)\n"
        );
    }

    #[test]
    fn tables_are_aligned_and_pictures_named() {
        let text = shown(
            "| a | what |\n|---|---|\n| `x\\|y` | two |\n\n![a chart](p.svg)\n\n<!-- no -->\n",
        );
        assert_eq!(text, "A      WHAT\n`x|y`  two\n\n(picture: a chart)\n");
    }

    #[test]
    fn what_is_not_closed_stays() {
        assert_eq!(
            shown("a [b and `c and ** d ![e](f\n"),
            "a [b and `c and d ![e](f\n"
        );
    }
}
