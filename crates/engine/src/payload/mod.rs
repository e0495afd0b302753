//! What is written: bytes that neither compress nor repeat, unless asked.
//!
//! Each worker copies from a pool of random bytes that stays in its CPU cache.
//! Every 4 KiB piece is combined (xor) with a 64-bit key of its own while it is
//! copied, so that no eight aligned bytes of two pieces are alike even where
//! they come from the same part of the pool: nothing below (deduplication,
//! compression with any window) finds a repetition that was not asked for.
//!
//! Compressible payload has a tail of zeros in each 4 KiB, duplicates repeat an
//! earlier block of the same worker. One seed regenerates every byte.

mod tile;

pub(crate) use tile::Tile;

use fathom_drives::SimContent;
use fathom_model::rng::{Rng, derive_seed, splitmix64};
use fathom_model::workload::{Content, Payload};

use crate::access::Permutation;

/// Unit in which the compressible share is laid out.
const PIECE_BYTES: usize = 4096;
/// Random bytes kept per worker: fits a second-level cache.
const POOL_WORDS: usize = 32 * 1024;
/// Random bytes that each piece keeps even when all of it should compress, so
/// that blocks stay distinct.
const LEAST_RANDOM_BYTES: usize = 16;
/// Blocks out of which the asked-for number are duplicates.
const DECK: u64 = 100;

/// One worker's source of payload. The same seed and worker give the same
/// bytes in the same order.
#[derive(Debug, Clone)]
pub struct PayloadPool {
    source: PayloadSource,
    key: u64,
    /// Number of the next block.
    next: u64,
    duplicates: Duplicates,
}

#[derive(Debug, Clone)]
enum PayloadSource {
    Pool {
        words: Box<[u64]>,
        /// Random bytes at the start of each full piece.
        random_bytes: usize,
    },
    Repeated(Vec<u8>),
    Tiled(Tile),
}

impl PayloadPool {
    /// The payload of worker `worker_index`.
    pub fn new(payload: &Payload, seed: u64, worker_index: u32) -> PayloadPool {
        let key = derive_seed(derive_seed(seed, 0x9A71), u64::from(worker_index));
        let source = match &payload.content {
            Content::Random => {
                let mut rng = Rng::new(key);
                let share = usize::from(payload.compress_percent.min(100));
                let random_bytes = PIECE_BYTES - PIECE_BYTES * share / 100;
                PayloadSource::Pool {
                    words: (0..POOL_WORDS).map(|_| rng.next_u64()).collect(),
                    random_bytes: random_bytes.max(LEAST_RANDOM_BYTES),
                }
            }
            Content::Zeros => PayloadSource::Repeated(vec![0]),
            Content::Bytes(bytes) if bytes.is_empty() => PayloadSource::Repeated(vec![0]),
            Content::Bytes(bytes) => PayloadSource::Repeated(bytes.clone()),
            Content::Parts(_) => Tile::of(&payload.content)
                .map_or(PayloadSource::Repeated(vec![0]), PayloadSource::Tiled),
        };
        PayloadPool {
            source,
            key,
            next: 0,
            duplicates: Duplicates::new(payload.duplicate_percent, derive_seed(key, 1)),
        }
    }

    /// Fills one block that belongs at `offset` in its file. Every call is a new
    /// block.
    pub fn fill(&mut self, offset: u64, block: &mut [u8]) {
        let number = self.take_number();
        self.fill_numbered(number, offset, block);
    }

    /// The number of the next block, which is then the caller's to fill.
    pub(crate) fn take_number(&mut self) -> u64 {
        let number = self.next;
        self.next += 1;
        number
    }

    /// Fills the block with this number, whatever was filled before.
    pub fn fill_numbered(&mut self, number: u64, offset: u64, block: &mut [u8]) {
        self.fill_part(number, offset, 0, block);
    }

    /// Fills the part of a block that starts `from` bytes into it, a multiple of
    /// 4 KiB. Parts that end at such a multiple or with the block make up the
    /// same block as filling it at once.
    pub(crate) fn fill_part(&mut self, number: u64, offset: u64, from: usize, part: &mut [u8]) {
        debug_assert!(from.is_multiple_of(PIECE_BYTES));
        match &self.source {
            PayloadSource::Repeated(bytes) => repeat(bytes, from, part),
            PayloadSource::Tiled(tile) => tile.fill(offset, from, part),
            PayloadSource::Pool {
                words,
                random_bytes,
            } => {
                let original = self.duplicates.original_of(number);
                let block_key = derive_seed(self.key, original);
                let first = (from / PIECE_BYTES) as u64;
                fill_from_pool(words, *random_bytes, block_key, first, part);
            }
        }
    }
}

/// What one worker's payload is like, without its bytes: for drives that keep
/// none. In step with [`PayloadPool`]: the n-th call tells of the n-th block.
#[derive(Debug, Clone)]
pub(crate) struct PayloadFacts {
    key: u64,
    /// Thousandths that do not compress; `None` for repeated bytes.
    random_permille: Option<u16>,
    next: u64,
    duplicates: Duplicates,
}

impl PayloadFacts {
    /// As [`PayloadPool::new`].
    pub(crate) fn new(payload: &Payload, seed: u64, worker_index: u32) -> PayloadFacts {
        let key = derive_seed(derive_seed(seed, 0x9A71), u64::from(worker_index));
        let share = u16::from(payload.compress_percent.min(100));
        let random = matches!(payload.content, Content::Random);
        PayloadFacts {
            key,
            random_permille: random.then_some(1000 - 10 * share),
            next: 0,
            duplicates: Duplicates::new(payload.duplicate_percent, derive_seed(key, 1)),
        }
    }

    /// What the next block is like.
    #[inline]
    pub(crate) fn next(&mut self) -> SimContent {
        let number = self.next;
        self.next += 1;
        match self.random_permille {
            None => SimContent {
                fingerprint: 1,
                kept_permille: 0,
            },
            Some(kept_permille) => SimContent {
                fingerprint: derive_seed(self.key, self.duplicates.original_of(number)).max(2),
                kept_permille,
            },
        }
    }
}

/// The content of the block with this key from piece `first` on, of whatever
/// length.
fn fill_from_pool(words: &[u64], random_bytes: usize, block_key: u64, first: u64, part: &mut [u8]) {
    for (number, piece) in (first..).zip(part.chunks_mut(PIECE_BYTES)) {
        let piece_key = splitmix64(block_key ^ number.wrapping_mul(0xA24B_AED4_963E_E407));
        let random = (piece.len() * random_bytes)
            .div_ceil(PIECE_BYTES)
            .max(LEAST_RANDOM_BYTES.min(piece.len()));
        let (head, tail) = piece.split_at_mut(random);
        let places = words.len() - PIECE_BYTES / 8;
        let start = (piece_key >> 32) as usize % places;
        let key = splitmix64(piece_key);
        // The same range of the pool for no two pieces in a row, and never across its
        // end: a piece that wrapped would repeat the start of another.
        let source = &words[start..start + head.len().div_ceil(8)];
        debug_assert!(
            !source.is_empty(),
            "a piece of {random} bytes without any at random"
        );
        let mut whole = head.chunks_exact_mut(8);
        for (out, word) in (&mut whole).zip(source) {
            out.copy_from_slice(&(word ^ key).to_le_bytes());
        }
        let rest = whole.into_remainder();
        let last = (source[source.len() - 1] ^ key).to_le_bytes();
        rest.copy_from_slice(&last[..rest.len()]);
        tail.fill(0);
    }
}

/// Repeats `bytes` over a block of which `part` starts at `from`, by doubling
/// what is there already.
fn repeat(bytes: &[u8], from: usize, part: &mut [u8]) {
    if let [byte] = bytes {
        part.fill(*byte);
        return;
    }
    debug_assert!(!bytes.is_empty(), "nothing to repeat");
    let first = bytes.len().min(part.len());
    let once = bytes.iter().cycle().skip(from % bytes.len());
    for (byte, repeated) in part[..first].iter_mut().zip(once) {
        *byte = *repeated;
    }
    let mut done = first;
    // What is there is a whole number of repetitions until the last copy, so that the
    // copies join without a seam.
    while done < part.len() {
        let more = done.min(part.len() - done);
        part.copy_within(..more, done);
        done += more;
    }
}

/// Decides which blocks repeat an earlier one: exactly the asked-for number in
/// each hundred, at random places (the first block of all has nothing to repeat).
#[derive(Debug, Clone)]
struct Duplicates {
    percent: u64,
    key: u64,
    /// The hundred for which `order` is keyed.
    deck: u64,
    order: Permutation,
}

impl Duplicates {
    fn new(percent: u8, key: u64) -> Duplicates {
        Duplicates {
            percent: u64::from(percent.min(100)),
            key,
            deck: 0,
            order: Permutation::new(DECK, derive_seed(key, 0)),
        }
    }

    /// The number of the block whose content the block `number` has: its own,
    /// or that of an earlier original.
    #[inline]
    fn original_of(&mut self, mut number: u64) -> u64 {
        while self.repeats(number) {
            let draw = u128::from(derive_seed(!self.key, number));
            let original = ((draw * u128::from(number)) >> 64) as u64;
            // Strictly earlier, or the search would go round in a circle.
            debug_assert!(original < number, "block {number} repeats {original}");
            number = original;
        }
        number
    }

    #[inline]
    fn repeats(&mut self, number: u64) -> bool {
        if self.percent == 0 || number == 0 {
            return false;
        }
        let deck = number / DECK;
        if deck != self.deck {
            self.deck = deck;
            self.order.rekey(derive_seed(self.key, deck));
        }
        self.order.at(number % DECK) < self.percent
    }
}

#[cfg(test)]
#[path = "payload_tests.rs"]
mod tests;
