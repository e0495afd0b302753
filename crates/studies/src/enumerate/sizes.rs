//! The sizes of directories or prefixes that are listed.

use fathom_model::unit;
use fathom_rules::method::enumeration::{ENTRY_BYTES, MOST_FILES, MOST_KEYS, SIZES_MAX};

/// What is free where directories are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FreeSpace {
    /// For this user.
    pub bytes: u64,
    /// Inodes; `None` where the file system makes them as they are needed.
    pub inodes: Option<u64>,
}

impl FreeSpace {
    /// Empty files for which there is room, with half of it left free.
    pub fn files(self) -> u64 {
        let by_bytes = self.bytes / ENTRY_BYTES / 2;
        self.inodes
            .map_or(by_bytes, |inodes| by_bytes.min(inodes / 2))
    }
}

/// Which sizes are asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SizeOptions {
    /// These, where any are named.
    pub named: Vec<u64>,
    /// Else powers of ten up to this; a default where it is missing.
    pub most: Option<u64>,
    /// Keys of a bucket instead of files.
    pub in_bucket: bool,
    /// Files for which there is room; `None` where nothing limits them.
    pub room: Option<u64>,
}

/// Why there is nothing to list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SizesError {
    /// More are named than anybody waits for.
    #[error("--sizes: at most {SIZES_MAX}")]
    TooMany,
    /// Not even the smallest power of ten fits.
    #[error("there is no room for 1,000 files; name sizes with --sizes")]
    NoRoom,
}

impl SizeOptions {
    /// The sizes to list, in ascending order.
    ///
    /// # Errors
    /// Too many are named, or there is no room.
    pub fn sizes(&self) -> Result<Vec<u64>, SizesError> {
        if !self.named.is_empty() {
            return self.sorted();
        }
        let (wanted, room) = (self.wanted(), self.room.unwrap_or(u64::MAX));
        let powers = (3..19).map(|power| 10u64.pow(power));
        let mut sizes: Vec<u64> = powers
            .take_while(|size| *size <= wanted.min(room))
            .collect();
        if sizes.last().is_none_or(|last| *last < wanted) && wanted <= room {
            sizes.push(wanted);
        }
        if sizes.is_empty() {
            return Err(SizesError::NoRoom);
        }
        Ok(sizes)
    }

    /// What is left out for want of room, as a sentence about `place`.
    pub fn remark(&self, place: &str) -> Option<String> {
        let cut = |room: &u64| self.named.is_empty() && *room < self.wanted();
        let room = self.room.filter(cut)?;
        Some(format!(
            "{place} has room for about {} empty files; larger directories are left out",
            unit::group(room)
        ))
    }

    /// The largest size, if there is room for it.
    fn wanted(&self) -> u64 {
        let default = if self.in_bucket {
            MOST_KEYS
        } else {
            MOST_FILES
        };
        self.most.unwrap_or(default)
    }

    fn sorted(&self) -> Result<Vec<u64>, SizesError> {
        let mut sizes = self.named.clone();
        sizes.sort_unstable();
        sizes.dedup();
        if sizes.len() > SIZES_MAX {
            return Err(SizesError::TooMany);
        }
        Ok(sizes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries(options: &SizeOptions) -> Vec<u64> {
        options.sizes().unwrap()
    }

    #[test]
    fn powers_of_ten_end_with_what_was_asked_for() {
        let most = |most| SizeOptions {
            most: Some(most),
            ..SizeOptions::default()
        };
        assert_eq!(entries(&most(100_000)), [1000, 10_000, 100_000]);
        assert_eq!(entries(&most(25_000)), [1000, 10_000, 25_000]);
        assert_eq!(entries(&most(500)), [500]);
        let bucket = SizeOptions {
            in_bucket: true,
            ..SizeOptions::default()
        };
        assert_eq!(entries(&bucket), [1000, 10_000]);
    }

    #[test]
    fn room_cuts_what_was_not_named() {
        let free = FreeSpace {
            bytes: 1 << 40,
            inodes: Some(40_000),
        };
        let cut = SizeOptions {
            room: Some(free.files()),
            ..SizeOptions::default()
        };
        assert_eq!(entries(&cut), [1000, 10_000]);
        let remark = cut.remark("/data").unwrap();
        assert!(remark.starts_with("/data has room for about 20,000 empty files"));
        let none = SizeOptions {
            room: Some(10),
            ..SizeOptions::default()
        };
        assert_eq!(none.sizes(), Err(SizesError::NoRoom));
        let named = SizeOptions {
            named: vec![70, 3, 70],
            ..none
        };
        assert_eq!(entries(&named), [3, 70]);
        assert_eq!(named.remark("/data"), None);
        let many = SizeOptions {
            named: (1..=41).collect(),
            ..SizeOptions::default()
        };
        assert_eq!(many.sizes(), Err(SizesError::TooMany));
    }
}
