//! Bytes of a file that a user gives, as text.

/// A file that is no text, and known as what it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NotText(&'static str);

/// The text of a file. UTF-16 is read, other bytes that are not UTF-8 are
/// replaced.
///
/// # Errors
/// A recognised format that is not text, with what to do.
pub fn text_of(bytes: Vec<u8>) -> Result<String, NotText> {
    match known(&bytes) {
        Some(what) => Err(NotText(what)),
        None => Ok(decoded(bytes)),
    }
}

/// What a file is that is no text, by its first bytes.
fn known(bytes: &[u8]) -> Option<&'static str> {
    // The magic number of sysstat's files, of hosts of either order of bytes.
    let sysstat = [[0x96, 0xd5], [0xd5, 0x96]];
    match bytes {
        [0x1f, 0x8b, ..] => Some("this is packed by gzip; unpack it with gunzip"),
        [0x28, 0xb5, 0x2f, 0xfd, ..] => Some("this is packed by zstd; unpack it with unzstd"),
        [0xfd, b'7', b'z', b'X', b'Z', ..] => Some("this is packed by xz; unpack it with unxz"),
        [b'B', b'Z', b'h', ..] => Some("this is packed by bzip2; unpack it with bunzip2"),
        [b'P', b'K', 3, 4, ..] => Some("this is packed by zip; unpack it with unzip"),
        [a, b, ..] if sysstat.contains(&[*a, *b]) => Some(
            "this is a file of sysstat's own (sa, sar -o); print it where it was written, with \
             `sadf -j FILE -- -A > day.json`",
        ),
        _ => None,
    }
}

/// Text in UTF-8, or in UTF-16 as PowerShell writes what is redirected.
fn decoded(bytes: Vec<u8>) -> String {
    let wide = |word: fn([u8; 2]) -> u16| {
        let words = bytes[2..]
            .chunks_exact(2)
            .map(|pair| word([pair[0], pair[1]]));
        let chars = char::decode_utf16(words);
        chars
            .map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER))
            .collect()
    };
    match &*bytes {
        [0xff, 0xfe, ..] => wide(u16::from_le_bytes),
        [0xfe, 0xff, ..] => wide(u16::from_be_bytes),
        _ => String::from_utf8(bytes)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_text_is_told_with_what_to_do() {
        for (bytes, words) in [
            (&b"\x1f\x8b\x08\0"[..], "gunzip"),
            (b"\x28\xb5\x2f\xfd\0", "unzstd"),
            (b"\x96\xd5u!\x0c", "sadf -j FILE -- -A"),
        ] {
            let told = text_of(bytes.to_vec()).unwrap_err().to_string();
            assert!(told.contains(words), "{told}");
        }
    }

    #[test]
    fn text_of_both_widths_is_read() {
        let little: Vec<u8> = "\u{feff}Linux"
            .encode_utf16()
            .flat_map(u16::to_le_bytes)
            .collect();
        let big: Vec<u8> = "\u{feff}Linux"
            .encode_utf16()
            .flat_map(u16::to_be_bytes)
            .collect();
        for bytes in [&little[..], &big, b"Linux"] {
            assert_eq!(text_of(bytes.to_vec()).as_deref(), Ok("Linux"));
        }
    }
}
