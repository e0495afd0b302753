//! Records of a text in columns apart by tabs, where a field with a tab, a line's
//! end or a quotation mark in it stands in quotation marks (RFC 4180).

use std::borrow::Cow;

/// Bytes of a record in quotation marks at most: a mark that is never closed must
/// not swallow the rest of a file.
const MOST_QUOTED_BYTES: usize = 64 << 10;

/// The fields of each record in turn. A mark that is not closed is a character
/// like others.
pub(crate) fn records(text: &str) -> impl Iterator<Item = Vec<Cow<'_, str>>> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let end = rest.find('\n').unwrap_or(rest.len());
        let line = &rest[..end];
        if line.contains('"')
            && !line.starts_with('#')
            && let Some((fields, used)) = quoted(rest)
        {
            rest = &rest[used..];
            return Some(fields);
        }
        rest = rest.get(end + 1..).unwrap_or_default();
        let line = line.strip_suffix('\r').unwrap_or(line);
        Some(line.split('\t').map(Cow::Borrowed).collect())
    })
}

/// A record with fields in quotation marks, and the bytes that it takes; `None`
/// when a mark is not closed or closed in the middle.
fn quoted(text: &str) -> Option<(Vec<Cow<'_, str>>, usize)> {
    let mut fields = Vec::new();
    let mut at = 0;
    loop {
        let field = &text[at..];
        let (value, length) = match field.strip_prefix('"') {
            Some(inner) => {
                let (value, length) = unquoted(inner)?;
                (Cow::Owned(value), length + 1)
            }
            None => {
                let end = field.find(['\t', '\n']).unwrap_or(field.len());
                (Cow::Borrowed(field[..end].trim_end_matches('\r')), end)
            }
        };
        fields.push(value);
        at += length;
        match text.as_bytes().get(at) {
            Some(b'\t') => at += 1,
            Some(b'\n') => return Some((fields, at + 1)),
            Some(b'\r') if text.as_bytes().get(at + 1) == Some(&b'\n') => {
                return Some((fields, at + 2));
            }
            None => return Some((fields, at)),
            Some(_) => return None,
        }
    }
}

/// A field behind its first quotation mark; the bytes up to behind the last one.
fn unquoted(text: &str) -> Option<(String, usize)> {
    let mut value = String::new();
    let mut at = 0;
    while at < MOST_QUOTED_BYTES {
        let rest = &text[at..];
        let end = rest.find('"')?;
        value.push_str(&rest[..end]);
        at += end + 1;
        if text.as_bytes().get(at) != Some(&b'"') {
            return Some((value, at));
        }
        value.push('"');
        at += 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn all(text: &str) -> Vec<Vec<String>> {
        let owned = |fields: Vec<Cow<'_, str>>| fields.into_iter().map(Cow::into_owned).collect();
        records(text).map(owned).collect()
    }

    #[test]
    fn fields_in_marks_hold_anything() {
        let text = "a\tb\n1\t\"x\ty\nz \"\"q\"\"\"\t3\r\n# \"no\n4\t5\"\t6\n";
        let expected = [
            vec!["a", "b"],
            vec!["1", "x\ty\nz \"q\"", "3"],
            vec!["# \"no"],
            vec!["4", "5\"", "6"],
        ];
        assert_eq!(all(text), expected);
    }

    #[test]
    fn a_mark_that_is_not_closed_spoils_its_own_line_only() {
        assert_eq!(all("1\t\"x\n2\t3"), [vec!["1", "\"x"], vec!["2", "3"]]);
        assert_eq!(all("\"a\"b\tc\nd"), [vec!["\"a\"b", "c"], vec!["d"]]);
    }

    proptest! {
        #[test]
        fn every_byte_is_read_once(text in "[a\"\t\n\r#]{0,60}") {
            let fields: usize = all(&text).iter().map(Vec::len).sum();
            prop_assert!(fields <= text.len() + 1);
        }

        #[test]
        fn what_was_quoted_comes_out_again(fields in prop::collection::vec("\\PC{0,8}|[\"\t\n]{1,4}", 1..5)) {
            let quote = |field: &String| format!("\"{}\"", field.replace('"', "\"\""));
            let line = fields.iter().map(quote).collect::<Vec<_>>().join("\t") + "\n";
            prop_assert_eq!(all(&line), [fields]);
        }
    }
}
