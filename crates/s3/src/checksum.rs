//! Checksums that a store compares with what it got, or says of what it sends:
//! CRC-32 (ISO 3309), CRC-32C (Castagnoli, RFC 3720), CRC-64/NVME (NVM Express
//! base specification), SHA-1 and SHA-256, as headers of S3 carry them.
//!
//! They are computed before a request is started, like everything else that is
//! not the store's work; those of answers while they come.

use crc_fast::CrcAlgorithm;
use ring::digest;

use super::encode;

/// A checksum of what is put.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Checksum {
    /// CRC-32.
    Crc32,
    /// CRC-32C.
    Crc32c,
    /// CRC-64/NVME.
    Crc64nvme,
    /// SHA-1.
    Sha1,
    /// SHA-256.
    Sha256,
}

impl Checksum {
    /// All that are known.
    const ALL: [Checksum; 5] = [
        Checksum::Crc32,
        Checksum::Crc32c,
        Checksum::Crc64nvme,
        Checksum::Sha1,
        Checksum::Sha256,
    ];

    /// The header that carries it.
    pub(crate) fn header(self) -> &'static [u8] {
        match self {
            Checksum::Crc32 => b"x-amz-checksum-crc32",
            Checksum::Crc32c => b"x-amz-checksum-crc32c",
            Checksum::Crc64nvme => b"x-amz-checksum-crc64nvme",
            Checksum::Sha1 => b"x-amz-checksum-sha1",
            Checksum::Sha256 => b"x-amz-checksum-sha256",
        }
    }

    /// The checksum that a header carries, in upper or lower case.
    pub(crate) fn of_header(name: &[u8]) -> Option<Checksum> {
        let is = |kind: &Checksum| kind.header().eq_ignore_ascii_case(name);
        Checksum::ALL.into_iter().find(is)
    }

    /// The checksum with a name.
    pub(crate) fn of_name(name: &str) -> Option<Checksum> {
        let is = |kind: &Checksum| kind.algorithm() == name;
        Checksum::ALL.into_iter().find(is)
    }

    /// Its name in headers and documents.
    pub fn algorithm(self) -> &'static str {
        match self {
            Checksum::Crc32 => "CRC32",
            Checksum::Crc32c => "CRC32C",
            Checksum::Crc64nvme => "CRC64NVME",
            Checksum::Sha1 => "SHA1",
            Checksum::Sha256 => "SHA256",
        }
    }
}

/// A checksum under way.
pub(crate) enum Sum {
    /// A CRC, and the bytes that it has.
    Crc(Box<crc_fast::Digest>, usize),
    Sha(Box<digest::Context>),
}

impl std::fmt::Debug for Sum {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Sum")
    }
}

impl Sum {
    pub(crate) fn new(kind: Checksum) -> Sum {
        let crc = |algorithm, bytes| Sum::Crc(Box::new(crc_fast::Digest::new(algorithm)), bytes);
        let sha = |algorithm| Sum::Sha(Box::new(digest::Context::new(algorithm)));
        match kind {
            Checksum::Crc32 => crc(CrcAlgorithm::Crc32IsoHdlc, 4),
            Checksum::Crc32c => crc(CrcAlgorithm::Crc32Iscsi, 4),
            Checksum::Crc64nvme => crc(CrcAlgorithm::Crc64Nvme, 8),
            Checksum::Sha1 => sha(&digest::SHA1_FOR_LEGACY_USE_ONLY),
            Checksum::Sha256 => sha(&digest::SHA256),
        }
    }

    pub(crate) fn update(&mut self, bytes: &[u8]) {
        match self {
            Sum::Crc(crc, _) => crc.update(bytes),
            Sum::Sha(context) => context.update(bytes),
        }
    }

    /// As headers have it.
    pub(crate) fn text(self) -> String {
        match self {
            Sum::Crc(crc, bytes) => {
                let value = crc.finalize().to_be_bytes();
                encode::base64(&value[value.len() - bytes..])
            }
            Sum::Sha(context) => encode::base64(context.finish().as_ref()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(kind: Checksum, parts: &[&[u8]]) -> String {
        let mut sum = Sum::new(kind);
        parts.iter().for_each(|part| sum.update(part));
        sum.text()
    }

    #[test]
    fn the_check_values_of_the_standards_come_out_however_it_is_cut() {
        let digits: &[u8] = b"123456789";
        for parts in [&[digits][..], &[&digits[..1], &digits[1..]], &[b"", digits]] {
            // 0xCBF43926 and 0xE3069283.
            assert_eq!(text(Checksum::Crc32, parts), "y/Q5Jg==");
            assert_eq!(text(Checksum::Crc32c, parts), "4waSgw==");
            // 0xAE8B14860A799888.
            assert_eq!(text(Checksum::Crc64nvme, parts), "rosUhgp5mIg=");
        }
        assert_eq!(
            text(Checksum::Sha256, &[b""]),
            "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="
        );
        assert_eq!(
            text(Checksum::Sha1, &[b"abc"]),
            "qZk+NkcGgWq6PiVxeFDCbJzQ2J0="
        );
        let long: Vec<u8> = (0..=255).cycle().take(5000).collect();
        for kind in Checksum::ALL {
            let whole = text(kind, &[&long]);
            assert_eq!(text(kind, &[&long[..13], &long[13..]]), whole);
            assert_eq!(Checksum::of_header(kind.header()), Some(kind));
        }
    }
}
