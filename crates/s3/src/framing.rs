//! A payload whose checksum follows it: the content coding `aws-chunked` with a
//! trailer, as Amazon describes it ("Signature calculations: including trailing
//! headers"), unsigned (`STREAMING-UNSIGNED-PAYLOAD-TRAILER`).
//!
//! Chunks of 1 MiB and a rest: their lengths in hexadecimal before, a line's end
//! behind each; then an empty chunk, the trailer and an empty line.

use super::checksum::Checksum;

/// Bytes of a chunk, as other clients have it.
const CHUNK_BYTES: u64 = 1 << 20;
const CHUNK_LINE: &[u8] = b"100000\r\n";
const LINE_END: &[u8] = b"\r\n";
/// Bytes of a whole chunk with what is around it.
const WHOLE_BYTES: u64 = CHUNK_LINE.len() as u64 + CHUNK_BYTES + LINE_END.len() as u64;

/// What is around a payload.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Framing {
    payload_bytes: u64,
    last_line: Vec<u8>,
    tail: Vec<u8>,
}

/// What stands at a place of the framed payload.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Stretch<'f> {
    Text(&'f [u8]),
    /// The payload from here on, so many bytes.
    Payload(u64, u64),
    End,
}

impl Framing {
    /// Around `payload_bytes` with this checksum.
    pub(crate) fn new(payload_bytes: u64, kind: Checksum, sum: &str) -> Framing {
        let mut last_line = Vec::new();
        let rest = payload_bytes % CHUNK_BYTES;
        if rest > 0 {
            last_line.extend_from_slice(format!("{rest:x}\r\n").as_bytes());
        }
        let mut tail = Vec::with_capacity(128);
        if rest > 0 {
            tail.extend_from_slice(LINE_END);
        }
        let header = kind.header();
        for part in [&b"0\r\n"[..], header, b":", sum.as_bytes(), b"\r\n\r\n"] {
            tail.extend_from_slice(part);
        }
        let framing = Framing {
            payload_bytes,
            last_line,
            tail,
        };
        // The length is sent ahead. One byte too many makes the store wait for it until
        // the request times out, one too few cuts off its checksum.
        let total = framing.total_bytes();
        debug_assert!(
            framing.at(total) == Stretch::End && framing.at(total - 1) != Stretch::End,
            "{payload_bytes} bytes end elsewhere than at {total}"
        );
        framing
    }

    fn whole_chunks(&self) -> u64 {
        self.payload_bytes / CHUNK_BYTES
    }

    /// Bytes of all of it.
    pub(crate) fn total_bytes(&self) -> u64 {
        let around = self.last_line.len() + self.tail.len();
        self.whole_chunks() * WHOLE_BYTES + self.payload_bytes % CHUNK_BYTES + around as u64
    }

    /// Bytes of the payload.
    pub(crate) fn payload_bytes(&self) -> u64 {
        self.payload_bytes
    }

    /// What stands at `at`.
    pub(crate) fn at(&self, at: u64) -> Stretch<'_> {
        let rest_at = self.whole_chunks() * WHOLE_BYTES;
        let text = |text: &'static [u8], from: u64| Stretch::Text(&text[from as usize..]);
        if at < rest_at {
            let (chunk, within) = (at / WHOLE_BYTES, at % WHOLE_BYTES);
            let (begins, ends) = (
                CHUNK_LINE.len() as u64,
                CHUNK_LINE.len() as u64 + CHUNK_BYTES,
            );
            return match within {
                _ if within < begins => text(CHUNK_LINE, within),
                _ if within < ends => {
                    Stretch::Payload(chunk * CHUNK_BYTES + within - begins, ends - within)
                }
                _ => text(LINE_END, within - ends),
            };
        }
        let within = at - rest_at;
        let (begins, rest) = (
            self.last_line.len() as u64,
            self.payload_bytes % CHUNK_BYTES,
        );
        if within < begins {
            return Stretch::Text(&self.last_line[within as usize..]);
        }
        let within = within - begins;
        if within < rest {
            return Stretch::Payload(self.whole_chunks() * CHUNK_BYTES + within, rest - within);
        }
        match self.tail.get((within - rest) as usize..) {
            Some(tail) if !tail.is_empty() => Stretch::Text(tail),
            _ => Stretch::End,
        }
    }
}

/// A payload, and what followed it: names in lower case, and values.
pub(crate) type Decoded = (Vec<u8>, Vec<(String, String)>);

/// The payload of a body with this coding, and its trailers; `None` when it is
/// not coded so.
pub(crate) fn decode(body: &[u8]) -> Option<Decoded> {
    let mut payload = Vec::with_capacity(body.len());
    let (mut head, mut rest) = line_of(body)?;
    loop {
        let length = head.split(';').next().unwrap_or_default();
        let length = usize::from_str_radix(length, 16).ok()?;
        if length == 0 {
            break;
        }
        payload.extend_from_slice(rest.get(..length)?);
        rest = rest[length..].strip_prefix(LINE_END)?;
        (head, rest) = line_of(rest)?;
    }
    let mut trailers = Vec::new();
    loop {
        let (text, after) = line_of(rest)?;
        let Some((name, value)) = text.split_once(':') else {
            return (text.is_empty() && after.is_empty()).then_some((payload, trailers));
        };
        trailers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        rest = after;
    }
}

fn line_of(bytes: &[u8]) -> Option<(String, &[u8])> {
    let end = bytes.windows(2).position(|pair| pair == LINE_END)?;
    let text = String::from_utf8_lossy(&bytes[..end]).into_owned();
    Some((text, &bytes[end + 2..]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn written(framing: &Framing, payload: &[u8], step: usize) -> Vec<u8> {
        let mut out = Vec::new();
        loop {
            let before = out.len();
            match framing.at(before as u64) {
                Stretch::Text(text) => out.extend(text.iter().take(step)),
                Stretch::Payload(from, most) => {
                    let most = (most as usize).min(step);
                    out.extend_from_slice(&payload[from as usize..from as usize + most]);
                }
                Stretch::End => return out,
            }
            assert!(out.len() > before);
        }
    }

    #[test]
    fn what_is_framed_is_as_others_write_it() {
        let framing = Framing::new(3, Checksum::Crc32, "y/Q5Jg==");
        let text = written(&framing, b"abc", 1000);
        assert_eq!(
            String::from_utf8(text).unwrap(),
            "3\r\nabc\r\n0\r\nx-amz-checksum-crc32:y/Q5Jg==\r\n\r\n"
        );
        let empty = Framing::new(0, Checksum::Sha1, "x");
        assert_eq!(
            written(&empty, b"", 7),
            b"0\r\nx-amz-checksum-sha1:x\r\n\r\n"
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        #[test]
        fn what_was_framed_comes_out_again(
            bytes in prop_oneof![0_u64..5, (1_u64 << 20) - 2..(1 << 20) + 3, 0_u64..(3 << 20)],
            step in 1000_usize..(2 << 20),
        ) {
            let payload: Vec<u8> = (0..bytes).map(|n| (n % 251) as u8).collect();
            let framing = Framing::new(bytes, Checksum::Crc32c, "sum");
            let whole = written(&framing, &payload, step);
            prop_assert_eq!(whole.len() as u64, framing.total_bytes());
            let (found, trailers) = decode(&whole).unwrap();
            prop_assert!(found == payload);
            prop_assert_eq!(trailers, [("x-amz-checksum-crc32c".to_owned(), "sum".to_owned())]);
        }

        #[test]
        fn no_body_panics(body: Vec<u8>) {
            let _ = decode(&body);
        }
    }
}
