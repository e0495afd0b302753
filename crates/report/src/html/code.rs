//! Commands in sentences: what stands between backticks is code on a page.

use std::fmt::Write as _;

use askama::filters::{Html, Safe, escape};

/// A text as markup: escaped, with what stands between two backticks as code.
pub(crate) fn marked(text: impl AsRef<str>) -> Safe<String> {
    let mut rest = text.as_ref();
    let mut out = String::with_capacity(rest.len());
    while let Some((before, code, after)) = first_code(rest) {
        push_escaped(&mut out, before);
        out.push_str("<code>");
        push_escaped(&mut out, code);
        out.push_str("</code>");
        rest = after;
    }
    push_escaped(&mut out, rest);
    Safe(out)
}

fn push_escaped(out: &mut String, text: &str) {
    let Ok(text) = escape(text, Html);
    let _ = write!(out, "{text}");
}

/// What stands before, in and after the first pair of backticks.
fn first_code(text: &str) -> Option<(&str, &str, &str)> {
    let (before, rest) = text.split_once('`')?;
    let (code, after) = rest.split_once('`')?;
    Some((before, code, after))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_told_from_words() {
        let said = |text: &str| marked(text).0;
        assert_eq!(
            said("try `fathom doctor` first"),
            "try <code>fathom doctor</code> first"
        );
        assert_eq!(said("a ` alone"), "a ` alone");
        assert_eq!(
            said("`a` & `<b>` `"),
            "<code>a</code> &#38; <code>&#60;b&#62;</code> `"
        );
    }
}
