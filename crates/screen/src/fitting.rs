//! Texts and names for the columns that there are: what has no room goes by whole
//! words, and a mark shows that more was.

use fathom_report::table::{Align, display_width, pad, wrap};
use ratatui::text::{Line, Span};

const MORE: &str = "…";

/// The first words of a text.
pub(crate) fn words(text: &str, width: usize) -> String {
    if display_width(text) <= width {
        return text.to_owned();
    }
    let mut kept = String::new();
    for word in text.split(' ') {
        let longer = match kept.is_empty() {
            true => word.to_owned(),
            false => format!("{kept} {word}"),
        };
        if display_width(&longer) + 2 > width {
            break;
        }
        kept = longer;
    }
    let kept = kept.trim_end_matches([',', ';', ':', ' ', '(']);
    match kept.is_empty() {
        // One word that is too long.
        true => cut_end(text, width),
        false => format!("{kept} {MORE}"),
    }
}

/// The first parts of a line, of which each says something by itself.
pub(crate) fn parts(parts: &[String], width: usize) -> String {
    let mut kept = String::new();
    for part in parts {
        let longer = match kept.is_empty() {
            true => part.clone(),
            false => format!("{kept}  {part}"),
        };
        if display_width(&longer) > width {
            break;
        }
        kept = longer;
    }
    match (kept.is_empty(), parts.first()) {
        (true, Some(first)) => words(first, width),
        _ => kept,
    }
}

/// A text in at most so many lines; the last one shows that more was.
pub(crate) fn paragraph(text: &str, width: usize, most: usize) -> Vec<String> {
    let mut lines = wrap(text, width);
    if lines.len() > most {
        let rest = lines.split_off(most).join(" ");
        if let Some(last) = lines.last_mut() {
            *last = words(&format!("{last} {rest}"), width);
        }
    }
    lines
}

/// A name: paths keep their last parts, others their first ones.
pub(crate) fn name(text: &str, width: usize) -> String {
    if display_width(text) <= width {
        return text.to_owned();
    }
    let starts = text.char_indices().filter(|(_, c)| *c == '/');
    let ends = starts.map(|(at, _)| &text[at..]).filter(|end| {
        let is_path = !text.starts_with(|c: char| c.is_ascii_digit());
        is_path && end.len() > 1 && display_width(end) < width
    });
    match ends.max_by_key(|end| end.len()) {
        Some(end) => format!("{MORE}{end}"),
        None => {
            // A name of one long word after a number loses its end and not itself.
            let kept = words(text, width);
            match 2 * display_width(&kept) < width {
                true => cut_end(text, width),
                false => kept,
            }
        }
    }
}

fn cut_end(text: &str, width: usize) -> String {
    let mut kept = String::new();
    for c in text.chars() {
        kept.push(c);
        if display_width(&kept) + 1 > width {
            kept.pop();
            break;
        }
    }
    match width {
        0 => String::new(),
        _ => kept + MORE,
    }
}

/// Columns that spans take.
pub(crate) fn spans_width(spans: &[Span<'_>]) -> usize {
    spans.iter().map(|span| display_width(&span.content)).sum()
}

/// Spans filled with spaces to a width.
pub(crate) fn filled(mut spans: Vec<Span<'static>>, width: usize, align: Align) -> Line<'static> {
    let space = pad("", width.saturating_sub(spans_width(&spans)), Align::Left);
    match align {
        Align::Left => spans.push(Span::raw(space)),
        Align::Right => spans.insert(0, Span::raw(space)),
    }
    Line::from(spans)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_ends_amid_a_word() {
        assert_eq!(words("one two three", 13), "one two three");
        assert_eq!(words("one two three", 12), "one two …");
        assert_eq!(words("one, two", 7), "one …");
        assert_eq!(words("extraordinary", 6), "extra…");
        let given = ["12 user %".to_owned(), "load 3".to_owned()];
        assert_eq!(parts(&given, 17), "12 user %  load 3");
        assert_eq!(parts(&given, 16), "12 user %");
        assert_eq!(parts(&given, 6), "12 …");
    }

    #[test]
    fn a_paragraph_shows_that_it_goes_on() {
        let text = "aaaa bbbb cccc dddd eeee";
        assert_eq!(paragraph(text, 9, 3).len(), 3);
        assert_eq!(paragraph(text, 9, 2), ["aaaa bbbb", "cccc …"]);
        assert_eq!(paragraph("short", 20, 1), ["short"]);
    }

    #[test]
    fn paths_keep_their_end_and_processes_their_number() {
        let path = "system.slice/postgresql.service";
        assert_eq!(name(path, 25), "…/postgresql.service");
        assert_eq!(name("812 postgres: writer process", 16), "812 postgres …");
        assert_eq!(name("nas:/export/very/long on /mnt/data", 14), "…/mnt/data");
        assert_eq!(name("abcdefghij", 5), "abcd…");
        assert_eq!(name("9 kworker/u8:1-flush-8:0", 14), "9 kworker/u8:…");
        assert_eq!(name("日本日本", 5), "日本…");
    }
}
