//! Content that repeats, part of which may say where the block is.

use fathom_model::workload::{Content, Part};

/// What is repeated over a block, from its start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Tile {
    bytes: Vec<u8>,
    /// Where in `bytes` the block's offset belongs, eight bytes each.
    offsets: Vec<usize>,
}

impl Tile {
    /// The tile of a content that repeats; nothing for others.
    pub(crate) fn of(content: &Content) -> Option<Tile> {
        let parts = match content {
            Content::Random => return None,
            Content::Zeros => vec![Part::Bytes(vec![0])],
            Content::Bytes(bytes) => vec![Part::Bytes(bytes.clone())],
            Content::Parts(parts) => parts.clone(),
        };
        let mut tile = Tile {
            bytes: Vec::new(),
            offsets: Vec::new(),
        };
        for part in parts {
            match part {
                Part::Bytes(bytes) => tile.bytes.extend(bytes),
                Part::Offset => {
                    tile.offsets.push(tile.bytes.len());
                    tile.bytes.extend([0; 8]);
                }
            }
        }
        if tile.bytes.is_empty() {
            tile.bytes.push(0);
        }
        Some(tile)
    }

    /// Fills the part of the block at `offset` that starts `from` bytes into it.
    pub(crate) fn fill(&self, offset: u64, from: usize, part: &mut [u8]) {
        super::repeat(&self.bytes, from, part);
        if self.offsets.is_empty() {
            return;
        }
        let length = self.bytes.len();
        let number = offset.to_le_bytes();
        let first = from / length * length;
        for tile in (first..from + part.len()).step_by(length) {
            for place in &self.offsets {
                for (n, byte) in number.iter().enumerate() {
                    let at = (tile + place + n).checked_sub(from);
                    if let Some(out) = at.and_then(|at| part.get_mut(at)) {
                        *out = *byte;
                    }
                }
            }
        }
    }

    /// The first byte of a block at `offset` that is not as it should be: where
    /// it is, and what should be there.
    pub(crate) fn differs(&self, offset: u64, block: &[u8]) -> Option<(usize, u8)> {
        let number = offset.to_le_bytes();
        let mut tile = self.bytes.clone();
        for place in &self.offsets {
            tile[*place..place + 8].copy_from_slice(&number);
        }
        let pieces = (0..).step_by(tile.len()).zip(block.chunks(tile.len()));
        for (start, piece) in pieces {
            if *piece != tile[..piece.len()] {
                let at = piece.iter().zip(&tile).position(|(a, b)| a != b)?;
                return Some((start + at, tile[at]));
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn tile() -> Tile {
        let parts = vec![
            Part::Bytes(b"ab".to_vec()),
            Part::Offset,
            Part::Bytes(vec![9]),
        ];
        Tile::of(&Content::Parts(parts)).unwrap()
    }

    #[test]
    fn the_offset_of_the_block_stands_in_every_repetition() {
        let mut block = [0xEE; 25];
        tile().fill(0x0102_0304, 0, &mut block);
        let once = b"ab\x04\x03\x02\x01\0\0\0\0\x09";
        assert_eq!(block[..11], once[..]);
        assert_eq!(block[11..22], once[..]);
        assert_eq!(block[22..], once[..3]);
        assert_eq!(tile().differs(0x0102_0304, &block), None);
        assert_eq!(tile().differs(0x0102_0305, &block), Some((2, 5)));
        block[24] ^= 1;
        assert_eq!(tile().differs(0x0102_0304, &block), Some((24, 4)));
    }

    #[test]
    fn only_what_repeats_has_a_tile() {
        assert_eq!(Tile::of(&Content::Random), None);
        let zeros = Tile::of(&Content::Zeros).unwrap();
        assert_eq!(zeros.differs(7, &[0; 100]), None);
        assert_eq!(zeros.differs(7, &[0, 0, 1]), Some((2, 0)));
    }

    proptest! {
        #[test]
        fn parts_of_a_block_make_up_the_block(
            length in 1usize..200,
            cut in 0usize..200,
            offset in any::<u64>(),
        ) {
            let cut = cut.min(length);
            let (mut whole, mut pieces) = (vec![0; length], vec![0; length]);
            tile().fill(offset, 0, &mut whole);
            tile().fill(offset, 0, &mut pieces[..cut]);
            tile().fill(offset, cut, &mut pieces[cut..]);
            prop_assert_eq!(whole, pieces);
        }
    }
}
