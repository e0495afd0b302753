//! The stamp at the start of every 512-byte sector of a verified block.
//!
//! ```text
//!  0  checksum    xxh3-64 of the rest of the sector, with seed 0
//!  8  magic       "fathomV1"
//! 16  tag         of the trial
//! 24  offset      of the sector in its file
//! 32  file        index in the layout
//! 36  generation  number of the write, 0 for prepared data
//! ```
//!
//! Numbers are little-endian. The rest of the sector is payload.

use xxhash_rust::xxh3::xxh3_64;

/// Distance of stamps, where blocks are that large.
pub(crate) const SECTOR_BYTES: usize = 512;
/// Length of a stamp.
pub(crate) const STAMP_BYTES: usize = 40;

const MAGIC: u64 = u64::from_le_bytes(*b"fathomV1");

/// What a sector says about itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stamp {
    pub(crate) tag: u64,
    pub(crate) offset: u64,
    pub(crate) file: u32,
    pub(crate) generation: u32,
}

/// What a sector turned out to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sector {
    /// Whole, with this stamp.
    Stamped(Stamp),
    /// It has the magic, but its checksum does not fit.
    Damaged(Stamp),
    /// All zeros.
    Zeros,
    /// No magic. These are its first bytes.
    Unknown([u8; 8]),
}

impl Stamp {
    /// Writes the stamp over the start of a sector of at least
    /// [`STAMP_BYTES`], as the last thing that is done to it.
    #[inline]
    pub(crate) fn write(&self, sector: &mut [u8]) {
        // In this order: the checksum covers the stamp too, so that a torn stamp shows.
        sector[8..16].copy_from_slice(&MAGIC.to_le_bytes());
        sector[16..24].copy_from_slice(&self.tag.to_le_bytes());
        sector[24..32].copy_from_slice(&self.offset.to_le_bytes());
        sector[32..36].copy_from_slice(&self.file.to_le_bytes());
        sector[36..40].copy_from_slice(&self.generation.to_le_bytes());
        let checksum = xxh3_64(&sector[8..]);
        sector[..8].copy_from_slice(&checksum.to_le_bytes());
    }
}

impl Sector {
    /// Reads a sector of at least [`STAMP_BYTES`].
    #[inline]
    pub(crate) fn read(sector: &[u8]) -> Sector {
        let word = |at: usize| u64::from_le_bytes(std::array::from_fn(|i| sector[at + i]));
        let half = |at: usize| u32::from_le_bytes(std::array::from_fn(|i| sector[at + i]));
        if word(8) != MAGIC {
            return if sector.iter().all(|byte| *byte == 0) {
                Sector::Zeros
            } else {
                Sector::Unknown(word(0).to_le_bytes())
            };
        }
        let stamp = Stamp {
            tag: word(16),
            offset: word(24),
            file: half(32),
            generation: half(36),
        };
        if word(0) == xxh3_64(&sector[8..]) {
            Sector::Stamped(stamp)
        } else {
            Sector::Damaged(stamp)
        }
    }
}

/// The sectors of a unit as ranges of bytes: every 512 bytes, the last one
/// with whatever is left.
pub(crate) fn sectors(unit_bytes: usize) -> impl Iterator<Item = std::ops::Range<usize>> {
    let count = (unit_bytes / SECTOR_BYTES).max(1);
    (0..count).map(move |n| {
        let end = if n + 1 == count {
            unit_bytes
        } else {
            (n + 1) * SECTOR_BYTES
        };
        n * SECTOR_BYTES..end
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const STAMP: Stamp = Stamp {
        tag: 0x0123_4567_89AB_CDEF,
        offset: 1 << 40,
        file: 3,
        generation: 77,
    };

    #[test]
    fn a_stamp_is_read_back() {
        let mut sector = [0xA5; SECTOR_BYTES];
        STAMP.write(&mut sector);
        assert_eq!(Sector::read(&sector), Sector::Stamped(STAMP));
    }

    #[test]
    fn any_flipped_bit_is_noticed() {
        let mut sector = [0xA5; SECTOR_BYTES];
        STAMP.write(&mut sector);
        for bit in 0..SECTOR_BYTES * 8 {
            sector[bit / 8] ^= 1 << (bit % 8);
            assert_ne!(Sector::read(&sector), Sector::Stamped(STAMP), "bit {bit}");
            sector[bit / 8] ^= 1 << (bit % 8);
        }
    }

    #[test]
    fn zeros_and_strangers_are_told_apart() {
        assert_eq!(Sector::read(&[0; SECTOR_BYTES]), Sector::Zeros);
        assert_eq!(Sector::read(&[7; SECTOR_BYTES]), Sector::Unknown([7; 8]));
    }

    #[test]
    fn sectors_cover_a_unit() {
        let ends = |bytes| sectors(bytes).map(|r| (r.start, r.end)).collect::<Vec<_>>();
        assert_eq!(ends(1024), [(0, 512), (512, 1024)]);
        assert_eq!(ends(64), [(0, 64)]);
        assert_eq!(ends(1100), [(0, 512), (512, 1100)]);
    }
}
