//! Checksums that a store compares with what it got: CRC-32 (ISO 3309),
//! CRC-32C (Castagnoli, RFC 3720) and SHA-256, as headers of S3 carry them.
//!
//! The CRCs take eight bytes at a time from tables ("slicing by eight"). They are
//! computed before a request is started, like everything else that is not the
//! store's work.

use fathom_model::workload::ObjectChecksum;
use ring::digest;

use super::encode;

type Tables = [[u32; 256]; 8];

static CRC32: Tables = tables(0xEDB8_8320);
static CRC32C: Tables = tables(0x82F6_3B78);

/// Tables of a reflected polynomial.
const fn tables(polynomial: u32) -> Tables {
    let mut all = [[0; 256]; 8];
    let mut byte = 0;
    while byte < 256 {
        let mut value = byte as u32;
        let mut bit = 0;
        while bit < 8 {
            let rest = if value & 1 == 1 { polynomial } else { 0 };
            value = value >> 1 ^ rest;
            bit += 1;
        }
        all[0][byte] = value;
        byte += 1;
    }
    let mut table = 1;
    while table < 8 {
        let mut byte = 0;
        while byte < 256 {
            let before = all[table - 1][byte];
            all[table][byte] = before >> 8 ^ all[0][(before & 0xFF) as usize];
            byte += 1;
        }
        table += 1;
    }
    all
}

fn crc(tables: &Tables, mut value: u32, bytes: &[u8]) -> u32 {
    let (eights, rest) = bytes.as_chunks::<8>();
    for eight in eights {
        let first = value.to_le_bytes();
        let mut next = 0;
        for (at, byte) in eight.iter().enumerate() {
            let byte = if at < 4 { byte ^ first[at] } else { *byte };
            next ^= tables[7 - at][usize::from(byte)];
        }
        value = next;
    }
    for byte in rest {
        value = value >> 8 ^ tables[0][usize::from(value as u8 ^ byte)];
    }
    value
}

/// The header that carries it.
pub(super) fn header(kind: ObjectChecksum) -> &'static [u8] {
    match kind {
        ObjectChecksum::Crc32 => b"x-amz-checksum-crc32",
        ObjectChecksum::Crc32c => b"x-amz-checksum-crc32c",
        ObjectChecksum::Sha256 => b"x-amz-checksum-sha256",
    }
}

/// A checksum under way.
pub(super) enum Sum {
    Crc(&'static Tables, u32),
    Sha(Box<digest::Context>),
}

impl Sum {
    pub(super) fn new(kind: ObjectChecksum) -> Sum {
        match kind {
            ObjectChecksum::Crc32 => Sum::Crc(&CRC32, u32::MAX),
            ObjectChecksum::Crc32c => Sum::Crc(&CRC32C, u32::MAX),
            ObjectChecksum::Sha256 => Sum::Sha(Box::new(digest::Context::new(&digest::SHA256))),
        }
    }

    pub(super) fn update(&mut self, bytes: &[u8]) {
        match self {
            Sum::Crc(tables, value) => *value = crc(tables, *value, bytes),
            Sum::Sha(context) => context.update(bytes),
        }
    }

    /// As headers have it.
    pub(super) fn text(self) -> String {
        match self {
            Sum::Crc(_, value) => encode::base64(&(!value).to_be_bytes()),
            Sum::Sha(context) => encode::base64(context.finish().as_ref()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(kind: ObjectChecksum, parts: &[&[u8]]) -> String {
        let mut sum = Sum::new(kind);
        parts.iter().for_each(|part| sum.update(part));
        sum.text()
    }

    #[test]
    fn the_check_values_of_the_standards_come_out_however_it_is_cut() {
        let digits: &[u8] = b"123456789";
        for parts in [&[digits][..], &[&digits[..1], &digits[1..]], &[b"", digits]] {
            // 0xCBF43926 and 0xE3069283.
            assert_eq!(text(ObjectChecksum::Crc32, parts), "y/Q5Jg==");
            assert_eq!(text(ObjectChecksum::Crc32c, parts), "4waSgw==");
        }
        assert_eq!(
            text(ObjectChecksum::Sha256, &[b""]),
            "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="
        );
        let long: Vec<u8> = (0..=255).cycle().take(5000).collect();
        let whole = text(ObjectChecksum::Crc32c, &[&long]);
        assert_eq!(
            text(ObjectChecksum::Crc32c, &[&long[..13], &long[13..]]),
            whole
        );
    }
}
