//! A repeated content in parts: `"abcd"0xdeadbeef-12%o`.
//!
//! - `"text"`: its bytes
//! - `0xdead`: these bytes, in the order in which they are written
//! - `-12`, `5`: a whole number of 32 bits, little end first, in as few bytes
//!   as it needs
//! - `%o`: the offset of the block in its file, eight bytes, little end first

use fathom_model::workload::{Content, Part};

/// Bytes that all parts may have together.
pub(super) const MAX_BYTES: usize = 512;
const OFFSET_BYTES: usize = 8;

/// Reads the parts; neighbouring bytes become one part.
pub(super) fn read(text: &str) -> Result<Content, String> {
    let mut parts: Vec<Part> = Vec::new();
    let mut length = 0;
    let mut rest = text.trim();
    while !rest.is_empty() {
        let (part, after) = next(rest).ok_or_else(|| explain(rest))?;
        length += match &part {
            Part::Bytes(bytes) => bytes.len(),
            Part::Offset => OFFSET_BYTES,
        };
        if length > MAX_BYTES {
            return Err(format!("a content of more than {MAX_BYTES} bytes"));
        }
        match (parts.last_mut(), part) {
            (Some(Part::Bytes(before)), Part::Bytes(bytes)) => before.extend(bytes),
            (_, part) => parts.push(part),
        }
        rest = after.trim_start();
    }
    match parts.as_slice() {
        [Part::Bytes(bytes)] if !bytes.is_empty() => Ok(Content::Bytes(bytes.clone())),
        [] | [Part::Bytes(_)] => Err("a content of no bytes".to_owned()),
        _ => Ok(Content::Parts(parts)),
    }
}

/// As it is written in a plan.
pub(super) fn text(parts: &[Part]) -> String {
    let texts = parts.iter().map(|part| match part {
        Part::Bytes(bytes) => hex_text(bytes),
        Part::Offset => "%o".to_owned(),
    });
    texts.collect()
}

/// `0xdead`.
pub(super) fn hex_text(bytes: &[u8]) -> String {
    format!("0x{}", hex::encode(bytes))
}

fn explain(rest: &str) -> String {
    let part: String = rest.chars().take(20).collect();
    let file = match part.starts_with('\'') {
        true => "; the content of a file cannot be taken",
        false => "",
    };
    format!("'{part}' is not a part of a content{file}; write \"text\", 0xdead, a number or %o")
}

/// The first part, and what follows it.
fn next(text: &str) -> Option<(Part, &str)> {
    if let Some(rest) = text.strip_prefix('"') {
        let (inside, after) = rest.split_once('"')?;
        return Some((Part::Bytes(inside.as_bytes().to_vec()), after));
    }
    if let Some(after) = text.strip_prefix("%o") {
        return Some((Part::Offset, after));
    }
    if let Some(digits) = text.strip_prefix("0x").or(text.strip_prefix("0X")) {
        let all = digits.bytes().take_while(u8::is_ascii_hexdigit).count();
        // In 0xff0x14 the second 0 begins the next part.
        let next_begins = digits[all..].starts_with(['x', 'X']) && digits[..all].ends_with('0');
        let length = all - usize::from(next_begins);
        let bytes = bytes_of_hex(&digits[..length])?;
        return Some((Part::Bytes(bytes), &digits[length..]));
    }
    let sign = usize::from(text.starts_with('-'));
    let digits = text[sign..].bytes().take_while(u8::is_ascii_digit).count();
    let length = match text[sign..].get(digits..) {
        Some(after) if digits > 1 && after.starts_with(['x', 'X']) => digits - 1,
        _ => digits,
    };
    let number: i32 = text.get(..sign + length)?.parse().ok()?;
    Some((Part::Bytes(few_bytes(number)), &text[sign + length..]))
}

fn few_bytes(number: i32) -> Vec<u8> {
    let bytes = number.to_le_bytes();
    let used = bytes
        .iter()
        .rposition(|b| *b != 0)
        .map_or(1, |last| last + 1);
    bytes[..used].to_vec()
}

/// Digits to bytes; of an odd number the first is a byte of its own.
pub(super) fn bytes_of_hex(digits: &str) -> Option<Vec<u8>> {
    if digits.is_empty() {
        return None;
    }
    let odd = if digits.len() % 2 == 1 { "0" } else { "" };
    hex::decode(format!("{odd}{digits}")).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn bytes(bytes: &[u8]) -> Content {
        Content::Bytes(bytes.to_vec())
    }

    #[test]
    fn each_kind_of_part_has_its_bytes() {
        assert_eq!(read("\"ab\""), Ok(bytes(b"ab")));
        assert_eq!(read("0xdeadf"), Ok(bytes(&[0x0d, 0xea, 0xdf])));
        assert_eq!(read("-12"), Ok(bytes(&[0xf4, 0xff, 0xff, 0xff])));
        assert_eq!(read("0"), Ok(bytes(&[0])));
        assert_eq!(read("256"), Ok(bytes(&[0, 1])));
        assert_eq!(read("0xff0x14"), Ok(bytes(&[0xff, 0x14])));
        assert_eq!(read("\"a\"0x0012"), Ok(bytes(&[b'a', 0, 0x12])));
        let parts = vec![Part::Offset, Part::Bytes(vec![1, 2])];
        assert_eq!(read("%o0x0102"), Ok(Content::Parts(parts)));
    }

    #[test]
    fn what_is_no_part_is_named() {
        for (text, hint) in [
            ("", "no bytes"),
            ("\"\"", "no bytes"),
            ("\"ab", "\"ab"),
            ("0x", "0x"),
            ("%q", "%q"),
            ("'file'", "content of a file"),
            ("99999999999", "9999"),
            ("abc", "abc"),
        ] {
            let message = read(text).unwrap_err();
            assert!(message.contains(hint), "{text}: {message}");
        }
        assert!(read(&"%o".repeat(65)).is_err());
    }

    proptest! {
        #[test]
        fn anything_is_read_or_refused(text in "\\PC{0,40}") {
            if let Ok(Content::Parts(parts)) = read(&text) {
                prop_assert_eq!(read(&super::text(&parts)), Ok(Content::Parts(parts)));
            }
        }
    }
}
