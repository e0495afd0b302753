//! How large a test file is, where nobody says it.

use fathom_model::unit;
use fathom_rules::method::quick::{
    FREE_SHARE, SIZE_BYTES, SIZE_BYTES_MIN, SUSTAINED_MEMORY_MULTIPLE,
};

/// What a host has for a test file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FileRoom {
    /// Its memory.
    pub memory_bytes: Option<u64>,
    /// What the file or device holds, where the target is one.
    pub fixed_bytes: Option<u64>,
    /// Bytes of test files for which there is room, where the target is a directory.
    pub room_bytes: Option<u64>,
}

impl FileRoom {
    /// The usual size, or for a sustained test twice the memory, but never more than a
    /// quarter of the room in a directory, or than a file or device holds.
    pub fn file_size(&self, sustained: bool) -> u64 {
        let wanted = match self.memory_bytes {
            Some(memory) if sustained => {
                SIZE_BYTES.max(memory.saturating_mul(SUSTAINED_MEMORY_MULTIPLE))
            }
            _ => SIZE_BYTES,
        };
        let share = match self.fixed_bytes {
            Some(bytes) => bytes,
            None => self.room_bytes.map_or(wanted, |bytes| bytes / FREE_SHARE),
        };
        let size = wanted.min(share);
        (size - size % SIZE_BYTES_MIN).max(SIZE_BYTES_MIN)
    }
}

/// A test file that says nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "a test file of {} is too small to say anything; use at least {}",
    unit::bytes_exact(*.bytes),
    unit::bytes_exact(SIZE_BYTES_MIN)
)]
pub struct SizeTooSmall {
    bytes: u64,
}

/// Refuses a size that says nothing.
///
/// # Errors
/// It is too small.
pub fn check_size(bytes: u64) -> Result<(), SizeTooSmall> {
    match bytes < SIZE_BYTES_MIN {
        true => Err(SizeTooSmall { bytes }),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GIB: u64 = 1 << 30;

    #[test]
    fn a_file_is_as_large_as_is_usual_where_there_is_room() {
        let room = FileRoom {
            memory_bytes: Some(8 * GIB),
            room_bytes: Some(100 * GIB),
            ..FileRoom::default()
        };
        assert_eq!(room.file_size(false), GIB);
        assert_eq!(room.file_size(true), 16 * GIB);
        assert_eq!(FileRoom::default().file_size(true), GIB);
        let tight = FileRoom {
            room_bytes: Some(GIB),
            ..room
        };
        assert_eq!(tight.file_size(true), GIB / 4);
        let device = FileRoom {
            fixed_bytes: Some(GIB / 2 + 5),
            ..tight
        };
        assert_eq!(device.file_size(false), GIB / 2);
        let full = FileRoom {
            room_bytes: Some(0),
            ..FileRoom::default()
        };
        assert_eq!(full.file_size(false), SIZE_BYTES_MIN);
    }

    #[test]
    fn a_file_of_a_few_blocks_is_refused() {
        assert!(check_size(SIZE_BYTES_MIN).is_ok());
        let small = check_size(1 << 20).unwrap_err().to_string();
        assert!(small.ends_with("use at least 32 MiB"), "{small}");
    }
}
