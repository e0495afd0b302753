//! Header blocks as they come (RFC 7541): integers, strings, and the table of
//! names and values that both ends keep. Huffman's code is undone by a crate.

use std::collections::VecDeque;

use httlib_huffman::DecoderSpeed;

/// A name and its value.
pub(crate) type Field = (Vec<u8>, Vec<u8>);

/// Bytes that the table may have, as both ends take for granted (RFC 9113, 6.5.2).
const MOST_TABLE_BYTES: usize = 4096;
/// What an entry counts beside its name and value (section 4.1).
const ENTRY_BYTES: usize = 32;
/// What a block stands for at most, in bytes counted in the same way.
const MOST_FIELD_BYTES: usize = 256 << 10;

/// Undoes header blocks, one after the other.
#[derive(Debug)]
pub(crate) struct Unpacker {
    /// The newest first.
    table: VecDeque<Field>,
    table_bytes: usize,
    most_table_bytes: usize,
}

impl Default for Unpacker {
    fn default() -> Unpacker {
        Unpacker {
            table: VecDeque::new(),
            table_bytes: 0,
            most_table_bytes: MOST_TABLE_BYTES,
        }
    }
}

impl Unpacker {
    /// The fields of a block; `None` when it is none.
    pub(crate) fn unpack(&mut self, mut block: &[u8]) -> Option<Vec<Field>> {
        let mut fields = Vec::with_capacity(16);
        let mut total_bytes = 0;
        while let Some(first) = block.first() {
            let field = match first {
                0x80.. => {
                    let index = integer(&mut block, 7)?;
                    self.entry(index)?
                }
                0x40..=0x7f => {
                    let field = self.literal(&mut block, 6)?;
                    self.keep(field.clone());
                    field
                }
                0x20..=0x3f => {
                    let most = integer(&mut block, 5)?;
                    self.most_table_bytes = Some(most).filter(|most| *most <= MOST_TABLE_BYTES)?;
                    self.shrink();
                    continue;
                }
                _ => self.literal(&mut block, 4)?,
            };
            total_bytes += bytes_of(&field);
            if total_bytes > MOST_FIELD_BYTES {
                return None;
            }
            fields.push(field);
        }
        Some(fields)
    }

    fn entry(&self, index: usize) -> Option<Field> {
        let at = index.checked_sub(1)?;
        match STATIC.get(at) {
            Some((name, value)) => Some((name.as_bytes().to_vec(), value.as_bytes().to_vec())),
            None => self.table.get(at - STATIC.len()).cloned(),
        }
    }

    fn literal(&self, block: &mut &[u8], prefix_bits: u8) -> Option<Field> {
        let name = match integer(block, prefix_bits)? {
            0 => string(block)?,
            index => self.entry(index)?.0,
        };
        Some((name, string(block)?))
    }

    fn keep(&mut self, field: Field) {
        self.table_bytes += bytes_of(&field);
        self.table.push_front(field);
        self.shrink();
    }

    fn shrink(&mut self) {
        while self.table_bytes > self.most_table_bytes {
            let Some(oldest) = self.table.pop_back() else {
                return;
            };
            self.table_bytes -= bytes_of(&oldest);
        }
    }
}

fn bytes_of((name, value): &Field) -> usize {
    name.len() + value.len() + ENTRY_BYTES
}

/// Section 5.1. Larger ones than any block has room for are none.
fn integer(block: &mut &[u8], prefix_bits: u8) -> Option<usize> {
    let (first, rest) = block.split_first()?;
    *block = rest;
    let most = (1_usize << prefix_bits) - 1;
    let mut value = usize::from(*first) & most;
    if value < most {
        return Some(value);
    }
    for shift in [0, 7, 14, 21] {
        let (byte, rest) = block.split_first()?;
        *block = rest;
        value += usize::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

/// Section 5.2.
fn string(block: &mut &[u8]) -> Option<Vec<u8>> {
    let packed = block.first()? & 0x80 != 0;
    let length = integer(block, 7)?;
    let (bytes, rest) = block.split_at_checked(length)?;
    *block = rest;
    if !packed {
        return Some(bytes.to_vec());
    }
    let mut out = Vec::with_capacity(2 * bytes.len());
    httlib_huffman::decode(bytes, &mut out, DecoderSpeed::FourBits).ok()?;
    Some(out)
}

/// Appendix A.
const STATIC: [(&str, &str); 61] = [
    (":authority", ""),
    (":method", "GET"),
    (":method", "POST"),
    (":path", "/"),
    (":path", "/index.html"),
    (":scheme", "http"),
    (":scheme", "https"),
    (":status", "200"),
    (":status", "204"),
    (":status", "206"),
    (":status", "304"),
    (":status", "400"),
    (":status", "404"),
    (":status", "500"),
    ("accept-charset", ""),
    ("accept-encoding", "gzip, deflate"),
    ("accept-language", ""),
    ("accept-ranges", ""),
    ("accept", ""),
    ("access-control-allow-origin", ""),
    ("age", ""),
    ("allow", ""),
    ("authorization", ""),
    ("cache-control", ""),
    ("content-disposition", ""),
    ("content-encoding", ""),
    ("content-language", ""),
    ("content-length", ""),
    ("content-location", ""),
    ("content-range", ""),
    ("content-type", ""),
    ("cookie", ""),
    ("date", ""),
    ("etag", ""),
    ("expect", ""),
    ("expires", ""),
    ("from", ""),
    ("host", ""),
    ("if-match", ""),
    ("if-modified-since", ""),
    ("if-none-match", ""),
    ("if-range", ""),
    ("if-unmodified-since", ""),
    ("last-modified", ""),
    ("link", ""),
    ("location", ""),
    ("max-forwards", ""),
    ("proxy-authenticate", ""),
    ("proxy-authorization", ""),
    ("range", ""),
    ("referer", ""),
    ("refresh", ""),
    ("retry-after", ""),
    ("server", ""),
    ("set-cookie", ""),
    ("strict-transport-security", ""),
    ("transfer-encoding", ""),
    ("user-agent", ""),
    ("vary", ""),
    ("via", ""),
    ("www-authenticate", ""),
];

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn text(fields: &[Field]) -> Vec<String> {
        let line = |(name, value): &Field| {
            let (name, value) = (
                String::from_utf8_lossy(name),
                String::from_utf8_lossy(value),
            );
            format!("{name}: {value}")
        };
        fields.iter().map(line).collect()
    }

    /// Appendix C.1.
    #[test]
    fn integers_of_the_standard_are_read() {
        let read = |bytes: &[u8], bits| integer(&mut &*bytes, bits);
        assert_eq!(read(&[0b1110_1010], 5), Some(10));
        assert_eq!(
            read(&[0b1111_1111, 0b1001_1010, 0b0000_1010], 5),
            Some(1337)
        );
        assert_eq!(read(&[42], 8), Some(42));
        assert_eq!(read(&[0xff, 0x80], 7), None);
        assert_eq!(read(&[0xff; 9], 7), None);
    }

    /// Appendix C.6: answers in Huffman's code, with a table of 256 bytes from
    /// which the oldest entries fall.
    #[test]
    fn answers_of_the_standard_are_read() {
        let mut unpacker = Unpacker {
            most_table_bytes: 256,
            ..Unpacker::default()
        };
        let first = [
            0x48, 0x82, 0x64, 0x02, 0x58, 0x85, 0xae, 0xc3, 0x77, 0x1a, 0x4b, 0x61, 0x96, 0xd0,
            0x7a, 0xbe, 0x94, 0x10, 0x54, 0xd4, 0x44, 0xa8, 0x20, 0x05, 0x95, 0x04, 0x0b, 0x81,
            0x66, 0xe0, 0x82, 0xa6, 0x2d, 0x1b, 0xff, 0x6e, 0x91, 0x9d, 0x29, 0xad, 0x17, 0x18,
            0x63, 0xc7, 0x8f, 0x0b, 0x97, 0xc8, 0xe9, 0xae, 0x82, 0xae, 0x43, 0xd3,
        ];
        let rest = [
            "cache-control: private",
            "date: Mon, 21 Oct 2013 20:13:21 GMT",
            "location: https://www.example.com",
        ];
        let with = |status: &str| -> Vec<String> {
            let status = format!(":status: {status}");
            std::iter::once(status)
                .chain(rest.map(str::to_owned))
                .collect()
        };
        assert_eq!(text(&unpacker.unpack(&first).unwrap()), with("302"));
        assert_eq!(unpacker.table_bytes, 222);
        let second = [0x48, 0x83, 0x64, 0x0e, 0xff, 0xc1, 0xc0, 0xbf];
        assert_eq!(text(&unpacker.unpack(&second).unwrap()), with("307"));
        assert_eq!(unpacker.table_bytes, 222, "the first status fell out");
        assert_eq!(unpacker.table.len(), 4);
    }

    #[test]
    fn what_is_not_in_the_tables_is_refused() {
        for block in [
            &[0x80][..],
            &[0xbe],
            &[0x7f, 0x7f],
            &[0x3f, 0xff, 0x7f],
            &[0x40],
        ] {
            assert_eq!(Unpacker::default().unpack(block), None, "{block:?}");
        }
        let mut unpacker = Unpacker::default();
        // A table of no bytes keeps nothing.
        let fields = unpacker.unpack(&[0x20, 0x40, 1, b'a', 1, b'b']).unwrap();
        assert_eq!(
            (text(&fields).as_slice(), unpacker.table.len()),
            (&["a: b".to_owned()][..], 0)
        );
    }

    proptest! {
        #[test]
        fn no_block_makes_it_fall(blocks in prop::collection::vec(any::<Vec<u8>>(), 1..4)) {
            let mut unpacker = Unpacker::default();
            for block in blocks {
                let _ = unpacker.unpack(&block);
                prop_assert!(unpacker.table_bytes <= MOST_TABLE_BYTES);
            }
        }

        #[test]
        fn no_string_in_huffmans_code_makes_it_fall(bytes: Vec<u8>) {
            let mut block = vec![0x40, 1, b'a'];
            block.extend([0x80 | bytes.len().min(126) as u8]);
            block.extend(bytes);
            let _ = Unpacker::default().unpack(&block);
        }
    }
}
