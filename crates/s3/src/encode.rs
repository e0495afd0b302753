//! Bytes as text: percent encoding as AWS signs it, hexadecimal, base64.

const UPPER_HEX: &[u8; 16] = b"0123456789ABCDEF";
const BASE64: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Appends `bytes` with everything percent-encoded that is not unreserved
/// (RFC 3986), as the canonical request of SigV4 wants it. `slashes` stay as
/// they are in paths and are encoded in queries.
pub fn percent(out: &mut Vec<u8>, bytes: &[u8], slashes: bool) {
    for &byte in bytes {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => out.push(byte),
            b'/' if slashes => out.push(byte),
            _ => out.extend([
                b'%',
                UPPER_HEX[usize::from(byte >> 4)],
                UPPER_HEX[usize::from(byte & 15)],
            ]),
        }
    }
}

/// What [`percent`] made of a text; what is no encoding stays as it is.
pub(crate) fn unpercent(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let [first, tail @ ..] = rest {
        let decoded = match (first, tail) {
            (b'%', [high, low, ..]) => digit(*high).zip(digit(*low)),
            _ => None,
        };
        match decoded {
            Some((high, low)) => {
                out.push(high << 4 | low);
                rest = &tail[2..];
            }
            None => {
                out.push(*first);
                rest = tail;
            }
        }
    }
    out
}

fn digit(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).map(|digit| digit as u8)
}

/// Appends `bytes` in lower-case hexadecimal.
pub fn hex(out: &mut Vec<u8>, bytes: &[u8]) {
    let start = out.len();
    out.resize(start + 2 * bytes.len(), b'0');
    // It fails only where the length is another one.
    let _ = hex::encode_to_slice(bytes, &mut out[start..]);
}

/// `bytes` in base64, padded.
pub fn base64(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let mut group = [0; 3];
        group[..chunk.len()].copy_from_slice(chunk);
        let bits = u32::from(group[0]) << 16 | u32::from(group[1]) << 8 | u32::from(group[2]);
        for at in 0..4 {
            let six = (bits >> (18 - 6 * at) & 63) as usize;
            text.push(match at <= chunk.len() {
                true => char::from(BASE64[six]),
                false => '=',
            });
        }
    }
    text
}

/// Appends a number in decimal.
pub fn decimal(out: &mut Vec<u8>, mut number: u64) {
    let mut digits = [0_u8; 20];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[at..]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn texts_are_as_others_write_them() {
        let encoded = |text: &str, slashes| {
            let mut out = Vec::new();
            percent(&mut out, text.as_bytes(), slashes);
            String::from_utf8(out).unwrap()
        };
        assert_eq!(encoded("a b/ü~$", true), "a%20b/%C3%BC~%24");
        assert_eq!(encoded("a/b=", false), "a%2Fb%3D");
        for (bytes, text) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foob", "Zm9vYg=="),
        ] {
            assert_eq!(base64(bytes.as_bytes()), text);
        }
        let mut out = Vec::new();
        decimal(&mut out, 0);
        decimal(&mut out, u64::MAX);
        hex(&mut out, &[0, 0xaf]);
        assert_eq!(out, b"01844674407370955161500af");
    }

    proptest! {
        #[test]
        fn what_was_encoded_is_decoded(bytes: Vec<u8>, slashes: bool) {
            let mut out = Vec::new();
            percent(&mut out, &bytes, slashes);
            prop_assert_eq!(unpercent(&out), bytes);
        }

        #[test]
        fn any_text_is_decoded_to_something(text: Vec<u8>) {
            prop_assert!(unpercent(&text).len() <= text.len());
        }
    }
}
