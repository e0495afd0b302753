//! What is in an object: bytes that follow from the seed and the object's
//! number, so that whoever reads it can check it and nobody has to keep it.
//!
//! An object is a row of blocks of 64 KiB. A block begins with 16 bytes of its
//! own, and the rest is a piece of a pool of random bytes from a place that
//! follows from seed, object and block. So it is sent straight from the pool,
//! without being made or copied first; it does not compress, and no aligned
//! piece of two blocks is likely to be alike.

use std::sync::Arc;

use fathom_model::rng::{Rng, splitmix64};
use fathom_s3::{OWN_BYTES, Payload, Piece};

/// Bytes of a block.
const BLOCK_BYTES: u64 = 64 << 10;
/// Bytes at the start of a block that no other has.
const STAMP_BYTES: u64 = OWN_BYTES as u64;
/// Places in the pool where a block may begin.
const PLACES: u64 = 1 << 20;

/// Contents of all objects of a trial.
#[derive(Debug, Clone)]
pub(crate) struct Contents {
    pool: Arc<[u8]>,
    seed: u64,
}

impl Contents {
    pub(crate) fn new(seed: u64) -> Contents {
        let mut rng = Rng::new(seed);
        let bytes = (PLACES + BLOCK_BYTES) as usize;
        let mut pool = Vec::with_capacity(bytes);
        while pool.len() < bytes {
            pool.extend_from_slice(&rng.next_u64().to_le_bytes());
        }
        Contents {
            pool: pool.into(),
            seed,
        }
    }
}

impl Payload for Contents {
    fn piece(&self, object: u64, at: u64) -> Piece<'_> {
        let block = at / BLOCK_BYTES;
        let within = at % BLOCK_BYTES;
        let key = splitmix64(splitmix64(self.seed ^ object).wrapping_add(block));
        if within < STAMP_BYTES {
            let mut stamp = [0; OWN_BYTES];
            stamp[..8].copy_from_slice(&key.to_le_bytes());
            stamp[8..].copy_from_slice(&splitmix64(key).to_le_bytes());
            return Piece::Own(stamp, within as usize, OWN_BYTES);
        }
        let place = key % PLACES;
        let range = (place + within) as usize..(place + BLOCK_BYTES) as usize;
        Piece::Borrowed(&self.pool[range])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole(contents: &Contents, object: u64, length: u64) -> Vec<u8> {
        let mut bytes = Vec::new();
        contents.each(object, 0, length, &mut |piece| {
            bytes.extend_from_slice(piece);
        });
        bytes
    }

    #[test]
    fn any_part_is_the_part_of_the_whole() {
        let contents = Contents::new(7);
        let bytes = whole(&contents, 3, 200_000);
        assert_eq!(bytes.len(), 200_000);
        for (at, length) in [
            (0, 200_000),
            (5, 20),
            (65_530, 12),
            (65_536, 1),
            (131_090, 60_000),
        ] {
            let part = &bytes[at..at + length];
            assert_eq!(contents.check(3, at as u64, part), Ok(()));
            let mut wrong = part.to_vec();
            wrong[length / 2] ^= 1;
            assert!(contents.check(3, at as u64, &wrong).is_err());
        }
        assert!(contents.check(4, 0, &bytes).is_err(), "another object");
    }

    #[test]
    fn it_neither_repeats_nor_compresses() {
        let contents = Contents::new(1);
        let bytes: Vec<u8> = (0..64).flat_map(|n| whole(&contents, n, 65_536)).collect();
        let mut seen = std::collections::HashSet::new();
        assert!(bytes.chunks(4096).all(|chunk| seen.insert(chunk)));
        let packed = lz4_flex::compress(&bytes);
        assert!(packed.len() > bytes.len() * 9 / 10);
    }
}
