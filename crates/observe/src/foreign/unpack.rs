//! Files that are compressed with zstd (RFC 8878), as warp writes them.

use std::io::Read;

use ruzstd::decoding::StreamingDecoder;

/// What a frame of zstd begins with.
const MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// Whether bytes are compressed with zstd.
pub fn is_packed(bytes: &[u8]) -> bool {
    bytes.starts_with(&MAGIC)
}

/// What is in a file compressed with zstd, frame by frame, at most `limit` bytes.
///
/// # Errors
/// A frame that is damaged, or more than the limit; in words.
pub fn unpack(packed: &[u8], limit: u64) -> Result<Vec<u8>, String> {
    let damaged = |error: &dyn std::fmt::Display| {
        format!("compressed with zstd, and damaged or cut off: {error}")
    };
    let mut rest = packed;
    let mut out = Vec::new();
    while is_packed(rest) {
        let mut decoder = StreamingDecoder::new(&mut rest).map_err(|error| damaged(&error))?;
        let room = limit.saturating_sub(out.len() as u64) + 1;
        let mut part = decoder.by_ref().take(room);
        part.read_to_end(&mut out)
            .map_err(|error| damaged(&error))?;
        if out.len() as u64 > limit {
            let limit = fathom_model::unit::bytes_exact(limit);
            return Err(format!(
                "larger than {limit} once unpacked; nothing was read"
            ));
        }
    }
    Ok(out)
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
        assert_eq!(unpack(&twice, 100).unwrap(), b"idx\tthread\nidx\tthread\n");
    }

    #[test]
    fn limits_and_damage_are_told() {
        assert!(unpack(PACKED, 5).unwrap_err().contains("larger than"));
        for end in 4..PACKED.len() - 4 {
            assert!(unpack(&PACKED[..end], 100).is_err(), "{end}");
        }
        for at in 4..PACKED.len() {
            let mut changed = PACKED.to_vec();
            changed[at] ^= 0x55;
            let _ = unpack(&changed, 100);
        }
    }
}
