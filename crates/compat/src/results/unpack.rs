//! Files that are compressed with zstd (RFC 8878), as warp writes them.

use std::io::{BufRead, Read};

use ruzstd::decoding::StreamingDecoder;

/// What a frame of zstd begins with.
const MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// Largest window of a frame, which the decoder keeps in memory; zstd takes 8 MiB
/// unless it is told to take more.
const MOST_WINDOW_BYTES: u64 = 32 << 20;

/// Why a packed file is not read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnpackError {
    /// A frame that is damaged, and how.
    #[error("compressed with zstd, and damaged or cut off: {0}")]
    Damaged(String),
    /// A frame whose decoder would fill the memory.
    #[error(
        "compressed with zstd in a way (--long) that takes too much memory to read; unpack it \
         with unzstd and give the result"
    )]
    LargeWindow,
    /// More than the limit.
    #[error(
        "larger than {} once unpacked; nothing was read: reading it would take more than 256 MiB \
         of memory; unpack it and cut it into parts",
        fathom_model::unit::bytes_exact(*limit)
    )]
    TooLarge {
        /// The limit, unpacked.
        limit: u64,
    },
}

/// Whether bytes are compressed with zstd.
pub(super) fn is_packed(bytes: &[u8]) -> bool {
    bytes.starts_with(&MAGIC)
}

/// What is in a file compressed with zstd, frame by frame, at most `limit` bytes.
/// The packed bytes are not kept.
///
/// # Errors
/// A frame that is damaged, or more than the limit.
pub(super) fn unpack(mut packed: impl BufRead, limit: u64) -> Result<Vec<u8>, UnpackError> {
    let damaged = |error: &dyn std::fmt::Display| UnpackError::Damaged(error.to_string());
    let mut out = Vec::new();
    loop {
        let start = packed.fill_buf().map_err(|error| damaged(&error))?;
        if !is_packed(start) {
            break;
        }
        if window_bytes(start) > MOST_WINDOW_BYTES {
            return Err(UnpackError::LargeWindow);
        }
        let mut decoder = StreamingDecoder::new(&mut packed).map_err(|error| damaged(&error))?;
        let room = limit.saturating_sub(out.len() as u64) + 1;
        let mut part = decoder.by_ref().take(room);
        part.read_to_end(&mut out)
            .map_err(|error| damaged(&error))?;
        if out.len() as u64 > limit {
            return Err(UnpackError::TooLarge { limit });
        }
    }
    Ok(out)
}

/// Bytes of what came before that a frame refers to, by its head (RFC 8878,
/// 3.1.1.1); of what is cut off 0: the decoder says so.
fn window_bytes(frame: &[u8]) -> u64 {
    let Some(descriptor) = frame.get(4) else {
        return 0;
    };
    let single_segment = descriptor & 0x20 != 0;
    if !single_segment {
        let window = frame.get(5).copied().unwrap_or(0);
        let base = 1_u64 << (10 + (window >> 3));
        return base + base / 8 * u64::from(window & 7);
    }
    // The window is the whole content, whose size stands behind the dictionary's id.
    let from = 5 + [0, 1, 2, 4][usize::from(descriptor & 3)];
    let length = [1, 2, 4, 8][usize::from(descriptor >> 6)];
    let Some(field) = frame.get(from..from + length) else {
        return 0;
    };
    let size = field
        .iter()
        .rev()
        .fold(0, |size, byte| size << 8 | u64::from(*byte));
    if length == 2 { size + 256 } else { size }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `printf 'idx\tthread\n' | zstd`, twice.
    const PACKED: &[u8] = include_bytes!("idx_thread.zst");

    #[test]
    fn frames_are_unpacked_one_after_the_other() {
        assert!(is_packed(PACKED) && !is_packed(b"idx"));
        assert_eq!(unpack(PACKED, 100).unwrap(), b"idx\tthread\n");
        let twice = [PACKED, PACKED].concat();
        assert_eq!(
            unpack(&twice[..], 100).unwrap(),
            b"idx\tthread\nidx\tthread\n"
        );
    }

    #[test]
    fn a_window_that_would_fill_the_memory_is_refused() {
        let head = |rest: &[u8]| [&MAGIC[..], rest].concat();
        assert_eq!(window_bytes(&head(&[0, 0])), 1 << 10);
        assert_eq!(window_bytes(&head(&[0, 17 << 3])), 128 << 20);
        assert_eq!(window_bytes(&head(&[0x20, 12])), 12);
        assert_eq!(window_bytes(&head(&[0x60, 1, 1])), 257 + 256);
        assert_eq!(window_bytes(&head(&[0xa0, 0, 0, 0, 4])), 64 << 20);
        assert_eq!(window_bytes(&head(&[])), 0);
        let refused = unpack(&head(&[0, 17 << 3, 0, 0])[..], 1 << 30).unwrap_err();
        assert_eq!(refused, UnpackError::LargeWindow);
    }

    #[test]
    fn limits_and_damage_are_told() {
        let refused = unpack(PACKED, 5).unwrap_err();
        assert!(refused.to_string().contains("larger than"), "{refused}");
        for end in 4..PACKED.len() - 4 {
            assert!(unpack(&PACKED[..end], 100).is_err(), "{end}");
        }
        for at in 4..PACKED.len() {
            let mut changed = PACKED.to_vec();
            changed[at] ^= 0x55;
            let _ = unpack(&changed[..], 100);
        }
    }
}
