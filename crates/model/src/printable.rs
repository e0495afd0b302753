//! Texts with names of others as people may see them: without characters that a
//! terminal obeys or that change the direction of what follows.

use std::borrow::Cow;

/// The text on one line, with control and direction-changing characters
/// replaced.
pub fn one_line(text: &str) -> String {
    text.chars()
        .map(|c| match c {
            '\n' | '\r' | '\t' => ' ',
            c => shown(c),
        })
        .collect()
}

/// The text with such characters replaced, its lines and tabs kept.
pub fn lines(text: &str) -> Cow<'_, str> {
    let kept = |c: char| matches!(c, '\n' | '\t') || shown(c) == c;
    match text.chars().all(kept) {
        true => Cow::Borrowed(text),
        false => text
            .chars()
            .map(|c| if kept(c) { c } else { shown(c) })
            .collect(),
    }
}

/// A character, or what is shown in its place.
fn shown(c: char) -> char {
    match c {
        c if c.is_control() => '?',
        '\u{61c}' | '\u{200e}' | '\u{200f}' => '?',
        '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => '?',
        c => c,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_obeys_is_replaced() {
        let name = "a\u{1b}[31mb\u{202e}c\u{9b}d\re\nf\tg";
        assert_eq!(one_line(name), "a?[31mb?c?d e f g");
        assert_eq!(lines(name), "a?[31mb?c?d?e\nf\tg");
    }

    #[test]
    fn ordinary_text_stays() {
        let text = "1 µs – größer 日本\n";
        assert!(matches!(lines(text), Cow::Borrowed(_)));
        assert_eq!(one_line(text), "1 µs – größer 日本 ");
    }
}
