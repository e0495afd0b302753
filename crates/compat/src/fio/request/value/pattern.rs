//! `buffer_pattern` and `verify_pattern`: bytes as text, number or file.
//!
//! `0xdeadface` is its bytes from the first digit on, `"text"` the bytes of the
//! text (with `\n`, `\t`, `\\`, `\"`), `-12` the bytes of a number. Parts may
//! follow one another: `0xff"abc"-12`.

use fathom_model::workload::{Content, Part};

use super::{Wrong, not};

/// Bytes that a pattern may have.
const MAX_BYTES: usize = 512;
const OFFSET_BYTES: usize = 8;

/// A pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Pattern {
    /// This content over and over.
    Content(Content),
    /// The content of this file.
    File(String),
}

/// Reads a pattern.
pub(crate) fn read(text: &str) -> Result<Pattern, Wrong> {
    if let Some(rest) = text.strip_prefix('\'') {
        return match rest.strip_suffix('\'').filter(|path| !path.is_empty()) {
            Some(path) => Ok(Pattern::File(path.to_owned())),
            None => Err(Wrong::new(0, "the name of a file stands between two '")),
        };
    }
    let mut parts: Vec<Part> = Vec::new();
    let mut length = 0;
    let mut rest = text;
    while !rest.is_empty() {
        let at = text.chars().count() - rest.chars().count();
        if let Some(behind) = rest.strip_prefix("%o") {
            parts.push(Part::Offset);
            length += OFFSET_BYTES;
            rest = behind;
        } else {
            let (bytes, behind) = part(rest).map_err(|wrong| wrong.right(at))?;
            length += bytes.len();
            match parts.last_mut() {
                Some(Part::Bytes(before)) => before.extend(bytes),
                _ => parts.push(Part::Bytes(bytes)),
            }
            rest = behind;
        }
        if length > MAX_BYTES {
            return Err(Wrong::new(
                at,
                format!("a pattern has at most {MAX_BYTES} bytes"),
            ));
        }
    }
    match parts.as_slice() {
        _ if length == 0 => Err(Wrong::new(0, "the pattern is empty")),
        [Part::Bytes(bytes)] => Ok(Pattern::Content(Content::Bytes(bytes.clone()))),
        _ => Ok(Pattern::Content(Content::Parts(parts))),
    }
}

fn part(text: &str) -> Result<(Vec<u8>, &str), Wrong> {
    if let Some(rest) = text.strip_prefix('"') {
        return quoted(rest);
    }
    if let Some(digits) = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        let end = digits.find(|c: char| !c.is_ascii_hexdigit());
        let (digits, rest) = digits.split_at(end.unwrap_or(digits.len()));
        // An odd digit stands alone in the first byte.
        let padded = match digits.len() % 2 {
            0 => digits.to_owned(),
            _ => format!("0{digits}"),
        };
        let pair = |at: usize| u8::from_str_radix(padded.get(at..at + 2)?, 16).ok();
        let bytes: Vec<u8> = (0..padded.len()).step_by(2).filter_map(pair).collect();
        return match bytes.is_empty() {
            true => Err(not(text, "a pattern: digits are missing after 0x")),
            false => Ok((bytes, rest)),
        };
    }
    let end = text
        .char_indices()
        .find(|(at, c)| !(c.is_ascii_digit() || (*at == 0 && *c == '-')));
    let mut end = end.map_or(text.len(), |(at, _)| at);
    // The 0 of a hexadecimal part that follows is not a digit of this one.
    let follows = text[end..].starts_with(['x', 'X']) && text[..end].ends_with('0');
    if follows && end > 1 {
        end -= 1;
    }
    let (number, rest) = text.split_at(end);
    let wrong = || not(text, "a pattern, for example 0xdeadbeef or \"text\"");
    let number: i64 = number.parse().map_err(|_| wrong())?;
    let bytes = number.to_le_bytes();
    let used = match number {
        -128..=0xff => 1,
        -32_768..=0xffff => 2,
        -2_147_483_648..=0xffff_ffff => 4,
        _ => 8,
    };
    Ok((bytes[..used].to_vec(), rest))
}

fn quoted(text: &str) -> Result<(Vec<u8>, &str), Wrong> {
    let mut bytes = Vec::new();
    let mut characters = text.char_indices();
    while let Some((at, c)) = characters.next() {
        let c = match c {
            '"' => return Ok((bytes, &text[at + 1..])),
            '\\' => match characters.next() {
                Some((_, 'n')) => '\n',
                Some((_, 't')) => '\t',
                Some((_, '0')) => '\0',
                Some((_, other)) => other,
                None => break,
            },
            c => c,
        };
        bytes.extend(c.encode_utf8(&mut [0; 4]).as_bytes());
    }
    Err(Wrong::new(0, "the text has no second \""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_read() {
        let bytes = |text| match read(text) {
            Ok(Pattern::Content(Content::Bytes(bytes))) => bytes,
            other => panic!("{text}: {other:?}"),
        };
        assert_eq!(bytes("0xdeadface"), [0xde, 0xad, 0xfa, 0xce]);
        assert_eq!(bytes("0xfff"), [0x0f, 0xff]);
        assert_eq!(bytes("\"abcd\""), b"abcd");
        assert_eq!(bytes("\"a\\nb\"-12"), [b'a', b'\n', b'b', 0xf4]);
        assert_eq!(bytes("0xff\"abcd\"-12").len(), 6);
        assert_eq!(read("'file'"), Ok(Pattern::File("file".to_owned())));
        assert_eq!(
            read("0xff%o"),
            Ok(Pattern::Content(Content::Parts(vec![
                Part::Bytes(vec![0xff]),
                Part::Offset
            ])))
        );
        assert_eq!(
            bytes("\"abcd\"-120xdeadface")[4..],
            [0xf4, 0xde, 0xad, 0xfa, 0xce]
        );
        assert_eq!(bytes("10"), [10]);
        for text in ["", "0x", "\"abc", "'", "hello", "''"] {
            assert!(read(text).is_err(), "{text}");
        }
        assert!(read(&format!("0x{}", "f".repeat(5000))).is_err());
    }
}
