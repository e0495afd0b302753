//! The outer shell of every blob: version, kind, length, checksum, payload.
//!
//! ```text
//! byte 0      version of the format
//! byte 1      kind of content
//! byte 2..10  xxh3-64, little endian, over everything else
//! then        length before compression (varint), lz4 block
//! ```
//!
//! The checksum is verified before anything is decompressed. It finds bits
//! that rotted and writes that were torn; it is no protection against somebody
//! who forges a blob, so the decoders behind it trust no number either.

use xxhash_rust::xxh3::Xxh3;

use super::CodecError;
use super::varint::{Reader, put_u64};

/// Version of a blob without details: readable by every build of fathom.
pub(crate) const VERSION: u8 = 1;

/// Version of a series with details behind it (see `details.rs`).
pub(crate) const VERSION_WITH_DETAILS: u8 = 2;

/// Version of a series of single connections, whose states come behind the
/// details (see `connections.rs`).
pub(crate) const VERSION_WITH_CONNECTIONS: u8 = 3;

/// Most bytes that a blob may hold before compression.
pub(crate) const MAX_BODY_BYTES: usize = 64 << 20;

/// An lz4 block expands each byte to fewer than 256.
const MAX_EXPANSION: usize = 256;

const CHECKSUM: std::ops::Range<usize> = 2..10;

/// What a blob holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BlobKind {
    /// Samples and observations of a stretch of a trial.
    Series = 1,
    /// Text, for example a schedule as JSON.
    Text = 2,
}

/// Wraps a body.
pub(crate) fn seal(kind: BlobKind, version: u8, body: &[u8]) -> Result<Vec<u8>, CodecError> {
    if body.len() > MAX_BODY_BYTES {
        return Err(CodecError::TooLarge);
    }
    let mut blob = vec![version, kind as u8];
    blob.extend_from_slice(&[0; 8]);
    put_u64(&mut blob, body.len() as u64);
    blob.extend_from_slice(&lz4_flex::block::compress(body));
    let checksum = checksum(&blob);
    blob[CHECKSUM].copy_from_slice(&checksum.to_le_bytes());
    Ok(blob)
}

/// Verifies and unwraps a body.
pub(crate) fn open(kind: BlobKind, blob: &[u8]) -> Result<Vec<u8>, CodecError> {
    match blob.first() {
        None => return Err(CodecError::Truncated),
        Some(&(VERSION | VERSION_WITH_DETAILS | VERSION_WITH_CONNECTIONS)) => {}
        Some(&version) => return Err(CodecError::UnknownVersion(version)),
    }
    let stored = blob.get(CHECKSUM).ok_or(CodecError::Truncated)?;
    if stored != checksum(blob).to_le_bytes() {
        return Err(CodecError::Checksum);
    }
    if blob[1] != kind as u8 {
        return Err(CodecError::Malformed("it holds another kind of data"));
    }
    let mut reader = Reader::new(&blob[CHECKSUM.end..]);
    let length = reader.count(MAX_BODY_BYTES)?;
    let packed = reader.take(reader.remaining())?;
    if length > packed.len().saturating_mul(MAX_EXPANSION) {
        return Err(CodecError::TooLarge);
    }
    let body = lz4_flex::block::decompress(packed, length)
        .map_err(|_| CodecError::Malformed("it cannot be decompressed"))?;
    if body.len() != length {
        return Err(CodecError::Malformed("it is shorter than it says"));
    }
    Ok(body)
}

fn checksum(blob: &[u8]) -> u64 {
    let mut hasher = Xxh3::new();
    hasher.update(&blob[..CHECKSUM.start]);
    hasher.update(&blob[CHECKSUM.end..]);
    hasher.digest()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_flipped_byte_is_noticed(
            body in proptest::collection::vec(any::<u8>(), 0..300),
            at in any::<proptest::sample::Index>(),
            flip in 1..=255u8,
        ) {
            let mut blob = seal(BlobKind::Series, VERSION, &body).unwrap();
            prop_assert_eq!(&open(BlobKind::Series, &blob).unwrap(), &body);
            let at = at.index(blob.len());
            blob[at] ^= flip;
            prop_assert!(open(BlobKind::Series, &blob).is_err());
            blob[at] ^= flip;
            blob.truncate(at);
            prop_assert!(open(BlobKind::Series, &blob).is_err());
        }

        #[test]
        fn arbitrary_bytes_are_refused(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            prop_assert!(open(BlobKind::Text, &bytes).is_err());
        }
    }

    /// A forged checksum must not buy a huge allocation.
    #[test]
    fn a_length_that_the_payload_cannot_fill_is_refused() {
        for length in [MAX_BODY_BYTES as u64, u64::MAX, 10_000] {
            let mut blob = vec![VERSION, BlobKind::Series as u8];
            blob.extend_from_slice(&[0; 8]);
            put_u64(&mut blob, length);
            blob.extend_from_slice(&[0; 20]);
            let sum = checksum(&blob);
            blob[CHECKSUM].copy_from_slice(&sum.to_le_bytes());
            assert_eq!(open(BlobKind::Series, &blob), Err(CodecError::TooLarge));
        }
    }

    #[test]
    fn another_version_or_kind_is_named() {
        let mut blob = seal(BlobKind::Text, VERSION, b"plan").unwrap();
        assert!(matches!(
            open(BlobKind::Series, &blob),
            Err(CodecError::Malformed(_))
        ));
        blob[0] = 9;
        assert_eq!(
            open(BlobKind::Text, &blob),
            Err(CodecError::UnknownVersion(9))
        );
    }
}
