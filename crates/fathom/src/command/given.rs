//! A file that a user gives to be judged, as text.

use std::io::{Error, ErrorKind, Read};
use std::path::Path;

use fathom_compat::recordings::MOST_BYTES;
use fathom_model::unit;

/// The content; `-` is standard input. UTF-16 is read, other bytes that are not
/// UTF-8 are replaced.
///
/// # Errors
/// It cannot be read, is too large, or is no text and known as what it is.
pub(crate) fn text(path: &Path) -> Result<String, String> {
    let mut bytes = Vec::new();
    let read = match path == Path::new("-") {
        true => std::io::stdin()
            .lock()
            .take(MOST_BYTES + 1)
            .read_to_end(&mut bytes),
        false => fathom_deadline::paths::open(path)
            .and_then(|f| f.take(MOST_BYTES + 1).read_to_end(&mut bytes)),
    };
    read.map_err(unreadable)?;
    if bytes.len() as u64 > MOST_BYTES {
        let most = unit::bytes_exact(MOST_BYTES);
        return Err(format!(
            "larger than {most}; cut it into parts of some hours"
        ));
    }
    if let Some(what) = no_text(&bytes) {
        return Err(what.to_owned());
    }
    Ok(decoded(bytes))
}

fn unreadable(error: Error) -> String {
    match error.kind() {
        ErrorKind::NotFound => {
            "there is no such file; `fathom record list` names what was recorded \
                                here"
                .to_owned()
        }
        ErrorKind::PermissionDenied => {
            format!("{error}; recordings are for their owner only: run as that user, or as root")
        }
        _ => error.to_string(),
    }
}

/// What a file is that is no text, by its first bytes.
fn no_text(bytes: &[u8]) -> Option<&'static str> {
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
            let file = tempfile::NamedTempFile::new().unwrap();
            std::fs::write(file.path(), bytes).unwrap();
            let told = text(file.path()).unwrap_err();
            assert!(told.contains(words), "{told}");
        }
        assert!(
            text(Path::new("nofile"))
                .unwrap_err()
                .contains("fathom record list")
        );
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
            assert_eq!(decoded(bytes.to_vec()), "Linux");
        }
    }
}
