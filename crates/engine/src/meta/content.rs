//! What small files hold: bytes that follow from the file, so that contents
//! can be verified without keeping them.
//!
//! All records come out of one pool of payload, each from another place in
//! it, with the identity of the file and the record in its first bytes.

use fathom_model::rng::splitmix64;
use fathom_model::workload::Payload;

use crate::payload::PayloadPool;

/// Places in the pool at which a record can begin, times 64 bytes.
const PLACES: u64 = 64;
const PLACE_BYTES: u64 = 64;
/// Tag of the tree, rank, number, record.
const IDENTITY_BYTES: usize = 32;

/// Whose bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ContentOwner {
    pub(crate) rank: u32,
    pub(crate) number: u64,
}

/// The bytes of one worker's files.
#[derive(Debug)]
pub(crate) struct Contents {
    pool: Vec<u8>,
    tag: u64,
    /// What the identity has replaced, and where.
    replaced: Option<(usize, usize, [u8; IDENTITY_BYTES])>,
}

impl Contents {
    /// Records of up to `record_bytes`, of the same payload in every worker.
    pub(crate) fn new(payload: &Payload, tag: u64, record_bytes: u64) -> Contents {
        let bytes = record_bytes + PLACES * PLACE_BYTES;
        let mut pool = vec![0; usize::try_from(bytes).unwrap_or(usize::MAX)];
        PayloadPool::new(payload, tag, 0).fill(0, &mut pool);
        Contents {
            pool,
            tag,
            replaced: None,
        }
    }

    /// The bytes of the record at `offset` of a file, `length` of them (at most
    /// the record size).
    #[inline]
    pub(crate) fn record(&mut self, owner: ContentOwner, offset: u64, length: usize) -> &[u8] {
        if let Some((at, bytes, replaced)) = self.replaced.take() {
            self.pool[at..at + bytes].copy_from_slice(&replaced[..bytes]);
        }
        let key = splitmix64(owner.number ^ u64::from(owner.rank) << 40 ^ offset.rotate_left(20));
        let at = (key % PLACES * PLACE_BYTES) as usize;
        let identity = self.identity(owner, offset);
        let taken = length.min(IDENTITY_BYTES);
        let mut replaced = [0; IDENTITY_BYTES];
        replaced[..taken].copy_from_slice(&self.pool[at..at + taken]);
        self.pool[at..at + taken].copy_from_slice(&identity[..taken]);
        self.replaced = Some((at, taken, replaced));
        &self.pool[at..at + length]
    }

    /// Numbers that differ in their low bytes come first: even a file of ten
    /// bytes tells to whom it belongs.
    fn identity(&self, owner: ContentOwner, offset: u64) -> [u8; IDENTITY_BYTES] {
        let mut identity = [0; IDENTITY_BYTES];
        identity[..8].copy_from_slice(&owner.number.to_le_bytes());
        identity[8..12].copy_from_slice(&owner.rank.to_le_bytes());
        identity[12..20].copy_from_slice(&self.tag.to_le_bytes());
        identity[20..28].copy_from_slice(&offset.to_le_bytes());
        identity[28..].copy_from_slice(b"fath");
        identity
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_record_is_its_own_and_always_the_same() {
        let mut contents = Contents::new(&Payload::default(), 5, 4096);
        let of = |contents: &mut Contents, number, offset, length| {
            let owner = ContentOwner { rank: 1, number };
            contents.record(owner, offset, length).to_vec()
        };
        let first = of(&mut contents, 1, 0, 4096);
        for number in 2..200 {
            assert_ne!(of(&mut contents, number, 0, 4096), first);
        }
        assert_ne!(of(&mut contents, 1, 4096, 4096), first);
        assert_eq!(of(&mut contents, 1, 0, 4096), first);
        assert_eq!(of(&mut contents, 1, 0, 10), first[..10]);
        assert_ne!(of(&mut contents, 1, 0, 10), of(&mut contents, 2, 0, 10));
        assert!(of(&mut contents, 1, 0, 0).is_empty());
        let mut again = Contents::new(&Payload::default(), 5, 4096);
        assert_eq!(of(&mut again, 1, 0, 4096), first);
    }
}
