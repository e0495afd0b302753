//! Keeps the keys of a store out of messages that show lines of a file.

use fathom_model::nearest::nearest;
use fathom_plan::yaml::{Node, NodeKind};

/// Keys whose values are secret.
const SECRET: [&str; 3] = ["secret_key", "access_key", "password"];

/// The text with the values of secret keys replaced, byte for byte.
pub(super) fn masked(text: &str, root: &Node) -> String {
    let mut bytes = text.as_bytes().to_vec();
    cover(root, text, &mut bytes);
    cover_comments(text, &mut bytes);
    // Whole characters were replaced by as many stars as they have bytes.
    String::from_utf8(bytes).unwrap_or_default()
}

fn cover(node: &Node, text: &str, bytes: &mut [u8]) {
    match &node.kind {
        NodeKind::List(items) => items.iter().for_each(|item| cover(item, text, bytes)),
        NodeKind::Map(entries) => {
            for (key, value) in entries {
                match key.text().is_some_and(is_secret) {
                    true => {
                        let from = value.span.or(key.span).map_or(0, |s| s.start as usize);
                        stars(bytes, from, end_of_value(text, value, from));
                    }
                    false => cover(value, text, bytes),
                }
            }
        }
        NodeKind::Null | NodeKind::Scalar(_) => {}
    }
}

/// A line that was commented out may hold a secret as well.
fn cover_comments(text: &str, bytes: &mut [u8]) {
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let begins = |at: usize| at == 0 || line.as_bytes()[at - 1].is_ascii_whitespace();
        let comment = line.match_indices('#').find(|(at, _)| begins(*at));
        if let Some((at, _)) = comment
            && line[at + 1..]
                .split([':', ' ', '"', '\'', '{', ','])
                .any(is_secret)
        {
            stars(bytes, start + at + 1, start + line.len());
        }
        start += line.len();
    }
}

/// Whether a key is one with a secret, or was meant to be one.
fn is_secret(name: &str) -> bool {
    SECRET.iter().any(|secret| name.contains(secret)) || nearest(name, SECRET).is_some()
}

/// A value of one line ends where it ends; anything else may be anything, and
/// goes to the end of the text.
fn end_of_value(text: &str, value: &Node, from: usize) -> usize {
    match (&value.kind, value.span) {
        (NodeKind::Scalar(scalar), Some(span)) if !scalar.contains('\n') => {
            let end = span.range_in(text).end;
            // A folded value's place ends with its first line.
            match end - from.min(end) >= scalar.len() {
                true => end,
                false => text.len(),
            }
        }
        (NodeKind::Null, _) => from,
        _ => text.len(),
    }
}

fn stars(bytes: &mut [u8], from: usize, to: usize) {
    let to = to.min(bytes.len());
    for byte in bytes.get_mut(from.min(to)..to).unwrap_or_default() {
        if !matches!(byte, b'\n' | b'\r') {
            *byte = b'*';
        }
    }
}

/// The same for a text that cannot be read: all that follows the name of a
/// secret key, to the end of the text where a line is not enough.
pub(super) fn masked_by_words(text: &str) -> String {
    let mut bytes = text.as_bytes().to_vec();
    for name in SECRET {
        for (at, _) in text.match_indices(name) {
            let from = at + name.len();
            let end = text[from..].find('\n').map_or(text.len(), |n| from + n);
            let more = text[end..].lines().nth(1).unwrap_or_default();
            // A value may begin on the next line.
            let empty = text[from..end]
                .trim_matches(|c: char| c.is_whitespace() || "\":|>'-+".contains(c))
                .is_empty();
            let end = match empty {
                true => end + 1 + more.len(),
                false => end,
            };
            stars(&mut bytes, from, end);
        }
    }
    String::from_utf8(bytes).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_covered_and_places_stay() {
        let text = "s3_config:\n- {access_key: abc, secret_key: \"päss\", region: r}\n";
        let root = fathom_plan::yaml::read(text).unwrap();
        let masked = masked(text, &root);
        assert_eq!(masked.len(), text.len());
        assert!(
            !masked.contains("abc") && !masked.contains("ss\""),
            "{masked}"
        );
        assert!(masked.contains("region: r"), "{masked}");
    }

    #[test]
    fn secrets_in_comments_are_covered() {
        let text = "s3_config:\n#  secret_key: top\n- region: r # secret_key: top\n- a: b#c\n";
        let root = fathom_plan::yaml::read(text).unwrap();
        let shown = masked(text, &root);
        assert!(!shown.contains("top"), "{shown}");
        assert!(shown.contains("a: b#c") && shown.len() == text.len());
    }

    #[test]
    fn secrets_under_misspelled_names_are_covered() {
        for name in ["secretkey", "A secret_key", "secret_kay", "acces_key"] {
            let text = format!("s3_config:\n- {{{name}: hidden, region: r}}\n");
            let masked = masked(&text, &fathom_plan::yaml::read(&text).unwrap());
            assert!(
                !masked.contains("hidden") && masked.contains("region: r"),
                "{masked}"
            );
        }
    }

    #[test]
    fn what_cannot_be_read_shows_nothing_after_a_secret_name() {
        let masked = masked_by_words("a: [\nsecret_key: hidden\nregion: r\npassword:\n  hidden\n");
        assert!(!masked.contains("hidden"), "{masked}");
        assert!(masked.contains("region: r"));
    }
}
